//! Commands that are run around the measuring.

use loadline_model::experiment::Hooks;

use super::{HOW_MUCH, strings, texts};
use crate::kinds::CommandLine;
use crate::node::Text;
use crate::options::Table;

/// What is written of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HookKeys {
    setup: Option<Vec<Text>>,
    prepare: Option<Vec<Text>>,
    cleanup: Option<Vec<Text>>,
}

pub(super) fn table() -> Table<HookKeys> {
    Table::<HookKeys>::new("Hooks", "hooks", "Commands that are run on this machine, without a shell")
        .key("setup", CommandLine, "Command to run once before anything is started: make database", |hooks| {
            &mut hooks.setup
        })
        .flag("--setup", HOW_MUCH)
        .key("prepare", CommandLine, "Command to run before each round of deployments", |hooks| {
            &mut hooks.prepare
        })
        .flag("--prepare", HOW_MUCH)
        .key("cleanup", CommandLine, "Command to run once at the end, whatever the end is", |hooks| {
            &mut hooks.cleanup
        })
        .flag("--cleanup", HOW_MUCH)
}

impl HookKeys {
    /// What is written of an experiment's.
    pub fn of(hooks: &Hooks) -> HookKeys {
        let words = |words: &Vec<String>| (!words.is_empty()).then(|| texts(words));
        HookKeys {
            setup: words(&hooks.setup),
            prepare: words(&hooks.prepare),
            cleanup: words(&hooks.cleanup),
        }
    }

    pub fn hooks(&self) -> Hooks {
        let words = |words: &Option<Vec<Text>>| words.as_deref().map(strings).unwrap_or_default();
        Hooks { setup: words(&self.setup), prepare: words(&self.prepare), cleanup: words(&self.cleanup) }
    }
}
