//! Reading the values of flags: each complaint is kept with the flag that it is about, so that all are told at once.

use std::path::Path;

use loadline_spec::{Complaint, Place, Problems, SpecError};

/// Reads values and gathers what is wrong with them.
#[derive(Default)]
pub struct Reader {
    problems: Problems,
}

impl Reader {
    /// What `parse` makes of the value of a flag.
    pub fn read<T>(
        &mut self,
        flag: &'static str,
        value: &str,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<T> {
        self.problems.note(&place(flag, value), parse(value))
    }

    /// What `parse` makes of the value of a flag that may be missing.
    pub fn read_if_given<T>(
        &mut self,
        flag: &'static str,
        value: Option<&String>,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<Option<T>> {
        match value {
            Some(value) => self.read(flag, value, parse).map(Some),
            None => Some(None),
        }
    }

    /// What `open` makes of the file that a flag names.
    pub fn file<T, E: ToString>(
        &mut self,
        flag: &'static str,
        path: &Path,
        open: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Option<T> {
        let shown = path.to_string_lossy();
        self.problems.note(&place(flag, &shown), open(path).map_err(complaint))
    }

    /// Notes that a flag can't stand.
    pub fn refuse(&mut self, flag: &'static str, value: &str, complaint: Complaint) {
        self.problems.add(&place(flag, value), complaint);
    }

    /// The value, unless anything was wrong.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, SpecError> {
        self.problems.finish(value).map_err(SpecError::without_text)
    }
}

/// An error of a library as a complaint; those of the engine say what to write instead.
pub fn complaint(error: impl ToString) -> Complaint {
    Complaint::new(error.to_string())
}

/// One thing that is wrong with one flag.
pub fn refused(flag: &'static str, value: &str, complaint: Complaint) -> SpecError {
    SpecError::without_text(vec![complaint.at(&place(flag, value))])
}

fn place(flag: &'static str, value: &str) -> Place {
    Place::Flag { name: flag, value: value.to_owned() }
}
