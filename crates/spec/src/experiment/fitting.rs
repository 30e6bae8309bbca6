//! Whether each load fits the slices that it is offered in, and the platforms that it passes through.

use std::time::Duration;

use loadline_model::load::{Load, LoadSpec};

use super::{ExperimentKeys, services, tls, way_out};
use crate::error::{Complaint, Place, Problems};
use crate::options::Written;
use crate::units::show_duration;
use crate::{Experiment, Interleave};

/// Notes the loads that cannot be offered as they are.
pub(super) fn loads_fit(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let written = keys.value.loads.iter().flatten();
    for (load, written) in experiment.loads.iter().zip(written) {
        slice_fits(experiment, load, &written.place, problems);
    }
    proxies_understand(experiment, keys, problems);
    tls_is_spoken(experiment, keys, problems);
}

/// A slice plays a profile or replay from its start, so it must be long enough for all of it.
fn slice_fits(experiment: &Experiment, load: &LoadSpec, place: &Place, problems: &mut Problems) {
    let (slice, needed) = (experiment.plan.slice, load.load.shortest_slice());
    if needed > slice {
        let message = format!(
            "a slice of {} would play only a part of this load, which takes {}",
            show_duration(slice),
            show_duration(needed)
        );
        // A round figure, as somebody would write it.
        let enough = show_duration(Duration::from_millis(needed.as_nanos().div_ceil(1_000_000) as u64));
        let help = match place {
            Place::Yaml(_) | Place::File => format!("write `slice: {enough}` in `plan`"),
            Place::Flag { .. } | Place::CommandLine => format!("give --slice {enough}"),
        };
        problems.add(place, Complaint::new(message).help(help));
    } else if load.load.averaged(slice).is_err() {
        let complaint = Complaint::new("no request of this load is due within a slice");
        problems.add(place, complaint.help("make the slice longer, or the rate higher"));
    }
    let changes = matches!(load.load, Load::Profile { .. } | Load::Replay(_));
    if changes && experiment.plan.interleave == Interleave::Requests {
        let complaint = Complaint::new("a profile or replay cannot take turns request by request");
        problems.add(place, complaint.help("take turns by slices: each plays it from its start"));
    }
}

/// Proxies that read requests understand HTTP/1.1 in clear text.
fn proxies_understand(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let platforms = keys.value.platforms.iter().flatten();
    for (platform, written) in experiment.platforms.iter().zip(platforms) {
        if !platform.kind.has_http_proxy() {
            continue;
        }
        let what = if experiment.services.iter().any(|service| platform.kind.speaks_tls(service.https)) {
            "https"
        } else if experiment.loads.iter().any(|load| load.protocol.streams().is_some()) {
            "HTTP/2"
        } else {
            continue;
        };
        let message = format!("`{}` has a proxy on its path that cannot pass {what} on", platform.name);
        problems.add(
            &written.place,
            Complaint::new(message).help("leave the platform out, or measure HTTP/1.1 in clear text"),
        );
    }
}

fn tls_is_spoken(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    for (service, written) in experiment.services.iter().zip(services::written(&keys.value)) {
        let Some(written) = &written.value.tls else { continue };
        let place = tls::place(written);
        let is_spoken = experiment.platforms.iter().any(|platform| platform.kind.speaks_tls(service.https));
        if !is_spoken {
            let help = way_out(
                place,
                "write `https: true` for a service that loadline starts, or `external: https://…`",
                "give --https for a service that loadline starts, or --on https://…",
            );
            problems.add(place, Complaint::new("TLS is set up, but nothing speaks it").help(help));
        }
    }
}
