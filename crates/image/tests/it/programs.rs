//! Which files are taken for a program that can stand alone, what is said of the others, and that no file makes the crate panic.

use std::path::Path;
use std::process::Command;

use crate::made::{Elf, dynamic, elf, executable, open};
use loadline_image::{Architecture, ImageError, Program, UnsuitableProgram};
use object::Endianness::{Big, Little};
use object::elf as abi;
use proptest::prelude::*;

/// Compiles a C program with these options.
fn compiled(folder: &Path, name: &str, flags: &[&str]) -> std::path::PathBuf {
    let source = folder.join("main.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let output = folder.join(name);
    let status = Command::new("cc").args(flags).arg("-o").arg(&output).arg(&source).status();
    assert!(
        status.expect("this test needs a C compiler: make tools-test installs it").success(),
        "{flags:?}"
    );
    output
}

#[test]
fn what_a_compiler_links_statically_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in [["-static"].as_slice(), &["-static-pie"], &["-static", "-s"]] {
        let program = Program::open(&compiled(folder.path(), "program", flags)).expect("a static program");
        assert_eq!(
            program.architecture().to_string(),
            if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" }
        );
    }
    let running = Program::running().expect("the tests are linked statically");
    assert_eq!(running.path(), std::env::current_exe().expect("a path"));
}

#[test]
fn what_can_not_stand_alone_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| executable(folder.path(), name, bytes);
    std::fs::create_dir(path("folder")).expect("a folder");
    let half = elf().bytes();
    let mut unmarked = std::fs::File::create(path("unmarked")).expect("a file");
    std::io::Write::write_all(&mut unmarked, &half).expect("written");
    let other = Elf { machine: abi::EM_MIPS, endian: Big, is_64: false, ..elf() };
    let files = [
        path("missing"),
        path("folder"),
        write("empty", b""),
        write("script", b"#!/bin/sh\n"),
        write("text", b"MZ\x90"),
        path("unmarked"),
        write("half", &half[..half.len() / 2]),
        write("magic", b"\x7fELF"),
        write("mips", &other.bytes()),
        write("core", &Elf { kind: abi::ET_CORE, ..elf() }.bytes()),
        compiled(folder.path(), "dynamic", &[]),
        compiled(folder.path(), "library.so", &["-shared", "-fPIC"]),
        compiled(folder.path(), "alone.so", &["-shared", "-fPIC", "-nostdlib"]),
        compiled(folder.path(), "object.o", &["-c"]),
        Path::new("/dev/null").to_owned(),
    ];
    let said: Vec<String> = files
        .iter()
        .map(|file| Program::open(file).expect_err(&file.display().to_string()).to_string())
        .collect();
    let said = said.join("\n").replace(&folder.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!(said);
}

#[test]
fn the_machine_is_that_of_the_headers() {
    let for_machine = |machine, is_64, endian| Elf { machine, is_64, endian, ..elf() }.opened();
    for (machine, is_64, endian, expected) in [
        (abi::EM_X86_64, true, Little, "amd64"),
        (abi::EM_AARCH64, true, Little, "arm64"),
        (abi::EM_ARM, false, Little, "arm"),
        (abi::EM_386, false, Little, "386"),
        (abi::EM_RISCV, true, Little, "riscv64"),
        (abi::EM_PPC64, true, Little, "ppc64le"),
        (abi::EM_S390, true, Big, "s390x"),
        (abi::EM_LOONGARCH, true, Little, "loong64"),
    ] {
        assert_eq!(for_machine(machine, is_64, endian).expect(expected).to_string(), expected);
    }
    // x32, big-endian PowerPC.
    for (machine, is_64, endian) in [(abi::EM_X86_64, false, Little), (abi::EM_PPC64, true, Big)] {
        let refused = for_machine(machine, is_64, endian);
        assert!(
            matches!(
                refused,
                Err(ImageError::UnsuitableProgram { why: UnsuitableProgram::Machine { .. }, .. })
            ),
            "{refused:?}"
        );
    }
}

#[test]
fn a_dynamic_section_is_accepted_unless_it_names_a_library() {
    let with =
        |kind, segment| Elf { kind, segments: [elf().segments, vec![segment]].concat(), ..elf() }.opened();
    let harmless = with(abi::ET_DYN, (abi::PT_DYNAMIC, dynamic(abi::DT_DEBUG.0)));
    assert_eq!(harmless.expect("static and position-independent"), Architecture::Amd64);
    let library = with(abi::ET_DYN, (abi::PT_DYNAMIC, dynamic(abi::DT_NEEDED.0)));
    assert!(
        matches!(library, Err(ImageError::UnsuitableProgram { why: UnsuitableProgram::Library, .. })),
        "{library:?}"
    );
    let loader = with(abi::ET_EXEC, (abi::PT_INTERP, b"/lib/ld.so\0".to_vec()));
    let Err(ImageError::UnsuitableProgram { why: UnsuitableProgram::Dynamic { loader }, .. }) = loader else {
        panic!("{loader:?}")
    };
    assert_eq!(loader, "/lib/ld.so");
}

#[test]
fn a_program_cut_anywhere_is_refused() {
    let whole = elf();
    // The last segment is a note, which is not loaded: what counts ends before.
    let bytes = Elf { segments: whole.segments[..1].to_vec(), ..whole }.bytes();
    open(&bytes).expect("whole");
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
}

proptest! {
    #[test]
    fn no_bytes_behind_the_magic_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = open(&[b"\x7fELF", bytes.as_slice()].concat());
    }

    #[test]
    fn no_change_of_a_program_makes_it_panic(
        is_64: bool,
        is_big: bool,
        changes in prop::collection::vec((0..260usize, any::<u8>()), 0..8),
        cut in 0..400usize,
    ) {
        let segments = vec![
            (abi::PT_LOAD, vec![0; 16]),
            (abi::PT_DYNAMIC, dynamic(1)),
            (abi::PT_INTERP, b"/lib/ld.so\0".to_vec()),
        ];
        let mut bytes = Elf { is_64, endian: if is_big { Big } else { Little }, segments, ..elf() }.bytes();
        for (place, value) in changes {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = value;
            }
        }
        bytes.truncate(cut);
        let _ = open(&bytes);
    }
}
