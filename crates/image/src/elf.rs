//! Whether a file is a program that needs nothing but a Linux kernel, and for which machine: as its ELF headers say (elf(5)).
//! Nothing is trusted: every offset is checked against the file.

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadRef};
use oci_spec::image::Arch;

/// Why a file can't be the only one of an image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A text that names its interpreter.
    #[error("is a script, and the image holds no interpreter: give a statically linked program")]
    Script,
    /// Neither ELF nor script.
    #[error("is not a Linux program (ELF): give the file that the compiler made")]
    NotElf,
    /// The headers contradict each other or the file's length.
    #[error("is a damaged program ({0}): build or copy it anew")]
    Damaged(String),
    /// An object file, a core dump.
    #[error("is {0}, not a program: give the file that the linker made")]
    NotLinked(&'static str),
    /// Something without a start of its own.
    #[error("is a shared library, not a program: give a statically linked program")]
    Library,
    /// It names a loader, which brings the shared libraries.
    #[error(
        "is not static: it needs {loader} and shared libraries, and the image holds the program alone. Link it statically; \
        Rust: RUSTFLAGS='-C target-feature=+crt-static' cargo build --target x86_64-unknown-linux-gnu (or -musl), \
        Go: CGO_ENABLED=0 go build, C: cc -static"
    )]
    Dynamic {
        /// Its path, as the program has it.
        loader: String,
    },
    /// Linux or images have no word for this processor.
    #[error(
        "is for a processor that images are not made for (ELF machine {machine}, {bits} bits, {order}): {KNOWN}"
    )]
    Machine {
        /// `e_machine`.
        machine: u16,
        /// Size of its addresses.
        bits: u8,
        /// Byte order.
        order: &'static str,
    },
}

const KNOWN: &str = "build it for amd64, arm64, arm, 386, riscv64, ppc64le, s390x or loong64";

/// The machine that a program is for, if it needs nothing but a kernel.
pub fn examine<'data>(data: impl ReadRef<'data>) -> Result<Arch, Unfit> {
    if data.read_bytes_at(0, 2) == Ok(b"#!") {
        return Err(Unfit::Script);
    }
    if data.read_bytes_at(0, 4) != Ok(&elf::ELFMAG[..]) {
        return Err(Unfit::NotElf);
    }
    match FileKind::parse(data) {
        Ok(FileKind::Elf32) => program::<FileHeader32<Endianness>>(data, 32),
        Ok(FileKind::Elf64) => program::<FileHeader64<Endianness>>(data, 64),
        Ok(_) => Err(Unfit::NotElf),
        Err(error) => Err(Unfit::Damaged(error.to_string())),
    }
}

fn program<'data, Elf>(data: impl ReadRef<'data>, bits: u8) -> Result<Arch, Unfit>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let damaged = |error: object::read::Error| Unfit::Damaged(error.to_string());
    let header = Elf::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    match header.e_type(endian) {
        elf::ET_EXEC | elf::ET_DYN => {}
        elf::ET_REL => return Err(Unfit::NotLinked("an object file")),
        elf::ET_CORE => return Err(Unfit::NotLinked("a core dump")),
        other => return Err(Unfit::Damaged(format!("unknown type {}", other.0))),
    }
    let segments = header.program_headers(endian, data).map_err(damaged)?;
    let file_bytes = data.len().map_err(|()| Unfit::Damaged("its length can't be told".to_owned()))?;
    let mut needs_libraries = false;
    for segment in segments {
        let (start, length) = segment.file_range(endian);
        let is_loaded = segment.p_type(endian) == elf::PT_LOAD;
        if is_loaded && start.checked_add(length).is_none_or(|end| end > file_bytes) {
            return Err(Unfit::Damaged("cut short".to_owned()));
        }
        if let Some(loader) = segment.interpreter(endian, data).map_err(damaged)? {
            return Err(Unfit::Dynamic { loader: String::from_utf8_lossy(loader).into_owned() });
        }
        // A static program that may stand anywhere in memory has a dynamic section too, which names no library.
        let entries = segment.dynamic(endian, data).map_err(damaged)?.unwrap_or_default();
        needs_libraries |= entries.iter().any(|entry| entry.tag(endian) == elf::DT_NEEDED);
    }
    if needs_libraries || header.e_entry(endian).into() == 0 {
        return Err(Unfit::Library);
    }
    let machine = header.e_machine(endian);
    architecture(machine, bits, endian).ok_or(Unfit::Machine {
        machine: machine.0,
        bits,
        order: match endian {
            Endianness::Little => "little-endian",
            Endianness::Big => "big-endian",
        },
    })
}

/// Go's name of the machine, which images use (image-spec, config.md: `architecture` is a GOARCH).
fn architecture(machine: elf::Machine, bits: u8, endian: Endianness) -> Option<Arch> {
    Some(match (machine, bits, endian) {
        (elf::EM_X86_64, 64, Endianness::Little) => Arch::Amd64,
        (elf::EM_AARCH64, 64, Endianness::Little) => Arch::ARM64,
        (elf::EM_ARM, 32, Endianness::Little) => Arch::ARM,
        (elf::EM_386, 32, Endianness::Little) => Arch::i386,
        (elf::EM_RISCV, 64, Endianness::Little) => Arch::RISCV64,
        (elf::EM_PPC64, 64, Endianness::Little) => Arch::PowerPC64le,
        (elf::EM_S390, 64, Endianness::Big) => Arch::s390x,
        (elf::EM_LOONGARCH, 64, Endianness::Little) => Arch::LoongArch64,
        _ => return None,
    })
}
