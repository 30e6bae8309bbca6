//! The rates of single load threads while a load goes on, as wrk samples them.

use std::time::Duration;

use loadline_model::Record;
use loadline_model::result::Spread;

/// Responses a second of a load thread, one figure an interval: the mean over the threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadRates(Vec<f64>);

impl ThreadRates {
    /// Takes what all threads did in an interval.
    pub fn take(&mut self, record: &Record, interval: Duration) {
        let rate = record.answered_in_time as f64 / interval.as_secs_f64();
        self.0.push(rate / f64::from(record.workers.max(1)));
    }

    /// Their mean and spread.
    pub fn spread(&self) -> Spread {
        let count = self.0.len().max(1) as f64;
        let mean = self.0.iter().sum::<f64>() / count;
        let squares: f64 = self.0.iter().map(|rate| (rate - mean).powi(2)).sum();
        let stdev = if self.0.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let within = self.0.iter().filter(|rate| (*rate - mean).abs() <= stdev).count();
        let max = self.0.iter().copied().fold(0.0, f64::max);
        Spread { mean, stdev, max, within: within as f64 / count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_one_thread() {
        let mut rates = ThreadRates::default();
        assert_eq!(rates.spread(), Spread::default());
        for answered_in_time in [10, 10, 10, 30] {
            let record = Record { answered_in_time, workers: 2, ..Record::empty() };
            rates.take(&record, Duration::from_millis(100));
        }
        assert_eq!(rates.spread(), Spread { mean: 75.0, stdev: 50.0, max: 150.0, within: 0.75 });
    }
}
