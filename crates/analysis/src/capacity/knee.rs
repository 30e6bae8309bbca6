//! The knee of a curve of throughput and response time: the rate of the most power (Kleinrock, "Power and Deterministic Rules of Thumb for
//! Probabilistic Problems in Computer Communications", ICC 1979), throughput over response time.

use loadline_model::rows::Purpose;

use crate::result::{CurvePoint, Knee};

/// Of fewer rates none is a knee.
const LEAST_RATES: usize = 5;

/// The knee, if both sides of it were tried. The points are in ascending order of their rates.
pub(super) fn knee(curve: &[CurvePoint]) -> Option<Knee> {
    let points: Vec<&CurvePoint> =
        curve.iter().filter(|point| is_of_a_quiet_start(point) && point.p50_ns > 0).collect();
    let rates: Vec<(f64, f64)> = points
        .chunk_by(|one, other| one.rate_per_second == other.rate_per_second)
        .map(|same| {
            let power = same.iter().map(|point| power(point)).sum::<f64>() / same.len() as f64;
            (same[0].rate_per_second, power)
        })
        .collect();
    let (at, _) = rates.iter().enumerate().max_by(|(_, one), (_, other)| one.1.total_cmp(&other.1))?;
    let (below, above) = (rates.get(at.checked_sub(1)?)?, rates.get(at + 1)?);
    (rates.len() >= LEAST_RATES).then_some(Knee { rate_per_second: rates[at].0, between: [below.0, above.0] })
}

/// A refusal is quick and no throughput.
fn power(point: &CurvePoint) -> f64 {
    point.achieved_per_second * point.success / point.p50_ns as f64
}

/// What an overload left behind says nothing of a rate.
fn is_of_a_quiet_start(point: &CurvePoint) -> bool {
    !matches!(point.purpose, Purpose::Overload | Purpose::Recover)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of a queue whose mean service time is 1 ms, with its response time in place of the median.
    fn point(rate_per_second: f64) -> CurvePoint {
        let idle = 1.0 - rate_per_second / 1000.0;
        let response_ns = if idle > 0.0 { 1e6 / idle } else { 1e9 };
        CurvePoint {
            rate_per_second,
            achieved_per_second: rate_per_second.min(1000.0),
            success: 1.0,
            p50_ns: response_ns as u64,
            p99_ns: 0,
            passed: 1,
            failed: 0,
            purpose: Purpose::Search,
        }
    }

    #[test]
    fn a_queue_with_one_server_has_its_knee_at_half_of_its_capacity() {
        let curve: Vec<CurvePoint> = [100.0, 200.0, 400.0, 500.0, 800.0, 900.0, 1100.0].map(point).into();
        let found = Some(Knee { rate_per_second: 500.0, between: [400.0, 800.0] });
        assert_eq!(knee(&curve), found);

        let mut overloaded = curve.clone();
        overloaded.push(CurvePoint { purpose: Purpose::Overload, p50_ns: 1, ..point(1500.0) });
        assert_eq!(knee(&overloaded), found, "an overload is no part of the curve");
    }

    #[test]
    fn quick_refusals_move_no_knee() {
        let mut curve: Vec<CurvePoint> = [100.0, 200.0, 400.0, 500.0, 800.0, 900.0].map(point).into();
        let usual = knee(&curve);
        let refused =
            CurvePoint { success: 0.01, p50_ns: 1000, achieved_per_second: 1100.0, ..point(1100.0) };
        curve.push(CurvePoint { success: 0.0, ..refused.clone() });
        curve.push(CurvePoint { rate_per_second: 1200.0, success: 0.0, ..refused });
        assert_eq!(knee(&curve), usual);
    }

    #[test]
    fn where_one_side_was_not_tried_there_is_no_knee() {
        assert_eq!(knee(&[100.0, 150.0, 200.0, 250.0, 300.0].map(point)), None, "it lies above");
        assert_eq!(knee(&[600.0, 700.0, 800.0, 850.0, 900.0].map(point)), None, "it lies below");
        assert_eq!(knee(&[400.0, 500.0, 600.0].map(point)), None, "too few rates");
        assert_eq!(knee(&[]), None);
    }
}
