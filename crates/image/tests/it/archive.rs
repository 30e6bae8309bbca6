//! What stands in an archive, byte for byte the same each time, and what happens when its program or its writer fails.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::made::{elf, executable};
use loadline_image::{Image, ImageError, Program};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn written(image: &Image) -> Vec<u8> {
    let archive = image.archive().expect("an archive");
    let mut bytes = Vec::new();
    archive.write(&mut bytes).expect("memory");
    assert_eq!(bytes.len() as u64, archive.size_bytes());
    bytes
}

/// An entry of a tar.
#[derive(Debug, PartialEq)]
struct Entry {
    mode: u32,
    bytes: Vec<u8>,
}

/// A tar's entries by path; all of them belong to root and bear this time.
fn entries(bytes: &[u8], mtime_s: u64) -> BTreeMap<String, Entry> {
    let mut tar = tar::Archive::new(bytes);
    let entry = |entry: io::Result<tar::Entry<&[u8]>>| {
        let mut entry = entry.expect("an entry");
        let header = entry.header();
        let number = |field: io::Result<u64>| field.expect("a number");
        assert_eq!((number(header.uid()), number(header.gid()), number(header.mtime())), (0, 0, mtime_s));
        assert_eq!((header.username(), header.groupname()), (Ok(Some("")), Ok(Some(""))));
        let mode = header.mode().expect("a mode");
        let path = entry.path().expect("a path").to_str().expect("text").to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("contents");
        (path, Entry { mode, bytes })
    };
    tar.entries().expect("a tar").map(entry).collect()
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Follows an archive's documents from both ends to the same blobs, and returns the configuration and the layer's entries.
fn followed(archive: &[u8], mtime_s: u64) -> (Value, BTreeMap<String, Entry>) {
    let files = entries(archive, mtime_s);
    for (path, file) in &files {
        if let Some(digest) = path.strip_prefix("blobs/sha256/") {
            assert_eq!(hex(&file.bytes), digest);
        }
    }
    let document = |path: &str| -> Value { serde_json::from_slice(&files[path].bytes).expect("JSON") };
    let blob = |descriptor: &Value| {
        let path = descriptor["digest"].as_str().expect("a digest").replace("sha256:", "blobs/sha256/");
        assert_eq!(descriptor["size"], files[&path].bytes.len());
        path
    };
    assert_eq!(document("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}));
    let index = document("index.json");
    let manifest = document(&blob(&index["manifests"][0]));
    let (config, layer) = (blob(&manifest["config"]), blob(&manifest["layers"][0]));
    let docker = document("manifest.json");
    assert_eq!((&docker[0]["Config"], &docker[0]["Layers"]), (&json!(config), &json!([layer])));
    assert_eq!(docker[0]["RepoTags"][0], index["manifests"][0]["annotations"]["io.containerd.image.name"]);
    let config = document(&config);
    assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{}", hex(&files[&layer].bytes))]));
    (config, entries(&files[&layer].bytes, mtime_s))
}

#[test]
fn the_same_program_gives_the_same_bytes_wherever_and_whenever() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = executable(folder.path(), "here", &elf().bytes());
    std::fs::create_dir(folder.path().join("far")).expect("a folder");
    let there = executable(&folder.path().join("far"), "there", &elf().bytes());
    let later = SystemTime::now() + Duration::from_secs(86_400);
    File::options().write(true).open(&there).and_then(|file| file.set_modified(later)).expect("a time");
    let image = |path: &Path| {
        let mut image = Image::new(Program::open(path).expect("a program"), "server").expect("a name");
        image.version = Some("1.2".to_owned());
        image
    };
    let (first, second) = (image(&here), image(&there));
    assert_eq!(first.archive().expect("one").image_id(), second.archive().expect("one").image_id());
    let bytes = written(&first);
    // Orders that come from a hash map differ nearly always after this many.
    for _ in 0..10 {
        assert!(written(&image(&here)) == bytes && written(&second) == bytes);
    }
}

#[test]
fn an_archive_holds_the_program_and_what_was_said_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = elf().bytes();
    let program = Program::open(&executable(folder.path(), "file", &bytes)).expect("a program");
    let mut image = Image::new(program, "My Server").expect("a name");
    image.command = vec!["--port".to_owned(), "8080".to_owned()];
    image.version = Some("1.2".to_owned());
    image.created = "2024-02-03T04:05:06Z".parse().expect("a time");
    let archive = written(&image);

    let (config, layer) = followed(&archive, 1_706_933_106);
    let expected = json!({
        "architecture": "amd64",
        "os": "linux",
        "created": "2024-02-03T04:05:06Z",
        "config": {
            "User": "1000:1000",
            "ExposedPorts": {"8080/tcp": {}},
            "Env": ["PATH=/"],
            "Entrypoint": ["/My Server"],
            "Cmd": ["--port", "8080"],
            "Labels": {
                "org.opencontainers.image.title": "My Server",
                "org.opencontainers.image.version": "1.2",
                "loadline.binary.sha256": hex(&bytes),
            },
        },
        "history": [{"created": "2024-02-03T04:05:06Z", "created_by": "loadline image"}],
        "rootfs": config["rootfs"],
    });
    assert_eq!(config, expected);
    assert_eq!(image.name.to_string(), format!("localhost/my-server:{}", &hex(&bytes)[..12]));
    let passwd = b"loadline:x:1000:1000:loadline:/tmp:/sbin/nologin\n".to_vec();
    let expected = [
        ("My Server", 0o555, bytes),
        ("etc/", 0o755, Vec::new()),
        ("etc/passwd", 0o644, passwd),
        ("tmp/", 0o1777, Vec::new()),
    ];
    let expected = expected.map(|(path, mode, bytes)| (path.to_owned(), Entry { mode, bytes }));
    assert_eq!(layer, BTreeMap::from(expected));
}

#[test]
fn the_bare_program_has_no_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Program::open(&executable(folder.path(), "file", &elf().bytes())).expect("a program");
    let (config, _) = followed(&written(&Image::new(program, "server").expect("a name")), 0);
    assert_eq!(config["config"].get("Cmd"), None);
    assert_eq!(config["created"], "1970-01-01T00:00:00Z");
}

