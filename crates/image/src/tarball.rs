//! Entries of a tar without information about who created it, where or when (POSIX pax, "ustar Interchange Format").

use tar::{EntryType, Header};

/// Headers take one block, contents are padded to whole blocks.
pub const BLOCK_BYTES: u64 = 512;

/// Two blocks of zeros end a tar.
pub const END_BYTES: u64 = 2 * BLOCK_BYTES;

/// The padded size of contents of this size.
pub fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

/// The header of an entry that belongs to root, complete except for path and checksum.
pub fn header(kind: EntryType, mode: u32, bytes: u64, mtime_s: u64) -> Header {
    // GNU's format supports names and sizes of any length.
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes);
    header.set_mtime(mtime_s);
    header.set_uid(0);
    header.set_gid(0);
    header
}
