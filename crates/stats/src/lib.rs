//! Intervals, tests and corrections for paired slices: pure functions that read no clock and do no I/O.
//! Each module is one method and names the paper that it comes from.
//!
//! | question | module |
//! |---|---|
//! | how far off may this difference be? | [`mod@bootstrap`] for any statistic, [`student`] for plain means |
//! | does one figure carry it all? | [`mod@dominance`] |
//! | how many deployments does a tail rest on? | [`mod@effective`], each side weighted by [`mod@jackknife`] |
//! | where do most figures lie, whatever disturbed a few? | [`mod@hodges_lehmann`] |
//! | several contrasts were judged: which p-values still count? | [`mod@holm`] |
//! | may the run stop once its interval is narrow? | [`sequential`] |
//! | what can be concluded about the difference? | [`verdict`] |
//! | do slices of all cells fail a gate equally often? | [`cochran`] |
//! | which difference would be claimed? | [`detectable`], from the variances of [`mod@variance_components`] |
//! | do figures rise and fall together? | [`rank_correlation`] |
//! | is the warm-up over? | [`stationarity`], which asks [`mann_kendall`] |
//! | are these arrivals a Poisson process? | [`anderson_darling`] |
//!
//! Figures carry whatever unit the caller gives them; confidence levels, errors and p-values are fractions
//! of one.

pub mod anderson_darling;
pub mod bootstrap;
pub mod change_points;
mod cochran;
pub mod detectable;
pub mod dominance;
pub mod effective;
pub mod hodges_lehmann;
pub mod holm;
pub mod interval;
pub mod jackknife;
pub mod mann_kendall;
pub mod rank_correlation;
pub mod sequential;
pub mod stationarity;
pub mod student;
pub mod usl;
mod variance_components;
pub mod verdict;

pub use anderson_darling::{GoodnessOfFit, exponential_gaps};
pub use bootstrap::{Bootstrap, Unit, bootstrap};
pub use change_points::{ChangePoint, LEAST_SIDE, Weighted, change_points};
pub use cochran::cochran_q;
pub use detectable::detectable_difference;
pub use dominance::{Dominant, dominant};
pub use effective::effective_units;
pub use hodges_lehmann::hodges_lehmann;
pub use holm::holm;
pub use interval::Interval;
pub use jackknife::jackknife_variance;
pub use rank_correlation::{correlation_of_ranks, ranks};
pub use sequential::{LOOK_CONFIDENCE, look_sizes};
pub use stationarity::{Stationarity, WINDOW as STATIONARITY_WINDOW, stationary};
pub use student::{t_interval, t_quantile, two_sided_p, upper_p};
pub use usl::Usl;
pub use variance_components::{VarianceComponents, variance_components};
pub use verdict::{FALSE_CLAIMS, Judgement, Levels, MIN_BLOCKS, POWER, judge};
