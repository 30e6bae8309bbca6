//! The deployments of a cell, and how far they lie apart.

use loadline_model::CellId;
use loadline_model::rows::SliceRow;

use crate::RunData;
use crate::buckets::merged;
use crate::counted::Counted;
use crate::result::{Deployment, DeploymentSpread};
use crate::times::Times;

/// The deployments of a cell, with what its counted slices found in each.
pub fn deployments(data: &RunData, counted: &Counted<'_>, id: CellId) -> Vec<Deployment> {
    let site = data.run.plan.cell(id).site;
    let of_site = data.deployments.iter().filter(|row| row.site == site);
    of_site
        .map(|row| {
            let warm_up =
                data.warm_ups.iter().find(|warm_up| warm_up.cell == id && warm_up.round == row.round);
            let slices: Vec<&SliceRow> = counted
                .get(&id)
                .into_iter()
                .flat_map(|cell| cell.values().copied())
                .filter(|slice| slice.round == row.round)
                .collect();
            let response = merged(Times::Response, slices.iter().copied());
            let seconds: f64 = slices.iter().map(|slice| slice.duration_s).sum();
            let answered: u64 = slices.iter().map(|slice| slice.answered_in_time).sum();
            Deployment {
                round: row.round,
                ready_ms: row.ready_ms,
                warmup_s: warm_up.map_or(0.0, |warm_up| warm_up.seconds),
                stationary: warm_up.is_some_and(|warm_up| warm_up.stationary),
                warmup_service_p50_ns: warm_up
                    .map(|warm_up| warm_up.figures.iter().map(|ns| *ns as u64).collect())
                    .unwrap_or_default(),
                left_out: row.left_out.clone(),
                response_p50_ns: response.value_at_quantile(0.5),
                response_mean_ns: response.mean(),
                response_p99_ns: response.value_at_quantile(0.99),
                rate_per_second: if seconds > 0.0 { answered as f64 / seconds } else { 0.0 },
            }
        })
        .collect()
}

/// How far deployments lie apart in what their load leaves open: a closed loop the rate, a rate the response time.
pub fn spread(deployments: &[Deployment], closed: bool) -> Option<DeploymentSpread> {
    let (metric, figure): (_, fn(&Deployment) -> f64) = match closed {
        true => ("rate.achieved", |deployment| deployment.rate_per_second),
        false => ("response.p50", |deployment| deployment.response_p50_ns as f64),
    };
    let figures: Vec<f64> = deployments.iter().map(figure).filter(|figure| *figure > 0.0).collect();
    let lowest = figures.iter().copied().min_by(f64::total_cmp)?;
    let highest = figures.iter().copied().max_by(f64::total_cmp)?;
    (figures.len() > 1).then(|| DeploymentSpread {
        metric: metric.to_owned(),
        share: (highest - lowest) / (highest + lowest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(rate_per_second: f64, response_p50_ns: u64) -> Deployment {
        Deployment {
            round: 0,
            ready_ms: 1.0,
            warmup_s: 1.0,
            stationary: true,
            warmup_service_p50_ns: Vec::new(),
            left_out: Vec::new(),
            response_p50_ns,
            response_mean_ns: 0.0,
            response_p99_ns: 0,
            rate_per_second,
        }
    }

    #[test]
    fn closed_loops_differ_in_their_rate_and_others_in_their_median() {
        let three = [deployment(90.0, 300), deployment(110.0, 100), deployment(100.0, 200)];
        let of = |closed| spread(&three, closed).unwrap();
        assert_eq!((of(true).metric.as_str(), of(true).share), ("rate.achieved", 0.1));
        assert_eq!((of(false).metric.as_str(), of(false).share), ("response.p50", 0.5));
    }

    #[test]
    fn what_answered_nothing_is_not_compared() {
        assert_eq!(spread(&[deployment(90.0, 300), deployment(0.0, 0)], true), None);
        assert_eq!(spread(&[], false), None);
    }
}
