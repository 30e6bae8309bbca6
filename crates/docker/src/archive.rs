//! The content of an image archive, as `docker save` writes it: `manifest.json` names the images and their configurations
//! (moby, image/spec/v1.2.md), and since Docker 25 `index.json` the manifests (OCI image-spec, image-layout.md).

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::DockerError;

/// Larger than the description of any image.
const MAX_BYTES: u64 = 4 << 20;
/// The first bytes of a gzip-compressed file (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The one image of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its name with the tag; its id if it has no name.
    pub reference: String,
    /// Its possible ids in Docker: the digest of its configuration or, when containerd keeps the images, of its manifest.
    pub ids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ManifestEntry {
    config: String,
    /// `null` for an image without a name.
    repo_tags: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
}

/// Reads the description in an archive, gzip-compressed or not.
pub(crate) fn read(path: &Path) -> Result<Contents, DockerError> {
    documents(path)
        .and_then(|(manifest, index)| contents(manifest, index))
        .map_err(|reason| DockerError::BadArchive { path: path.to_owned(), reason })
}

type Documents = (Option<Vec<ManifestEntry>>, Option<Index>);

fn documents(path: &Path) -> Result<Documents, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let mut magic = [0; 2];
    let compressed = file.read_exact(&mut magic).is_ok() && magic == GZIP;
    file.rewind().map_err(|error| error.to_string())?;
    if compressed {
        scan(tar::Archive::new(GzDecoder::new(file)).entries())
    } else {
        // Skips the layers without reading them.
        scan(tar::Archive::new(file).entries_with_seek())
    }
}

fn scan<R: Read>(entries: io::Result<tar::Entries<'_, R>>) -> Result<Documents, String> {
    let not_tar = |error: io::Error| format!("it is not a tar file, plain or gzip-compressed ({error})");
    let (mut manifest, mut index) = (None, None);
    for entry in entries.map_err(not_tar)? {
        let entry = entry.map_err(not_tar)?;
        match &*entry.path_bytes() {
            b"manifest.json" => manifest = Some(document("manifest.json", entry)?),
            b"index.json" => index = Some(document("index.json", entry)?),
            _ => {}
        }
    }
    Ok((manifest, index))
}

fn document<T: DeserializeOwned>(name: &str, entry: impl Read) -> Result<T, String> {
    serde_json::from_reader(entry.take(MAX_BYTES))
        .map_err(|error| format!("cannot read its {name} ({error})"))
}

fn contents(manifest: Option<Vec<ManifestEntry>>, index: Option<Index>) -> Result<Contents, String> {
    let images = manifest.ok_or("it has no manifest.json, which `docker save` and `loadline image` write")?;
    let [image] = images.as_slice() else {
        return Err(format!("it contains {} images: save only the one to measure", images.len()));
    };
    // `HEX.json` before Docker 25, `blobs/sha256/HEX` since.
    let hex = image.config.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
    let id = format!("sha256:{hex}");
    let name = image.repo_tags.iter().flatten().next();
    let reference = name.unwrap_or(&id).clone();
    let manifests = index.unwrap_or_default().manifests.into_iter().map(|manifest| manifest.digest);
    Ok(Contents { reference, ids: std::iter::once(id).chain(manifests).collect() })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    const MANIFEST: &str =
        r#"[{"Config":"blobs/sha256/0a1b","RepoTags":["orders:1.0","orders:latest"],"Layers":[]}]"#;
    const INDEX: &str = r#"{"schemaVersion":2,"manifests":[{"digest":"sha256:2c3d","size":7}]}"#;

    fn tar_of(files: &[(&str, &str)]) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            tar.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn read_bytes(bytes: &[u8]) -> Result<Contents, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        read(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_name_and_all_ids_are_found_compressed_or_not() {
        let plain = tar_of(&[("layer.tar", "a layer"), ("manifest.json", MANIFEST), ("index.json", INDEX)]);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&plain).unwrap();
        let ids = ["sha256:0a1b", "sha256:2c3d"].map(str::to_owned).to_vec();
        let expected = Contents { reference: "orders:1.0".to_owned(), ids };
        assert_eq!(read_bytes(&plain).unwrap(), expected);
        assert_eq!(read_bytes(&gzip.finish().unwrap()).unwrap(), expected);
    }

    #[test]
    fn an_image_without_a_name_is_known_by_its_id() {
        let manifest = r#"[{"Config":"0a1b.json","RepoTags":null,"Layers":[]}]"#;
        let contents = read_bytes(&tar_of(&[("manifest.json", manifest)])).unwrap();
        assert_eq!(contents.reference, "sha256:0a1b");
        assert_eq!(contents.ids, ["sha256:0a1b"]);
    }

    #[test]
    fn a_file_that_is_not_an_archive_of_one_image_is_rejected_with_the_reason() {
        let two = format!("[{0},{0}]", &MANIFEST[1..MANIFEST.len() - 1]);
        for (bytes, reason) in [
            (b"no archive at all".to_vec(), "it is not a tar file"),
            (tar_of(&[("etc/passwd", "root")]), "has no manifest.json"),
            (tar_of(&[("manifest.json", "{")]), "cannot read its manifest.json"),
            (tar_of(&[("manifest.json", &two)]), "contains 2 images"),
            (GZIP.to_vec(), "it is not a tar file"),
        ] {
            let error = read_bytes(&bytes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let error = read(Path::new("/no/such/file.tar")).unwrap_err().to_string();
        assert_eq!(
            error,
            "/no/such/file.tar is not an image archive: No such file or directory (os error 2)"
        );
    }
}
