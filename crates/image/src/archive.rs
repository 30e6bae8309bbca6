//! The archive: one tar that is both an OCI image layout and what `docker save` writes.

use std::io::{self, Write};

use tar::{Builder, EntryType};

use crate::documents::{Documents, blob_path};
use crate::error::ImageError;
use crate::image::Image;
use crate::layer::Layer;
use crate::tarball;

/// The archive of an image, worked out and ready to be written.
pub struct Archive<'a> {
    image: &'a Image,
    layers: Vec<Layer<'a>>,
    documents: Documents,
}

impl Image {
    /// Works out the archive: reads all files once, and writes nothing.
    ///
    /// # Errors
    /// [`ImageError::Read`] and [`ImageError::Changed`].
    pub fn archive(&self) -> Result<Archive<'_>, ImageError> {
        Archive::of(self)
    }
}

impl<'a> Archive<'a> {
    fn of(image: &'a Image) -> Result<Archive<'a>, ImageError> {
        let layers = image.parts().iter().map(|part| Layer::of(part, image.created_s()));
        let layers = layers.collect::<Result<Vec<Layer>, ImageError>>()?;
        let documents = Documents::of(image, &layers);
        Ok(Archive { image, layers, documents })
    }

    /// What Docker, Podman and Kubernetes call the image's id: `sha256:` and the digest of its configuration.
    pub fn image_id(&self) -> String {
        format!("sha256:{}", self.documents.config_digest)
    }

    /// How many bytes [`Archive::write`] writes.
    pub fn size_bytes(&self) -> u64 {
        let documents = self.documents.all.iter().map(|document| document.bytes.len() as u64);
        let entries = documents.chain(self.layers.iter().map(|layer| layer.bytes));
        entries.map(|bytes| tarball::BLOCK_BYTES + tarball::padded(bytes)).sum::<u64>() + tarball::END_BYTES
    }

    /// What each layer holds, in a word or two, and its size in bytes; the lowest first.
    pub fn layers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.layers.iter().map(|layer| (layer.title(), layer.bytes))
    }

    /// Writes the archive, in pieces of a few kilobytes, and flushes.
    ///
    /// # Errors
    /// [`ImageError::Write`] when `out` fails, [`ImageError::Read`] when a file does, [`ImageError::Changed`] when a file is
    /// another than before. The archive is of no use then.
    pub fn write(&self, out: impl Write) -> Result<(), ImageError> {
        let mut tar = Builder::new(out);
        let header = |bytes| tarball::header(EntryType::Regular, 0o644, bytes, self.image.created_s());
        for document in &self.documents.all {
            let bytes = document.bytes.as_slice();
            tar.append_data(&mut header(bytes.len() as u64), &document.path, bytes)
                .map_err(ImageError::Write)?;
        }
        for layer in &self.layers {
            let mut header = header(layer.bytes);
            // As the crate writes an entry, but for the contents, which are written here and cannot be read from anywhere.
            header.set_path(blob_path(&layer.digest)).map_err(ImageError::Write)?;
            header.set_cksum();
            tar.get_mut().write_all(header.as_bytes()).map_err(ImageError::Write)?;
            layer.write(tar.get_mut())?;
            let padding = tarball::padded(layer.bytes) - layer.bytes;
            io::copy(&mut io::Read::take(io::repeat(0), padding), tar.get_mut())
                .map_err(ImageError::Write)?;
        }
        tar.into_inner().and_then(|mut out| out.flush()).map_err(ImageError::Write)
    }
}
