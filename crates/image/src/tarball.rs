//! Entries of a tar that say nothing about who made it, where or when (POSIX pax, "ustar Interchange Format").

use tar::{EntryType, Header};

/// Headers take one block, contents are filled up to whole ones.
pub const BLOCK_BYTES: u64 = 512;

/// Two blocks of zeros end a tar.
pub const END_BYTES: u64 = 2 * BLOCK_BYTES;

/// What contents of this size take.
pub fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES)
}

/// The header of an entry that belongs to root, complete but for path and checksum.
pub fn header(kind: EntryType, mode: u32, bytes: u64, mtime_s: u64) -> Header {
    // GNU's form has room for names and sizes of any length.
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes);
    header.set_mtime(mtime_s);
    header.set_uid(0);
    header.set_gid(0);
    header
}
