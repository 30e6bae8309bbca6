//! A file that a load needs, as it travels to wherever the load is generated.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a file contains, and the path that it was read from. Cheap to clone.
///
/// It may be a private key: what is stored or printed of a load has the paths alone, and so has this type's `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileContents {
    /// Where it was read, for messages.
    pub path: PathBuf,
    /// All of it.
    #[serde(with = "super::base64_bytes")]
    pub bytes: Arc<[u8]>,
}

impl fmt::Debug for FileContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.path.display(), self.bytes.len())
    }
}
