//! Whether a file is a program that needs nothing but a Linux kernel, and for which machine: according to its ELF headers (elf(5)).
//! Nothing is trusted: every offset is checked against the file.

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadRef};
use oci_spec::image::Arch;

/// Why a program cannot run in an image without other files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsuitableProgram {
    /// A text that names its interpreter.
    #[error(
        "is a script, and an image of a program alone has no interpreter: make an image of its folder, with the interpreter: \
        loadline image FOLDER --with python3 -o service.tar -- python3 app.py"
    )]
    Script,
    /// Neither ELF nor script.
    #[error("is not a Linux executable (ELF): give the file that the linker wrote")]
    NotElf,
    /// The headers contradict each other or the file's length.
    #[error("is damaged ({0}): build or copy it again")]
    Damaged(String),
    /// An object file, a core dump.
    #[error("is {0}, not an executable: give the file that the linker wrote")]
    NotLinked(&'static str),
    /// Something without an entry point.
    #[error("is a shared library, not an executable: give a statically linked program")]
    Library,
    /// It needs a loader and shared libraries.
    #[error(
        "is not statically linked: it needs {loader} and shared libraries, and an image of a program alone has none. \
        Make an image of the service's folder, which gets the libraries as well: loadline image FOLDER -o service.tar -- ./PROGRAM, \
        or, where an interpreter or a virtual machine runs it, loadline image FOLDER --with node -o service.tar -- node server.js. \
        Or link it statically; Rust: RUSTFLAGS='-C target-feature=+crt-static' cargo build --target x86_64-unknown-linux-gnu (or -musl), \
        Go: CGO_ENABLED=0 go build, C: cc -static"
    )]
    Dynamic {
        /// Its path, as the program has it.
        loader: String,
    },
    /// Images have no name for this processor.
    #[error("is for an unsupported processor (ELF machine {machine}, {bits} bits, {order}): {KNOWN}")]
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
pub fn examine<'data>(data: impl ReadRef<'data>) -> Result<Arch, UnsuitableProgram> {
    if data.read_bytes_at(0, 2) == Ok(b"#!") {
        return Err(UnsuitableProgram::Script);
    }
    if data.read_bytes_at(0, 4) != Ok(&elf::ELFMAG[..]) {
        return Err(UnsuitableProgram::NotElf);
    }
    match FileKind::parse(data) {
        Ok(FileKind::Elf32) => program::<FileHeader32<Endianness>>(data, 32),
        Ok(FileKind::Elf64) => program::<FileHeader64<Endianness>>(data, 64),
        Ok(_) => Err(UnsuitableProgram::NotElf),
        Err(error) => Err(UnsuitableProgram::Damaged(error.to_string())),
    }
}

fn program<'data, Elf>(data: impl ReadRef<'data>, bits: u8) -> Result<Arch, UnsuitableProgram>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let damaged = |error: object::read::Error| UnsuitableProgram::Damaged(error.to_string());
    let header = Elf::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    match header.e_type(endian) {
        elf::ET_EXEC | elf::ET_DYN => {}
        elf::ET_REL => return Err(UnsuitableProgram::NotLinked("an object file")),
        elf::ET_CORE => return Err(UnsuitableProgram::NotLinked("a core dump")),
        other => return Err(UnsuitableProgram::Damaged(format!("unknown type {}", other.0))),
    }
    let segments = header.program_headers(endian, data).map_err(damaged)?;
    let file_bytes =
        data.len().map_err(|()| UnsuitableProgram::Damaged("its length cannot be determined".to_owned()))?;
    let mut needs_libraries = false;
    for segment in segments {
        let (start, length) = segment.file_range(endian);
        let is_loaded = segment.p_type(endian) == elf::PT_LOAD;
        if is_loaded && start.checked_add(length).is_none_or(|end| end > file_bytes) {
            return Err(UnsuitableProgram::Damaged("truncated".to_owned()));
        }
        if let Some(loader) = segment.interpreter(endian, data).map_err(damaged)? {
            return Err(UnsuitableProgram::Dynamic { loader: String::from_utf8_lossy(loader).into_owned() });
        }
        // A static position-independent program also has a dynamic section, which names no library.
        let entries = segment.dynamic(endian, data).map_err(damaged)?.unwrap_or_default();
        needs_libraries |= entries.iter().any(|entry| entry.tag(endian) == elf::DT_NEEDED);
    }
    if needs_libraries || header.e_entry(endian).into() == 0 {
        return Err(UnsuitableProgram::Library);
    }
    let machine = header.e_machine(endian);
    architecture(machine, bits, endian).ok_or(UnsuitableProgram::Machine {
        machine: machine.0,
        bits,
        order: match endian {
            Endianness::Little => "little-endian",
            Endianness::Big => "big-endian",
        },
    })
}

/// Go's name of the machine, which images use (image-spec, config.md: `architecture` is a GOARCH).
pub fn architecture(machine: elf::Machine, bits: u8, endian: Endianness) -> Option<Arch> {
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
