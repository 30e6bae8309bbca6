//! JVMs as they are started, and as they hide.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use loadline_model::runtime::Unseen;
use loadline_observe::Wanted;
use tempfile::TempDir;

use super::{Program, assert_all_given, run, source};

/// Makes garbage, and work for the compiler.
const SOURCE: &str = "
public class Busy {
    static Object kept;

    public static void main(String[] arguments) throws Exception {
        for (int number = 0; number < 3; number++) {
            Thread.ofPlatform().daemon().name(\"pool-1-thread-\" + number).start(() -> {
                try { Thread.sleep(1_000_000); } catch (InterruptedException end) { }
            });
        }
        System.out.println(\"ready\");
        while (true) {
            kept = new byte[1 << 20];
            java.util.stream.IntStream.range(0, 500).mapToObj(Integer::toString).sorted().count();
            Thread.sleep(1);
        }
    }
}
";

/// Where the newest JDK of this machine is: the default may be older than what the source needs.
fn java_home() -> &'static Path {
    static HOME: OnceLock<std::path::PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let version = |folder: &Path| {
            let release = std::fs::read_to_string(folder.join("release")).ok()?;
            let line =
                release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\"").map(str::to_owned))?;
            line.split(['.', '"']).next()?.parse::<u32>().ok()
        };
        let found = std::fs::read_dir("/usr/lib/jvm").expect("a JDK in /usr/lib/jvm");
        let found = found.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let newest = found.filter_map(|folder| Some((version(&folder)?, folder))).max().expect("a JDK");
        assert!(newest.0 >= 21, "a JDK of 21 or later in /usr/lib/jvm");
        newest.1
    })
}

/// The compiled program.
fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = source(folder.path(), "Busy.java", SOURCE);
    run(Command::new(java_home().join("bin/javac")).arg(file).arg("-d").arg(folder.path()));
    folder
}

/// Starts it with these options, with a small heap.
fn busy(folder: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(java_home().join("bin/java"));
    command.args(["-Xmx64m"]).args(options).arg("-cp").arg(folder.path()).arg("Busy");
    command
}

/// The same in a mount namespace of its own, after a command of a shell has changed its /tmp.
fn busy_behind(change: &str, folder: &TempDir, options: &[&str]) -> Command {
    let java = busy(folder, options);
    let mut command = Command::new("unshare");
    // Its own /tmp hides the folder of the program.
    let copy = format!(
        "cp -r {0} /run/busy-classes-$$ && cd /run/busy-classes-$$ && {change} && exec \"$@\"",
        folder.path().display()
    );
    command.args(["--mount", "sh", "-c", &format!("mount -t tmpfs tmpfs /run && {copy}"), "sh"]);
    let arguments = java.get_args().map(|word| if word == folder.path() { ".".as_ref() } else { word });
    command.arg(java.get_program()).args(arguments);
    command
}

#[test]
fn collector_flags_threads_collections_and_compilation_are_seen() {
    let folder = built();
    let program = Program::start(&mut busy(&folder, &["-XX:+UseSerialGC"]));
    let runtime = program.runtime();
    assert_eq!(runtime.unseen, []);
    assert_eq!(runtime.facts["jvm.collector"], "Serial");
    assert_eq!(runtime.facts["jvm.heap.max"], (64 << 20).to_string());
    assert_eq!(runtime.facts["jvm.flag.UseSerialGC"], "true (command line)");
    assert!(runtime.facts["jvm.threads"].contains("pool-1-thread-* 3"), "{runtime:?}");
    assert!(runtime.facts["jvm.arguments"].contains("-XX:+UseSerialGC"), "{runtime:?}");
    let seen = program
        .seen_until(|seen| seen.count("jvm.gc.collections") > Some(1) && seen.count("jvm.jit") > Some(0));
    assert!(seen.count("jvm.gc.collections") > Some(1), "{seen:?}");
    for time in ["jvm.gc.pause", "jvm.safepoint.time", "jvm.jit"] {
        assert!(seen.count(time) > Some(0), "{time}: {seen:?}");
    }
    assert_all_given(&seen, "jvm.");
    let heap = seen.count("jvm.heap.committed").unwrap();
    assert!(heap <= 64 << 20 && seen.count("jvm.heap.used").unwrap() <= heap, "{seen:?}");
}

#[test]
fn each_collector_has_metrics_of_its_own() {
    let folder = built();
    let program = Program::start(&mut busy(&folder, &["-XX:+UseG1GC"]));
    let mut observer = program.observer();
    observer.read(&Wanted::Everything);
    let names: Vec<String> = observer.metrics().into_iter().map(|metric| metric.name.into_owned()).collect();
    assert!(names.iter().any(|name| name.starts_with("jvm.gc.g1_") && name.ends_with(".pause")), "{names:?}");
}

#[test]
fn a_jvm_that_hides_its_performance_data_still_tells_its_flags() {
    let folder = built();
    let runtime = Program::start(&mut busy(&folder, &["-XX:+PerfDisableSharedMem"])).runtime();
    assert_eq!(runtime.unseen, [Unseen::NoPerformanceData]);
    assert!(runtime.facts.contains_key("jvm.collector"), "{runtime:?}");
}

