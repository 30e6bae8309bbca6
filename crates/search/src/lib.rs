//! How much a service carries: which rate to try next, and what follows from the trials so far. Pure functions of the trials, so that a search can be
//! judged again from what a run has stored, and tested on made-up services by the thousand.
//!
//! A trial is a slice at one rate that met all objectives or did not. The capacity is the rate at which half of the slices of a search fail: below
//! it most pass, above it most fail. That is what RFC 9971 (MLRsearch) calls an exceed ratio of one half, and like there both bounds are told;
//! unlike there the capacity has an interval, from a posterior over two shapes of the curve from passing to failing (as in
//! draft-vpolak-bmwg-plrsearch, which has two shapes of a loss curve).
//!
//! ```text
//! trials ─▶ posterior ─▶ estimate ─▶ plan ─▶ the next probe: rise, narrow, look beside it, confirm, overload, recover
//!     └──▶ bounds
//!     └──▶ irregularities: what makes an interval meaningless
//! ```

mod bounds;
mod confirm;
mod fewest;
mod inverted;
mod irregular;
mod load;
mod patience;
mod plan;
mod posterior;
mod trial;

pub use bounds::{Bounds, bounds};
pub use confirm::Confirmed;
pub use fewest::fewest_slices;
pub use irregular::irregularities;
pub use patience::{MOST_LOST, MOST_TRIALS, Patience};
pub use plan::{Goal, Next, Probe, next};
pub use posterior::{Estimate, estimate};
pub use trial::Trial;
