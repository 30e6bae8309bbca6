//! What platforms do beside running services is stopped while a slice is measured, unless its platform is to be measured with it.

use crate::fake::{World, experiment};

#[test]
fn a_site_that_leaves_all_running_is_measured_beside_one_that_does_not() {
    let mut world = World::new(experiment())
        .site(0, |site| site.can_be_quiet = true)
        .site(1, |site| site.leaves_running = true);
    world.run().unwrap();
    let (mut is_quiet, mut quiet_drives, mut loud_drives) = (false, 0, 0);
    let log = world.log();
    let slices = log.iter().skip_while(|line| *line != "quiet site 0");
    for line in slices {
        match line.as_str() {
            "quiet site 0" => is_quiet = true,
            "loud site 0" => is_quiet = false,
            // Whatever is started next is warmed up first.
            line if line.starts_with("start site") => break,
            line if line.starts_with("drive site 1") => {
                assert!(!is_quiet, "{log:?}");
                loud_drives += 1;
            }
            line if line.starts_with("drive site") => {
                assert!(is_quiet, "{log:?}");
                quiet_drives += 1;
            }
            _ => {}
        }
    }
    assert!(quiet_drives > 0 && loud_drives > 0, "{log:?}");
    assert!(!is_quiet, "it goes on after the last slice");
}
