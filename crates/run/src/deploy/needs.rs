//! What services need beside them: started before a service, observed apart from it, ended after it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loadline_model::Observations;
use loadline_model::experiment::Ready;
use loadline_model::metrics::{HigherIs, MetricDeclaration, NEEDS_CPU, SHARED_NEEDS_CPU, Unit};
use loadline_platform::Deployment;

use super::generator::Generator;
use super::readiness::ReadyProbe;
use super::watch::Watch;
use crate::deployer::{MachineId, ReadOut, Readiness};
use crate::error::BoxError;

/// How long to wait before it is asked again whether it is ready.
const BETWEEN: Duration = Duration::from_millis(20);

/// Something that a service needs, as it was started.
pub struct Started {
    name: String,
    deployment: Box<dyn Deployment>,
    watch: Watch,
}

impl Started {
    /// Begins to observe what was deployed for a need; `here` is this machine.
    pub fn new(
        name: &str,
        deployment: Box<dyn Deployment>,
        here: Option<MachineId>,
    ) -> Result<Started, BoxError> {
        let watch = Watch::of(deployment.as_ref(), here, &[])?;
        Ok(Started { name: name.to_owned(), deployment, watch })
    }

    /// Waits until it is ready.
    pub fn wait(&mut self, generator: &Generator, ready: &Ready) -> Result<(), BoxError> {
        let (begun, mut probe) = (Instant::now(), ReadyProbe::default());
        loop {
            let why_not = match probe.ask(generator, ready)? {
                Readiness::Ready => return Ok(()),
                Readiness::NotYet(why) => why,
            };
            if let Some(why) = self.ended() {
                return Err(why.into());
            }
            if begun.elapsed() >= ready.within {
                return Err(self.told(&format!("not ready within {:?}: {why_not}", ready.within)).into());
            }
            std::thread::sleep(BETWEEN);
        }
    }

    /// What was deployed.
    pub fn deployment(&self) -> &dyn Deployment {
        self.deployment.as_ref()
    }

    /// Where the service finds it.
    pub fn address(&self) -> SocketAddr {
        self.deployment.peer_address()
    }

    /// Why it has ended, if it has.
    fn ended(&mut self) -> Option<String> {
        let why = self.deployment.ended()?;
        Some(self.told(&why))
    }

    /// What happened to it, with the end of its output.
    fn told(&self, why: &str) -> String {
        let output = self.deployment.output_tail();
        format!("{}, which it needs: {why}\n{output}", self.name).trim_end().to_owned()
    }

    /// What is not available of it, a sentence each, except what is known of its platform.
    fn left_out(&self, known: &[String]) -> Vec<String> {
        let new = self.deployment.left_out().iter().filter(|sentence| !known.contains(sentence));
        new.map(|sentence| format!("`{}`, which a service needs: {sentence}", self.name)).collect()
    }

    /// Reads its CPU time; [`Started::read_end`] follows.
    fn read_begin(&mut self) {
        self.watch.begin(ReadOut::ServiceCpu);
    }

    /// The CPU time that it used until now, while the load goes on; `None` where that is not known.
    fn read_in_between(&mut self) -> Option<u64> {
        self.watch.cpu_so_far()?.service_cpu_ns()
    }

    /// The CPU time that it used since; `None` where that is not known.
    fn read_end(&mut self) -> Option<u64> {
        self.watch.end().service_cpu_ns()
    }

    /// Ends it.
    fn stop(self) -> Result<(), BoxError> {
        Ok(self.deployment.stop()?)
    }
}

/// All that one deployment of a service needs.
pub struct Needs {
    /// Its own.
    own: Vec<Started>,
    /// The names of those that it shares with others.
    shared: Vec<String>,
    /// All that are shared.
    all_shared: Arc<Shared>,
}

impl Needs {
    /// None yet.
    pub fn new(all_shared: Arc<Shared>) -> Needs {
        Needs { own: Vec::new(), shared: Vec::new(), all_shared }
    }

    /// Adds one of its own, which was started for it.
    pub fn add(&mut self, started: Started) {
        self.own.push(started);
    }

    /// Adds the shared one of this name, which `start` starts if it is not there yet. Returns its address.
    pub fn share(
        &mut self,
        name: &str,
        start: impl FnOnce() -> Result<Started, BoxError>,
    ) -> Result<SocketAddr, BoxError> {
        self.shared.push(name.to_owned());
        self.all_shared.address(name, start)
    }

    /// What is not available of them, a sentence each, except what is known of their platform.
    pub fn left_out(&self, known: &[String]) -> Vec<String> {
        let own = self.own.iter().flat_map(|started| started.left_out(known));
        own.chain(self.all_shared.left_out(&self.shared)).collect()
    }

    /// What is counted, if there are both its own and shared ones.
    pub fn all_metrics() -> [MetricDeclaration; 2] {
        let counted = |name, label| {
            MetricDeclaration::counter(name, Unit::Nanoseconds).shown_as(label, HigherIs::Costlier)
        };
        [
            counted(NEEDS_CPU, "CPU per request of what it needs"),
            counted(SHARED_NEEDS_CPU, "CPU per request of what is shared"),
        ]
    }

