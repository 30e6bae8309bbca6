//! The archive: one tar that is both an OCI image layout and what `docker save` writes.

use std::io::Write;

use tar::{Builder, EntryType};

use crate::documents::{Documents, blob_path};
use crate::error::ImageError;
use crate::image::Image;
use crate::layer::Layer;
use crate::sha256::Hashing;
use crate::tarball;

/// The archive of an image, worked out and ready to be written.
pub struct Archive<'a> {
    image: &'a Image,
    layer: Layer<'a>,
    documents: Documents,
}

impl Image {
    /// Works out the archive: reads the program once, and writes nothing.
    ///
    /// # Errors
    /// [`ImageError::Read`] and [`ImageError::Changed`].
    pub fn archive(&self) -> Result<Archive<'_>, ImageError> {
        Archive::of(self)
    }
}

impl<'a> Archive<'a> {
    fn of(image: &'a Image) -> Result<Archive<'a>, ImageError> {
        let layer = Layer::of(image)?;
        let documents = Documents::of(image, &layer);
        Ok(Archive { image, layer, documents })
    }

    /// What Docker, Podman and Kubernetes call the image's id: `sha256:` and the digest of its configuration.
    pub fn image_id(&self) -> String {
        format!("sha256:{}", self.documents.config_digest)
    }

    /// How many bytes [`Archive::write`] writes.
    pub fn size_bytes(&self) -> u64 {
        let documents = self.documents.all.iter().map(|document| document.bytes.len() as u64);
        let entries = documents.chain([self.layer.bytes]);
        entries.map(|bytes| tarball::BLOCK_BYTES + tarball::padded(bytes)).sum::<u64>() + tarball::END_BYTES
    }

    /// Writes the archive, in pieces of a few kilobytes, and flushes.
    ///
    /// # Errors
    /// [`ImageError::Write`] when `out` fails, [`ImageError::Read`] when the program does, [`ImageError::Changed`] when the program is
    /// another than before. The archive is of no use then.
    pub fn write(&self, out: impl Write) -> Result<(), ImageError> {
        let mut tar = Builder::new(out);
        let header = |bytes| tarball::header(EntryType::Regular, 0o644, bytes, self.image.created_s());
        for document in &self.documents.all {
            let bytes = document.bytes.as_slice();
            tar.append_data(&mut header(bytes.len() as u64), &document.path, bytes)
                .map_err(ImageError::Write)?;
        }
        let mut layer = Hashing::new(self.layer.reader());
        tar.append_data(&mut header(self.layer.bytes), blob_path(&self.layer.digest), &mut layer)
            .map_err(ImageError::of_copying)?;
        if layer.hasher.digest() != self.layer.digest {
            return Err(ImageError::Changed(self.image.program.path().to_owned()));
        }
        tar.into_inner().and_then(|mut out| out.flush()).map_err(ImageError::Write)
    }
}
