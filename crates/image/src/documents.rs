//! The JSON documents of an archive: those of an OCI image layout (image-spec, image-layout.md), and beside them the `manifest.json` of
//! `docker save` (moby, image/spec/v1.2.md), which is all that Docker before 25 reads. Both point to the same blobs.

use jiff::Timestamp;
use oci_spec::image::{
    ANNOTATION_REF_NAME, ANNOTATION_TITLE, ANNOTATION_VERSION, Config, Descriptor, History,
    ImageConfiguration, ImageIndexBuilder, ImageManifestBuilder, MediaType, OciLayoutBuilder, Os, Platform,
    Sha256Digest,
};
use serde::Serialize;

use crate::image::{BINARY_SHA256_LABEL, Image, PORT, USER};
use crate::layer::Layer;
use crate::sha256;

/// containerd's annotation for the full name (containerd, images/annotations.go); the OCI's own has room for the tag only.
const FULL_NAME: &str = "io.containerd.image.name";

/// A file of an archive.
pub struct Document {
    /// Inside the archive.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// All documents of an archive, in its order.
pub struct Documents {
    pub all: [Document; 5],
    /// The digest of the image's configuration, which is the image's id.
    pub config_digest: Sha256Digest,
}

/// The path of a blob in an archive.
pub fn blob_path(digest: &Sha256Digest) -> String {
    format!("blobs/sha256/{digest}")
}

impl Documents {
    /// The documents of an image.
    pub fn of(image: &Image, layers: &[Layer]) -> Documents {
        let config = json(&configuration(image, layers));
        let config_digest = sha256::of(&config);
        let manifest = json(&manifest(layers, &config, &config_digest));
        let manifest_digest = sha256::of(&manifest);
        let index = json(&index(image, &manifest, &manifest_digest));
        let layout = OciLayoutBuilder::default().image_layout_version("1.0.0").build();
        let document = |path: &str, bytes| Document { path: path.to_owned(), bytes };
        let all = [
            document("oci-layout", json(&layout.expect("it has a version"))),
            document("index.json", index),
            document("manifest.json", json(&[DockerManifest::of(image, layers, &config_digest)])),
            document(&blob_path(&manifest_digest), manifest),
            document(&blob_path(&config_digest), config),
        ];
        Documents { all, config_digest }
    }
}

/// An element of `manifest.json`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct DockerManifest {
    config: String,
    repo_tags: [String; 1],
    layers: Vec<String>,
}

impl DockerManifest {
    fn of(image: &Image, layers: &[Layer], config: &Sha256Digest) -> DockerManifest {
        DockerManifest {
            config: blob_path(config),
            repo_tags: [image.name.to_string()],
            layers: layers.iter().map(|layer| blob_path(&layer.digest)).collect(),
        }
    }
}

fn configuration(image: &Image, layers: &[Layer]) -> ImageConfiguration {
    let title = (ANNOTATION_TITLE, image.start.title.as_str());
    let digest = image.binary.as_deref().map(|digest| (BINARY_SHA256_LABEL, digest));
    let version = image.version.as_deref().map(|version| (ANNOTATION_VERSION, version));
    let labels = [title].into_iter().chain(digest).chain(version);
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));

    let mut config = Config::default();
    config
        .set_user(Some(USER.to_owned()))
        .set_exposed_ports(Some(vec![format!("{PORT}/tcp")]))
        .set_env(Some(vec![format!("PATH={}", image.start.path)]))
        .set_entrypoint(Some(vec![image.start.program.clone()]))
        .set_cmd(Some(image.command.clone()).filter(|command| !command.is_empty()))
        .set_working_dir(image.start.folder.clone())
        .set_labels(Some(labels.collect()));

    let created = image.created.max(Timestamp::UNIX_EPOCH).to_string();
    let history = layers.iter().map(|layer| {
        let mut history = History::default();
        history.set_created(Some(created.clone())).set_created_by(Some(layer.created_by().to_owned()));
        history
    });
    let history = history.collect();

    let mut configuration = ImageConfiguration::default();
    configuration
        .set_created(Some(created))
        .set_architecture(image.architecture().clone())
        .set_os(Os::Linux)
        .set_config(Some(config))
        .set_history(Some(history));
    configuration
        .rootfs_mut()
        .set_diff_ids(layers.iter().map(|layer| format!("sha256:{}", layer.digest)).collect());
    configuration
}

fn manifest(layers: &[Layer], config: &[u8], config_digest: &Sha256Digest) -> impl Serialize {
    let layers: Vec<Descriptor> = layers
        .iter()
        .map(|layer| Descriptor::new(MediaType::ImageLayer, layer.bytes, layer.digest.clone()))
        .collect();
    let config = Descriptor::new(MediaType::ImageConfig, config.len() as u64, config_digest.clone());
    ImageManifestBuilder::default()
        .schema_version(2u32)
        .media_type(MediaType::ImageManifest)
        .config(config)
        .layers(layers)
        .build()
        .expect("it has a version, a configuration and layers")
}

fn index(image: &Image, manifest: &[u8], manifest_digest: &Sha256Digest) -> impl Serialize {
    let mut platform = Platform::default();
    platform.set_architecture(image.architecture().clone()).set_os(Os::Linux);
    let names = [(FULL_NAME, image.name.to_string()), (ANNOTATION_REF_NAME, image.name.tag().to_owned())];
    let mut entry = Descriptor::new(MediaType::ImageManifest, manifest.len() as u64, manifest_digest.clone());
    entry
        .set_platform(Some(platform))
        .set_annotations(Some(names.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
    ImageIndexBuilder::default()
        .schema_version(2u32)
        .media_type(MediaType::ImageIndex)
        .manifests(vec![entry])
        .build()
        .expect("it has a version and manifests")
}

/// JSON with sorted keys: the crate's documents hold hash maps, whose order differs from run to run.
fn json(document: &impl Serialize) -> Vec<u8> {
    let mut value = serde_json::to_value(document).expect("keys are strings");
    value.sort_all_objects();
    value.to_string().into_bytes()
}
