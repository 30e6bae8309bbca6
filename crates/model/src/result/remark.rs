//! What is to be known of a figure, of a gate and of the intervals, typed.

/// Why there is no claim, or what to know of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// Too few blocks were measured.
    FewBlocks {
        /// How many.
        blocks: usize,
        /// The fewest for a claim.
        least: usize,
    },
    /// Too few events were counted.
    FewEvents {
        /// On the side that has more of them.
        events: f64,
        /// The fewest for a claim.
        least: f64,
    },
    /// Too few requests lie beyond the quantile.
    FewBeyond {
        /// How many, in the cell that has fewer of them.
        requests: f64,
        /// The fewest for a claim.
        least: f64,
    },
    /// One deployment says nothing of how the next would differ.
    OneDeployment,
    /// One slice or deployment carries so much of what varies that the interval can't be relied on.
    Carried {
        /// Which.
        by: Carrier,
        /// Its share of the sum of squared deviations.
        share: f64,
    },
    /// A quantile lies between the usual requests and a group of far slower ones: which of them it shows changes from one resample to the next.
    BetweenKinds,
    /// The differences of the blocks are of two kinds, so that what the middle ones are like says little.
    TwoKinds {
        /// Share of the blocks that are far from the middle.
        share: f64,
    },
    /// The interval excludes zero, but that is not enough for a claim: its level is stricter, and all contrasts are corrected for.
    NotSignificant,
    /// The cells of this load were not disturbed equally often, so that repeating may have selected its means and tails.
    RepeatsDiffer,
    /// A claim is about a part of a difference that was not seen.
    NoGap {
        /// The platform whose difference to the baseline it is.
        of: String,
    },
}

/// A part of a run that a difference hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A whole deployment.
    Deployment {
        /// Which round of deployments, from 0.
        round: u32,
    },
    /// A single block's slices.
    Slice {
        /// Which round of deployments, from 0.
        round: u32,
        /// Which of its blocks, from 0.
        block: u32,
    },
}

/// A gate's figure over a whole run.
#[derive(Clone, Debug, PartialEq)]
pub enum GateFigure {
    /// Share of the due requests that were sent in time.
    Sent {
        /// 1 is all of them.
        share: f64,
    },
    /// 99th percentile of the send lag.
    SendLag {
        /// In ns.
        p99_ns: u64,
    },
    /// Pauses of the load's CPUs of 1 ms and more.
    Paused {
        /// In a second of measuring, ms; `None` when it can't be known.
        ms_per_second: Option<f64>,
    },
    /// The load threads had time to spare, or not.
    Generator,
    /// Failed requests.
    Errors {
        /// How many.
        count: u64,
    },
    /// CPU time that the hypervisor took.
    Stolen {
        /// Share of the machine's; `None` when it can't be known.
        share: Option<f64>,
    },
    /// CPU time that other programs used.
    Foreign {
        /// Share of the machine's; `None` when it can't be known.
        share: Option<f64>,
    },
    /// Warm-ups that ended at their limit.
    Stationary {
        /// How many did.
        failed: usize,
        /// Of how many.
        warm_ups: usize,
    },
}

/// The kind of interval that a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalMethod {
    /// Whether deployments are resampled, or else blocks.
    pub over_deployments: bool,
    /// Whether the run was to end when its intervals were narrow enough.
    pub ended_by_width: bool,
}
