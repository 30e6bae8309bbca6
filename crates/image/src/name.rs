//! Names of images, in full: registry, repository and tag. containerd and Kubernetes look images up by the full name only, and Docker
//! loads no image without a tag.

use std::fmt;

use oci_spec::distribution::{ParseError, Reference};

use crate::error::ImageError;

/// Maximum length of the part of a default name that comes from a file name; a repository's name has at most 255 characters.
const MAX_TITLE_CHARS: usize = 128;

/// An image's full name with its tag: `localhost/orders:1f2e3d4c5b6a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageName(Reference);

impl ImageName {
    /// `localhost/TITLE:TAG`, the title made lower case with dashes, the tag that of the contents: [`Image::tag`](crate::Image::tag).
    pub fn default_for(tag: &str, title: &str) -> ImageName {
        let dashed: String = title
            .to_ascii_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let trimmed = dashed.trim_matches('-');
        let repository = match trimmed[..trimmed.len().min(MAX_TITLE_CHARS)].trim_end_matches('-') {
            "" => "program",
            some => some,
        };
        ImageName(Reference::with_tag("localhost".to_owned(), repository.to_owned(), tag.to_owned()))
    }

    /// Reads a name as Docker does: without a registry it is Docker Hub's. Without a tag it gets `tag`, as a rule [`Image::tag`](crate::Image::tag).
    ///
    /// # Errors
    /// [`ImageError::Name`] for an invalid name, and for a digest, which only a registry can assign.
    pub fn parse(name: &str, tag: &str) -> Result<ImageName, ImageError> {
        let bad = |why: &str| ImageError::Name { name: name.to_owned(), why: why.to_owned() };
        // A name that accepts another tag has none.
        let reference = Reference::try_from(format!("{name}:{tag}"))
            .or_else(|_| Reference::try_from(name))
            .map_err(|error| match error {
                ParseError::ReferenceInvalidFormat => {
                    bad("lower-case letters and digits, separated by single . _ or -, with / between parts and : before the tag")
                }
                other => bad(&other.to_string()),
            })?;
        if reference.digest().is_some() {
            return Err(bad("a name with a digest can only be pulled"));
        }
        if reference.repository().contains(|c: char| c.is_ascii_uppercase()) {
            return Err(bad("upper-case letters are allowed in the tag only"));
        }
        Ok(ImageName(reference))
    }

    /// The part after the colon.
    pub fn tag(&self) -> &str {
        self.0.tag().unwrap_or_default()
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
