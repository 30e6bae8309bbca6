//! Migrates stores of earlier versions to this one, step by step. Measurements stay unchanged.

use rusqlite::Connection;

/// Version of the tables, in SQLite's `user_version`: that of the data in them.
pub const VERSION: i32 = loadline_model::VERSION as i32;

/// The migrations from version 1 to version 2, and so on.
const STEPS: [&str; VERSION as usize - 1] = [
    "ALTER TABLE run ADD COLUMN surroundings TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE deployment ADD COLUMN startup TEXT NOT NULL DEFAULT '{}';",
    "ALTER TABLE slice ADD COLUMN load_spun_ns INTEGER;
    CREATE TABLE profile (
        run INTEGER NOT NULL REFERENCES run(id), cell INTEGER NOT NULL, round INTEGER NOT NULL,
        answered INTEGER NOT NULL, profile TEXT NOT NULL, reasons TEXT, PRIMARY KEY (run, cell, round)
    ) STRICT;",
    // Until then a slice's load was that of its cell, and notes, failures and failed gates were sentences.
    "ALTER TABLE slice ADD COLUMN load TEXT NOT NULL DEFAULT '';
    UPDATE slice SET
        load = (SELECT json_extract(run.experiment, '$.loads[' ||
            json_extract(run.plan, '$.cells[' || slice.cell || '].load') || '].load') FROM run WHERE run.id = slice.run),
        gate_failures = (SELECT json_group_array(json_set(value, '$.kind', 'text')) FROM json_each(slice.gate_failures));
    UPDATE run SET
        notes = (SELECT json_group_array(json_object('kind', 'text', 'text', value)) FROM json_each(run.notes)),
        failures = (SELECT json_group_array(json_object('site', NULL, 'text', value)) FROM json_each(run.failures));",
    // Until then every run had the same metrics, and each cell was compared with one other at most.
    include_str!("migrate/version_5.sql"),
    // Until then nobody asked where the time of a run went.
    "ALTER TABLE run ADD COLUMN time_spent TEXT;",
    // Until then nobody looked into language runtimes, or beside the slowest requests.
    "ALTER TABLE deployment ADD COLUMN runtime TEXT NOT NULL DEFAULT '{}';
    CREATE TABLE tail (
        run INTEGER NOT NULL REFERENCES run(id), cell INTEGER NOT NULL, round INTEGER NOT NULL,
        answered INTEGER NOT NULL, slowest TEXT NOT NULL, timeline TEXT NOT NULL, PRIMARY KEY (run, cell, round)
    ) STRICT;",
    // The tables are the same. Until then no experiment had conditions or claims on which it fails: a program that does not know them must
    // not report such a run as if it had none.
    "",
    // Until then the requests of a mix were not told apart.
    "ALTER TABLE slice ADD COLUMN by_request TEXT NOT NULL DEFAULT '[]';",
    // Until then no run searched for a capacity, and none had tags.
    "ALTER TABLE slice ADD COLUMN trial TEXT;
    ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';",
    // The tables are the same. Until then no run was cold, and tails knew neither disks, memory nor other clients: a program of before
    // cannot read what is stored of them.
    "",
];

/// Whether a store of this version can be migrated to the current one.
pub fn is_older(version: i32) -> bool {
    (1..VERSION).contains(&version)
}

/// Migrates the store to the current version, in one transaction.
pub fn migrate(connection: &Connection, from: i32) -> rusqlite::Result<()> {
    let steps = STEPS[from as usize - 1..].join("\n");
    // Immediate: another process that opens the store at the same time waits, and then finds it migrated.
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)?;
    let found: i32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == from {
        transaction.execute_batch(&steps)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
