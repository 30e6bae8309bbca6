//! What an ELF file asks of the loader: its dynamic section (elf(5), ld.so(8)). Nothing is trusted: every offset is checked against the file.

use std::fs::File;
use std::path::Path;

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};
use oci_spec::image::Arch;

use crate::elf::architecture;

/// The dynamic section of a program or a shared library; empty for a static program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Linkage {
    /// `None` for a processor that images have no name for.
    pub architecture: Option<Arch>,
    /// The loader's path (`PT_INTERP`), which only programs name, apart from a few libraries that can be started.
    pub loader: Option<String>,
    /// Names of libraries (`DT_NEEDED`).
    pub needed: Vec<String>,
    /// The name that others need it by (`DT_SONAME`).
    pub name: Option<String>,
    /// Where its libraries and those of its libraries are looked for first (`DT_RPATH`).
    pub rpath: Vec<String>,
    /// Where its own libraries are looked for (`DT_RUNPATH`); what makes `DT_RPATH` void.
    pub runpath: Option<Vec<String>>,
    /// Whether its libraries are not looked for in the default folders (`DF_1_NODEFLIB`).
    pub is_without_defaults: bool,
}

impl Linkage {
    /// Reads a file; `None` if it is no program or shared library, or a damaged one, which no loader would take.
    pub fn read(path: &Path) -> Option<Linkage> {
        let file = File::open(path).ok()?;
        let data = &ReadCache::new(&file);
        match FileKind::parse(data) {
            Ok(FileKind::Elf32) => linkage::<FileHeader32<Endianness>>(data, 32),
            Ok(FileKind::Elf64) => linkage::<FileHeader64<Endianness>>(data, 64),
            _ => None,
        }
    }
}

fn linkage<'data, Elf>(data: impl ReadRef<'data>, bits: u8) -> Option<Linkage>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    if ![elf::ET_EXEC, elf::ET_DYN].contains(&header.e_type(endian)) {
        return None;
    }
    let mut linkage =
        Linkage { architecture: architecture(header.e_machine(endian), bits, endian), ..Linkage::default() };
    let segments = header.program_headers(endian, data).ok()?;
    let mut entries = None;
    for segment in segments {
        if let Some(loader) = segment.interpreter(endian, data).ok()? {
            linkage.loader = Some(String::from_utf8_lossy(loader).into_owned());
        }
        entries = entries.or(segment.dynamic(endian, data).ok()?);
    }
    let Some(entries) = entries else { return Some(linkage) };
    let value = |tag| {
        entries
            .iter()
            .find(|entry| entry.tag(endian) == tag)
            .map(|entry| Into::<u64>::into(entry.d_val(endian)))
    };
    // The section has addresses in memory; segments say where they come from in the file.
    let in_file = |address: u64| {
        segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD).find_map(|segment| {
            let (start, length) = segment.file_range(endian);
            let above = address.checked_sub(segment.p_vaddr(endian).into())?;
            (above < length).then(|| start.checked_add(above)).flatten()
        })
    };
    let strings = match (value(elf::DT_STRTAB).and_then(in_file), value(elf::DT_STRSZ)) {
        (Some(start), Some(length)) => StringTable::new(data, start, start.checked_add(length)?),
        _ => StringTable::default(),
    };
    let text = |offset: u64| {
        let bytes = strings.get(u32::try_from(offset).ok()?).ok()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let folders =
        |text: String| text.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned).collect();
    for entry in entries.iter().take_while(|entry| entry.tag(endian) != elf::DT_NULL) {
        let value = entry.d_val(endian).into();
        match entry.tag(endian) {
            elf::DT_NEEDED => linkage.needed.push(text(value)?),
            elf::DT_SONAME => linkage.name = text(value),
            elf::DT_RPATH => linkage.rpath = text(value).map(folders).unwrap_or_default(),
            elf::DT_RUNPATH => linkage.runpath = text(value).map(folders),
            elf::DT_FLAGS_1 => linkage.is_without_defaults = value & elf::DF_1_NODEFLIB.0 != 0,
            _ => {}
        }
    }
    Some(linkage)
}
