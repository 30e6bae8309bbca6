//! The unsafe corner: the CPU time of an ended child, and the ring that the kernel copies packets into.
//! Everything else of this crate is safe Rust over rustix.

use std::ffi::c_int;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use libc::{sock_filter, tpacket2_hdr};

/// Waits until the child has ended, and returns its status and its user and system time (`wait4(2)`).
///
/// The child is gone afterwards: neither `kill` nor `wait` may be called on it again.
pub fn wait_with_cpu_time(child: &Child) -> io::Result<(ExitStatus, Duration)> {
    let mut status: c_int = 0;
    // SAFETY: rusage is made of integers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers lead to values that live through the call.
        let ended = unsafe { libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, &raw mut usage) };
        if ended >= 0 {
            let time = |time: libc::timeval| {
                Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
            };
            return Ok((ExitStatus::from_raw(status), time(usage.ru_utime) + time(usage.ru_stime)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Bytes from a frame's start to its packet, of a `SOCK_DGRAM` socket: header and address aligned, and 16 (kernel,
/// `net/packet/af_packet.c`, `tpacket_rcv`).
const HEADERS: usize = 80;
/// Bytes of a packet that a frame has room for.
pub const ROOM: usize = FRAME - HEADERS;
/// Bytes of a frame, a multiple of `TPACKET_ALIGNMENT`.
const FRAME: usize = 128;
/// Bytes of a block, which the kernel allocates as a whole.
const BLOCK: usize = 1 << 16;

/// One packet as the kernel stamped it.
pub struct Packet {
    /// CLOCK_REALTIME, ns: of what goes out as it is handed to the device, of what comes in as it enters the receive path.
    ///
    /// On loopback a packet keeps the sender's delivery time where a device would leave its receive stamp, and the kernel
    /// takes the time when it copies the packet here instead, before any protocol sees it (include/linux/skbuff.h,
    /// `skb_clear_tstamp`; net/packet/af_packet.c, `tpacket_get_timestamp`).
    pub stamp_ns: u64,
    /// Its first bytes, from the network header on; bytes past its end are zero.
    pub bytes: [u8; ROOM],
}

/// A packet socket on one link with a receive ring (`packet(7)`, Documentation/networking/packet_mmap.rst). Frames are
/// never returned, so that nothing has to read while packets arrive.
pub struct PacketRing {
    socket: OwnedFd,
    memory: ptr::NonNull<u8>,
    frames: usize,
}

impl PacketRing {
    /// Begins to keep what passes the link with this index and `filter` (classic BPF), for at least `packets` packets.
    pub fn open(link: u32, filter: &[sock_filter], packets: usize) -> io::Result<PacketRing> {
        let blocks = (packets * FRAME).div_ceil(BLOCK).max(1);
        let frames = blocks * (BLOCK / FRAME);
        // SAFETY: no pointers are involved. Protocol 0 keeps the socket silent until it is bound.
        let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just created and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        set(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
        let stamps = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &stamps)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_TIMESTAMP, &libc::SOF_TIMESTAMPING_SOFTWARE)?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as c_int))?;
        let ring = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: FRAME as u32,
            tp_frame_nr: frames as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                blocks * BLOCK,
                libc::PROT_READ,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                0,
            )
        };
        let mapped = ptr::NonNull::new(memory.cast::<u8>()).filter(|_| memory != libc::MAP_FAILED);
        let ring = PacketRing { memory: mapped.ok_or_else(io::Error::last_os_error)?, socket, frames };
        ring.bind(link)?;
        Ok(ring)
    }

    fn bind(&self, link: u32) -> io::Result<()> {
        // SAFETY: the address is made of integers, for which zero is a value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        // Sockets of a single protocol are not shown what goes out (kernel, `dev_queue_xmit_nit`).
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = link as c_int;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the pointer leads to an address of the length given.
        match unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The packets kept until now, in the order in which they came.
    pub fn packets(&self) -> Vec<Packet> {
        (0..self.frames).map_while(|index| self.packet(index)).collect()
    }

    fn packet(&self, index: usize) -> Option<Packet> {
        // SAFETY: the index is below the number of frames, so the frame lies within the mapping, which lives as long as
        // `self`; frames are aligned to 128 bytes.
        let frame = unsafe { self.memory.add(index * FRAME) };
        // SAFETY: the status is the frame's first field, aligned, and the kernel writes it while we read: hence atomic.
        let status = unsafe { AtomicU32::from_ptr(frame.as_ptr().cast()) }.load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the kernel has passed the frame on and does not write to it until it is returned, which never happens.
        let header = unsafe { frame.cast::<tpacket2_hdr>().read() };
        let from = usize::from(header.tp_net).min(FRAME);
        let length = (header.tp_snaplen as usize).min(FRAME - from).min(ROOM);
        let mut bytes = [0; ROOM];
        // SAFETY: as above; the range ends within the frame, and the array is as long as ROOM.
        unsafe { ptr::copy_nonoverlapping(frame.add(from).as_ptr(), bytes.as_mut_ptr(), length) };
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Some(Packet { stamp_ns, bytes })
    }

    /// Packets that found no room since the last call.
    pub fn dropped(&self) -> io::Result<u32> {
        let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: both pointers lead to values that live through the call, of the length given.
        let asked = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        if asked == 0 { Ok(counts.tp_drops) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing borrowed from it is left. Failing would only leak it.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.frames * FRAME) };
    }
}

fn set<T>(socket: &OwnedFd, level: c_int, option: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the pointer leads to a value of the length given; what it points to in turn outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
