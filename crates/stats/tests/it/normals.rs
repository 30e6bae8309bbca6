//! Normal deviates for the simulations, drawn from a table of equally likely quantiles.
//! The table makes them cheap: one run draws some ten thousand.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, Normal};

/// A fast source of normal deviates: 2¹⁴ equally likely quantiles.
pub struct Normals {
    quantiles: Vec<f64>,
    random: Pcg64,
}

impl Normals {
    pub fn new(seed: u64) -> Self {
        let count = 1 << 14;
        let quantile = |index| Normal::standard().inverse_cdf((f64::from(index) + 0.5) / f64::from(count));
        Self { quantiles: (0..count).map(quantile).collect(), random: Pcg64::seed_from_u64(seed) }
    }

    /// Uniform between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.random.next_u64() as f64 / u64::MAX as f64
    }

    pub fn draw(&mut self) -> f64 {
        self.quantiles[(self.random.next_u64() >> 50) as usize]
    }
}
