//! What is to be known of a figure, and the kind of interval.

use loadline_model::result::{Carrier, IntervalMethod, Remark};

use super::Words;

impl Words for Remark {
    fn words(&self) -> String {
        match self {
            Remark::FewBlocks { blocks, least } => {
                format!("{blocks} blocks: fewer than {least} make no claim")
            }
            Remark::FewEvents { events, least } => {
                format!("only {events:.0} events: fewer than {least} make no claim")
            }
            Remark::FewBeyond { requests, least } => {
                let lie = if requests.round() == 1.0 { "request lies" } else { "requests lie" };
                format!("only {requests:.0} {lie} beyond this quantile: fewer than {least} make no claim")
            }
            Remark::OneDeployment => {
                "one deployment makes no claim: how the next one would differ is not known (--deployments)"
                    .to_owned()
            }
            Remark::Carried { by, share } => format!(
                "{} alone makes {:.0} % of what this figure varies by: its interval cannot be relied on, so nothing is claimed",
                by.words(),
                share * 100.0
            ),
            Remark::BetweenKinds => {
                "no claim: this quantile lies where the usual requests end and far slower ones begin, and jumps between them"
                    .to_owned()
            }
            Remark::TwoKinds { share } => format!(
                "no claim: {:.0} % of the blocks differ by far more than most of them, and this figure is of the middle half",
                share * 100.0
            ),
            Remark::NotSignificant => "no claim: the interval excludes zero, but the p-value is not small enough for a claim".to_owned(),
            Remark::RepeatsDiffer => {
                "no claim: these cells were not disturbed equally often, so repeating may have selected their tails"
                    .to_owned()
            }
            Remark::NoGap { of } => {
                format!("no gap to close: {of} was not seen to differ from the baseline")
            }
        }
    }
}

/// Counted from 1, as people count.
impl Words for Carrier {
    fn words(&self) -> String {
        match self {
            Carrier::Deployment { round } => format!("deployment {}", round + 1),
            Carrier::Slice { round, block } => {
                format!("the slice in block {} of deployment {}", block + 1, round + 1)
            }
        }
    }
}

impl Words for IntervalMethod {
    fn words(&self) -> String {
        let unit = if self.over_deployments { "deployments" } else { "blocks" };
        let base = format!(
            "bootstrap over {unit} with all that lies beneath them (Davison & Hinkley 1997, 3.8), standard error times Student's t"
        );
        match self.ended_by_width {
            false => base,
            true => format!(
                "{base}; at 96.7 %, which covers 95 % where the run ends because the interval is narrow (by simulation)"
            ),
        }
    }
}
