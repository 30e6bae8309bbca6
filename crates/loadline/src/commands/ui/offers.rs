//! Which platforms this machine has, found out by asking it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, anyhow};
use loadline_local::LocalError;
use loadline_machine::{Environment, RunName};
use loadline_model::experiment::PlatformKind;
use loadline_model::platform::Layer;
use loadline_platforms as platforms;
use loadline_spec::{Flags, from_flags};
use loadline_web::Offer;

use crate::commands::experiment::is_root;
use crate::commands::machine::machine;

/// As of `--on`, and what each is.
const PLATFORMS: [(&str, &str); 5] = [
    ("host", "a plain process"),
    ("container", "a process in a cgroup, behind a veth pair, a bridge and a published port"),
    ("pod", "the same behind a node port, with the address of a pod"),
    ("docker", "a container of this machine's Docker or Podman"),
    ("kubernetes", "a pod of the cluster that kubectl would use"),
];

/// The platforms, and what was found out of them.
#[derive(Default)]
pub struct Offers {
    /// By name: why it is missing.
    found: Mutex<BTreeMap<&'static str, Option<String>>>,
}

impl Offers {
    /// The platforms, each with why it is missing.
    pub fn all(&self) -> Vec<Offer> {
        offers(|name| {
            let why = self.missing(name).err().map(|error| format!("{error:#}"));
            self.found().insert(name, why.clone());
            why
        })
    }

    /// The same as it was found last; what was not looked for yet may be there.
    pub fn known(&self) -> Vec<Offer> {
        offers(|name| self.found().get(name).cloned().flatten())
    }

    /// An error if it is.
    fn missing(&self, name: &'static str) -> Result<()> {
        let kind = kind(name)?;
        match &kind {
            PlatformKind::Host | PlatformKind::External { .. } => Ok(()),
            // Of an ordinary user only the run itself can tell, in a namespace of its own.
            PlatformKind::Local(_) if !is_root() => Ok(()),
            PlatformKind::Local(layers) => {
                // Once: trying makes links and rules for a moment, and a run of somebody else may be measured meanwhile.
                let mut found = self.found();
                let why = found.entry(name).or_insert_with(|| why(layers));
                why.as_ref().map_or(Ok(()), |why| Err(anyhow!(why.clone())))
            }
            PlatformKind::Docker(_) | PlatformKind::Kubernetes(_) => {
                let environment = Environment::prepare_without_wire(RunName::random())?;
                Ok(platforms::platform(&kind, false).reach(&environment)?)
            }
        }
    }

    fn found(&self) -> MutexGuard<'_, BTreeMap<&'static str, Option<String>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn offers(missing: impl Fn(&'static str) -> Option<String>) -> Vec<Offer> {
    let offer = |(name, about): (&'static str, &str)| Offer {
        name: name.to_owned(),
        about: about.to_owned(),
        missing: missing(name),
    };
    PLATFORMS.map(offer).into()
}

fn why(layers: &[Layer]) -> Option<String> {
    loadline_local::missing(layers).map(|error| match error {
        LocalError::LayerMissing { why, .. } => why,
        other => other.to_string(),
    })
}

fn kind(name: &str) -> Result<PlatformKind> {
    let flags = Flags {
        on: vec![name.to_owned()],
        services: vec!["orders".to_owned()],
        rates: vec!["1/s".to_owned()],
        ..Flags::default()
    };
    let mut experiment = from_flags(&flags, &machine())?;
    Ok(experiment.platforms.remove(0).kind)
}
