//! Keeping a store in order: naming and tagging runs, deleting them, copying them to another store.

use std::path::Path;

use loadline_model::RunState;
use rusqlite::{OptionalExtension, params};

use crate::columns::json;
use crate::{Store, StoreError};

/// The tables whose rows belong to a run.
const OF_RUNS: [&str; 5] = ["deployment", "warm_up", "slice", "profile", "tail"];

/// A run in the store that it was copied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its number there.
    pub number: i64,
    /// It was there before.
    pub was_there: bool,
}

impl Store {
    /// Calls a run something else.
    ///
    /// # Errors
    /// When there is no such run, or the name is empty or cannot be shown.
    pub fn rename(&self, run: i64, name: &str) -> Result<(), StoreError> {
        let name = named(name)?;
        self.heading(run)?;
        self.change(
            "UPDATE run SET name = ?2, experiment = json_set(experiment, '$.name', ?2) WHERE id = ?1",
            run,
            name,
        )
    }

    /// Sets the tags of a run, each of them once.
    ///
    /// # Errors
    /// When there is no such run, or a tag is empty or cannot be shown.
    pub fn set_tags(&self, run: i64, tags: &[String]) -> Result<(), StoreError> {
        self.heading(run)?;
        let mut all: Vec<&str> = Vec::new();
        for tag in tags {
            let tag = named(tag)?;
            if !all.contains(&tag) {
                all.push(tag);
            }
        }
        self.change("UPDATE run SET tags = ?2 WHERE id = ?1", run, &json(&all))
    }

    /// Deletes runs with all that was measured in them. Their space is for further runs, until the store is shrunk.
    ///
    /// # Errors
    /// When one of them does not exist; none is deleted then.
    pub fn delete(&self, runs: &[i64]) -> Result<(), StoreError> {
        for run in runs {
            self.run(Some(*run))?;
        }
        let delete = || {
            let transaction = self.connection.unchecked_transaction()?;
            for run in runs {
                for table in OF_RUNS {
                    transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
                }
                transaction.execute("DELETE FROM run WHERE id = ?1", [run])?;
            }
            transaction.commit()
        };
        delete().map_err(|error| self.error(error))
    }

    /// Gives the space of deleted runs back, as far as that is possible now. The whole store is written anew, and other writers wait for that.
    pub fn shrink(&self) {
        // What cannot be given back now is used by further runs.
        let _ = self.connection.execute_batch("VACUUM");
    }

    /// Copies runs into the store at `path`, which is made if it is not there, and passes over those that it has; returns what they are there, in
    /// the same order.
    ///
    /// # Errors
    /// When one of them does not exist, or the other store cannot be written.
    pub fn copy(&self, runs: &[i64], path: &Path) -> Result<Vec<Copied>, StoreError> {
        for run in runs {
            self.run(Some(*run))?;
        }
        // Brings it to this version.
        drop(Store::create(path)?);
        let copy = || {
            self.connection.execute("ATTACH DATABASE ?1 AS other", [path.to_string_lossy()])?;
            let copied = self.copy_attached(runs);
            self.connection.execute_batch("DETACH DATABASE other")?;
            copied
        };
        copy().map_err(|error: rusqlite::Error| StoreError::Sqlite { path: path.to_owned(), source: error })
    }

    fn copy_attached(&self, runs: &[i64]) -> rusqlite::Result<Vec<Copied>> {
        let transaction = self.connection.unchecked_transaction()?;
        let mut copied = Vec::new();
        for run in runs {
            if let Some(number) = self.number_in_other(*run)? {
                copied.push(Copied { number, was_there: true });
                continue;
            }
            let columns = self.columns("run", "id")?;
            let insert =
                format!("INSERT INTO other.run ({columns}) SELECT {columns} FROM main.run WHERE id = ?1");
            transaction.execute(&insert, [run])?;
            let number = transaction.last_insert_rowid();
            for table in OF_RUNS {
                let columns = self.columns(table, "run")?;
                let insert = format!(
                    "INSERT INTO other.{table} (run, {columns}) SELECT ?2, {columns} FROM main.{table} WHERE run = ?1"
                );
                transaction.execute(&insert, params![run, number])?;
            }
            copied.push(Copied { number, was_there: false });
        }
        transaction.commit()?;
        Ok(copied)
    }

    /// The number of a run in the attached store, if that has it: names are random, but short. A copy that was made while the run was measured
    /// lacks what came after it, and does not count once the run has ended.
    fn number_in_other(&self, run: i64) -> rusqlite::Result<Option<i64>> {
        let find = "SELECT there.id FROM main.run AS here JOIN other.run AS there USING (label, started)
            WHERE here.id = ?1 AND (there.state <> ?2 OR here.state = ?2) ORDER BY there.id LIMIT 1";
        let unfinished = RunState::Unfinished.name();
        self.connection.query_row(find, params![run, unfinished], |row| row.get(0)).optional()
    }

    /// The columns of a table but one, as SQL has them. A store that was migrated has them in another order than a new one.
    fn columns(&self, table: &str, without: &str) -> rusqlite::Result<String> {
        let mut statement =
            self.connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE name <> ?2")?;
        let names: rusqlite::Result<Vec<String>> =
            statement.query_map([table, without], |row| row.get(0))?.collect();
        Ok(names?.join(", "))
    }

    fn change(&self, sql: &str, run: i64, value: &str) -> Result<(), StoreError> {
        self.connection.execute(sql, params![run, value]).map(|_| ()).map_err(|error| self.error(error))
    }
}

/// Without the spaces around it.
fn named(text: &str) -> Result<&str, StoreError> {
    let name = text.trim();
    match name.is_empty() || name.chars().any(char::is_control) {
        true => Err(StoreError::NoName(text.to_owned())),
        false => Ok(name),
    }
}
