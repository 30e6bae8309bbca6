//! A service compared with its twin: the noise of each metric, within deployments and between them.

use loadline_model::metrics::SERVICE_CPU;
use loadline_model::result::doctor::{LeftOut, Noise, NoiseRow, NoiseRun};
use loadline_model::rows::SliceRow;
use loadline_stats::{VarianceComponents, t_interval, variance_components};

use super::correlation::correlations;
use super::planning::Planning;
use crate::figures::Prepared;
use crate::metrics::{self, Kind, Metric};
use crate::{RunData, counted, sample};

/// The metrics whose noise is shown, the one that plans are made for first.
const METRICS: [&str; 3] = ["response.p50", "response.p99", SERVICE_CPU];
/// Requests beyond a quantile from which on it is a figure: blocks are taken together until there are so many.
const LEAST_BEYOND: f64 = 10.0;
/// Fewest deployments for an estimate.
const LEAST_DEPLOYMENTS: usize = 2;
const CONFIDENCE: f64 = 0.95;

/// A deployment: its blocks, each with the slices of service and twin.
type Deployment<'a> = Vec<[&'a SliceRow; 2]>;

/// The noise of a run that compares a service with its twin.
pub fn noise(data: &RunData) -> Result<Noise, LeftOut> {
    let counted = counted::counted(&data.run, &data.slices);
    let cells = data.run.plan.noise_contrasts().next().map(|noise| [noise.baseline, noise.candidate]);
    let deployments = cells.map(|cells| deployments(sample::units(&counted, &cells))).unwrap_or_default();
    let (Some(cells), true) = (cells, deployments.len() >= LEAST_DEPLOYMENTS) else {
        return Err(LeftOut::FewDeployments { deployments: deployments.len() });
    };
    let run = described(data, &deployments);
    let planning = Planning::of(&run);
    let all = metrics::of_slices(&data.run);
    let seen: Vec<(&Metric, Seen)> = METRICS
        .iter()
        .filter_map(|id| all.iter().find(|metric| metric.id == *id))
        .filter_map(|metric| Some((metric, Seen::of(metric, &deployments)?)))
        .collect();
    let plans = seen.first().map(|(_, first)| planning.plans(&first.variances)).unwrap_or_default();
    let row = |(metric, seen): &(&Metric, Seen)| NoiseRow {
        metric: metric.id.to_string(),
        label: metric.label.trim().to_owned(),
        unit: metric.unit,
        figure: seen.figure,
        half_width: seen.half_width,
        variance_within: seen.variances.within,
        variance_between: seen.variances.between,
        resolution: plans.iter().map(|plan| plan.resolution(&seen.variances)).collect(),
    };
    let (rows, correlation) = (seen.iter().map(row).collect(), correlations(&data.slices, cells));
    Ok(Noise { run, rows, correlation })
}

/// The share of the CPUs' time that the hypervisor took in the slices; `None` if that is not known.
pub fn stolen_share(data: &RunData) -> Option<f64> {
    let used = data.slices.iter().filter_map(|slice| slice.cpu_use);
    let (steal, capacity) =
        used.fold((0.0, 0.0), |sum, cpu| (sum.0 + cpu.steal_ns as f64, sum.1 + cpu.capacity_ns as f64));
    (capacity > 0.0).then(|| steal / capacity)
}

/// The blocks by deployment, in whatever units they come.
fn deployments(units: Vec<Vec<Vec<&SliceRow>>>) -> Vec<Deployment<'_>> {
    let blocks: Vec<[&SliceRow; 2]> =
        units.into_iter().flatten().filter_map(|slices| slices.try_into().ok()).collect();
    blocks.chunk_by(|one, next| one[0].round == next[0].round).map(<[_]>::to_vec).collect()
}

