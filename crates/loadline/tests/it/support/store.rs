//! The store as another program reads it, while a run writes to it or after the run was killed.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

/// A connection that can't write: it must not repair what it looks at.
pub struct Reader {
    connection: Connection,
}

/// Round, block, position, cell and due requests of a slice.
pub type SlicePlace = (u32, u32, u32, usize, u64);

impl Reader {
    /// `None` while there is no store, or none with tables in it.
    pub fn open(path: &Path) -> Option<Reader> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).ok()?;
        (version > 0).then_some(Reader { connection })
    }

    /// Rows of a table that belong to the newest run; `None` while it can't be read.
    pub fn count(&self, table: &str) -> Option<usize> {
        let column = if table == "run" { "id" } else { "run" };
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} = (SELECT max(id) FROM run)");
        let count: i64 = self.connection.query_row(&sql, [], |row| row.get(0)).ok()?;
        usize::try_from(count).ok()
    }

    /// The name that all things of the newest run carry.
    pub fn label(&self) -> String {
        self.text("SELECT label FROM run ORDER BY id DESC LIMIT 1").expect("there is a run")
    }

    /// How the newest run ended.
    pub fn state(&self) -> String {
        self.text("SELECT state FROM run ORDER BY id DESC LIMIT 1").expect("there is a run")
    }

    /// Pages of the file that hold nothing.
    pub fn free_pages(&self) -> i64 {
        self.connection.query_row("PRAGMA freelist_count", [], |row| row.get(0)).expect("a number")
    }

    /// What SQLite finds wrong with the file: `ok` when nothing is.
    pub fn integrity(&self) -> String {
        self.text("PRAGMA integrity_check").expect("an answer")
    }

    /// The first attempts of a run in the order of measurement.
    pub fn slices(&self, run: i64) -> Vec<SlicePlace> {
        let sql = "SELECT round, block, position, cell, due FROM slice WHERE run = ?1 AND attempt = 0
            ORDER BY round, block, position, cell";
        let mut statement = self.connection.prepare(sql).expect("SQL");
        let rows = statement
            .query_map([run], |row| {
                let (cell, due): (i64, i64) = (row.get(3)?, row.get(4)?);
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, cell as usize, due as u64))
            })
            .expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn text(&self, sql: &str) -> Option<String> {
        self.connection.query_row(sql, [], |row| row.get(0)).optional().expect("SQL")
    }
}
