//! Reading complete runs.

use loadline_model::experiment::Experiment;
use loadline_model::rows::{
    DeploymentRow, ProfileRow, RunData, RunHeading, RunRow, SliceRow, TailRow, WarmUpRow,
};
use rusqlite::{OptionalExtension, Params, Row};

use crate::columns::{cell, from_json, site, state, times};
use crate::{Store, StoreError};

const HEADINGS: &str = "SELECT id, label, name, started, finished, state, tags FROM run";

impl Store {
    /// The runs, oldest first.
    pub fn runs(&self) -> Result<Vec<RunHeading>, StoreError> {
        self.all(&format!("{HEADINGS} ORDER BY id"), [], heading)
    }

    /// What a list shows of a run.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn heading(&self, id: i64) -> Result<RunHeading, StoreError> {
        match self.all(&format!("{HEADINGS} WHERE id = ?1"), [id], heading)?.pop() {
            Some(heading) => Ok(heading),
            None => Err(self.no_run(id)?),
        }
    }

    /// What the latest runs asked for, at most so many, the latest first. Each is read in its turn, and left out if it cannot be.
    pub fn experiments(&self, most: u32) -> Result<impl Iterator<Item = (i64, Experiment)>, StoreError> {
        let latest = "SELECT id FROM run ORDER BY started DESC, id DESC LIMIT ?1";
        let ids: Vec<i64> = self.all(latest, [most], |row| row.get("id"))?;
        let experiment = move |id: i64| {
            let sql = "SELECT experiment FROM run WHERE id = ?1";
            self.all(sql, [id], |row| from_json(row, "experiment")).ok()?.pop()
        };
        Ok(ids.into_iter().filter_map(move |id| Some((id, experiment(id)?))))
    }

    /// A run; without an id the latest one.
    pub fn run(&self, id: Option<i64>) -> Result<RunRow, StoreError> {
        let Some(id) = id.map_or_else(|| self.latest(), |id| Ok(Some(id)))? else {
            return Err(self.no_run(0)?);
        };
        let found = self.connection.query_row("SELECT * FROM run WHERE id = ?1", [id], run).optional();
        match found.map_err(|e| self.error(e))? {
            Some(run) => Ok(run),
            None => Err(self.no_run(id)?),
        }
    }

    /// The run that began last: the one with the highest number may have been imported.
    fn latest(&self) -> Result<Option<i64>, StoreError> {
        let runs = self.runs()?.into_iter();
        Ok(runs.max_by(|one, other| one.started.cmp(&other.started)).map(|run| run.id))
    }

    /// All data of a run; without an id of the latest one.
    pub fn data(&self, id: Option<i64>) -> Result<RunData, StoreError> {
        let run = self.run(id)?;
        let id = run.id;
        Ok(RunData {
            run,
            deployments: self.deployments(id)?,
            warm_ups: self.warm_ups(id)?,
            slices: self.slices(id)?,
            profiles: self.profiles(id)?,
            tails: self.tails(id)?,
            joined: Vec::new(),
        })
    }

    /// A run with what its figures are made of: its profiles and tails, which are most of it, are left out.
    pub fn measured(&self, id: i64) -> Result<RunData, StoreError> {
        Ok(RunData {
            run: self.run(Some(id))?,
            deployments: self.deployments(id)?,
            slices: self.slices(id)?,
            warm_ups: self.warm_ups(id)?,
            profiles: Vec::new(),
            tails: Vec::new(),
            joined: Vec::new(),
        })
    }

    /// Deployments of a run, by round and site.
    pub fn deployments(&self, run: i64) -> Result<Vec<DeploymentRow>, StoreError> {
        self.all("SELECT * FROM deployment WHERE run = ?1 ORDER BY round, site", [run], |row| {
            Ok(DeploymentRow {
                site: site(row)?,
                round: row.get("round")?,
                at_s: row.get("at_s")?,
                ready_ms: row.get("ready_ms")?,
                left_out: from_json(row, "left_out")?,
                startup: from_json(row, "startup")?,
                runtime: from_json(row, "runtime")?,
            })
        })
    }

    /// Warm-ups of a run, by round and cell.
    pub fn warm_ups(&self, run: i64) -> Result<Vec<WarmUpRow>, StoreError> {
        self.all("SELECT * FROM warm_up WHERE run = ?1 ORDER BY round, cell", [run], |row| {
            Ok(WarmUpRow {
                cell: cell(row)?,
                round: row.get("round")?,
                seconds: row.get("seconds")?,
                stationary: row.get("stationary")?,
                figures: from_json(row, "figures")?,
            })
        })
    }

    /// Slices of a run in the order of measurement.
    pub fn slices(&self, run: i64) -> Result<Vec<SliceRow>, StoreError> {
        self.all("SELECT * FROM slice WHERE run = ?1 ORDER BY at_s, position, cell", [run], slice)
    }

    /// Profiles of a run, by cell and round.
    pub fn profiles(&self, run: i64) -> Result<Vec<ProfileRow>, StoreError> {
        self.all("SELECT * FROM profile WHERE run = ?1 ORDER BY cell, round", [run], |row| {
            Ok(ProfileRow {
                cell: cell(row)?,
                round: row.get("round")?,
                answered: row.get("answered")?,
                profile: from_json(row, "profile")?,
                reasons: from_json(row, "reasons")?,
            })
        })
    }

    /// The slowest requests of a run, by cell and round.
    pub fn tails(&self, run: i64) -> Result<Vec<TailRow>, StoreError> {
        self.all("SELECT * FROM tail WHERE run = ?1 ORDER BY cell, round", [run], |row| {
            Ok(TailRow {
                cell: cell(row)?,
                round: row.get("round")?,
                answered: row.get("answered")?,
                slowest: from_json(row, "slowest")?,
                timeline: from_json(row, "timeline")?,
            })
        })
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || self.connection.prepare(sql)?.query_map(values, read)?.collect();
        let rows: rusqlite::Result<Vec<T>> = rows();
        rows.map_err(|e| self.error(e))
    }

    fn no_run(&self, id: i64) -> Result<StoreError, StoreError> {
        let runs = self.runs()?;
        let present = match (runs.first(), runs.last()) {
            (Some(first), Some(last)) if first.id == last.id => format!("it contains run {}", first.id),
            (Some(first), Some(last)) => format!("it contains runs {} to {}", first.id, last.id),
            _ => "it contains no runs yet".to_owned(),
        };
        Ok(StoreError::NoRun { path: self.path.clone(), id, present })
    }
}

