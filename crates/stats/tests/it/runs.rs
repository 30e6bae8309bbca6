//! Simulated runs whose true differences are known, for the tests of coverage and of error rates.
//! A run is two cells × deployments × blocks × 200 requests, with random effects at every level.

use crate::normals::Normals;

const REQUESTS_PER_SLICE: usize = 200;
const BINS: usize = 2_048;
/// Histograms reach this many standard deviations to either side.
const REACH: f64 = 6.0;

/// The number of deployments and of blocks in each.
#[derive(Clone, Copy)]
pub struct Design {
    pub deployments: usize,
    pub blocks: usize,
}

impl Design {
    /// The number of units that the bootstrap draws.
    pub fn units(self) -> usize {
        if self.deployments > 1 { self.deployments } else { self.blocks }
    }
}

/// Standard deviations of the random effects, in the unit of the model's `centres`.
#[derive(Clone, Copy)]
pub struct Model {
    pub name: &'static str,
    /// Figures are e to the power of what the model adds up, so lognormal, with effects that multiply.
    pub skewed: bool,
    /// Where the two cells lie; their true difference follows from it.
    pub centres: [f64; 2],
    /// From request to request.
    pub request: f64,
    /// From block to block, the same for both cells: the machine's drift.
    pub drift: f64,
    /// From slice to slice of one cell.
    pub slice: f64,
    /// From deployment to deployment of one cell.
    pub deployment: f64,
}

impl Model {
    /// The standard deviation of one figure drawn from all there could be. With a single deployment, its own
    /// effect is part of what is measured and not of the spread.
    fn spread(&self, design: Design) -> f64 {
        let between = if design.deployments > 1 { self.deployment } else { 0.0 };
        [self.request, self.drift, self.slice, between].iter().map(|sd| sd * sd).sum::<f64>().sqrt()
    }
}

/// The figures that the tests compute from each run.
#[derive(Clone, Copy, Debug)]
pub enum Statistic {
    Mean,
    P50,
    P90,
}

impl Statistic {
    pub const ALL: [Self; 3] = [Self::Mean, Self::P50, Self::P90];

    /// Of a normal, or of the lognormal that comes of it. 1.2816 is the normal's 90 % quantile.
    fn truth(self, skewed: bool, centre: f64, spread: f64) -> f64 {
        let normal = match self {
            Self::Mean if skewed => centre + spread * spread / 2.0,
            Self::Mean | Self::P50 => centre,
            Self::P90 => centre + 1.281_551_565_5 * spread,
        };
        if skewed { normal.exp() } else { normal }
    }
}

/// One cell's histograms: for each unit, how many requests lie in each bin or below it.
pub struct Cell {
    cumulated: Vec<Vec<u32>>,
    sums: Vec<f64>,
    low: f64,
    width: f64,
    skewed: bool,
}

impl Cell {
    fn new(units: usize, model: &Model, low: f64, width: f64) -> Self {
        let cumulated = vec![vec![0; units]; BINS];
        Self { cumulated, sums: vec![0.0; units], low, width, skewed: model.skewed }
    }

    fn record(&mut self, unit: usize, figure: f64) {
        let bin = ((figure - self.low) / self.width).clamp(0.0, BINS as f64 - 1.0);
        self.cumulated[bin as usize][unit] += 1;
        self.sums[unit] += if self.skewed { figure.exp() } else { figure };
    }

    fn cumulate(&mut self) {
        for bin in 1..BINS {
            let (below, rest) = self.cumulated.split_at_mut(bin);
            for (sum, before) in rest[0].iter_mut().zip(&below[bin - 1]) {
                *sum += before;
            }
        }
    }

    fn merged(&self, bin: usize, counts: &[u32]) -> f64 {
        f64::from(self.cumulated[bin].iter().zip(counts).map(|(below, count)| below * count).sum::<u32>())
    }

    /// The quantile of the merged histograms, interpolated within its bin.
    fn quantile(&self, counts: &[u32], quantile: f64) -> f64 {
        let rank = quantile * self.merged(BINS - 1, counts);
        let (mut low, mut high) = (0, BINS - 1);
        while low < high {
            let middle = (low + high) / 2;
            if self.merged(middle, counts) < rank { low = middle + 1 } else { high = middle }
        }
        let before = if low == 0 { 0.0 } else { self.merged(low - 1, counts) };
        let within = (rank - before) / (self.merged(low, counts) - before);
        let figure = self.low + (low as f64 + within) * self.width;
        if self.skewed { figure.exp() } else { figure }
    }

    pub fn statistic(&self, counts: &[u32], statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Mean => {
                let sum: f64 = self.sums.iter().zip(counts).map(|(sum, count)| sum * f64::from(*count)).sum();
                sum / self.merged(BINS - 1, counts)
            }
            Statistic::P50 => self.quantile(counts, 0.5),
            Statistic::P90 => self.quantile(counts, 0.9),
        }
    }
}

/// What one run measured, and what it should have.
pub struct Run {
    cells: [Cell; 2],
    centres: [f64; 2],
    spread: f64,
    skewed: bool,
}

impl Run {
    /// Histograms by the unit that the bootstrap draws.
    pub fn simulate(model: &Model, design: Design, normals: &mut Normals) -> Self {
        let units = design.units();
        Self::simulate_by(model, design, normals, units, |d, b| if design.deployments > 1 { d } else { b })
    }

    /// Histograms by slice, for resampling both levels; slice `d · blocks + b` is that of block b in
    /// deployment d.
    pub fn simulate_by_slice(model: &Model, design: Design, normals: &mut Normals) -> Self {
        let slices = design.deployments * design.blocks;
        Self::simulate_by(model, design, normals, slices, |d, b| d * design.blocks + b)
    }

    fn simulate_by(
        model: &Model,
        design: Design,
        normals: &mut Normals,
        units: usize,
        unit: impl Fn(usize, usize) -> usize,
    ) -> Self {
        // Wide enough for a deployment's own effect too, even where the truth excludes it.
        let reach = REACH * (model.spread(design).powi(2) + model.deployment.powi(2)).sqrt();
        let low = model.centres[0].min(model.centres[1]) - reach;
        let width = (model.centres[0].max(model.centres[1]) + reach - low) / BINS as f64;
        let mut cells = [0, 1].map(|_| Cell::new(units, model, low, width));
        let mut centres = model.centres;
        for d in 0..design.deployments {
            let deployed = model.centres.map(|centre| centre + model.deployment * normals.draw());
            if design.deployments == 1 {
                centres = deployed;
            }
            for b in 0..design.blocks {
                let drift = model.drift * normals.draw();
                for (cell, deployed) in cells.iter_mut().zip(deployed) {
                    let level = deployed + drift + model.slice * normals.draw();
                    for _ in 0..REQUESTS_PER_SLICE {
                        cell.record(unit(d, b), level + model.request * normals.draw());
                    }
                }
            }
        }
        cells.iter_mut().for_each(Cell::cumulate);
        Self { cells, centres, spread: model.spread(design), skewed: model.skewed }
    }

    /// The second cell's figure less the first's.
    pub fn difference(&self, counts: &[u32], statistic: Statistic) -> f64 {
        self.cells[1].statistic(counts, statistic) - self.cells[0].statistic(counts, statistic)
    }

    /// The difference that [`Self::difference`] estimates.
    pub fn true_difference(&self, statistic: Statistic) -> f64 {
        let [first, second] = self.centres.map(|centre| statistic.truth(self.skewed, centre, self.spread));
        second - first
    }
}
