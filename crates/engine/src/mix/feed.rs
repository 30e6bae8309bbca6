//! A CSV file whose rows fill placeholders: the header row names the columns, and request number n takes row n mod rows, so
//! that what is sent does not depend on the number of workers.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of a CSV file (RFC 4180), held in memory by column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Feed {
    names: Arc<[String]>,
    columns: Arc<[Arc<Column>]>,
    /// The line of the file on which each row begins.
    lines: Arc<[u64]>,
}

/// Why a file can't feed requests.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A row has more or fewer fields than there are columns.
    #[error(
        "{}, line {line}: {fields} fields, but the first row names {columns} columns: write one field for each column, \
         and quote fields that contain a comma",
        path.display()
    )]
    Ragged {
        /// Which file.
        path: PathBuf,
        /// On which line the row begins, from 1.
        line: u64,
        /// Fields of the row.
        fields: u64,
        /// Fields of the header row.
        columns: u64,
    },
    /// Two columns have the same name.
    #[error("{} has two columns `{name}`: rename one in the first row", path.display())]
    SameName {
        /// Which file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The names of the columns are no UTF-8 text.
    #[error("the first row of {} is not UTF-8: it must name the columns", path.display())]
    Names {
        /// Which file.
        path: PathBuf,
    },
    /// Nothing follows the header row.
    #[error("{} has no data rows: write the column names in the first line and at least one row below", path.display())]
    NoRows {
        /// Which file.
        path: PathBuf,
    },
}

/// One column: the values of all rows, end to end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Column {
    values: Vec<u8>,
    ends: Vec<usize>,
}

impl Feed {
    /// Reads a CSV file.
    ///
    /// # Errors
    /// When it can't be read, has no row, or a row has another number of fields than the header row.
    pub fn read(path: &Path) -> Result<Feed, FeedError> {
        let file = File::open(path).map_err(|source| FeedError::Read { path: path.to_owned(), source })?;
        Feed::parse(path, file)
    }

    /// Reads CSV from `text`; `path` is where it is said to come from.
    ///
    /// # Errors
    /// As of [`Feed::read`].
    pub fn parse(path: &Path, mut text: impl Read) -> Result<Feed, FeedError> {
        let mut bytes = Vec::new();
        text.read_to_end(&mut bytes).map_err(|source| FeedError::Read { path: path.to_owned(), source })?;
        let mut lines = Lines { text: &bytes, at: 0, line: 1 };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(bytes.as_slice());
        let names: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(str::to_owned).collect(),
            Err(error) => return Err(complain(path, error, &mut lines)),
        };
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(FeedError::SameName { path: path.to_owned(), name: name.clone() });
            }
        }
        let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
        let mut starts = Vec::new();
        let mut record = csv::ByteRecord::new();
        loop {
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(complain(path, error, &mut lines)),
            }
            starts.push(lines.of(record.position()));
            for (column, value) in columns.iter_mut().zip(&record) {
                column.push(value);
            }
        }
        if starts.is_empty() {
            return Err(FeedError::NoRows { path: path.to_owned() });
        }
        Ok(Feed {
            names: names.into(),
            columns: columns.into_iter().map(Arc::new).collect(),
            lines: starts.into(),
        })
    }

    /// Names of the columns, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many rows there are; at least one.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// A column by its name.
    pub(super) fn column(&self, name: &str) -> Option<&Arc<Column>> {
        let index = self.names.iter().position(|known| known == name)?;
        self.columns.get(index)
    }

    /// The line of the first row whose value in `column` is not `allowed`.
    pub(super) fn first_not(&self, column: &Column, allowed: impl Fn(&[u8]) -> bool) -> Option<u64> {
        (0..self.rows()).find(|row| !allowed(column.value(*row))).map(|row| self.lines[row])
    }
}

/// Counts lines, because the reader's own count stops before the line end and the empty lines that precede a row.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line on which the row begins that was read from `position` on; rows come in order.
    fn of(&mut self, position: Option<&csv::Position>) -> u64 {
        let byte = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.at);
        while let Some(next) = self.text.get(self.at)
            && (self.at < byte || matches!(next, b'\r' | b'\n'))
        {
            self.line += u64::from(*next == b'\n');
            self.at += 1;
        }
        self.line
    }
}

impl Column {
    fn push(&mut self, value: &[u8]) {
        self.values.extend_from_slice(value);
        self.ends.push(self.values.len());
    }