#[test]
fn a_jvm_that_must_not_be_asked_is_left_alone() {
    let folder = built();
    let mut program = Program::start(&mut busy(&folder, &["-XX:+DisableAttachMechanism"]));
    let runtime = program.runtime();
    assert!(
        matches!(&runtime.unseen[..], [Unseen::NotAttached { why }] if why.contains("DisableAttachMechanism")),
        "{runtime:?}"
    );
    assert!(runtime.facts.contains_key("jvm.collector"), "from the performance data: {runtime:?}");
    assert!(program.0.try_wait().unwrap().is_none(), "it still runs");
}

#[test]
fn a_jvm_that_handles_no_signal_listens_by_itself() {
    let folder = built();
    let mut program = Program::start(&mut busy(&folder, &["-Xrs"]));
    let runtime = program.runtime();
    assert_eq!((runtime.unseen, program.0.try_wait().unwrap().is_none()), (vec![], true));
    assert_eq!(runtime.facts["jvm.flag.ReduceSignalUsage"], "true (command line)");
}

#[test]
fn a_jvm_that_cannot_write_to_its_tmp_says_that_nothing_was_seen() {
    let folder = built();
    let mut command = busy_behind("mount -t tmpfs -o ro tmpfs /tmp", &folder, &[]);
    let program = Program::start(&mut command);
    let runtime = program.runtime();
    assert!(
        matches!(&runtime.unseen[..], [Unseen::NoPerformanceData, Unseen::NotAttached { .. }]),
        "{runtime:?}"
    );
    let seen = program.seen_until(|seen| seen.service_cpu_ns().is_some());
    assert_eq!(seen.get("jvm.gc.collections"), None);
    assert!(seen.get("jvm.jit").is_some(), "its compiler threads: {seen:?}");
}

#[test]
fn what_was_put_in_the_place_of_the_performance_data_is_not_believed() {
    let folder = built();
    let program = Program::start(&mut busy_behind("mount -t tmpfs tmpfs /tmp", &folder, &[]));
    let tmp = Path::new("/proc").join(program.0.id().to_string()).join("root/tmp");
    let folder = std::fs::read_dir(&tmp).unwrap().filter_map(|entry| entry.ok()).map(|entry| entry.path());
    let file = folder
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten())
        .map(|entry| entry.unwrap().path())
        .next()
        .expect("performance data");
    let why = |what: &str| {
        let runtime = program.runtime();
        match &runtime.unseen[..] {
            [Unseen::BadPerformanceData { why }] => why.clone(),
            other => panic!("{what}: {other:?}"),
        }
    };
    let replace = |make: &dyn Fn(&Path)| {
        std::fs::remove_file(&file).unwrap();
        make(&file);
    };
    replace(&|file| std::fs::write(file, "hello").unwrap());
    assert_eq!(why("a text"), "it is too short");
    replace(&|file| std::fs::write(file, [0; 4096]).unwrap());
    assert_eq!(why("zeros"), "it does not begin as such a file does");
    replace(&|file| std::fs::File::create(file).unwrap().set_len(1 << 30).unwrap());
    assert_eq!(why("a gigabyte"), "it has 1073741824 bytes");
    replace(&|file| run(Command::new("mkfifo").arg(file)));
    assert_eq!(why("a FIFO"), "it is no regular file");
    // What is outside its root is not there: a link is followed as the JVM would.
    std::fs::write("/tmp/loadline-outside", [0; 64]).unwrap();
    replace(&|file| symlink("/tmp/loadline-outside", file).unwrap());
    assert_eq!(program.runtime().unseen, [Unseen::NoPerformanceData]);
    std::fs::remove_file("/tmp/loadline-outside").unwrap();
}

#[test]
fn a_socket_that_answers_byte_after_byte_is_not_waited_for() {
    let folder = built();
    let program = Program::start(&mut busy_behind("mount -t tmpfs tmpfs /tmp", &folder, &[]));
    let pid = program.0.id();
    let socket = Path::new("/proc").join(pid.to_string()).join(format!("root/tmp/.java_pid{pid}"));
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        while connection.write_all(b"0").is_ok() {
            sleep(Duration::from_millis(50));
        }
    });
    let began = Instant::now();
    let runtime = program.runtime();
    assert!(matches!(&runtime.unseen[..], [Unseen::NotAttached { .. }]), "{runtime:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_jvm_that_ends_in_the_middle_of_a_reading_is_no_fault() {
    let folder = built();
    for milliseconds in 0..10 {
        let mut program = Program::start(&mut busy(&folder, &[]));
        let mut observer = program.observer();
        let before = observer.read(&Wanted::Everything);
        assert!(observer.between(&before, &before).get("jvm.gc.collections").is_some(), "a JVM");
        let deadline = Instant::now() + Duration::from_secs(60);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                sleep(Duration::from_millis(milliseconds));
                program.0.kill().unwrap();
                program.0.wait().unwrap();
            });
            let mut after = observer.read(&Wanted::Everything);
            while observer.between(&before, &after).get("jvm.gc.collections").is_some() {
                assert!(Instant::now() < deadline, "it is still seen");
                after = observer.read(&Wanted::Everything);
            }
        });
        assert!(observer.runtime().is_empty(), "it ended after {milliseconds} ms");
    }
}

#[test]
fn a_jvm_that_ends_while_it_is_read_is_gone_without_a_word() {
    let folder = built();
    let mut program = Program::start(&mut busy(&folder, &[]));
    let mut observer = program.observer();
    let before = observer.read(&Wanted::Everything);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    let after = observer.read(&Wanted::Everything);
    assert_eq!(observer.between(&before, &after).get("jvm.gc.collections"), None);
    assert!(observer.runtime().is_empty());
}
