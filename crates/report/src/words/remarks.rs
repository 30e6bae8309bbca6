//! What is to be known of a figure, and the kind of interval.

use loadline_model::result::{IntervalMethod, Remark};

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
            Remark::FewBeyond { requests, least } => format!(
                "only {requests:.0} requests lie beyond this quantile: fewer than {least} make no claim"
            ),
            Remark::BelowResolution => "smaller than what the baseline differed from its own twin".to_owned(),
            Remark::NotSignificant => "not significant after Holm's correction over all contrasts".to_owned(),
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

impl Words for IntervalMethod {
    fn words(&self) -> String {
        let unit = if self.over_deployments { "deployments" } else { "blocks" };
        let base = format!(
            "bootstrap over {unit} with all that lies beneath them (Davison & Hinkley 1997, 3.8), standard error times Student's t"
        );
        match self.repeated_looks {
            false => base,
            true => format!(
                "{base}; looked at repeatedly, so a confidence sequence by a union bound over geometrically spaced looks (Darling & \
                 Robbins 1967; Howard, Ramdas, McAuliffe & Sekhon 2021)"
            ),
        }
    }
}