    /// The value of a row.
    #[inline]
    pub fn value(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.values[start..self.ends[row]]
    }

    /// The same column without white space around the values, which HTTP does not count as part of a header's value.
    pub fn trimmed(&self) -> Column {
        let mut trimmed = Column::default();
        (0..self.ends.len()).for_each(|row| trimmed.push(self.value(row).trim_ascii()));
        trimmed
    }

    /// The same column with each value as it may stand in a path and query.
    ///
    /// A value may hold several segments or a query: what may stand there (RFC 3986, sections 3.3 and 3.4) is kept, and so
    /// is a `%` that two hexadecimal digits follow. All else is percent-encoded, `#` as well: a fragment is never sent.
    pub fn in_path(&self) -> Column {
        let mut encoded = Column::default();
        let mut value = Vec::new();
        for row in 0..self.ends.len() {
            value.clear();
            append_in_path(self.value(row), &mut value);
            encoded.push(&value);
        }
        encoded
    }
}

fn append_in_path(value: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in value.iter().enumerate() {
        let is_encoded =
            || value.get(index + 1..index + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
        if byte.is_ascii_alphanumeric()
            || b"-._~!$&'()*+,;=:@/?".contains(byte)
            || (*byte == b'%' && is_encoded())
        {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
}

fn complain(path: &Path, error: csv::Error, lines: &mut Lines<'_>) -> FeedError {
    let path = path.to_owned();
    match error.into_kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            FeedError::Ragged { path, line: lines.of(pos.as_ref()), fields: len, columns: expected_len }
        }
        csv::ErrorKind::Utf8 { .. } => FeedError::Names { path },
        csv::ErrorKind::Io(source) => FeedError::Read { path, source },
        // The other kinds are of seeking, serde and writing.
        other => FeedError::Read { path, source: io::Error::other(format!("{other:?}")) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(text: &str) -> Result<Feed, FeedError> {
        Feed::parse(Path::new("users.csv"), text.as_bytes())
    }

    #[test]
    fn rows_are_read_as_csv() {
        let feed = feed("\u{feff}id, name\r\n1,\"Ann, \"\"the\"\" first\"\n\n2, Bob \n").unwrap();
        assert_eq!(feed.names(), ["id", "name"]);
        assert_eq!(feed.rows(), 2);
        let name = feed.column("name").unwrap();
        assert_eq!(name.value(0), b"Ann, \"the\" first");
        assert_eq!(name.value(1), b" Bob ");
        assert_eq!(feed.first_not(name, |value| value.starts_with(b"A")), Some(4));
        assert!(feed.column("age").is_none());
    }

    #[test]
    fn errors_say_where_and_what_to_write() {
        for (text, message) in [
            (
                "a,b\n1,2\n3\n",
                "users.csv, line 3: 1 fields, but the first row names 2 columns: write one field for each column, and \
                 quote fields that contain a comma",
            ),
            (
                "a,b\r\n1,2\r\n\r\n\"x\r\ny\",4\r\n1,2,3\r\n",
                "users.csv, line 6: 3 fields, but the first row names 2 columns: write one field for each column, and \
                 quote fields that contain a comma",
            ),
            ("a,b,a\n1,2,3\n", "users.csv has two columns `a`: rename one in the first row"),
            (
                "a,b\n",
                "users.csv has no data rows: write the column names in the first line and at least one row below",
            ),
            (
                "",
                "users.csv has no data rows: write the column names in the first line and at least one row below",
            ),
        ] {
            assert_eq!(feed(text).unwrap_err().to_string(), message, "{text}");
        }
        let error = Feed::parse(Path::new("x"), &b"\xff\n1\n"[..]).unwrap_err();
        assert_eq!(error.to_string(), "the first row of x is not UTF-8: it must name the columns");
        let error = Feed::read(Path::new("/nonexistent.csv")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read /nonexistent.csv: "), "{error}");
    }

    #[test]
    fn what_may_not_stand_in_a_path_is_percent_encoded() {
        let column = feed("p\n/a/b?c=d&e\n\"ä b#\"\n100%\n50%25\n\"x\r\ny\"\n").unwrap().columns[0].in_path();
        let values: Vec<&str> = (0..5).map(|row| std::str::from_utf8(column.value(row)).unwrap()).collect();
        assert_eq!(values, ["/a/b?c=d&e", "%C3%A4%20b%23", "100%25", "50%25", "x%0D%0Ay"]);
    }
}
