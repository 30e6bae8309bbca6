//! Writing: the start of a run, each measurement as it ends, and the end of the run.

use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::{Failure, Note};
use loadline_model::rows::{DeploymentRow, NewRun, ProfileRow, SliceRow, Surroundings, TailRow, WarmUpRow};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, RunState, SiteId, TimeSpent};
use rusqlite::{named_params, params};

use crate::columns::json;
use crate::{Store, StoreError};

impl Store {
    /// Adds a run; returns its id.
    pub fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        let insert =
            "INSERT INTO run (label, name, started, state, version, command_line, experiment, plan, machine,
                service_cpus, load_cpus, metrics, side_by_side, notes, failures)
            VALUES (?1, ?2, ?3, ?11, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?12, '[]', '[]', '[]')";
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
            RunState::Unfinished.name(),
            json(run.metrics),
        ];
        self.connection.execute(insert, values).map_err(|e| self.error(e))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Stores what the run's probes declare, in place of what it had.
    pub fn set_metrics(&self, run: i64, metrics: &[MetricDeclaration]) -> Result<(), StoreError> {
        self.execute("UPDATE run SET metrics = ?2 WHERE id = ?1", params![run, json(metrics)])
    }

    /// Stores which cells are measured request by request.
    pub fn set_side_by_side(&self, run: i64, cells: &[CellId]) -> Result<(), StoreError> {
        self.execute("UPDATE run SET side_by_side = ?2 WHERE id = ?1", params![run, json(cells)])
    }

    /// Adds a note for the reader of the figures.
    pub fn add_note(&self, run: i64, note: &Note) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET notes = json_insert(notes, '$[#]', json(?2)) WHERE id = ?1",
            params![run, json(note)],
        )
    }

    /// Adds a failure that the run survived or ended with.
    pub fn add_failure(&self, run: i64, failure: &Failure) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET failures = json_insert(failures, '$[#]', json(?2)) WHERE id = ?1",
            params![run, json(failure)],
        )
    }

    /// Adds the facts about a platform's daemon or cluster.
    pub fn add_surroundings(&self, run: i64, platform: &str, what: &Surroundings) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET surroundings = json_patch(surroundings, json_object(?2, json(?3))) WHERE id = ?1",
            params![run, platform, json(what)],
        )
    }

    /// Adds a deployment.
    pub fn add_deployment(&self, run: i64, row: &DeploymentRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO deployment (run, site, round, at_s, ready_ms, left_out, startup, runtime)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                run,
                row.site.0,
                row.round,
                row.at_s,
                row.ready_ms,
                json(&row.left_out),
                json(&row.startup),
                json(&row.runtime)
            ],
        )
    }

    /// Stores what was found out about the language runtime of a deployment's service.
    pub fn set_runtime(
        &self,
        run: i64,
        site: SiteId,
        round: u32,
        runtime: &Runtime,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE deployment SET runtime = ?4 WHERE run = ?1 AND site = ?2 AND round = ?3",
            params![run, site.0, round, json(runtime)],
        )
    }

    /// Adds a warm-up.
    pub fn add_warm_up(&self, run: i64, row: &WarmUpRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO warm_up VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![run, row.cell.0, row.round, row.seconds, row.stationary, json(&row.figures)],
        )
    }

    /// Adds a slice.
    pub fn add_slice(&self, run: i64, row: &SliceRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO slice VALUES (:run, :cell, :round, :block, :attempt, :position, :at_s, :duration_s, :due,
                :sent_in_time, :answered, :answered_in_time, :waited, :reconnects, :received_bytes, :load_cpu_ns, :errors,
                :response, :service, :send_lag, :observations, :cpu_use, :gate_failures, :load_spun_ns, :load, :by_request, :trial)",
            named_params! {
                ":run": run,
                ":cell": row.cell.0,
                ":load": json(&row.load),
                ":round": row.round,
                ":block": row.block,
                ":attempt": row.attempt,
                ":position": row.position,
                ":at_s": row.at_s,
                ":duration_s": row.duration_s,
                ":due": row.due,
                ":sent_in_time": row.sent_in_time,
                ":answered": row.answered,
                ":answered_in_time": row.answered_in_time,
                ":waited": row.waited,
                ":reconnects": row.reconnects,
                ":received_bytes": row.received_bytes,
                ":load_cpu_ns": row.load_cpu_ns,
                ":load_spun_ns": row.load_spun_ns,
                ":errors": json(&row.errors),
                ":by_request": json(&row.by_request),
                ":response": row.response.encode(),
                ":service": row.service.encode(),
                ":send_lag": row.send_lag.encode(),
                ":observations": json(&row.observations),
                ":cpu_use": row.cpu_use.as_ref().map(json),
                ":gate_failures": json(&row.gate_failures),
                ":trial": row.trial.as_ref().map(json),
            },
        )
    }

    /// Adds a profile.
    pub fn add_profile(&self, run: i64, row: &ProfileRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO profile (run, cell, round, answered, profile, reasons) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![run, row.cell.0, row.round, row.answered, json(&row.profile), row.reasons.as_ref().map(json)],
        )
    }

    /// Adds the slowest requests of a cell.
    pub fn add_tail(&self, run: i64, row: &TailRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO tail (run, cell, round, answered, slowest, timeline) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![run, row.cell.0, row.round, row.answered, json(&row.slowest), json(&row.timeline)],
        )
    }

    /// Stores where a run's time has gone so far.
    pub fn set_time_spent(&self, run: i64, spent: &TimeSpent) -> Result<(), StoreError> {
        self.execute("UPDATE run SET time_spent = ?2 WHERE id = ?1", params![run, json(spent)])
    }

    /// Stores how a run ended.
    pub fn finish_run(&self, run: i64, state: RunState) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET state = ?2, finished = ?3 WHERE id = ?1",
            params![run, state.name(), jiff::Timestamp::now().to_string()],
        )
    }

    /// Says of the runs of a machine that have no end, and are not alive, that they were interrupted: they were killed. When is not known.
    pub fn end_killed_runs(&self, hostname: Option<&str>, alive: &[String]) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET state = ?2 WHERE state = ?1 AND machine ->> '$.hostname' IS ?3
                AND label NOT IN (SELECT value FROM json_each(?4))",
            params![RunState::Unfinished.name(), RunState::Interrupted.name(), hostname, json(alive)],
        )
    }

    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.connection.execute(sql, values).map(|_| ()).map_err(|e| self.error(e))
    }
}
