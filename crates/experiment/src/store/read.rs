//! Reading a run back, whole.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use rusqlite::{OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use super::{DeploymentRow, RunRow, RunState, SliceRow, Store, StoreError, WarmUpRow};

impl Store {
    /// Numbers and names of the runs, oldest first.
    pub fn runs(&self) -> Result<Vec<(i64, String, String)>, StoreError> {
        self.all("SELECT id, name, started FROM run ORDER BY id", None, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// A run; without a number the latest one.
    pub fn run(&self, id: Option<i64>) -> Result<RunRow, StoreError> {
        let Some(id) = id.or(self.runs()?.last().map(|run| run.0)) else {
            return Err(self.no_run(0)?);
        };
        let texts = self
            .connection
            .query_row(
                "SELECT label, started, finished, state, version, command_line, experiment, plan, machine, service_cpus,
                    load_cpus, side_by_side, notes, failures FROM run WHERE id = ?1",
                [id],
                |row| (0..14).map(|column| row.get(column)).collect::<Result<Vec<Option<String>>, _>>(),
            )
            .optional()
            .map_err(|e| self.error(e))?;
        let Some(mut texts) = texts else { return Err(self.no_run(id)?) };
        let mut text = |column: usize| texts[column].take().unwrap_or_default();
        let (label, started, finished) = (text(0), text(1), Some(text(2)).filter(|text| !text.is_empty()));
        let state = format!("\"{}\"", text(3));
        Ok(RunRow {
            id,
            label,
            started,
            finished,
            state: self.parse::<RunState>(id, "the state", &state)?,
            version: text(4),
            command_line: self.parse(id, "the command line", &text(5))?,
            experiment: self.parse(id, "the experiment", &text(6))?,
            plan: self.parse(id, "the plan", &text(7))?,
            machine: self.parse(id, "the machine", &text(8))?,
            service_cpus: self.parse(id, "the service's CPUs", &text(9))?,
            load_cpus: self.parse(id, "the load's CPUs", &text(10))?,
            side_by_side: self.parse(id, "the cells side by side", &text(11))?,
            notes: self.parse(id, "the notes", &text(12))?,
            failures: self.parse(id, "the failures", &text(13))?,
        })
    }

    /// Deployments of a run, by round and site.
    pub fn deployments(&self, run: i64) -> Result<Vec<DeploymentRow>, StoreError> {
        let rows = self.all(
            "SELECT site, round, at_s, ready_ms, left_out FROM deployment WHERE run = ?1 ORDER BY round, site",
            Some(run),
            |row| {
                let left_out: String = row.get(4)?;
                let deployment = DeploymentRow {
                    site: index(row, 0)?,
                    round: row.get(1)?,
                    at_s: row.get(2)?,
                    ready_ms: row.get(3)?,
                    left_out: Vec::new(),
                };
                Ok((deployment, left_out))
            },
        )?;
        rows.into_iter()
            .map(|(row, left_out)| {
                Ok(DeploymentRow { left_out: self.parse(run, "a deployment", &left_out)?, ..row })
            })
            .collect()
    }

    /// Warm-ups of a run, by round and cell.
    pub fn warm_ups(&self, run: i64) -> Result<Vec<WarmUpRow>, StoreError> {
        let rows = self.all(
            "SELECT cell, round, seconds, stationary, figures FROM warm_up WHERE run = ?1 ORDER BY round, cell",
            Some(run),
            |row| {
                let figures: String = row.get(4)?;
                let warm_up = WarmUpRow {
                    cell: index(row, 0)?,
                    round: row.get(1)?,
                    seconds: row.get(2)?,
                    stationary: row.get(3)?,
                    figures: Vec::new(),
                };
                Ok((warm_up, figures))
            },
        )?;
        rows.into_iter()
            .map(|(row, figures)| Ok(WarmUpRow { figures: self.parse(run, "a warm-up", &figures)?, ..row }))
            .collect()
    }

    /// Slices of a run in the order of measurement.
    pub fn slices(&self, run: i64) -> Result<Vec<SliceRow>, StoreError> {
        struct Raw {
            numbers: [u64; 8],
            json: [String; 4],
            histograms: [Vec<u8>; 3],
            place: (usize, u32, u32, u32, u32),
            times: (f64, f64),
        }
        let raws = self.all(
            "SELECT due, sent_in_time, answered, answered_in_time, waited, reconnects, received_bytes, load_cpu_ns,
                errors, observations, coalesce(cpu_use, 'null'), gate_failures, response, service, send_lag,
                cell, round, block, attempt, position, at_s, duration_s
             FROM slice WHERE run = ?1 ORDER BY at_s, position",
            Some(run),
            |row| {
                let mut numbers = [0; 8];
                for (column, number) in numbers.iter_mut().enumerate() {
                    *number = row.get::<_, i64>(column)? as u64;
                }
                Ok(Raw {
                    numbers,
                    json: [row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?],
                    histograms: [row.get(12)?, row.get(13)?, row.get(14)?],
                    place: (index(row, 15)?, row.get(16)?, row.get(17)?, row.get(18)?, row.get(19)?),
                    times: (row.get(20)?, row.get(21)?),
                })
            },
        )?;
        let whole = |raw: Raw| {
            let [
                due,
                sent_in_time,
                answered,
                answered_in_time,
                waited,
                reconnects,
                received_bytes,
                load_cpu_ns,
            ] = raw.numbers;
            let (cell, round, block, attempt, position) = raw.place;
            Ok(SliceRow {
                cell,
                round,
                block,
                attempt,
                position,
                at_s: raw.times.0,
                duration_s: raw.times.1,
                due,
                sent_in_time,
                answered,
                answered_in_time,
                waited,
                reconnects,
                received_bytes,
                load_cpu_ns,
                errors: self.parse(run, "the errors of a slice", &raw.json[0])?,
                response: self.decode(run, &raw.histograms[0])?,
                service: self.decode(run, &raw.histograms[1])?,
                send_lag: self.decode(run, &raw.histograms[2])?,
                observations: self.parse(run, "the observations of a slice", &raw.json[1])?,
                cpu_use: self.parse(run, "the CPU use of a slice", &raw.json[2])?,
                gate_failures: self.parse(run, "the gates of a slice", &raw.json[3])?,
            })
        };
        raws.into_iter().map(whole).collect()
    }

    fn all<T>(
        &self,
        sql: &str,
        run: Option<i64>,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(sql)?;
            match run {
                Some(run) => statement.query_map(params![run], read)?.collect(),
                None => statement.query_map([], read)?.collect(),
            }
        };
        rows().map_err(|e| self.error(e))
    }

    fn parse<T: DeserializeOwned>(&self, run: i64, what: &'static str, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.damaged(run, what, error))
    }

    fn decode(&self, run: i64, bytes: &[u8]) -> Result<Histogram<u64>, StoreError> {
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut &bytes[..])
            .map_err(|error| self.damaged(run, "a histogram", format!("{error:?}")))?;
        let ours = loadline_engine::new_histogram();
        let bounds = |histogram: &Histogram<u64>| (histogram.low(), histogram.high(), histogram.sigfig());
        if bounds(&histogram) == bounds(&ours) {
            Ok(histogram)
        } else {
            Err(self.damaged(run, "a histogram", "its bounds are not loadline's"))
        }
    }

    fn no_run(&self, id: i64) -> Result<StoreError, StoreError> {
        let runs = self.runs()?;
        let present = match (runs.first(), runs.last()) {
            (Some(first), Some(last)) if first.0 == last.0 => format!("it holds run {}", first.0),
            (Some(first), Some(last)) => format!("it holds runs {} to {}", first.0, last.0),
            _ => "it holds no run yet".to_owned(),
        };
        Ok(StoreError::NoRun { path: self.path.clone(), id, present })
    }
}

fn index(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    Ok(row.get::<_, i64>(column)? as usize)
}
