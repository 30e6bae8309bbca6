//! How alike slices are that are near in time: how short slices must be for noise to cancel between them.

use loadline_model::CellId;
use loadline_model::result::doctor::Correlation;
use loadline_model::rows::SliceRow;
use loadline_stats::{correlation_of_ranks, ranks};

/// Bounds of the distances, s.
const BOUNDS_S: [f64; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// Fewest pairs for a figure: its standard error is then below 0.2.
const LEAST_PAIRS: usize = 30;

/// The correlation of the medians of two cells' slices by their distance in time. The cells are of different deployments, so that slices of
/// one and of the other have nothing in common but the machine.
pub fn correlations(slices: &[SliceRow], cells: [CellId; 2]) -> Vec<Correlation> {
    let [one, other] = cells.map(|cell| Series::of(slices, cell));
    let between = |bounds: &[f64]| {
        let (from_s, to_s) = (bounds[0], bounds[1]);
        let pairs: Vec<(usize, usize)> = one.pairs(&other, from_s, to_s).collect();
        let correlation = (pairs.len() >= LEAST_PAIRS)
            .then(|| correlation_of_ranks(&one.ranks, &other.ranks, pairs.iter().copied()))??;
        Some(Correlation { from_s, to_s, correlation, pairs: pairs.len() })
    };
    BOUNDS_S.windows(2).filter_map(between).collect()
}

/// The slices of a cell.
struct Series {
    /// Their middles, s.
    at_s: Vec<f64>,
    /// Ranks of their medians.
    ranks: Vec<f64>,
}

impl Series {
    fn of(slices: &[SliceRow], cell: CellId) -> Series {
        let answered: Vec<&SliceRow> =
            slices.iter().filter(|slice| slice.cell == cell && !slice.response.is_empty()).collect();
        let medians: Vec<f64> =
            answered.iter().map(|slice| slice.response.value_at_quantile(0.5) as f64).collect();
        Series {
            at_s: answered.iter().map(|slice| slice.at_s + slice.duration_s / 2.0).collect(),
            ranks: ranks(&medians),
        }
    }

    fn pairs(&self, other: &Series, from_s: f64, to_s: f64) -> impl Iterator<Item = (usize, usize)> {
        let are_so_far = move |one: f64, other: f64| {
            let distance = (one - other).abs();
            from_s <= distance && distance < to_s
        };
        self.at_s.iter().enumerate().flat_map(move |(left, one)| {
            let right = other.at_s.iter().enumerate().filter(move |(_, other)| are_so_far(*one, **other));
            right.map(move |(right, _)| (left, right))
        })
    }
}
