//! Whether each service brings what the platforms that it is measured on start: a command, or an image.

use loadline_model::ServiceId;
use loadline_model::platform::Starts;

use super::{ExperimentKeys, services, way_out};
use crate::Experiment;
use crate::error::{Complaint, Problems};
use crate::options::Written;

/// Notes the services that cannot be started where the experiment measures them.
pub(super) fn can_be_started(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) {
    let written = services::written(&keys.value);
    for (id, service) in ServiceId::of(experiment.services.len()).zip(&experiment.services) {
        let starts = |platform| experiment.platform(platform).kind.capabilities(false).starts;
        let needs = |what| experiment.platforms_of(id).any(|platform| starts(platform) == what);
        let lacks_command = needs(Starts::Command) && service.start.is_none();
        let lacks_image = needs(Starts::Image) && service.start.is_none() && service.image.is_none();
        if !lacks_command && !lacks_image {
            continue;
        }
        let Some(written) = written.get(id.0) else {
            let help = way_out(
                &keys.place,
                "write `service: {builtin: orders}`, or your own `command`",
                "write --service orders, or --command with your own",
            );
            problems.add(&keys.place, Complaint::new("no service is given").help(help));
            continue;
        };
        let complaint = if service.image.is_some() {
            Complaint::new(
                "an image runs in docker and kubernetes only, and this service also runs elsewhere",
            )
            .help("add the `command` to start there, or leave those platforms out")
        } else {
            let help = way_out(
                &written.place,
                "write `builtin: orders`, or `command` with your own",
                "write --service orders, or --command with your own",
            );
            Complaint::new("the service has neither `builtin` nor `command`").help(help)
        };
        problems.add(&written.place, complaint);
    }
}
