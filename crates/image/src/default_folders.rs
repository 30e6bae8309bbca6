//! Where a loader looks for libraries that no file says the folder of: its cache of the folders in `/etc/ld.so.conf`, then the folders that
//! are compiled in (ld.so(8)); musl's has a list of folders only (musl, ldso/dynlink.c).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use oci_spec::image::Arch;

/// The cache that ldconfig(8) writes.
const CACHE: &str = "/etc/ld.so.cache";

/// What the cache begins with, or has behind an older one (glibc, sysdeps/generic/dl-cache.h).
const CACHE_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";

/// Sizes in the cache: what precedes its entries, and an entry.
const CACHE_HEAD_BYTES: usize = 48;
const CACHE_ENTRY_BYTES: usize = 24;

/// How this machine's loaders find libraries by name.
pub struct DefaultFolders {
    cache: HashMap<String, Vec<PathBuf>>,
}

impl DefaultFolders {
    pub fn of_this_machine() -> DefaultFolders {
        DefaultFolders { cache: parse(&std::fs::read(CACHE).unwrap_or_default()).unwrap_or_default() }
    }

    /// Where a library may be, the first place first; not all of these files exist, or are for the processor.
    pub fn places(&self, name: &str, architecture: &Arch, musl: Option<&Path>) -> Vec<PathBuf> {
        if let Some(loader) = musl {
            return musl_folders(loader).iter().map(|folder| folder.join(name)).collect();
        }
        let cached = self.cache.get(name).into_iter().flatten().cloned();
        cached.chain(compiled_in(architecture).map(|folder| Path::new(&folder).join(name))).collect()
    }
}

/// Debian's folders, then everyone's.
fn compiled_in(architecture: &Arch) -> impl Iterator<Item = String> {
    let triplet = match architecture {
        Arch::Amd64 => "x86_64-linux-gnu",
        Arch::ARM64 => "aarch64-linux-gnu",
        Arch::ARM => "arm-linux-gnueabihf",
        Arch::i386 => "i386-linux-gnu",
        Arch::RISCV64 => "riscv64-linux-gnu",
        Arch::PowerPC64le => "powerpc64le-linux-gnu",
        Arch::s390x => "s390x-linux-gnu",
        Arch::LoongArch64 => "loongarch64-linux-gnu",
        _ => "",
    };
    let folders = [
        &format!("/lib/{triplet}"),
        &format!("/usr/lib/{triplet}"),
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    ];
    folders.map(str::to_owned).into_iter()
}

/// The file with the folders of a musl loader: `/etc/ld-musl-x86_64.path` for `/lib/ld-musl-x86_64.so.1`.
pub fn musl_list(loader: &Path) -> Option<PathBuf> {
    let name = loader.file_name()?.to_str()?.strip_suffix(".so.1")?;
    name.starts_with("ld-musl-").then(|| Path::new("/etc").join(format!("{name}.path")))
}

fn musl_folders(loader: &Path) -> Vec<PathBuf> {
    let list = musl_list(loader).and_then(|list| std::fs::read_to_string(list).ok());
    let list = list.unwrap_or_else(|| "/lib:/usr/local/lib:/usr/lib".to_owned());
    list.split([':', '\n']).filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}

/// The libraries in a cache by name; `None` if it is damaged. Those for certain processors only (`glibc-hwcaps`) are left out: an image may
/// run on another one.
fn parse(bytes: &[u8]) -> Option<HashMap<String, Vec<PathBuf>>> {
    let start = bytes.windows(CACHE_MAGIC.len()).position(|window| window == CACHE_MAGIC)?;
    let bytes = &bytes[start..];
    let number = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    let text = |at: usize| {
        let rest = bytes.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    };
    let mut libraries: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for index in 0..number(CACHE_MAGIC.len())? {
        let entry = CACHE_HEAD_BYTES + index * CACHE_ENTRY_BYTES;
        let is_for_all = bytes.get(entry + 16..entry + 24)? == [0; 8];
        let (name, path) = (text(number(entry + 4)?)?, text(number(entry + 8)?)?);
        if is_for_all {
            libraries.entry(name.to_owned()).or_default().push(path.into());
        }
    }
    Some(libraries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_has_libraries_by_name_but_not_those_of_some_processors() {
        let strings = b"liba.so.1\0/lib/liba.so.1\0/lib/glibc-hwcaps/x86-64-v3/liba.so.1\0";
        let base = (CACHE_HEAD_BYTES + 2 * CACHE_ENTRY_BYTES) as u32;
        let entry = |path: u32, hwcap: u64| {
            let numbers = [0x303, base, base + path, 0].map(u32::to_ne_bytes).concat();
            [numbers, hwcap.to_ne_bytes().to_vec()].concat()
        };
        let head = [CACHE_MAGIC, &2_u32.to_ne_bytes(), &[0; 24]].concat();
        let bytes = [head, entry(25, 1 << 62), entry(10, 0), strings.to_vec()].concat();
        let expected = HashMap::from([("liba.so.1".to_owned(), vec![PathBuf::from("/lib/liba.so.1")])]);
        assert_eq!(parse(&bytes), Some(expected));
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), None, "cut after {length}");
        }
    }

    #[test]
    fn musl_has_a_list_named_after_its_loader() {
        let list = musl_list(Path::new("/lib/ld-musl-x86_64.so.1"));
        assert_eq!(list, Some("/etc/ld-musl-x86_64.path".into()));
        assert_eq!(musl_list(Path::new("/lib64/ld-linux-x86-64.so.2")), None);
    }
}
