//! All platforms: the one place that lists them. A new one is a crate of its own, a variant of
//! [`PlatformKind`](loadline_model::experiment::PlatformKind) with its options, and a line in each function here.

use loadline_docker::DockerPlatform;
use loadline_kubernetes::KubernetesPlatform;
pub use loadline_local::External;
use loadline_local::{Host, Local};
use loadline_machine::Cleaner;
use loadline_model::experiment::PlatformKind;
use loadline_platform::Platform;

/// The platform of this kind; `own_node`: whether each deployment gets its own node, where the platform supports that.
pub fn platform(kind: &PlatformKind, own_node: bool) -> Box<dyn Platform> {
    match kind {
        PlatformKind::Host => Box::new(Host { own_node }),
        PlatformKind::Local(layers) => Box::new(Local { layers: layers.clone(), own_node }),
        PlatformKind::Docker(options) => {
            Box::new(DockerPlatform { options: options.clone(), ..Default::default() })
        }
        PlatformKind::Kubernetes(options) => {
            Box::new(KubernetesPlatform { options: options.clone(), ..Default::default() })
        }
        PlatformKind::External { address, authority, .. } => {
            Box::new(External { address: *address, authority: authority.clone() })
        }
    }
}

/// The cleaners of all platforms, for `loadline clean`.
pub fn cleaners() -> Vec<&'static dyn Cleaner> {
    [loadline_local::CLEANERS, loadline_docker::CLEANERS, loadline_kubernetes::CLEANERS].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_cleaners_have_one_name() {
        let mut names: Vec<&str> = cleaners().iter().map(|cleaner| cleaner.name()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
