use loadline_analysis::analyse;
use loadline_model::result::RunResult;
use loadline_model::rows::NewRun;
use loadline_model::{Machine, RunState};
use loadline_observe::probes;
use loadline_store::Store;

use super::World;

impl World {
    /// What a program that has loadline's own probes alone makes of the run, stored and read again.
    pub fn result(&self) -> RunResult {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("loadline.db")).unwrap();
        let run = NewRun {
            label: "made up",
            version: "0",
            command_line: &[],
            experiment: &self.experiment,
            plan: &self.plan,
            machine: &Machine::default(),
            service_cpus: &[0],
            load_cpus: &[1],
            metrics: &probes::metrics(),
        };
        let id = store.begin_run(&run).unwrap();
        store.set_metrics(id, &self.journal.metrics.borrow()).unwrap();
        self.journal.deployments.borrow().iter().for_each(|row| store.add_deployment(id, row).unwrap());
        self.journal.slices.borrow().iter().for_each(|row| store.add_slice(id, row).unwrap());
        store.finish_run(id, RunState::Complete).unwrap();
        analyse(&store.data(Some(id)).unwrap())
    }
}
