//! A Go program's file: how it was built, and where its runtime has the variables that are read from its memory. Addresses are those of its
//! symbols; where a part of a variable is, the debugging information says, which differs from version to version.

use std::fs::File;
use std::io::Read;

use flate2::read::ZlibDecoder;
use gimli::{AttributeValue, EndianSlice, RunTimeEndian};
use object::{CompressionFormat, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};

use super::build_info::BuildInfo;

/// More is no debugging information of a Go program.
const MOST_DEBUG_BYTES: u64 = 256 << 20;
/// Symbols of a stripped program are in neither table.
const GOMAXPROCS: &str = "runtime.gomaxprocs";
const MEMSTATS: &str = "runtime.memstats";
const GC_CONTROLLER: &str = "runtime.gcController";

/// What is known of a program's file. Addresses are as the file has them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) build: BuildInfo,
    pub(crate) entry: u64,
    /// An int32.
    pub(crate) gomaxprocs: Option<u64>,
    pub(crate) collector: Option<Collector>,
}

/// Where the garbage collector has its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collector {
    /// A uint32.
    pub(crate) collections: u64,
    /// A uint64.
    pub(crate) pause_total_ns: u64,
    /// A uint64.
    pub(crate) heap_live: u64,
}

impl Program {
    /// Reads a file; `None` if it is no Go program of 64 bits.
    pub(crate) fn read(file: File) -> Option<Program> {
        Program::parse(&ReadCache::new(file))
    }

    /// The file is not trusted: every address and length is checked.
    pub(crate) fn parse<'data>(data: impl ReadRef<'data>) -> Option<Program> {
        let object = object::File::parse(data).ok()?;
        let build = object.section_by_name(".go.buildinfo")?;
        let build = BuildInfo::parse(build.data().ok()?)?;
        let mut addresses = [GOMAXPROCS, MEMSTATS, GC_CONTROLLER].map(|name| (name, None));
        if object.is_64() && object.is_little_endian() {
            for symbol in object.symbols() {
                let name = symbol.name_bytes().unwrap_or_default();
                if let Some((_, address)) = addresses.iter_mut().find(|(wanted, _)| wanted.as_bytes() == name)
                {
                    *address = Some(symbol.address());
                }
            }
        }
        let [gomaxprocs, memstats, controller] = addresses.map(|(_, address)| address);
        let collector = memstats.zip(controller).and_then(|(memstats, controller)| {
            let [collections, pause_total, heap_live] = offsets(&object)?;
            Some(Collector {
                collections: memstats.checked_add(collections)?,
                pause_total_ns: memstats.checked_add(pause_total)?,
                heap_live: controller.checked_add(heap_live)?,
            })
        });
        Some(Program { build, entry: object.entry(), gomaxprocs, collector })
    }
}

/// Where the parts are in their variables, from the debugging information.
fn offsets<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Option<[u64; 3]> {
    let section = |name| debug_section(object, name).unwrap_or_default();
    let of_all = gimli::DwarfSections::load(|id| Ok::<_, gimli::Error>(section(id.name()))).ok()?;
    let dwarf = of_all.borrow(|bytes: &Vec<u8>| EndianSlice::new(bytes, RunTimeEndian::Little));
    let mut found = [
        ("runtime.mstats", "numgc"),
        ("runtime.mstats", "pause_total_ns"),
        ("runtime.gcControllerState", "heapLive"),
    ]
    .map(|(of, part)| (of, part, None));
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        let unit = unit.unit_ref(&dwarf);
        let named = |value: Option<AttributeValue<_>>| unit.attr_string(value?).ok();
        let mut entries = unit.entries();
        // The structure that is being read.
        let mut within = None;
        while let Some(entry) = entries.next_dfs().ok()? {
            match entry.tag() {
                gimli::DW_TAG_structure_type => within = named(entry.attr_value(gimli::DW_AT_name)),
                gimli::DW_TAG_member => {
                    let Some(part) = named(entry.attr_value(gimli::DW_AT_name)) else { continue };
                    let at = entry
                        .attr_value(gimli::DW_AT_data_member_location)
                        .and_then(|value| value.udata_value());
                    let is_wanted = |wanted: &&mut (&str, &str, Option<u64>)| {
                        within.is_some_and(|of| of.slice() == wanted.0.as_bytes())
                            && part.slice() == wanted.1.as_bytes()
                    };
                    if let Some((_, _, offset)) = found.iter_mut().find(is_wanted) {
                        *offset = at;
                    }
                }
                _ => {}
            }
        }
        if let [(.., Some(one)), (.., Some(two)), (.., Some(three))] = found {
            return Some([one, two, three]);
        }
    }
    None
}

/// A section's bytes, which Go's linker compresses (zlib).
fn debug_section<'data, R: ReadRef<'data>>(object: &object::File<'data, R>, name: &str) -> Option<Vec<u8>> {
    let compressed = object.section_by_name(name)?.compressed_data().ok()?;
    if compressed.uncompressed_size > MOST_DEBUG_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    match compressed.format {
        CompressionFormat::None => bytes.extend_from_slice(compressed.data),
        CompressionFormat::Zlib => {
            ZlibDecoder::new(compressed.data).take(MOST_DEBUG_BYTES).read_to_end(&mut bytes).ok()?;
        }
        _ => return None,
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fuzzer that starts from what the reader turns away finds nothing.
    #[test]
    fn the_seeds_of_the_fuzzer_are_programs() {
        let read = |seed: &[u8]| Program::parse(seed).expect("a Go program");
        let plain = read(include_bytes!("../../fuzz/seeds/go_program/plain"));
        let memstats = plain.gomaxprocs.expect("symbols") + 8;
        let collector = Collector {
            collections: memstats + 24,
            pause_total_ns: memstats + 32,
            heap_live: memstats + 64 + 40,
        };
        assert_eq!(plain.collector, Some(collector));
        assert_eq!(plain.build.setting("DefaultGODEBUG"), Some("containermaxprocs=0"));
        assert_eq!(read(include_bytes!("../../fuzz/seeds/go_program/compressed")), plain);
        let stripped = read(include_bytes!("../../fuzz/seeds/go_program/stripped"));
        assert_eq!((stripped.gomaxprocs, stripped.collector), (None, None));
        assert_eq!(stripped.build, plain.build);
    }
}
