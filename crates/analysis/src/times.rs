//! Which of a slice's times a metric is computed from.

use loadline_model::SparseHistogram;
use loadline_model::rows::SliceRow;

/// Which histogram.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Times {
    /// Response time.
    Response,
    /// Service time.
    Service,
    /// Send lag.
    SendLag,
    /// Response time of one request of a mix of several, by its number.
    OfRequest(usize),
}

impl Times {
    /// The histogram of a slice.
    pub fn of(self, slice: &SliceRow) -> &SparseHistogram {
        match self {
            Times::Response => &slice.response,
            Times::Service => &slice.service,
            Times::SendLag => &slice.send_lag,
            Times::OfRequest(number) => &slice.by_request[number].response,
        }
    }
}
