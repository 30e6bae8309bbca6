//! What a run deploys and measures: the sites and cells of an experiment. The order in which cells take their turns is no part of it.

mod from_experiment;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::ids::{CellId, LoadId, PlatformId, ServiceId, SiteId};

/// A service on a platform: what is deployed, once a round. Several cells, one per load, measure the same site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// The service.
    pub service: ServiceId,
    /// The platform.
    pub platform: PlatformId,
    /// Whether this is a second deployment, of a baseline or of the top of a ladder.
    pub twin: bool,
}

impl Site {
    /// Service and platform, in words; a prime marks a second deployment.
    pub fn label(&self, experiment: &Experiment) -> String {
        let (service, platform) = (experiment.service(self.service), experiment.platform(self.platform));
        format!("{} on {}{}", service.name, platform.name, self.mark(&platform.name))
    }

    /// What a second deployment has behind its name: a prime, or after a URL, of which that could be a part, a word.
    pub fn mark(&self, name: &str) -> &'static str {
        match (self.twin, name.contains("://")) {
            (false, _) => "",
            (true, false) => "′",
            (true, true) => " (twin)",
        }
    }
}

/// What a cell is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Others are compared with it, and it with nothing.
    Baseline,
    /// A second deployment of a baseline, or of the top of a ladder.
    Twin,
    /// It is compared with another cell, perhaps with several; others may be compared with it as well.
    Candidate,
    /// It is measured, but neither is it compared with another cell nor another with it.
    Uncompared,
}

/// One service × platform × load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellPlan {
    /// What is measured.
    pub site: SiteId,
    /// The load that it is under.
    pub load: LoadId,
    /// What the cell is for, as it follows from the contrasts.
    pub role: Role,
}

/// A cell compared with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContrastPlan {
    /// What is compared.
    pub candidate: CellId,
    /// What it is compared with.
    pub baseline: CellId,
    /// What the comparison is for.
    pub kind: ContrastKind,
}

/// What a comparison is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContrastKind {
    /// It answers the experiment's question.
    Planned,
    /// It shows the noise: a twin against what it is the second deployment of.
    Noise,
}

/// Sites, cells and contrasts of a run. Cells are ordered by load, then by site, the first baseline before all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is deployed each round.
    pub sites: Vec<Site>,
    /// What is measured each block.
    pub cells: Vec<CellPlan>,
    /// What is compared with what: first what was planned, in the order of the experiment, then the noise.
    pub contrasts: Vec<ContrastPlan>,
    /// Seed of the order and the schedules.
    pub seed: u64,
}

impl Plan {
    /// The plan of an experiment.
    pub fn new(experiment: &Experiment) -> Plan {
        from_experiment::plan(experiment)
    }

    /// A site. The id is one of this plan's.
    pub fn site(&self, id: SiteId) -> &Site {
        &self.sites[id.0]
    }

    /// A cell. The id is one of this plan's.
    pub fn cell(&self, id: CellId) -> &CellPlan {
        &self.cells[id.0]
    }

    /// The site that a cell measures.
    pub fn site_of(&self, cell: CellId) -> &Site {
        self.site(self.cell(cell).site)
    }

    /// The load that a cell is under.
    pub fn load_of(&self, cell: CellId) -> LoadId {
        self.cell(cell).load
    }

    /// All sites in order.
    pub fn site_ids(&self) -> impl Iterator<Item = SiteId> + use<> {
        SiteId::of(self.sites.len())
    }

    /// All cells in order.
    pub fn cell_ids(&self) -> impl Iterator<Item = CellId> + use<> {
        CellId::of(self.cells.len())
    }

    /// The cells that measure a site, with their loads.
    pub fn cells_of(&self, site: SiteId) -> impl Iterator<Item = (CellId, LoadId)> {
        self.cell_ids()
            .zip(&self.cells)
            .filter(move |(_, cell)| cell.site == site)
            .map(|(id, cell)| (id, cell.load))
    }

    /// Whether anything is measured on a platform.
    pub fn uses(&self, platform: PlatformId) -> bool {
        self.sites.iter().any(|site| site.platform == platform)
    }

    /// The cell that measures a site under a load, if one does.
    pub fn find(&self, site: Site, load: LoadId) -> Option<CellId> {
        self.cell_ids().find(|cell| *self.site_of(*cell) == site && self.load_of(*cell) == load)
    }

    /// The contrasts that answer the experiment's question.
    pub fn planned_contrasts(&self) -> impl Iterator<Item = &ContrastPlan> {
        self.contrasts.iter().filter(|contrast| contrast.kind == ContrastKind::Planned)
    }

    /// The contrasts that show the noise.
    pub fn noise_contrasts(&self) -> impl Iterator<Item = &ContrastPlan> {
        self.contrasts.iter().filter(|contrast| contrast.kind == ContrastKind::Noise)
    }

    /// The twin of a cell, if it has one.
    pub fn twin_of(&self, cell: CellId) -> Option<CellId> {
        self.noise_contrasts().find(|noise| noise.baseline == cell).map(|noise| noise.candidate)
    }

    /// The cells of a role, in order.
    pub fn cells_as(&self, role: Role) -> impl Iterator<Item = (CellId, &CellPlan)> {
        self.cell_ids().zip(&self.cells).filter(move |(_, cell)| cell.role == role)
    }
}
