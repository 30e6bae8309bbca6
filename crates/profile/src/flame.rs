//! Flame graphs: a profile as a picture, and the difference of two profiles as one (Gregg, "The Flame Graph", CACM 59(6), 2016).

use inferno::flamegraph::{
    self,
    color::{MultiPalette, Palette},
};

use crate::{Profile, ProfileError};

/// Most of a load thread's own time is spent in waiting for its next request (`Poller::wait`), which no figure counts.
const SUBTITLE: &str = "CPU time of service, load and soft interrupts; includes the time that the load spins, which no figure does";

/// Draws the CPU time of service, load and the soft interrupts between them, as an interactive SVG document. Kernel frames are
/// coloured differently from a program's.
///
/// # Errors
/// If the profile has no stacks.
pub fn flame_graph(profile: &Profile, title: &str) -> Result<Vec<u8>, ProfileError> {
    // inferno's palette for Java means "kernel frames are marked `_[k]`".
    let mut options = options(title, Palette::Multi(MultiPalette::Java));
    let lines: Vec<String> =
        profile.stacks.folded().into_iter().map(|(stack, ns)| format!("{stack} {ns}")).collect();
    draw(&mut options, &lines)
}

/// Draws what one profile has more (red) and less (blue) than another, per request: `before` is multiplied by `factor`, the
/// requests during `after` divided by those during `before`. Frames are as wide as in `after`.
///
/// # Errors
/// If neither profile has stacks.
pub fn differential_flame_graph(
    before: &Profile,
    after: &Profile,
    factor: f64,
    title: &str,
) -> Result<Vec<u8>, ProfileError> {
    let mut options = options(title, Palette::Basic(flamegraph::color::BasicPalette::Hot));
    draw(&mut options, &difference(before, after, factor))
}

/// Folded lines with two columns, which inferno draws as a difference: a stack's nanoseconds before and after.
fn difference(before: &Profile, after: &Profile, factor: f64) -> Vec<String> {
    let mut both = std::collections::BTreeMap::<String, (u64, u64)>::new();
    for (stack, ns) in before.stacks.folded() {
        both.entry(stack).or_default().0 += (ns as f64 * factor).round() as u64;
    }
    for (stack, ns) in after.stacks.folded() {
        both.entry(stack).or_default().1 += ns;
    }
    both.into_iter().map(|(stack, (before, after))| format!("{stack} {before} {after}")).collect()
}

fn options(title: &str, colors: Palette) -> flamegraph::Options<'static> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(SUBTITLE.to_owned());
    options.count_name = "ns".to_owned();
    options.colors = colors;
    // The same profile gives the same picture.
    options.deterministic = true;
    options
}

fn draw(options: &mut flamegraph::Options, lines: &[String]) -> Result<Vec<u8>, ProfileError> {
    let mut svg = Vec::new();
    flamegraph::from_lines(options, lines.iter().map(String::as_str), &mut svg)
        .map_err(ProfileError::FlameGraph)?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let mut profile = Profile::empty(1);
        for (stack, ns) in stacks {
            profile.stacks.add(stack.split(';'), *ns);
        }
        profile
    }

    #[test]
    fn a_flame_graph_shows_the_frames_and_is_the_same_each_time() {
        let profile = profile(&[("service;tcp_sendmsg_[k]", 1000), ("load;main", 500)]);
        let svg = flame_graph(&profile, "rung: bridge").unwrap();
        let text = String::from_utf8(svg.clone()).unwrap();
        assert!(text.contains("tcp_sendmsg") && text.contains("rung: bridge") && text.contains("main"));
        assert_eq!(flame_graph(&profile, "rung: bridge").unwrap(), svg);
    }

    #[test]
    fn an_empty_profile_has_no_flame_graph() {
        assert!(matches!(flame_graph(&Profile::empty(1), ""), Err(ProfileError::FlameGraph(_))));
    }

    #[test]
    fn a_difference_holds_every_stack_of_both_with_the_first_brought_to_the_requests_of_the_second() {
        let before = profile(&[("a;b", 100), ("a;gone", 10)]);
        let after = profile(&[("a;b", 150), ("a;new", 7)]);
        assert_eq!(difference(&before, &after, 1.5), ["a;b 150 150", "a;gone 15 0", "a;new 0 7"]);
    }

    #[test]
    fn a_differential_flame_graph_tells_more_from_less() {
        let before = profile(&[("a;more", 100), ("a;less", 200)]);
        let after = profile(&[("a;more", 300), ("a;less", 100)]);
        let text = String::from_utf8(differential_flame_graph(&before, &after, 1.0, "t").unwrap()).unwrap();
        assert!(text.contains("more") && text.contains("less"));
        // 200 ns more of 400, 100 ns less.
        assert!(text.contains("+50.00%") && text.contains("-25.00%"), "{text}");
    }
}
