//! Writing: a run's beginning, each thing measured as it ends, and the run's end.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use loadline_observe::Machine;
use rusqlite::{named_params, params};
use serde::Serialize;

use super::{DeploymentRow, RunState, SliceRow, Store, StoreError, WarmUpRow};
use crate::plan::Plan;
use crate::spec::Experiment;

/// What is known of a run before its first slice.
pub struct NewRun<'a> {
    /// Names what the run makes on the machine.
    pub label: &'a str,
    /// Version of loadline.
    pub version: &'a str,
    /// Word by word.
    pub command_line: &'a [String],
    /// What is asked for.
    pub experiment: &'a Experiment,
    /// Sites and cells.
    pub plan: &'a Plan,
    /// Where.
    pub machine: &'a Machine,
    /// CPUs of the services.
    pub service_cpus: &'a [usize],
    /// CPUs of the load.
    pub load_cpus: &'a [usize],
}

impl Store {
    /// Enters a run; returns its number.
    pub fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        let insert =
            "INSERT INTO run (label, name, started, state, version, command_line, experiment, plan, machine,
                service_cpus, load_cpus, side_by_side, notes, failures)
            VALUES (?1, ?2, ?3, 'unfinished', ?4, ?5, ?6, ?7, ?8, ?9, ?10, '[]', '[]', '[]')";
        let values = params![
            run.label,
            run.experiment.name,
            jiff::Timestamp::now().to_string(),
            run.version,
            json(run.command_line),
            json(run.experiment),
            json(run.plan),
            json(run.machine),
            json(run.service_cpus),
            json(run.load_cpus),
        ];
        self.connection.execute(insert, values).map_err(|e| self.error(e))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Which cells are measured request by request.
    pub fn set_side_by_side(&self, run: i64, cells: &[usize]) -> Result<(), StoreError> {
        self.execute("UPDATE run SET side_by_side = ?2 WHERE id = ?1", params![run, json(cells)])
    }

    /// Adds a sentence that a reader must know.
    pub fn add_note(&self, run: i64, note: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET notes = json_insert(notes, '$[#]', ?2) WHERE id = ?1",
            params![run, note],
        )
    }

    /// Adds a failure that the run outlived or ended with.
    pub fn add_failure(&self, run: i64, failure: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET failures = json_insert(failures, '$[#]', ?2) WHERE id = ?1",
            params![run, failure],
        )
    }

    /// Keeps a deployment.
    pub fn add_deployment(&self, run: i64, row: &DeploymentRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO deployment VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![run, row.site as i64, row.round, row.at_s, row.ready_ms, json(&row.left_out)],
        )
    }

    /// Keeps a warm-up.
    pub fn add_warm_up(&self, run: i64, row: &WarmUpRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO warm_up VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![run, row.cell as i64, row.round, row.seconds, row.stationary, json(&row.figures)],
        )
    }

    /// Keeps a slice.
    pub fn add_slice(&self, run: i64, row: &SliceRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO slice VALUES (:run, :cell, :round, :block, :attempt, :position, :at_s, :duration_s, :due,
                :sent_in_time, :answered, :answered_in_time, :waited, :reconnects, :received_bytes, :load_cpu_ns, :errors,
                :response, :service, :send_lag, :observations, :cpu_use, :gate_failures)",
            named_params! {
                ":run": run,
                ":cell": row.cell as i64,
                ":round": row.round,
                ":block": row.block,
                ":attempt": row.attempt,
                ":position": row.position,
                ":at_s": row.at_s,
                ":duration_s": row.duration_s,
                ":due": row.due as i64,
                ":sent_in_time": row.sent_in_time as i64,
                ":answered": row.answered as i64,
                ":answered_in_time": row.answered_in_time as i64,
                ":waited": row.waited as i64,
                ":reconnects": row.reconnects as i64,
                ":received_bytes": row.received_bytes as i64,
                ":load_cpu_ns": row.load_cpu_ns as i64,
                ":errors": json(&row.errors),
                ":response": encode(&row.response),
                ":service": encode(&row.service),
                ":send_lag": encode(&row.send_lag),
                ":observations": json(&row.observations),
                ":cpu_use": row.cpu_use.as_ref().map(json),
                ":gate_failures": json(&row.gate_failures),
            },
        )
    }

    /// Enters how a run ended.
    pub fn finish_run(&self, run: i64, state: RunState) -> Result<(), StoreError> {
        let state = serde_json::to_value(state).unwrap_or_default();
        self.execute(
            "UPDATE run SET state = ?2, finished = ?3 WHERE id = ?1",
            params![run, state.as_str(), jiff::Timestamp::now().to_string()],
        )
    }

    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.connection.execute(sql, values).map(|_| ()).map_err(|e| self.error(e))
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Only maps with keys that are no strings, or a failing Serialize, could fail here; the rows have neither.
    serde_json::to_string(value).expect("rows serialise")
}

/// HdrHistogram's V2 encoding, uncompressed: SQLite pages of mostly zero counts are short already.
pub fn encode(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The only errors are those of the writer, and a Vec has none, and of counts beyond 63 bits.
    V2Serializer::new().serialize(histogram, &mut bytes).expect("histograms serialise to memory");
    bytes
}
