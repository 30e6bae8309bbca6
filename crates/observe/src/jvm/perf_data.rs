//! The performance data that a HotSpot JVM keeps in `/tmp/hsperfdata_USER/PID`, memory that any reader of the file shares: a
//! header, then entries with a name and a value (OpenJDK, src/hotspot/share/runtime/perfMemory.hpp and perfData.hpp). Another process may
//! have written the file: every offset is checked, and what does not fit is an error or left out.

use std::collections::BTreeMap;

/// The first four bytes, whatever the byte order of the rest.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const HEADER_BYTES: usize = 32;
const ENTRY_BYTES: usize = 20;
/// HotSpot of today has a few hundred.
const MOST_ENTRIES: usize = 10_000;
/// Type of an entry as in a class file's descriptors (JVM Specification, 4.3.2).
const LONG: u8 = b'J';
const BYTE: u8 = b'B';

/// The values by name.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PerfData {
    numbers: BTreeMap<String, u64>,
    texts: BTreeMap<String, String>,
}

/// What is wrong with a file of performance data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadPerfData {
    Short,
    Magic,
    Version(u8),
    ByteOrder(u8),
    /// The JVM has not written all of it yet, or removes it.
    NotAccessible,
    Entry {
        number: usize,
    },
    TooManyEntries(usize),
}

impl std::fmt::Display for BadPerfData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadPerfData::Short => f.write_str("it is too short"),
            BadPerfData::Magic => f.write_str("it does not begin as such a file does"),
            BadPerfData::Version(version) => write!(f, "it has version {version}, not 2"),
            BadPerfData::ByteOrder(order) => write!(f, "its byte order is {order}, neither 0 nor 1"),
            BadPerfData::NotAccessible => f.write_str("it is not complete"),
            BadPerfData::Entry { number } => write!(f, "its entry {number} does not fit"),
            BadPerfData::TooManyEntries(count) => write!(f, "it has {count} entries"),
        }
    }
}

impl PerfData {
    /// Reads the bytes of a file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<PerfData, BadPerfData> {
        let header = bytes.get(..HEADER_BYTES).ok_or(BadPerfData::Short)?;
        if header[..4] != MAGIC {
            return Err(BadPerfData::Magic);
        }
        let order = match header[4] {
            0 => Order::Big,
            1 => Order::Little,
            other => return Err(BadPerfData::ByteOrder(other)),
        };
        if header[5] != 2 {
            return Err(BadPerfData::Version(header[5]));
        }
        if header[7] != 1 {
            return Err(BadPerfData::NotAccessible);
        }
        let field = |at| order.length(header, at).ok_or(BadPerfData::Short);
        let (mut at, count) = (field(24)?, field(28)?);
        if count > MOST_ENTRIES {
            return Err(BadPerfData::TooManyEntries(count));
        }
        let mut found = PerfData::default();
        for number in 0..count {
            let bad = BadPerfData::Entry { number };
            let length = order.length(bytes, at).filter(|length| *length >= ENTRY_BYTES).ok_or(bad)?;
            let entry = at.checked_add(length).and_then(|end| bytes.get(at..end)).ok_or(bad)?;
            found.enter(entry, order).ok_or(bad)?;
            at += length;
        }
        Ok(found)
    }

    fn enter(&mut self, entry: &[u8], order: Order) -> Option<()> {
        let (name_at, elements) = (order.length(entry, 4)?, order.length(entry, 8)?);
        let (kind, data) = (entry[12], entry.get(order.length(entry, 16)?..)?);
        let name = String::from_utf8_lossy(until_zero(entry.get(name_at..)?)).into_owned();
        match (kind, elements) {
            (LONG, 0) => {
                // A count is never negative; what has no value yet is -1.
                if let Ok(number) = u64::try_from(order.long(data)?) {
                    self.numbers.insert(name, number);
                }
            }
            (BYTE, 1..) => {
                let text = until_zero(data.get(..elements)?);
                self.texts.insert(name, String::from_utf8_lossy(text).into_owned());
            }
            // Nothing else is read.
            _ => {}
        }
        Some(())
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A time that is kept in ticks, ns.
    pub(crate) fn time_ns(&self, name: &str) -> Option<u64> {
        let per_second = self.number("sun.os.hrt.frequency").filter(|ticks| *ticks > 0)?;
        let ns = u128::from(self.number(name)?) * 1_000_000_000 / u128::from(per_second);
        u64::try_from(ns).ok()
    }
}

