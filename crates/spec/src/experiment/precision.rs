//! How precise figures are to be before a run ends: `1%`, or `p50:1%, p99:5%`.

use loadline_model::experiment::Precision;
use serde_json::json;

use super::metric::{metric_of, short};
use crate::error::Complaint;
use crate::kinds::Scalar;
use crate::units::{parse_share, show_share};

pub(super) fn precisions() -> Scalar<Vec<Precision>> {
    let share = r"[0-9][0-9_]*(\.[0-9_]*)?\s*%";
    let one = format!(r"\s*([a-z][a-z0-9_]*(\.[a-z0-9_]+)*\s*:)?\s*{share}\s*");
    let pattern = format!("^{one}(,{one})*$");
    Scalar::new(read, |all: &Vec<Precision>| show(all), json!({ "type": "string", "pattern": pattern }))
        .placeholder("[METRIC:]SHARE,…")
}

fn read(text: &str) -> Result<Vec<Precision>, Complaint> {
    let mut all: Vec<Precision> = Vec::new();
    for one in text.split(',') {
        let precision = match one.split_once(':') {
            Some((metric, share)) => {
                Precision { metric: metric_of(metric.trim())?, within: parse_share(share)? }
            }
            None => Precision { metric: Precision::DEFAULT_METRIC.to_owned(), within: parse_share(one)? },
        };
        if all.iter().any(|earlier| earlier.metric == precision.metric) {
            let complaint = Complaint::new(format!("`{}` is given twice", short(&precision.metric)));
            return Err(complaint.help("write each metric once"));
        }
        all.push(precision);
    }
    Ok(all)
}

fn show(all: &[Precision]) -> String {
    let one = |precision: &Precision| {
        let share = show_share(precision.within);
        match precision.metric == Precision::DEFAULT_METRIC {
            true => share,
            false => format!("{}:{share}", short(&precision.metric)),
        }
    };
    all.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["1%", "1%,p99:5%", "p99.9:10%", "cpu.service:0.5%", "service.p50:2%"] {
            assert_eq!(show(&read(text).unwrap()), text);
        }
        assert_eq!(read("p50:1%").unwrap(), read("1%").unwrap());
        assert_eq!(read(" response.p99 : 5% ").unwrap(), read("p99:5%").unwrap());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for text in ["", "p99", "p98:1%", "1%,p50:2%", "p99:5", "p99:0%"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
