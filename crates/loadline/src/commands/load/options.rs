//! The load that is driven, as its result says it.

use std::num::NonZeroUsize;

use loadline_engine::{Reuse, Timestamps};
use loadline_model::load::nanos;
use loadline_model::result::load::{Clock, LoadOptions, Protocol};

use super::plan::Plan;
use crate::arguments::LoadArguments;

/// What was asked for, with all that was left open filled in.
pub fn load_options(arguments: &LoadArguments, plan: &Plan) -> LoadOptions {
    let (options, slice) = (&plan.options, &plan.slice);
    LoadOptions {
        url: arguments.url.clone(),
        target: options.endpoint.target.to_string(),
        protocol: if options.streams.is_some() { Protocol::Http2 } else { Protocol::Http1 },
        tls: options.endpoint.tls.is_some(),
        load: slice.load.to_string(),
        rate_per_second: slice.load.rate().map(|rate| rate.as_per_second()),
        closed: slice.load.is_closed(),
        seed: slice.seed,
        connections: options.connections,
        threads: options.threads,
        cpus: options.cpus.clone(),
        streams: options.streams.map_or(1, NonZeroUsize::get),
        requests_per_connection: match options.reuse {
            Reuse::Always => None,
            Reuse::Times(times) => Some(times),
            Reuse::Never => Some(1),
        },
        timeout_ns: nanos(options.timeout),
        timestamps: match options.timestamps {
            Timestamps::User => Clock::User,
            Timestamps::Kernel => Clock::Kernel,
        },
    }
}