fn described(data: &RunData, deployments: &[Deployment<'_>]) -> NoiseRun {
    let experiment = &data.run.experiment;
    let blocks: usize = deployments.iter().map(Vec::len).sum();
    let begin = data.deployments.iter().map(|deployment| deployment.at_s).fold(f64::INFINITY, f64::min);
    let end = data.slices.iter().map(|slice| slice.at_s + slice.duration_s).fold(0.0, f64::max);
    let seconds = if begin.is_finite() { end - begin } else { end };
    let counted: f64 = deployments.iter().flatten().flatten().map(|slice| slice.duration_s).sum();
    let first = data.run.plan.sites.first();
    NoiseRun {
        label: data.run.label.clone(),
        site: first.map(|site| site.label(experiment)).unwrap_or_default(),
        load: data.slices.first().map(|slice| slice.load.to_string()).unwrap_or_default(),
        deployments: deployments.len(),
        blocks: blocks as f64 / deployments.len().max(1) as f64,
        slice_s: experiment.plan.slice.as_secs_f64(),
        seconds,
        overhead_seconds: (seconds - counted).max(0.0),
        disturbed_slices: data.slices.iter().filter(|slice| !slice.gate_failures.is_empty()).count(),
        slices: data.slices.len(),
    }
}

/// What was seen of a metric.
struct Seen {
    figure: f64,
    half_width: f64,
    /// Within: of one block's difference.
    variances: VarianceComponents,
}

impl Seen {
    fn of(metric: &Metric, deployments: &[Deployment<'_>]) -> Option<Seen> {
        let figure = figure(metric, deployments.iter().flatten().map(|block| block[0]))?;
        let whole: Option<Vec<f64>> = deployments.iter().map(|blocks| difference(metric, blocks)).collect();
        let whole = whole?;
        let together = blocks_together(metric, deployments);
        let grouped: Vec<Vec<f64>> = deployments
            .iter()
            .zip(&whole)
            .map(|(blocks, whole)| pseudo_values(metric, blocks, together, *whole))
            .collect();
        let variances = match variance_components(&grouped) {
            Some(found) => VarianceComponents { within: found.within * together as f64, ..found },
            // Deployments too short to be divided: what they differ by is all that is known.
            None => VarianceComponents { between: variance(&whole), within: 0.0 },
        };
        Some(Seen { figure, half_width: t_interval(&whole, CONFIDENCE)?.half_width(), variances })
    }
}

/// What each part of a deployment, of so many blocks, adds to its difference: pseudo-values of the jackknife that leaves out one part at a
/// time, around the deployment's own difference. The figure is a quantile of all requests together, to which a part that was slow
/// throughout adds no more than its share; the mean of the parts' own quantiles would follow it anywhere. Leaving out many requests at a
/// time makes this hold for quantiles (Shao & Wu, "A General Theory for Jackknife Variance Estimation", Ann. Statist. 17, 1989).
fn pseudo_values(metric: &Metric, blocks: &[[&SliceRow; 2]], together: usize, whole: f64) -> Vec<f64> {
    let parts: Vec<&[[&SliceRow; 2]]> = blocks.chunks_exact(together).collect();
    if parts.len() < 2 {
        return vec![whole];
    }
    let without: Vec<f64> = (0..parts.len())
        .filter_map(|left_out| {
            let rest = parts.iter().enumerate().filter(|(part, _)| *part != left_out);
            difference(metric, &rest.flat_map(|(_, part)| part.iter().copied()).collect::<Vec<_>>())
        })
        .collect();
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    without.iter().map(|without| whole + (parts.len() - 1) as f64 * (mean - without)).collect()
}

/// How many blocks hold enough requests beyond a quantile.
fn blocks_together(metric: &Metric, deployments: &[Deployment<'_>]) -> usize {
    let Kind::Quantile(_, quantile) = metric.kind else { return 1 };
    let slices = || deployments.iter().flatten().map(|block| block[0]);
    let answered = slices().map(|slice| slice.answered as f64).sum::<f64>() / slices().count().max(1) as f64;
    let needed = (LEAST_BEYOND / ((1.0 - quantile) * answered).max(f64::MIN_POSITIVE)).ceil();
    let most = deployments.iter().map(Vec::len).max().unwrap_or(1).max(1);
    (needed as usize).clamp(1, most)
}

fn difference(metric: &Metric, blocks: &[[&SliceRow; 2]]) -> Option<f64> {
    let of = |side: usize| figure(metric, blocks.iter().map(move |block| block[side]));
    Some(of(1)? - of(0)?)
}

fn figure<'a>(metric: &Metric, slices: impl Iterator<Item = &'a SliceRow>) -> Option<f64> {
    let figure = Prepared::new(metric, std::iter::once(slices.collect()))?.whole();
    figure.is_finite().then_some(figure)
}

fn variance(figures: &[f64]) -> f64 {
    let count = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / count;
    figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / (count - 1.0)
}
