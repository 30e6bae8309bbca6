//! System calls that rustix has no wrapper for: socket options by name, reading with the kernel's timestamps, real-time priority.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::clock::Nanos;

/// Has this thread run before all that have no real-time priority, until it waits (sched(7), SCHED_FIFO).
pub fn run_first(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread, and the pointer is to parameters that live through the call.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Asks for software timestamps: with every read the moment of receipt, and in the error queue that of transmission, without the
/// data (Documentation/networking/timestamping.rst, SO_TIMESTAMPING).
pub fn stamp(socket: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_RX_SOFTWARE
        | libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags.to_ne_bytes())
}

/// Leaves the choice of the local port to `connect`, so that one source address carries more than one port range's worth of
/// connections (ip(7), IP_BIND_ADDRESS_NO_PORT).
pub fn bind_without_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1_i32.to_ne_bytes())
}

/// Sends and receives through this interface alone (socket(7), SO_BINDTODEVICE).
pub fn bind_to_interface(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, name.as_bytes())
}

fn set_option(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of one slice, which lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Room for one SCM_TIMESTAMPING message, aligned as the kernel's cmsghdr is.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Reads what is there, with the moment at which the kernel received the last packet of it (ns since the epoch), if it says so.
pub fn receive_stamped(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<Nanos>)> {
    receive(socket, buffer, 0)
}

/// When what was sent last was handed to the device (ns since the epoch). `None` while that is yet to come.
pub fn transmitted(socket: BorrowedFd<'_>) -> Option<Nanos> {
    let mut last = None;
    // One stamp for each call that sent something, those of handshakes included.
    while let Ok((_, Some(stamp))) = receive(socket, &mut [], libc::MSG_ERRQUEUE) {
        last = Some(stamp);
    }
    last
}

fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: libc::c_int,
) -> io::Result<(usize, Option<Nanos>)> {
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: msghdr is plain data for which zeros are valid: no name, no control.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len();
    // SAFETY: `message` points to one iovec over `buffer` and to `control`, all of which outlive the call.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel filled `message` in, and the macros stay within msg_controllen.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !header.is_null() {
        // SAFETY: not null, so it points to a complete cmsghdr within `control`.
        let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        if level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPING {
            // SAFETY: the data of this message is three timespecs, the first of them the software stamp.
            let stamp = unsafe { libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned() };
            let stamp = stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64;
            return Ok((count as usize, (stamp != 0).then_some(stamp)));
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(&raw const message, header) };
    }
    Ok((count as usize, None))
}
