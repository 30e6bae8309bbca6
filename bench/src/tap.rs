//! What passes the loopback device, with the kernel's own timestamps: the reference for load generators.
//! It is kept in a ring during a run and read after it, so that nothing but the kernel's copying takes part.

use anyhow::{Context, Result, ensure};
use libc::sock_filter;

use crate::exchange::{Direction, Segment};
use crate::sys::{Packet, PacketRing, ROOM};

/// Index of the loopback device, the first link of every network namespace (include/net/net_namespace.h).
const LOOPBACK: u32 = 1;

/// A tap on the loopback device of this network namespace, for one server port.
pub struct Tap {
    ring: PacketRing,
    server_port: u16,
}

impl Tap {
    /// Starts capturing requests and responses; `exchanges` is their approximate number.
    pub fn open(server_port: u16, exchanges: usize) -> Result<Tap> {
        // Twice: a request and a response; and once more, for tools that send more than requested.
        let ring = PacketRing::open(LOOPBACK, &filter(server_port), exchanges * 4 + 4096)
            .context("cannot tap the loopback device")?;
        Ok(Tap { ring, server_port })
    }

    /// What was captured so far. Fails if anything was lost.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        let dropped = self.ring.dropped().context("cannot ask the tap for its losses")?;
        ensure!(dropped == 0, "the tap had no room for {dropped} packets");
        Ok(self.ring.packets().iter().map(|packet| segment(packet, self.server_port)).collect())
    }
}

fn segment(packet: &Packet, server_port: u16) -> Segment {
    let at_ns = packet.stamp_ns;
    let header = usize::from(packet.bytes[0] & 0xf) * 4;
    let port = |at: usize| {
        let byte = |at: usize| packet.bytes.get(at).copied().unwrap_or_default();
        u16::from_be_bytes([byte(at), byte(at + 1)])
    };
    let (source, destination) = (port(header), port(header + 2));
    if destination == server_port {
        Segment { at_ns, connection: source, direction: Direction::Request }
    } else {
        Segment { at_ns, connection: destination, direction: Direction::Response }
    }
}

/// Keeps IPv4 TCP segments with payload: to the server as they leave, from the server as they arrive. Each passes
/// loopback once in each direction. Offsets are those of RFC 791 and RFC 9293; ancillary loads are described in the kernel's
/// Documentation/networking/filter.rst.
fn filter(server_port: u16) -> [sock_filter; 22] {
    use libc::{BPF_ABS, BPF_ADD, BPF_ALU, BPF_B, BPF_H, BPF_IND, BPF_JA, BPF_JEQ, BPF_JGT, BPF_JMP, BPF_K};
    use libc::{BPF_LD, BPF_LDX, BPF_LSH, BPF_MISC, BPF_MSH, BPF_RET, BPF_RSH, BPF_TAX, BPF_W, BPF_X};
    let ancillary = |what: i32| (libc::SKF_AD_OFF + what) as u32;
    let op = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump = |test: u32, k: u32, jt: u8, jf: u8| sock_filter { code: (BPF_JMP | test) as u16, jt, jf, k };
    let (to_server, from_server) = (u32::from(libc::PACKET_OUTGOING), u32::from(libc::PACKET_HOST));
    [
        op(BPF_LD | BPF_W | BPF_ABS, ancillary(libc::SKF_AD_PROTOCOL)),
        jump(BPF_JEQ | BPF_K, libc::ETH_P_IP as u32, 0, 19),
        op(BPF_LD | BPF_B | BPF_ABS, 9),
        jump(BPF_JEQ | BPF_K, libc::IPPROTO_TCP as u32, 0, 17),
        // Payload: the whole length against that of both headers.
        op(BPF_LDX | BPF_B | BPF_MSH, 0),
        op(BPF_LD | BPF_B | BPF_IND, 12),
        op(BPF_ALU | BPF_RSH | BPF_K, 4),
        op(BPF_ALU | BPF_LSH | BPF_K, 2),
        op(BPF_ALU | BPF_ADD | BPF_X, 0),
        op(BPF_MISC | BPF_TAX, 0),
        op(BPF_LD | BPF_H | BPF_ABS, 2),
        jump(BPF_JGT | BPF_X, 0, 0, 9),
        op(BPF_LDX | BPF_B | BPF_MSH, 0),
        op(BPF_LD | BPF_W | BPF_ABS, ancillary(libc::SKF_AD_PKTTYPE)),
        jump(BPF_JEQ | BPF_K, to_server, 0, 2),
        op(BPF_LD | BPF_H | BPF_IND, 2),
        jump(BPF_JA, 2, 0, 0),
        jump(BPF_JEQ | BPF_K, from_server, 0, 3),
        op(BPF_LD | BPF_H | BPF_IND, 0),
        jump(BPF_JEQ | BPF_K, u32::from(server_port), 0, 1),
        op(BPF_RET | BPF_K, ROOM as u32),
        op(BPF_RET | BPF_K, 0),
    ]
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use loadline_machine::Netns;

    use super::*;
    use crate::exchange::pair;

    fn now_ns() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
    }

    #[test]
    fn exchanges_are_seen_when_they_pass_and_other_ports_are_not() {
        let namespace = Netns::new().expect("a network namespace: this test needs root");
        let seen = std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                namespace.enter().expect("enters");
                let servers = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
                let tap = Tap::open(servers[0].local_addr().expect("bound").port(), 10).expect("a tap");
                for server in &servers {
                    let mut client =
                        TcpStream::connect(server.local_addr().expect("bound")).expect("connects");
                    let mut serving = server.accept().expect("accepts").0;
                    for _ in 0..3 {
                        let mut byte = [0];
                        client.write_all(b"?").expect("writes");
                        serving.read_exact(&mut byte).expect("reads");
                        std::thread::sleep(Duration::from_millis(2));
                        serving.write_all(b"!").expect("writes");
                        client.read_exact(&mut byte).expect("reads");
                    }
                }
                tap.segments().expect("segments")
            });
            let before = now_ns();
            (before, inside.join().expect("no panic"), now_ns())
        });
        let (before, segments, after) = seen;
        let exchanges = pair(&segments);
        assert_eq!(exchanges.len(), 3);
        for exchange in exchanges {
            let answered_ns = exchange.answered_ns.expect("an answer");
            assert!(before <= exchange.sent_ns && answered_ns <= after);
            assert!(answered_ns - exchange.sent_ns >= 2_000_000, "the server took 2 ms");
        }
    }
}
