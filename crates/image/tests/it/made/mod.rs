//! Programs generated for the tests: ELF files of a few hundred bytes with the headers that a test needs.

pub mod folder;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use loadline_image::{Architecture, ImageError, Program};
use object::Endianness;
use object::elf::{self, FileType, Machine, ProgramType};
use object::write::elf::{FileHeader, ProgramHeader, Writer};

/// The headers of a program, and its segments.
#[derive(Clone)]
pub struct Elf {
    pub kind: FileType,
    pub machine: Machine,
    pub is_64: bool,
    pub endian: Endianness,
    pub entry: u64,
    pub segments: Vec<(ProgramType, Vec<u8>)>,
}

/// A program for x86-64 that would do nothing; it has the segments of a real one.
pub fn elf() -> Elf {
    Elf {
        kind: elf::ET_EXEC,
        machine: elf::EM_X86_64,
        is_64: true,
        endian: Endianness::Little,
        entry: 0x40_0000,
        segments: vec![(elf::PT_LOAD, vec![0xf4; 100]), (elf::PT_NOTE, b"a note".to_vec())],
    }
}

/// A dynamic section of a 64-bit program with one entry of this tag.
pub fn dynamic(tag: i64) -> Vec<u8> {
    [tag, 1, 0, 0].into_iter().flat_map(i64::to_le_bytes).collect()
}

impl Elf {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(self.endian, self.is_64, &mut bytes);
        writer.reserve_file_header();
        writer.reserve_program_headers(self.segments.len() as u32);
        let offsets: Vec<u64> =
            self.segments.iter().map(|(_, data)| writer.reserve(data.len() as u64, 8)).collect();
        let header = FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: self.kind,
            e_machine: self.machine,
            e_entry: self.entry,
            e_flags: elf::FileFlags(0),
        };
        writer.write_file_header(&header).expect("a header");
        writer.write_align_program_headers();
        for ((p_type, data), offset) in self.segments.iter().zip(&offsets) {
            let size = data.len() as u64;
            writer.write_program_header(&ProgramHeader {
                p_type: *p_type,
                p_flags: elf::PF_R | elf::PF_X,
                p_offset: *offset,
                p_vaddr: 0x40_0000 + offset,
                p_paddr: 0x40_0000 + offset,
                p_filesz: size,
                p_memsz: size,
                p_align: 8,
            });
        }
        for ((_, data), offset) in self.segments.iter().zip(&offsets) {
            writer.pad_until(*offset);
            writer.write(data);
        }
        bytes
    }

    /// The crate's verdict on it.
    pub fn opened(&self) -> Result<Architecture, ImageError> {
        open(&self.bytes()).map(|program| program.architecture().clone())
    }
}

/// Opens bytes as a program.
pub fn open(bytes: &[u8]) -> Result<Program, ImageError> {
    let folder = tempfile::tempdir().expect("a folder");
    Program::open(&executable(folder.path(), "program", bytes))
}

/// An executable file with these bytes.
pub fn executable(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("permissions");
    path
}
