//! Which services are warm as soon as they are ready, as far as their deployments have shown: these need no long warm-up when they are deployed
//! again.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::plan::Plan;
use loadline_model::{CellId, SiteId};
use loadline_stats::stationarity::MATERIAL_SHIFT;

/// Fewer medians than this say nothing of a trend.
const LEAST_REVIEWED: usize = 8;

/// What is known of the services.
#[derive(Default)]
pub(crate) struct Warmth {
    /// The first cells of those warm-ups in which a service did not get faster when it was last deployed.
    at_once: BTreeSet<CellId>,
    /// The median service times of the undisturbed slices of this stage, ns.
    medians: BTreeMap<CellId, Vec<f64>>,
    /// What was seen of each site's deployments once they had been measured.
    reviewed: BTreeMap<SiteId, Reviewed>,
}

#[derive(Default)]
struct Reviewed {
    deployments: u32,
    got_faster: u32,
}

impl Warmth {
    /// Whether the service of a warm-up with this first cell needs no long one.
    pub fn is_warm_at_once(&self, first: CellId) -> bool {
        self.at_once.contains(&first)
    }

    /// Notes the end of a warm-up, and whether the service was warm from its beginning on.
    pub fn warmed_up(&mut self, first: CellId, at_once: bool) {
        match at_once {
            true => self.at_once.insert(first),
            false => self.at_once.remove(&first),
        };
    }

    /// Adds the median service time of an undisturbed slice, ns.
    pub fn measured(&mut self, cell: CellId, median: f64) {
        self.medians.entry(cell).or_default().push(median);
    }

    /// Looks back at the slices of a stage: a service that got faster while it was measured was not warm, however level its warm-up was. In the
    /// next deployment it is warmed up in long cycles again, if that was so in half of its deployments: a service that needs it needs it each
    /// time, and a machine that was slow for a second or two makes every service look like this once.
    pub fn review(&mut self, plan: &Plan) {
        let mut got_faster: BTreeMap<SiteId, bool> = BTreeMap::new();
        for (cell, medians) in std::mem::take(&mut self.medians) {
            *got_faster.entry(plan.cell(cell).site).or_default() |= has_got_faster(&medians);
        }
        for (site, faster) in got_faster {
            let reviewed = self.reviewed.entry(site).or_default();
            reviewed.deployments += 1;
            reviewed.got_faster += u32::from(faster);
            if faster && 2 * reviewed.got_faster >= reviewed.deployments {
                self.at_once.retain(|warm| plan.cell(*warm).site != site);
            }
        }
    }
}

/// Whether the second half of some medians lies below the first by more than a warm-up may leave.
pub(crate) fn has_got_faster(medians: &[f64]) -> bool {
    let (first, second) = medians.split_at(medians.len() / 2);
    let middle = |half: &[f64]| {
        let mut sorted = half.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    };
    medians.len() >= LEAST_REVIEWED
        && middle(first)
            .zip(middle(second))
            .is_some_and(|(before, after)| after < (1.0 - MATERIAL_SHIFT) * before)
}
