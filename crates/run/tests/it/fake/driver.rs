//! The load of a fake service: each drive takes as long as its slice, and finds what the service's behaviour says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loadline_agent::{DriveError, Driver};
use loadline_engine::{EngineError, Record, SliceSpec};
use loadline_model::{SiteId, TriedRequest};

use super::behaviour::{Behaviour, Disturbance};
use super::deployer::{Shared, State};

/// Drives of a site under one load before its first slice: its warm-up.
pub const WARM_UP: usize = 8;

pub struct FakeDriver {
    pub site: SiteId,
    pub behaviour: Behaviour,
    pub shared: Shared,
    pub state: Arc<State>,
    pub begun: Option<SliceSpec>,
}

impl Driver for FakeDriver {
    fn prepare(&mut self) -> Result<(), DriveError> {
        if self.state.ended.load(Ordering::Relaxed) { Err(EngineError::Gone.into()) } else { Ok(()) }
    }

    fn begin(&mut self, slice: SliceSpec, _: u64) -> Result<(), DriveError> {
        self.begun = Some(slice);
        Ok(())
    }

    fn wait(&mut self, _: u64) -> bool {
        self.behaviour.overruns.is_zero()
    }

    fn finish(&mut self) -> Result<Record, DriveError> {
        let slice = self.begun.take().expect("a slice was begun");
        let drive = self.state.drives.fetch_add(1, Ordering::Relaxed);
        self.shared.log(format!("drive site {} for {:?} seed {}", self.site, slice.duration, slice.seed));
        let overruns = if drive >= WARM_UP { self.behaviour.overruns } else { Duration::ZERO };
        self.shared.clock.advance(slice.duration + overruns);
        if let Some(node) = &self.behaviour.node {
            node.advance(slice.duration);
        }
        if self.behaviour.ends_after.is_some_and(|after| drive + 1 >= after) {
            self.state.ended.store(true, Ordering::Relaxed);
            return Err(EngineError::Gone.into());
        }
        if self.behaviour.engine_fails_at == Some(drive) {
            return Err(EngineError::Gone.into());
        }
        let interrupted = self.behaviour.interrupted_at == Some(drive);
        if interrupted {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        Ok(record(&self.behaviour, drive, &slice, interrupted))
    }

    fn drive(&mut self, slice: SliceSpec) -> Result<Record, DriveError> {
        self.prepare()?;
        self.begin(slice, 0)?;
        self.finish()
    }

    fn try_out(&mut self) -> Result<Vec<TriedRequest>, DriveError> {
        if self.behaviour.ends_after == Some(0) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
        self.prepare()?;
        self.shared.log(format!("try site {}", self.site));
        Ok(vec![TriedRequest {
            sent: "GET / HTTP/1.1".to_owned(),
            received: "HTTP/1.1 200 OK".to_owned(),
            left_out_bytes: 0,
            took_ns: (self.behaviour.service_ns)(0),
            status: Some(200),
            problem: None,
        }])
    }
}

fn record(behaviour: &Behaviour, drive: usize, slice: &SliceSpec, stopped: bool) -> Record {
    let rate = slice.load.rate().map_or(10_000.0, |rate| rate.as_per_second());
    let requests = ((rate * slice.duration.as_secs_f64()) as u64).max(1);
    if let Some(delays) = behaviour.delays.filter(|_| drive >= WARM_UP) {
        return delays.record(drive, slice);
    }
    let mut record = Record::empty();
    let service_ns = (behaviour.service_ns)(drive);
    record.service.record_n(service_ns, requests).unwrap();
    record.response.record_n(service_ns + 1_000, requests).unwrap();
    record.send_lag.record_n(1_000, requests).unwrap();
    (record.due, record.sent_in_time, record.answered, record.answered_in_time) =
        (requests, requests, requests, requests);
    record.duration = slice.duration;
    record.stopped = stopped;
    match behaviour.disturbance_of(drive) {
        Some(Disturbance::Errors(share)) => {
            let failed = (requests as f64 * share) as u64;
            (0..failed).for_each(|_| record.errors.count(loadline_engine::ErrorKind::Status));
        }
        Some(Disturbance::Paused(pause)) => {
            record.pauses.note(pause.as_nanos() as u64);
            record.send_lag.record_n(pause.as_nanos() as u64, requests / 10).unwrap();
        }
        Some(Disturbance::Stalled(stall)) => {
            let stall = stall.as_nanos() as u64;
            let late = requests / 10;
            for times in [&mut record.response, &mut record.service, &mut record.send_lag] {
                times.record_n(stall, late).unwrap();
            }
            (record.waited, record.sent_in_time) = (late, requests - late);
        }
        _ => {}
    }
    record
}