fn heading(row: &Row<'_>) -> rusqlite::Result<RunHeading> {
    Ok(RunHeading {
        id: row.get("id")?,
        label: row.get("label")?,
        name: row.get("name")?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        state: state(row)?,
        tags: from_json(row, "tags")?,
    })
}

fn run(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get("id")?,
        label: row.get("label")?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        state: state(row)?,
        version: row.get("version")?,
        command_line: from_json(row, "command_line")?,
        experiment: from_json(row, "experiment")?,
        plan: from_json(row, "plan")?,
        machine: from_json(row, "machine")?,
        service_cpus: from_json(row, "service_cpus")?,
        load_cpus: from_json(row, "load_cpus")?,
        metrics: from_json(row, "metrics")?,
        side_by_side: from_json(row, "side_by_side")?,
        notes: from_json(row, "notes")?,
        failures: from_json(row, "failures")?,
        surroundings: from_json(row, "surroundings")?,
        time_spent: from_json(row, "time_spent")?,
        tags: from_json(row, "tags")?,
    })
}

fn slice(row: &Row<'_>) -> rusqlite::Result<SliceRow> {
    Ok(SliceRow {
        cell: cell(row)?,
        load: from_json(row, "load")?,
        round: row.get("round")?,
        block: row.get("block")?,
        attempt: row.get("attempt")?,
        position: row.get("position")?,
        at_s: row.get("at_s")?,
        duration_s: row.get("duration_s")?,
        due: row.get("due")?,
        sent_in_time: row.get("sent_in_time")?,
        answered: row.get("answered")?,
        answered_in_time: row.get("answered_in_time")?,
        waited: row.get("waited")?,
        reconnects: row.get("reconnects")?,
        received_bytes: row.get("received_bytes")?,
        load_cpu_ns: row.get("load_cpu_ns")?,
        load_spun_ns: row.get("load_spun_ns")?,
        errors: from_json(row, "errors")?,
        by_request: from_json(row, "by_request")?,
        response: times(row, "response")?,
        service: times(row, "service")?,
        send_lag: times(row, "send_lag")?,
        observations: from_json(row, "observations")?,
        cpu_use: from_json(row, "cpu_use")?,
        gate_failures: from_json(row, "gate_failures")?,
        trial: from_json(row, "trial")?,
    })
}
