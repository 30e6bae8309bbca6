//! How throughput grows with connections: the Universal Scalability Law of each site that was measured in closed loops of several sizes.

use loadline_model::load::Reuse;
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, SiteId};
use loadline_stats::{Usl, bootstrap};

use crate::RunData;
use crate::compared::RESAMPLES;
use crate::counted::Counted;
use crate::figures::Prepared;
use crate::metrics;
use crate::result::{Fitted, Scalability};
use crate::sample::units;
use crate::verdicts::bounds;

/// The throughput.
const METRIC: &str = "rate.achieved";
/// The largest relative error of a point that a law describes.
const HOLDS: f64 = 0.1;

/// One for each site with closed loops of enough sizes.
pub fn scalability(data: &RunData, counted: &Counted<'_>, confidence: f64) -> Vec<Scalability> {
    let plan = &data.run.plan;
    let sites = plan.site_ids().filter(|site| !plan.site(*site).twin);
    sites.filter_map(|site| of_site(data, counted, site, confidence)).collect()
}

fn of_site(data: &RunData, counted: &Counted<'_>, site: SiteId, confidence: f64) -> Option<Scalability> {
    let (experiment, plan) = (&data.run.experiment, &data.run.plan);
    let closed = plan.cells_of(site).filter_map(|(cell, load)| {
        let load = experiment.load(load);
        let is_usual = load.load.is_closed() && load.reuse == Reuse::Always;
        is_usual.then_some((cell, load.connections as f64))
    });
    let (cells, connections): (Vec<CellId>, Vec<f64>) = closed.unzip();
    let metrics = metrics::of_slices(&data.run);
    let metric = metrics.iter().find(|metric| metric.id == METRIC)?;
    let units = units(counted, &cells);
    let of_cell = |index: usize| {
        let slices =
            units.iter().map(|unit| unit.iter().map(|places| places[index]).collect::<Vec<&SliceRow>>());
        Prepared::new(metric, slices)
    };
    let prepared: Vec<Prepared> = (0..cells.len()).map(of_cell).collect::<Option<_>>()?;
    let points = |weights: &[u32]| -> Vec<(f64, f64)> {
        connections.iter().zip(&prepared).map(|(n, cell)| (*n, cell.figure(weights))).collect()
    };
    let once = vec![1; units.len()];
    let law = Usl::fit(&points(&once))?;
    let fitted = |value: fn(&Usl) -> f64| {
        let of = |weights: &[u32]| Usl::fit(&points(weights)).map_or(f64::NAN, |law| value(&law));
        let spread = bootstrap(units.len(), RESAMPLES, experiment.plan.seed, of);
        // No parameter is below zero.
        let interval = spread.map(|spread| bounds(&spread, confidence).map(|end| end.max(0.0)));
        Fitted { value: value(&law), interval }
    };
    let points = points(&once);
    let worst_error = law.worst_error(&points);
    Some(Scalability {
        label: plan.site(site).label(experiment),
        one_per_second: fitted(|law| law.one),
        contention: fitted(|law| law.contention),
        crosstalk: fitted(|law| law.crosstalk),
        peak: law.peak(),
        worst_error,
        holds: worst_error <= HOLDS,
        points,
    })
}
