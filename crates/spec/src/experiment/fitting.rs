//! Whether each load fits the slices that it is offered in, and the platforms that it passes through.

use loadline_model::load::Load;
use loadline_model::{LoadId, PlatformId, ServiceId};

use super::plan::LONGEST_SLICE;
use super::{ExperimentKeys, services, tls, way_out};
use crate::error::{Complaint, Place, Problems};
use crate::options::Written;
use crate::units::show_duration;
use crate::{Experiment, Interleave};

/// Notes the loads that cannot be offered as they are.
pub(super) fn loads_fit(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let written = keys.value.loads.iter().flatten();
    for (load, written) in LoadId::of(experiment.loads.len()).zip(written) {
        slice_fits(experiment, load, &written.place, problems);
    }
    proxies_understand(experiment, keys, problems);
    tls_is_spoken(experiment, keys, problems);
}

/// A slice plays a profile or replay from its start, so it must be long enough for all of it.
fn slice_fits(experiment: &Experiment, id: LoadId, place: &Place, problems: &mut Problems) {
    let load = experiment.load(id);
    let (slice, needed) = (experiment.plan.slices_of(id).length, load.load.shortest_slice());
    if needed > LONGEST_SLICE {
        let (takes, longest) = (show_duration(needed), show_duration(LONGEST_SLICE));
        let complaint = Complaint::new(format!("this load takes {takes}, and a slice plays all of it"));
        problems.add(place, complaint.help(format!("a slice is at most {longest} long: shorten the load")));
    } else if needed > slice {
        let message = format!(
            "a slice of {} would play only a part of this load, which takes {}",
            show_duration(slice),
            show_duration(needed)
        );
        let help = way_out(
            place,
            "leave `slice` out of `plan`: it is then as long as the load",
            "leave --slice out: it is then as long as the load",
        );
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
    let platforms = experiment.platforms.iter().zip(keys.value.platforms.iter().flatten());
    for (id, (platform, written)) in PlatformId::of(experiment.platforms.len()).zip(platforms) {
        if !platform.kind.has_http_proxy() {
            continue;
        }
        let mut cells = experiment.cells_on(id);
        let what =
            if cells.clone().any(|cell| platform.kind.speaks_tls(experiment.service(cell.service).https)) {
                "https"
            } else if cells.any(|cell| experiment.load(cell.load).protocol.streams().is_some()) {
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
    let services = experiment.services.iter().zip(services::written(&keys.value));
    for (id, (service, written)) in ServiceId::of(experiment.services.len()).zip(services) {
        let Some(written) = &written.value.tls else { continue };
        let place = tls::place(written);
        let mut platforms = experiment.platforms_of(id).map(|id| experiment.platform(id));
        let is_spoken = platforms.any(|platform| platform.kind.speaks_tls(service.https));
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