    /// What is counted.
    pub fn metrics(&self) -> Vec<MetricDeclaration> {
        let there_are = [!self.own.is_empty(), !self.shared.is_empty()];
        Needs::all_metrics()
            .into_iter()
            .zip(there_are)
            .filter(|(_, any)| *any)
            .map(|(metric, _)| metric)
            .collect()
    }

    /// Reads the CPU times; [`Needs::read_end`] follows.
    pub fn read_begin(&mut self) {
        self.own.iter_mut().for_each(Started::read_begin);
        if !self.shared.is_empty() {
            self.all_shared.read_begin();
        }
    }

    /// The CPU times used until now, while the load goes on.
    pub fn read_in_between(&mut self, seen: &mut Observations) {
        self.read(Started::read_in_between, seen);
    }

    /// The CPU times used since.
    pub fn read_end(&mut self, seen: &mut Observations) {
        self.read(Started::read_end, seen);
    }

    fn read(&mut self, cpu: fn(&mut Started) -> Option<u64>, seen: &mut Observations) {
        if !self.own.is_empty() {
            seen.set(NEEDS_CPU, self.own.iter_mut().map(cpu).sum::<Option<u64>>());
        }
        if !self.shared.is_empty() {
            seen.set(SHARED_NEEDS_CPU, self.all_shared.read(cpu));
        }
    }

    /// Why one has ended, if one has.
    pub fn ended(&mut self) -> Option<String> {
        self.own.iter_mut().find_map(Started::ended).or_else(|| self.all_shared.ended(&self.shared))
    }

    /// Ends its own. Whatever comes of one, all of them are stopped.
    pub fn stop(self) -> Result<(), BoxError> {
        stop_all(self.own)
    }
}

fn stop_all(started: impl IntoIterator<Item = Started>) -> Result<(), BoxError> {
    let stopped: Vec<Result<(), BoxError>> = started.into_iter().map(Started::stop).collect();
    stopped.into_iter().collect()
}

/// Those of which there is one for all services: started at the first service that needs them, ended with the run.
#[derive(Default)]
pub struct Shared {
    started: Mutex<BTreeMap<String, Started>>,
}

impl Shared {
    /// The address of one, which `start` starts if it is not there yet.
    fn address(
        &self,
        name: &str,
        start: impl FnOnce() -> Result<Started, BoxError>,
    ) -> Result<SocketAddr, BoxError> {
        let mut started = self.started.lock().map_err(|_| "a shared need failed to start")?;
        if !started.contains_key(name) {
            started.insert(name.to_owned(), start()?);
        }
        Ok(started[name].address())
    }

    /// Reads the CPU times of all; [`Shared::read`] follows. Services that are deployed together do so one after the other: the last one
    /// counts, a moment later than the first.
    fn read_begin(&self) {
        if let Ok(mut started) = self.started.lock() {
            started.values_mut().for_each(Started::read_begin);
        }
    }

    /// The CPU time of all of them together; `None` where that is not known.
    fn read(&self, cpu: fn(&mut Started) -> Option<u64>) -> Option<u64> {
        self.started.lock().ok()?.values_mut().map(cpu).sum()
    }

    /// What is not available of those with these names.
    fn left_out(&self, names: &[String]) -> Vec<String> {
        let Ok(started) = self.started.lock() else { return Vec::new() };
        names.iter().filter_map(|name| started.get(name)).flat_map(|started| started.left_out(&[])).collect()
    }

    /// Why one of those with these names has ended, if one has.
    fn ended(&self, names: &[String]) -> Option<String> {
        let mut started = self.started.lock().ok()?;
        names.iter().find_map(|name| started.get_mut(name)?.ended())
    }

    /// Ends all of them.
    pub fn stop(&self) -> Result<(), BoxError> {
        let mut started = self.started.lock().map_err(|_| "a shared need failed to start")?;
        stop_all(std::mem::take(&mut *started).into_values())
    }
}

/// What needs are called and where they are.
pub type Addresses = Vec<(String, SocketAddr)>;

/// A text with the addresses of needs filled in.
pub fn fill(text: &str, addresses: &[(String, SocketAddr)]) -> String {
    addresses.iter().fold(text.to_owned(), |text, (name, address)| {
        text.replace(&format!("{{{name}.host}}"), &address.ip().to_string())
            .replace(&format!("{{{name}.port}}"), &address.port().to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_filled_in_by_name() {
        let addresses = [("nats", "10.0.0.1:4222"), ("db", "10.0.0.2:3306")]
            .map(|(name, address)| (name.to_owned(), address.parse().unwrap()));
        let filled = fill("--nats {nats.host}:{nats.port} --db={db.host} {host}", &addresses);
        assert_eq!(filled, "--nats 10.0.0.1:4222 --db=10.0.0.2 {host}");
    }
}
