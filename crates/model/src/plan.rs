//! What a run deploys and measures: the sites and cells of an experiment. The order in which cells take their turns is no part of it.

use serde::{Deserialize, Serialize};

use schemars::JsonSchema;

use crate::experiment::Experiment;
use crate::ids::{CellId, LoadId, PlatformId, ServiceId, SiteId};

/// A service on a platform: what is deployed, once a round. Several cells, one per load, measure the same site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The service.
    pub service: ServiceId,
    /// The platform.
    pub platform: PlatformId,
    /// Whether this is a second deployment of the baseline, or of the top of a ladder.
    pub twin: bool,
}

impl Site {
    /// Service and platform, in words; a prime marks a second deployment.
    pub fn label(&self, experiment: &Experiment) -> String {
        let (service, platform) = (experiment.service(self.service), experiment.platform(self.platform));
        format!("{} on {}{}", service.name, platform.name, if self.twin { "′" } else { "" })
    }
}

/// What a cell is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What the others are compared with.
    Baseline,
    /// The baseline deployed a second time.
    Twin,
    /// What is compared.
    Candidate,
}

/// One service × platform × load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellPlan {
    /// What is measured.
    pub site: SiteId,
    /// The load that it is under.
    pub load: LoadId,
    /// What the cell is compared as.
    pub role: Role,
    /// The cell that it is compared with; none for a baseline.
    pub against: Option<CellId>,
}

/// Sites and cells of a run. Cells are ordered by load, then by site, the baseline first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is deployed each round.
    pub sites: Vec<Site>,
    /// What is measured each block.
    pub cells: Vec<CellPlan>,
    /// Seed of the order and the schedules.
    pub seed: u64,
}

impl Plan {
    /// The plan of an experiment.
    pub fn new(experiment: &Experiment) -> Plan {
        let sites = sites(experiment);
        let mut cells = Vec::new();
        for load in LoadId::of(experiment.loads.len()) {
            let first = cells.len();
            for (index, site) in sites.iter().enumerate() {
                let (role, against) = role(experiment, site);
                let against = against.and_then(|wanted| sites.iter().position(|site| *site == wanted));
                let against = against.map(|site| CellId(first + site));
                cells.push(CellPlan { site: SiteId(index), load, role, against });
            }
        }
        Plan { sites, cells, seed: experiment.plan.seed }
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

    /// The cells of a role, in order.
    pub fn cells_as(&self, role: Role) -> impl Iterator<Item = (CellId, &CellPlan)> {
        self.cell_ids().zip(&self.cells).filter(move |(_, cell)| cell.role == role)
    }
}

fn sites(experiment: &Experiment) -> Vec<Site> {
    let baseline = Site { service: ServiceId(0), platform: PlatformId(0), twin: false };
    let mut sites = vec![baseline];
    if experiment.plan.twin {
        sites.push(Site { twin: true, ..baseline });
        let tops = experiment.platforms.iter().enumerate().filter(|(_, platform)| platform.top);
        sites.extend(tops.map(|(top, _)| Site { platform: PlatformId(top), twin: true, ..baseline }));
    }
    for service in ServiceId::of(experiment.services.len()) {
        for platform in PlatformId::of(experiment.platforms.len()) {
            let site = Site { service, platform, twin: false };
            if site != baseline {
                sites.push(site);
            }
        }
    }
    sites
}

/// What a site's cells are compared as, and the site that they are compared with.
fn role(experiment: &Experiment, site: &Site) -> (Role, Option<Site>) {
    let first = PlatformId(0);
    match site {
        Site { twin: true, .. } => (Role::Twin, Some(Site { twin: false, ..*site })),
        Site { service: ServiceId(0), platform: PlatformId(0), .. } => (Role::Baseline, None),
        // A platform is judged with its own service, against the one below it; a service on the first platform.
        Site { platform, .. } if *platform != first => {
            let below = experiment.platform(*platform).above.unwrap_or(first);
            (Role::Candidate, Some(Site { platform: below, ..*site }))
        }
        _ => (Role::Candidate, Some(Site { service: ServiceId(0), ..*site })),
    }
}
