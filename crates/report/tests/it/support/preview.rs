//! An invented preview: two loads, of which the pod has one.

use loadline_model::preview::{Preview, PreviewCell, PreviewTurn, Range, TimeBudget};
use loadline_model::result::Role;
use loadline_model::{CellId, SiteId};

pub fn preview() -> Preview {
    let cell = |site, role, load: &str, against: &[usize]| PreviewCell {
        site: SiteId(site),
        load: load.to_owned(),
        load_name: (load == "100/min uniform").then(|| "slow".to_owned()),
        connections: 16,
        new_connections: false,
        options: Default::default(),
        slices: if load == "100/min uniform" { 3 } else { 36 },
        slice_s: if load == "100/min uniform" { 1.2 } else { 0.1 },
        role,
        against: against.iter().copied().map(CellId).collect(),
    };
    let turn = |cell, seconds| PreviewTurn { cells: vec![CellId(cell)], seconds };
    Preview {
        sites: ["orders on host", "orders on host′", "orders on pod"].map(str::to_owned).into(),
        cells: vec![
            cell(0, Role::Baseline, "2000/s Poisson", &[]),
            cell(1, Role::Twin, "2000/s Poisson", &[0]),
            cell(2, Role::Candidate, "2000/s Poisson", &[0]),
            cell(0, Role::Uncompared, "100/min uniform", &[]),
        ],
        seed: 7,
        first_stage: vec![SiteId(2), SiteId(0), SiteId(1)],
        stages: 1,
        first_block: vec![turn(3, 1.2), turn(2, 0.1), turn(0, 0.1), turn(1, 0.1)],
        side_by_side_if_idle: false,
        time: TimeBudget {
            deployments: 8,
            blocks: 36,
            slices_s: 115.2,
            trials_s: None,
            repeats_s: Range { least: 0.0, most: 230.4 },
            warm_ups_s: Range { least: 38.4, most: 964.8 },
            starts_s: Range { least: 0.0, most: 720.0 },
            profiles_s: 0.0,
            total_s: Range { least: 153.6, most: 2030.4 },
            within_s: None,
            open_ended: false,
        },
    }
}
