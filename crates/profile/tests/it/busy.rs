//! A thread with known CPU time under the profiler; an idle CPU; and users without the permission.

use std::{fs, hint::black_box, thread, time::Duration};

use loadline_profile::{Options, ProfileError, Profiler, SoftirqWatch, Symbols, ThreadRoles};
use rustix::{
    process::Uid,
    thread::{CpuSet, gettid, sched_setaffinity, set_thread_res_uid},
    time::{ClockId, clock_gettime},
};

use crate::rig::machine;

/// Counts until the thread has used this much CPU time, and returns how much it used. Not inlined, to be a frame of its own.
#[inline(never)]
fn counts_for_a_while(cpu_time: Duration) -> Duration {
    let start = thread_cpu_time();
    let mut sum = 0u64;
    loop {
        for n in 0..100_000 {
            sum = black_box(sum.wrapping_add(n));
        }
        let spent = thread_cpu_time() - start;
        if spent >= cpu_time {
            return spent;
        }
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).unwrap();
}

/// Time in which a CPU ran nothing, since the machine came up: `idle`, `iowait` and `steal` of `/proc/stat` (proc_stat(5)), which are
/// in hundredths of a second.
fn idle_time(cpu: usize) -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap();
    let line = stat.lines().find(|line| line.starts_with(&format!("cpu{cpu} "))).unwrap();
    let fields: Vec<u64> = line.split_whitespace().skip(1).map(|field| field.parse().unwrap()).collect();
    Duration::from_millis((fields[3] + fields[4] + fields[7]) * 10)
}

#[test]
fn a_busy_thread_is_seen_with_its_function_for_as_long_as_its_clock_says() {
    let _machine = machine();
    let profiler = Profiler::start(&Options::new([0])).unwrap();
    let busy = thread::spawn(|| {
        pin(0);
        (gettid().as_raw_nonzero().get() as u32, counts_for_a_while(Duration::from_millis(500)))
    });
    let (tid, spent) = busy.join().unwrap();
    let samples = profiler.stop().unwrap();
    let profile = samples
        .resolve(&ThreadRoles { load: [tid].into(), ..ThreadRoles::default() }, &Symbols::new())
        .unwrap();
    let (seen, spent) = (profile.user_ns.load as f64, spent.as_nanos() as f64);
    assert!((seen / spent - 1.0).abs() < 0.2, "seen {seen} ns, spent {spent} ns\n{:?}", profile.kernel_ns);
    let stacks = profile.stacks.folded();
    let counting: u64 =
        stacks.iter().filter(|(stack, _)| stack.contains("counts_for_a_while")).map(|(_, ns)| ns).sum();
    assert!(counting as f64 > 0.9 * seen, "{counting} of {seen} ns in the function:\n{stacks:#?}");
    assert_eq!(profile.user_ns.service, 0);
}

#[test]
fn work_after_idle_times_is_seen_as_long_as_its_clock_says() {
    let _machine = machine();
    let profiler = Profiler::start(&Options::new([0])).unwrap();
    let now_and_then = thread::spawn(|| {
        pin(0);
        let work = |_| {
            thread::sleep(Duration::from_millis(10));
            counts_for_a_while(Duration::from_millis(1))
        };
        (gettid().as_raw_nonzero().get() as u32, (0..200).map(work).sum::<Duration>())
    });
    let (tid, spent) = now_and_then.join().unwrap();
    let samples = profiler.stop().unwrap();
    let profile = samples
        .resolve(&ThreadRoles { load: [tid].into(), ..ThreadRoles::default() }, &Symbols::new())
        .unwrap();
    let (seen, spent) = (profile.user_ns.load as f64, spent.as_nanos() as f64);
    assert!((seen / spent - 1.0).abs() < 0.2, "seen {seen} ns, spent {spent} ns");
}

/// The idle time of CPU 1 in a second, as the profiler sees it, as the kernel accounts it, and the time that was watched, ns.
fn idle_for_a_second() -> [f64; 3] {
    let before = idle_time(1);
    let profiler = Profiler::start(&Options::new([1])).unwrap();
    thread::sleep(Duration::from_secs(1));
    let samples = profiler.stop().unwrap();
    let accounted = idle_time(1).saturating_sub(before).as_nanos() as f64;
    let profile = samples.resolve(&ThreadRoles::default(), &Symbols::new()).unwrap();
    let watched = profile.watched_ns as f64;
    // Time that the hypervisor stole is accounted when it gives a report, which may be of a time before.
    [(profile.idle_ns + profile.unseen_ns()) as f64, accounted.min(watched), watched]
}

#[test]
fn a_cpu_is_idle_for_as_long_as_the_kernel_s_own_account_says() {
    let _machine = machine();
    // The account is wrong where a disk is waited for: `iowait` may even become less (proc_stat(5)).
    let seconds = [(); 3].map(|()| idle_for_a_second());
    let is_alike = |[idle, accounted, watched]: &[f64; 3]| (idle - accounted).abs() / watched < 0.2;
    assert!(seconds.iter().any(is_alike), "idle, accounted, watched ns: {seconds:?}");
}

#[test]
fn no_cpu_is_an_error_and_so_is_one_that_the_machine_does_not_have() {
    assert!(matches!(Profiler::start(&Options::new([])).err(), Some(ProfileError::NoCpus)));
    let error = Profiler::start(&Options::new([4095])).err().unwrap();
    assert!(error.to_string().contains("CPU 4095"), "{error}");
}

#[test]
fn a_profiler_that_is_dropped_leaves_no_descriptor_open() {
    let _machine = machine();
    let open = || fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
    let events = || open().filter(|target| target.to_string_lossy().contains("perf_event")).count();
    let before = events();
    drop(Profiler::start(&Options::new([0])).unwrap());
    assert!(events() <= before);
}

/// Runs something in a thread of its own as an unprivileged user (`nobody`).
fn as_nobody<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let unprivileged = move || {
        let nobody = Uid::from_raw(65534);
        set_thread_res_uid(nobody, nobody, nobody).unwrap();
        what()
    };
    thread::spawn(unprivileged).join().unwrap()
}

#[test]
fn a_user_without_permission_to_profile_gets_an_error_with_a_remedy() {
    let error = as_nobody(|| Profiler::start(&Options::new([0])).err().unwrap());
    let text = error.to_string();
    assert!(matches!(error, ProfileError::NotPermitted { cpu: 0, paranoid: Some(_) }), "{text}");
    assert!(text.contains("CAP_PERFMON") && text.contains("kernel.perf_event_paranoid"), "{text}");
}

#[test]
fn a_user_without_permission_for_tracepoints_gets_an_error_with_a_remedy() {
    let error = as_nobody(|| SoftirqWatch::start(&[0]).err().unwrap());
    let text = error.to_string();
    assert!(matches!(error, ProfileError::Tracepoint { .. }) && text.contains("CAP_SYS_ADMIN"), "{text}");
}
