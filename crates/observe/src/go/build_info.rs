//! What Go writes into each program about how it was built: its version, the settings of the build, and with them what GODEBUG is by default
//! (Go, src/debug/buildinfo/buildinfo.go). Every length is checked.

/// What begins it, at an address that is a multiple of 16.
const MAGIC: &[u8] = b"\xff Go buildinf:";
const ALIGN: usize = 16;
const HEADER_BYTES: usize = 32;
/// Since Go 1.18 the texts follow the header; before, it pointed to them.
const INLINE: u8 = 2;
/// What surrounds the settings.
const MARK_BYTES: usize = 16;
const LONGEST_TEXT: u64 = 1 << 20;

/// What is known of a build.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BuildInfo {
    /// `go1.26.1`.
    pub(crate) version: String,
    /// `build` lines: `-ldflags`, `DefaultGODEBUG`, …
    settings: Vec<(String, String)>,
}

impl BuildInfo {
    /// Finds it in the section `.go.buildinfo`.
    pub(crate) fn parse(section: &[u8]) -> Option<BuildInfo> {
        let starts = (0..section.len()).step_by(ALIGN);
        let info = starts.filter_map(|at| section.get(at..)).find(|rest| rest.starts_with(MAGIC))?;
        if info.get(MAGIC.len() + 1)? & INLINE == 0 {
            return None;
        }
        let (version, rest) = text(info.get(HEADER_BYTES..)?)?;
        let (module, _) = text(rest)?;
        let module = module.get(MARK_BYTES..module.len().saturating_sub(MARK_BYTES)).unwrap_or_default();
        let settings = String::from_utf8_lossy(module).lines().filter_map(setting).collect();
        Some(BuildInfo { version: String::from_utf8_lossy(version).into_owned(), settings })
    }

    /// The value of a setting.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// `build\tKEY=VALUE`.
fn setting(line: &str) -> Option<(String, String)> {
    let (key, value) = line.strip_prefix("build\t")?.split_once('=')?;
    Some((key.to_owned(), value.trim_matches('"').to_owned()))
}

/// A text after its length (encoding/binary, Uvarint), and what follows it.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut shift, mut at) = (0u64, 0, 0);
    loop {
        let byte = *bytes.get(at)?;
        length |= u64::from(byte & 0x7f) << shift;
        at += 1;
        if byte < 0x80 {
            break;
        }
        shift += 7;
        if shift > 28 {
            return None;
        }
    }
    let length = usize::try_from(length).ok().filter(|length| *length as u64 <= LONGEST_TEXT)?;
    let rest = bytes.get(at..)?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn section(module: &str) -> Vec<u8> {
        let mut bytes = vec![0; ALIGN];
        bytes.extend(MAGIC);
        bytes.extend([8, INLINE]);
        bytes.resize(ALIGN + HEADER_BYTES, 0);
        bytes.push(6);
        bytes.extend(b"go1.26");
        let module = format!("0123456789abcdef{module}0123456789abcdef");
        bytes.extend([(module.len() % 128) as u8 | 0x80, (module.len() / 128) as u8]);
        bytes.extend(module.as_bytes());
        bytes
    }

    #[test]
    fn version_and_settings_are_read() {
        let module =
            "path\tcommand-line\nbuild\t-compiler=gc\nbuild\tDefaultGODEBUG=containermaxprocs=0,x=1\n";
        let found = BuildInfo::parse(&section(module)).unwrap();
        assert_eq!(found.version, "go1.26");
        assert_eq!(found.setting("DefaultGODEBUG"), Some("containermaxprocs=0,x=1"));
        assert_eq!(found.setting("-race"), None);
    }

    #[test]
    fn a_section_without_it_says_nothing() {
        assert_eq!(BuildInfo::parse(&[0; 64]), None);
        assert_eq!(BuildInfo::parse(&section("")[..ALIGN + HEADER_BYTES + 3]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(at in 0usize..120, with in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut bytes = section("path\tcommand-line\nbuild\t-compiler=gc\n");
            for (byte, new) in bytes.iter_mut().skip(at).zip(with) {
                *byte = new;
            }
            let _ = BuildInfo::parse(&bytes);
        }
    }
}