/// Bytes up to the zero that ends a text, or all.
fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[derive(Clone, Copy)]
enum Order {
    Big,
    Little,
}

impl Order {
    /// A 32-bit number that is a length or an offset.
    fn length(self, bytes: &[u8], at: usize) -> Option<usize> {
        let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let number = match self {
            Order::Big => i32::from_be_bytes(four),
            Order::Little => i32::from_le_bytes(four),
        };
        usize::try_from(number).ok()
    }

    fn long(self, bytes: &[u8]) -> Option<i64> {
        let eight = bytes.get(..8)?.try_into().ok()?;
        Some(match self {
            Order::Big => i64::from_be_bytes(eight),
            Order::Little => i64::from_le_bytes(eight),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with these entries, as a JVM of this byte order writes it.
    pub(crate) fn file(order: u8, numbers: &[(&str, i64)], texts: &[(&str, &str)]) -> Vec<u8> {
        let int = |number: usize| {
            let number = i32::try_from(number).unwrap();
            if order == 0 { number.to_be_bytes() } else { number.to_le_bytes() }
        };
        let mut entries = Vec::new();
        let mut entry = |name: &str, kind: u8, elements: usize, data: &[u8]| {
            let data_at = (ENTRY_BYTES + name.len() + 1).next_multiple_of(8);
            let length = (data_at + data.len()).next_multiple_of(8);
            let start = entries.len();
            for field in [length, ENTRY_BYTES, elements] {
                entries.extend(int(field));
            }
            entries.extend([kind, 0, 0, 0]);
            entries.extend(int(data_at));
            entries.extend(name.as_bytes());
            entries.resize(start + data_at, 0);
            entries.extend(data);
            entries.resize(start + length, 0);
        };
        for (name, number) in numbers {
            let data = if order == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
            entry(name, LONG, 0, &data);
        }
        for (name, text) in texts {
            entry(name, BYTE, text.len() + 8, &[text.as_bytes(), &[0; 8]].concat());
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend([order, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(int(HEADER_BYTES));
        bytes.extend(int(numbers.len() + texts.len()));
        bytes.extend(entries);
        bytes
    }

    #[test]
    fn numbers_texts_and_times_are_read_in_either_byte_order() {
        for order in [0, 1] {
            let numbers = [("sun.os.hrt.frequency", 1_000_000), ("a.time", 5), ("unknown.yet", -1)];
            let found =
                PerfData::parse(&file(order, &numbers, &[("a.text", "G1"), ("no.text", "")])).unwrap();
            assert_eq!((found.number("a.time"), found.number("unknown.yet")), (Some(5), None));
            assert_eq!((found.text("a.text"), found.text("no.text")), (Some("G1"), None));
            assert_eq!(found.time_ns("a.time"), Some(5_000));
        }
    }

    #[test]
    fn a_file_of_something_else_says_what_is_wrong() {
        let good = file(1, &[("a.number", 1)], &[]);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            PerfData::parse(&bytes)
        };
        assert_eq!(PerfData::parse(&good[..20]), Err(BadPerfData::Short));
        assert_eq!(with(0, 0), Err(BadPerfData::Magic));
        assert_eq!(with(4, 7), Err(BadPerfData::ByteOrder(7)));
        assert_eq!(with(5, 1), Err(BadPerfData::Version(1)));
        assert_eq!(with(7, 0), Err(BadPerfData::NotAccessible));
        // A length of nothing would be read forever, one beyond the end is not there.
        assert_eq!(with(HEADER_BYTES, 0), Err(BadPerfData::Entry { number: 0 }));
        assert_eq!(with(HEADER_BYTES + 1, 1), Err(BadPerfData::Entry { number: 0 }));
        assert_eq!(with(29, 1), Err(BadPerfData::Entry { number: 1 }));
        assert_eq!(with(30, 1), Err(BadPerfData::TooManyEntries(65_537)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(at in 0usize..200, with in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut bytes = file(1, &[("a.number", 1), ("b.number", 2)], &[("a.text", "some text")]);
            for (byte, new) in bytes.iter_mut().skip(at).zip(with) {
                *byte = new;
            }
            let _ = PerfData::parse(&bytes);
        }
    }
}
