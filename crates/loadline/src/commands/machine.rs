//! What experiments are validated for: this machine, and the services and probes of this program.

use loadline_spec::Machine;

use super::serve;

pub fn machine() -> Machine<'static> {
    Machine { metrics: loadline_run::deploy::metrics(), ..Machine::this(&serve::check) }
}
