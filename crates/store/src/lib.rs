//! One SQLite file that keeps every run. Each slice is committed as it ends, so that a killed run loses no measurement.

mod columns;
mod keep;
mod migrate;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use keep::Copied;
use migrate::{VERSION, is_older, migrate};

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An error of SQLite.
    #[error("{}", in_words(path, source))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file was written by a newer loadline, or is another program's database.
    #[error(
        "cannot open {path}: its version is {found}, and this loadline reads version {VERSION}: name another file with --store"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its `user_version`.
        found: i32,
    },
    /// There is no such file.
    #[error("there is no store at {0}: run `loadline compare` first, or name a file with --store")]
    Missing(PathBuf),
    /// A name or tag that nobody can type, or read.
    #[error("`{}` is not a name: write a word", .0.escape_debug())]
    NoName(String),
    /// There is no such run.
    #[error("{path} has no run {id}: {present}")]
    NoRun {
        /// The file.
        path: PathBuf,
        /// The requested run.
        id: i64,
        /// The existing runs, as text.
        present: String,
    },
}

/// What is wrong with the file, where that is what SQLite says.
fn in_words(path: &Path, error: &rusqlite::Error) -> String {
    let path = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => format!("cannot write {path}: no space left on its disk"),
        Some(ErrorCode::ReadOnly) => format!("cannot write {path}: it may only be read"),
        Some(ErrorCode::CannotOpen) => {
            format!("cannot open {path}: its folder is not there, or may not be written to")
        }
        Some(ErrorCode::NotADatabase) => format!("cannot open {path}: it is not a store of loadline"),
        Some(ErrorCode::DatabaseBusy) => {
            format!("cannot write {path}: another program has held it for ten seconds")
        }
        _ => format!("{path}: {error}"),
    }
}

/// An open store.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store for writing; creates it if it does not exist.
    pub fn create(path: &Path) -> Result<Store, StoreError> {
        let store = Store::open_with(path, OpenFlags::default())?;
        store.check_version(true)?;
        Ok(store)
    }

    /// Opens an existing store.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let store = Store::open_with(path, OpenFlags::default() & !OpenFlags::SQLITE_OPEN_CREATE)?;
        store.check_version(false)?;
        Ok(store)
    }

    /// A store that is in no file and goes with the value.
    pub fn in_memory() -> Result<Store, StoreError> {
        // https://www.sqlite.org/inmemorydb.html
        Store::create(Path::new(":memory:"))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        let error = |source| StoreError::Sqlite { path: path.to_owned(), source };
        let connection = Connection::open_with_flags(path, flags).map_err(error)?;
        // Two runs may write to one store: each waits for the other's commit.
        connection.busy_timeout(Duration::from_secs(10)).map_err(error)?;
        // A write-ahead log: readers do not block the run, and a commit is one append. What is committed survives a kill of the
        // process (sqlite.org/wal.html); with NORMAL, a power cut may lose the last slices but not damage the file.
        connection.pragma_update(None, "journal_mode", "wal").map_err(error)?;
        connection.pragma_update(None, "synchronous", "normal").map_err(error)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(error)?;
        Ok(Store { connection, path: path.to_owned() })
    }

    fn check_version(&self, may_create: bool) -> Result<(), StoreError> {
        let found: i32 = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|e| self.error(e))?;
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|e| self.error(e))?;
        match found {
            VERSION => Ok(()),
            older if is_older(older) => migrate(&self.connection, older).map_err(|e| self.error(e)),
            0 if tables == 0 && may_create => {
                self.connection.execute_batch(&schema()).map_err(|e| self.error(e))
            }
            _ => Err(StoreError::Version { path: self.path.clone(), found }),
        }
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sqlite { path: self.path.clone(), source }
    }
}

fn schema() -> String {
    format!("BEGIN; {} PRAGMA user_version = {VERSION}; COMMIT;", include_str!("schema.sql"))
}
