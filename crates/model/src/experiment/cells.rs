//! Which cells an experiment measures, and which of them it compares. What most experiments want is the default: every service on every
//! platform under every load, each compared with the first.

use serde::{Deserialize, Serialize};

use super::{Experiment, Platform};
use crate::ids::{LoadId, PlatformId, ServiceId};

/// A service on a platform under a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellSpec {
    /// Ordered by load first, as the cells of a plan are.
    pub load: LoadId,
    /// What is measured.
    pub service: ServiceId,
    /// Where it runs.
    pub platform: PlatformId,
}

/// A cell that is compared with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContrastSpec {
    /// What is compared.
    pub candidate: CellSpec,
    /// What it is compared with.
    pub baseline: CellSpec,
}

impl Experiment {
    /// Every service on every platform under every load.
    pub fn every_cell(&self) -> Vec<CellSpec> {
        let mut cells = Vec::new();
        for load in LoadId::of(self.loads.len()) {
            for service in ServiceId::of(self.services.len()) {
                let platforms = PlatformId::of(self.platforms.len());
                cells.extend(platforms.map(|platform| CellSpec { load, service, platform }));
            }
        }
        cells
    }

    /// The platforms that anything is measured on.
    pub fn used_platforms(&self) -> impl Iterator<Item = &Platform> + Clone {
        let ids = PlatformId::of(self.platforms.len());
        ids.filter(|id| self.cells_on(*id).next().is_some()).map(|id| self.platform(id))
    }

    /// The cells that are measured on a platform.
    pub fn cells_on(&self, platform: PlatformId) -> impl Iterator<Item = &CellSpec> + Clone {
        self.cells.iter().filter(move |cell| cell.platform == platform)
    }

    /// The platforms that a service is measured on, once for each load.
    pub fn platforms_of(&self, service: ServiceId) -> impl Iterator<Item = PlatformId> {
        self.cells.iter().filter(move |cell| cell.service == service).map(|cell| cell.platform)
    }

    /// Each measured cell with what it is compared with unless the experiment says otherwise: a platform with the one that it stands on or
    /// else with the first, a service on the first platform with the first service. A baseline need not be measured.
    pub fn default_contrasts(&self) -> Vec<ContrastSpec> {
        let contrast = |candidate: &CellSpec| {
            let baseline = self.default_baseline(*candidate)?;
            Some(ContrastSpec { candidate: *candidate, baseline })
        };
        self.cells.iter().filter_map(contrast).collect()
    }

    fn default_baseline(&self, cell: CellSpec) -> Option<CellSpec> {
        let (first_service, first_platform) = (ServiceId(0), PlatformId(0));
        if cell.platform != first_platform {
            let below = self.platform(cell.platform).above.unwrap_or(first_platform);
            return Some(CellSpec { platform: below, ..cell });
        }
        (cell.service != first_service).then_some(CellSpec { service: first_service, ..cell })
    }

    /// The experiment with every cell measured, and each compared with the first.
    #[must_use]
    pub fn with_every_cell(self) -> Experiment {
        let cells = self.every_cell();
        self.with_cells(cells)
    }

    /// The experiment with these cells measured, and each compared with the first.
    #[must_use]
    pub fn with_cells(mut self, mut cells: Vec<CellSpec>) -> Experiment {
        cells.sort_unstable();
        cells.dedup();
        self.cells = cells;
        self.contrasts = self.default_contrasts();
        self
    }
}
