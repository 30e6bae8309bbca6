//! A known cost per packet: a program that counts to a number (`programs/spin.c`).

use std::time::Duration;

use aya::{
    TestRun, include_bytes_aligned,
    programs::{SchedClassifier, TcAttachType, TestRunOptions},
};

use crate::{
    Attached, BpfError,
    attached::Hook,
    object::{Object, classifier},
};

/// The maximum number of loops per packet: `BPF_MAX_LOOPS` (`linux/bpf_verifier.h`), tens of milliseconds.
pub const MAX_SPIN_LOOPS: u32 = 1 << 23;

const SPIN: Object =
    Object { bytes: include_bytes_aligned!("../programs/spin.o"), programs: &["ll_spin"], since: "5.17" };

/// How often the cost is measured, and for how long each time: the median excludes times when other programs had the CPU.
const BATCHES: usize = 21;
const BATCH: Duration = Duration::from_millis(2);

/// A request of one byte from one loopback address to the other: Ethernet, IPv4, TCP, payload.
#[rustfmt::skip]
const REQUEST: [u8; 55] = [
    0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0,  8, 0,
    0x45, 0, 0, 41,  0, 1, 0x40, 0,  64, 6, 0, 0,  127, 0, 0, 1,  127, 0, 0, 2,
    0, 80, 0, 80,  0, 0, 0, 1,  0, 0, 0, 1,  0x50, 0x18, 1, 0,  0, 0, 0, 0,
    b'G',
];

/// Makes every TCP packet with payload that leaves by `link` wait while the CPU counts to `loops` (10 ns each where it was measured),
/// in the calling thread's network namespace. At the node's end of a pod's pair, that is once for each request to the pod that fits one
/// segment; packets without payload, which open, acknowledge and close, are not delayed.
///
/// # Errors
/// For more than [`MAX_SPIN_LOOPS`], without root, on a kernel before 5.17 or without the options that the error names, and if there
/// is no such link.
pub fn attach_spin(link: &str, loops: u32) -> Result<Attached, BpfError> {
    let ebpf = load(loops)?;
    Attached::new(ebpf, &[Hook { program: "ll_spin", link, side: TcAttachType::Egress }])
}

/// What [`attach_spin`] with so many `loops` costs a packet, in nanoseconds of the CPU that this thread is on: the median of repeated
/// runs of the program itself (`BPF_PROG_TEST_RUN`, Documentation/bpf/bpf_prog_run.rst), which takes a tenth of a second,
/// or longer from 100,000 loops on.
///
/// # Errors
/// As [`attach_spin`], and if a signal interrupts it.
pub fn spin_ns_per_packet(loops: u32) -> Result<f64, BpfError> {
    let mut ebpf = load(loops)?;
    let program = classifier(&mut ebpf, "ll_spin")?;
    let once = run(program, &REQUEST, 1)?.max(Duration::from_nanos(1));
    let repeat = (BATCH.as_nanos() / once.as_nanos()).clamp(1, 100_000) as u32;
    let mut batches = (0..BATCHES).map(|_| run(program, &REQUEST, repeat)).collect::<Result<Vec<_>, _>>()?;
    batches.sort_unstable();
    Ok(batches[BATCHES / 2].as_nanos() as f64)
}

fn load(loops: u32) -> Result<aya::Ebpf, BpfError> {
    if loops > MAX_SPIN_LOOPS {
        return Err(BpfError::TooManyLoops { loops, most: MAX_SPIN_LOOPS });
    }
    SPIN.load(&[("loops", &loops.to_ne_bytes())])
}

/// The mean time of `repeat` runs on the packet.
fn run(program: &SchedClassifier, packet: &[u8], repeat: u32) -> Result<Duration, BpfError> {
    let options = TestRunOptions { data_in: Some(packet), repeat, ..TestRunOptions::new() };
    let result = program.test_run(options).map_err(|e| BpfError::new("run the BPF program `ll_spin`", e))?;
    Ok(result.duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tcp_with_payload_is_delayed() {
        let mut ebpf = load(MAX_SPIN_LOOPS).unwrap();
        let program = classifier(&mut ebpf, "ll_spin").unwrap();
        let took = |packet: &[u8]| run(program, packet, 1).unwrap();
        let changed = |at: usize, byte: u8| {
            let mut packet = REQUEST;
            packet[at] = byte;
            packet
        };
        let held = took(&REQUEST);
        // As long as its headers, of another protocol in IP, of another protocol in Ethernet.
        for packet in [changed(17, 40), changed(23, 17), changed(13, 6)] {
            // Eight million loops, or none.
            assert!(took(&packet) * 10 < held, "{packet:?}");
        }
    }
}