#[test]
fn a_program_that_changes_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = executable(folder.path(), "file", &elf().bytes());
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 3] = [|bytes| bytes[200] ^= 1, |bytes| bytes.truncate(200), Vec::clear];
    for change in changes {
        std::fs::write(&path, elf().bytes()).expect("a file");
        let image = Image::new(Program::open(&path).expect("a program"), "server").expect("a name");
        let archive = image.archive().expect("an archive");
        let mut bytes = elf().bytes();
        change(&mut bytes);
        std::fs::write(&path, bytes).expect("a file");
        let error = archive.write(io::sink()).expect_err("another program");
        assert!(matches!(&error, ImageError::Changed(changed) if *changed == path), "{error}");
    }
}

#[test]
fn a_program_that_is_replaced_while_it_is_read_is_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = executable(folder.path(), "file", &elf().bytes());
    let image = Image::new(Program::open(&path).expect("a program"), "server").expect("a name");
    let before = written(&image);
    std::fs::rename(executable(folder.path(), "new", b"new"), &path).expect("renamed");
    assert!(written(&image) == before);
}

/// A writer that is full after this many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn archives_of_any_length_are_whole(more in 0..2000usize, file_name in "[a-zA-Z0-9 ._-]{6,240}") {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = [elf().bytes(), vec![7; more]].concat();
        let program = Program::open(&executable(folder.path(), "file", &bytes)).expect("a program");
        let image = Image::new(program, &file_name).expect("a name");
        let (config, layer) = followed(&written(&image), 0);
        prop_assert_eq!(&layer[&file_name].bytes, &bytes);
        prop_assert_eq!(&config["config"]["Entrypoint"], &json!([format!("/{file_name}")]));
    }

    #[test]
    fn a_writer_that_is_full_is_an_error_of_writing(share in 0.0..1.0f64) {
        let folder = tempfile::tempdir().expect("a folder");
        let program = Program::open(&executable(folder.path(), "file", &elf().bytes())).expect("a program");
        let image = Image::new(program, "server").expect("a name");
        let archive = image.archive().expect("an archive");
        let room = (archive.size_bytes() as f64 * share) as usize;
        let error = archive.write(Full(room)).expect_err("no room");
        prop_assert!(matches!(&error, ImageError::Write(io) if io.kind() == io::ErrorKind::StorageFull), "{}", error);
    }
}
