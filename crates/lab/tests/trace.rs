//! Disturbances that are made on purpose have to be named right, on the machine that runs the tests.
//!
//! Every test starts this program again, as the subject and as what disturbs it: `actor` below. What was
//! injected is known from the disturber's own clock of CPU time, so it does not matter who else uses the
//! machine meanwhile.
#![expect(clippy::print_stdout, reason = "a failed test shows what it found")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use becalm_lab::trace::{Mode, Recording, TracedChild, Tracer};
use becalm_machine::SysRoot;
use becalm_model::CpuSet;
use becalm_model::trace::{Culprit, Taken};
use becalm_runner::{monotonic_raw, own_affinity, pin_self};
use becalm_testkit::{FileTimer, skipped, thread_cpu_time};

/// What is found of an injected time where the machine is quiet enough to tell.
const LEAST: f64 = 0.95;

/// And at most, as nothing may be counted twice.
const MOST: f64 = 1.05;

/// How often a disturbance is made, at most.
const ATTEMPTS: u32 = 5;

/// The variable that tells a process of this program what to play.
const ROLE: &str = "BECALM_TEST_ROLE";

/// The tracer accounts for all children of a process, so one test at a time has any.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Starts a trace; says so where that is not possible.
fn tracer(test: &str) -> Option<Tracer> {
    match Tracer::start(&SysRoot::default(), Mode::Subjects) {
        Ok(tracer) => Some(tracer),
        Err(error) => {
            skipped(&format!("{test}: {error}"));
            None
        }
    }
}

/// Two CPUs: one for the subject and one to look on from; `None`, visibly, where there is one only.
fn two_cpus(test: &str) -> Option<(CpuSet, CpuSet)> {
    let own = own_affinity().unwrap();
    let last = own.iter().next_back()?;
    let subject: CpuSet = [last].into_iter().collect();
    let others = own.difference(&subject);
    if others.is_empty() {
        skipped(&format!("{test}: there is only one CPU only"));
        return None;
    }
    Some((subject, others))
}

/// Goes back to these CPUs at the end.
struct Back(CpuSet);

impl Drop for Back {
    fn drop(&mut self) {
        let _ = pin_self(&self.0);
    }
}

/// Starts this program in a role on some CPUs.
fn start(role: &str, cpus: &CpuSet) -> Child {
    start_by(Command::new(std::env::current_exe().unwrap()), role, cpus)
}

/// Starts a command that starts this program with the arguments that it gets.
fn start_by(mut command: Command, role: &str, cpus: &CpuSet) -> Child {
    command
        .args(["--exact", "actor", "--ignored", "--nocapture"])
        .env(ROLE, format!("{role} {cpus}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What an actor says after the word `said`, line by line, until its end.
fn said(child: &mut Child) -> Vec<Vec<f64>> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let numbers = |line: String| -> Option<Vec<f64>> {
        line.strip_prefix("said ")?.split(' ').map(|word| word.parse().ok()).collect()
    };
    let all = lines.filter_map(numbers).collect();
    child.wait().unwrap();
    all
}

/// A subject that was traced, and what it and its disturber said.
struct Disturbed {
    subject: TracedChild,
    said: Vec<Vec<f64>>,
    disturber: u32,
    log: Vec<Vec<f64>>,
}

/// Runs a subject beside a disturber, both on one CPU.
fn disturbed(test: &str, subject: &str, disturber: Option<&str>) -> Option<Disturbed> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (cpus, others) = two_cpus(test)?;
    let _back = Back(own_affinity().unwrap());
    pin_self(&others).unwrap();
    let mut injector = disturber.map(|role| start(role, &cpus));
    let tracer = tracer(test)?;
    let mut child = start(subject, &cpus);
    let pid = child.id();
    let subject_said = said(&mut child);
    let disturber = injector.as_ref().map_or(0, Child::id);
    // Its standard input ends, and so does the disturber.
    let injector_said = injector.as_mut().map(|child| {
        drop(child.stdin.take());
        said(child)
    });
    let recording: Recording = tracer.finish();
    if recording.lost > 0 {
        skipped(&format!("{test}: {} events were lost on this busy machine", recording.lost));
        return None;
    }
    let traced =
        recording.children().into_iter().find(|one| one.pid == pid).expect("it was traced");
    println!("{traced:#?}");
    let log = injector_said.unwrap_or_default();
    Some(Disturbed { subject: traced, said: subject_said, disturber, log })
}

fn seconds(taken: &[Taken], is_wanted: impl Fn(&Culprit) -> bool) -> f64 {
    taken.iter().filter(|one| is_wanted(&one.culprit)).map(|one| one.seconds).sum()
}

fn is_injector(culprit: &Culprit, pid: u32) -> bool {
    matches!(culprit, Culprit::Process { pid: Some(known), .. } if *known == pid)
}

/// Sums what a disturber logged (start and end as `CLOCK_MONOTONIC_RAW`, CPU time) while the subject
/// lived.
fn injected(log: &[Vec<f64>], subject: &TracedChild) -> f64 {
    let (start, end) = (subject.started.as_secs_f64(), subject.ended.as_secs_f64());
    log.iter()
        .filter(|one| one.len() == 3 && one[0] >= start && one[1] <= end)
        .map(|one| one[2])
        .sum()
}

/// What a disturbance took: what was found of it, and what was injected, in seconds.
struct Share {
    found: f64,
    injected: f64,
}

/// Lets a disturbance be named, again where too little or too much of it was found: what others leave
/// behind in the caches of a busy machine is part of what is injected, and has no name. Where that
/// never ends, the share cannot be checked, and the test says so; `cargo xtask bench trace` prints it.
/// That it is found at all does not depend on the machine.
fn named(test: &str, most: f64, mut disturb: impl FnMut() -> Option<Share>) {
    let mut shares = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(Share { found, injected }) = disturb() else { return };
        println!("{test}: {found:.6} s of {injected:.6} s");
        assert!(injected > 0.0, "nothing was injected");
        assert!(found > 0.0, "nothing was found");
        if (LEAST..=most).contains(&(found / injected)) {
            return;
        }
        shares.push(found / injected);
    }
    skipped(&format!("{test}: on this machine the share can be told to {shares:.2?} only"));
}

#[test]
fn a_process_that_wakes_every_50_ms_for_3_ms_is_named() {
    let test = "a_process_that_wakes_every_50_ms_for_3_ms_is_named";
    named(test, MOST, || {
        let Disturbed { subject, disturber, log, .. } = disturbed(test, "spin 1.5", Some("hog"))?;
        let found = seconds(&subject.taken, |culprit| is_injector(culprit, disturber));
        Some(Share { found, injected: injected(&log, &subject) })
    });
}

#[test]
fn a_storm_of_timers_is_named_by_its_owner_and_its_kind() {
    let test = "a_storm_of_timers_is_named_by_its_owner_and_its_kind";
    let is_timer = |culprit: &Culprit| {
        matches!(culprit, Culprit::LocalInterrupt { function: Some(function), .. }
            if function == "timerfd_tmrproc")
    };
    // The scheduler counts the end of the interrupt that wakes a task as the task's; the trace, as what
    // it is. So more is found than the disturber knows of.
    named(test, f64::INFINITY, || {
        let Disturbed { subject, disturber, log, .. } = disturbed(test, "spin 1", Some("storm"))?;
        let found = seconds(&subject.taken, |one| is_injector(one, disturber) || is_timer(one));
        let interrupts = subject.taken.iter().filter(|one| is_timer(&one.culprit));
        let times: u64 = interrupts.map(|one| one.times).sum();
        assert!(times > 0, "no interrupt was told by its timer");
        Some(Share { found, injected: injected(&log, &subject) })
    });
}

#[test]
fn waiting_for_writers_is_named_whoever_does_the_writing() {
    let test = "waiting_for_writers_is_named_whoever_does_the_writing";
    // Everything that kept it waiting has a name, and is as much as the scheduler says.
    named(test, f64::INFINITY, || {
        let Disturbed { subject, said, disturber, log } =
            disturbed(test, "spin 1", Some("writer"))?;
        // On a slow disk a single wait of the writer may have lasted as long as the subject.
        if injected(&log, &subject) > 0.0 {
            assert!(seconds(&subject.taken, |culprit| is_injector(culprit, disturber)) > 0.0);
        }
        let found = seconds(&subject.taken, |culprit| {
            !matches!(
                culprit,
                Culprit::MinorFault
                    | Culprit::MajorFault
                    | Culprit::OwnThreads
                    | Culprit::Blocked
                    | Culprit::Asleep
                    | Culprit::Unknown
                    | Culprit::Steal
            )
        });
        Some(Share { found, injected: said[0][0] })
    });
}

#[test]
fn page_faults_of_a_trimmed_heap_are_told_with_their_time() {
    let test = "page_faults_of_a_trimmed_heap_are_told_with_their_time";
    // The pages that are there are touched in more time than nothing, so that more is found.
    named(test, f64::INFINITY, || {
        let Disturbed { subject, said, .. } = disturbed(test, "heap", None)?;
        let found = seconds(&subject.taken, |one| *one == Culprit::MinorFault);
        Some(Share { found, injected: said[0][0] })
    });
}

#[test]
fn time_for_which_a_signal_stops_the_subject_is_told() {
    let test = "time_for_which_a_signal_stops_the_subject_is_told";
    // Ten times 20 ms of each thread, or more if whoever continues it comes late.
    named(test, f64::INFINITY, || {
        let Disturbed { subject, said, .. } = disturbed(test, "stopped", None)?;
        let found = seconds(&subject.taken, |one| *one == Culprit::Stopped);
        Some(Share { found, injected: 0.2 * said[0][0] })
    });
}

#[test]
fn a_low_limit_of_open_files_leaves_room_beside_the_trace_and_is_put_back() {
    let test = "a_low_limit_of_open_files_leaves_room_beside_the_trace_and_is_put_back";
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -Sn {LOW}; exec \"$0\" \"$@\"")]);
    shell.arg(std::env::current_exe().unwrap());
    let mut child = start_by(shell, "low_limit", &own_affinity().unwrap());
    let said = said(&mut child);
    match said.first().map(Vec::as_slice) {
        Some([1.0, limit, opened, children]) => {
            assert!((limit - f64::from(LOW)).abs() < 0.5, "{limit} after the trace began");
            assert!(*opened >= 16.0, "{opened} files could be opened beside the trace");
            assert!((children - 1.0).abs() < 0.5, "{children} children were traced");
        }
        _ => skipped(&format!("{test}: no trace here")),
    }
}

/// What the other processes of these tests do; no test of its own.
#[test]
#[ignore = "played by the other tests"]
fn actor() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words: Vec<&str> = role.split(' ').collect();
    let cpus: CpuSet = words.last().unwrap().parse().unwrap();
    pin_self(&cpus).unwrap();
    match words[0] {
        "spin" => spin_for(words[1].parse().unwrap()),
        "hog" => hog(),
        "storm" => storm(),
        "writer" => writer(),
        "heap" => heap(),
        "stopped" => stopped(),
        "low_limit" => low_limit(),
        other => panic!("no role {other}"),
    }
}

fn say(numbers: &[f64]) {
    let words: Vec<String> = numbers.iter().map(|number| format!("{number:.9}")).collect();
    // One write, as the test harness writes beside it.
    let _ = std::io::stdout().write_all(format!("\nsaid {}\n", words.join(" ")).as_bytes());
}

/// Computes for some seconds of CPU time, and tells how long it waited for a CPU.
fn spin_for(seconds: f64) {
    let start = thread_cpu_time();
    while thread_cpu_time() - start < seconds {
        std::hint::black_box((0..1000_u32).fold(1_u32, |a, b| a.wrapping_mul(b | 1)));
    }
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let delay: f64 = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    say(&[delay * 1e-9]);
}

/// Does something again and again until the standard input ends, and logs when and for how much CPU
/// time.
fn repeat(mut act: impl FnMut()) {
    let is_over = watch_input();
    let mut log = Vec::new();
    while !is_over() {
        let (start, before) = (monotonic_raw().as_secs_f64(), thread_cpu_time());
        act();
        log.push([start, monotonic_raw().as_secs_f64(), thread_cpu_time() - before]);
    }
    for line in &log {
        say(line);
    }
}

fn watch_input() -> impl Fn() -> bool {
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = std::sync::Arc::clone(&over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    move || over.load(std::sync::atomic::Ordering::Relaxed)
}

/// Fewer files than a trace of two CPUs has.
const LOW: u32 = 40;

/// Traces a child with few files allowed; says whether it could, the limit then, how many files more could
/// be opened and how many children were traced.
fn low_limit() {
    let Ok(tracer) = Tracer::start(&SysRoot::default(), Mode::Subjects) else {
        return say(&[0.0]);
    };
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let limit: f64 = soft.split_whitespace().next().unwrap().parse().unwrap();
    let files: Vec<_> = (0..LOW).map_while(|_| std::fs::File::open("/dev/null").ok()).collect();
    let opened = files.len();
    drop(files);
    let ended = Command::new("true").status().unwrap();
    let children = tracer.finish().children().len();
    assert!(ended.success());
    say(&[1.0, limit, opened as f64, children as f64]);
}

fn hog() {
    repeat(|| {
        std::thread::sleep(Duration::from_millis(50));
        let start = thread_cpu_time();
        while thread_cpu_time() - start < 0.003 {}
    });
}

fn storm() {
    let mut timer = FileTimer::every(Duration::from_micros(200)).unwrap();
    repeat(|| timer.wait().unwrap());
}

fn writer() {
    // On a disk, and not in the sources, as it stays when this process is killed.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let block = vec![7_u8; 1 << 20];
    repeat(|| {
        let mut file = std::fs::File::create(folder.path().join("data")).unwrap();
        for _ in 0..8 {
            file.write_all(&block).unwrap();
        }
        file.sync_all().unwrap();
    });
}

/// Fills and frees a heap, whose top the allocator gives back each time, so that every page has to be
/// found again; tells how much longer that takes than with pages that are there.
fn heap() {
    const BLOCK: usize = 64 << 10;
    const PAGE: usize = 4096;
    // Nothing else writes to memory that has no length yet.
    let touch = |blocks: &mut [Vec<u8>]| {
        let start = thread_cpu_time();
        for block in blocks.iter_mut() {
            for page in block.spare_capacity_mut().chunks_mut(PAGE) {
                page[0].write(1);
            }
        }
        thread_cpu_time() - start
    };
    let mut injected = 0.0;
    for _ in 0..20 {
        let mut blocks: Vec<Vec<u8>> = (0..64).map(|_| Vec::with_capacity(BLOCK)).collect();
        let fresh = touch(&mut blocks);
        injected += (fresh - touch(&mut blocks)).max(0.0);
    }
    say(&[injected]);
}

/// Is stopped ten times for 20 ms, by a child.
fn stopped() {
    let pid = std::process::id();
    let script = format!(
        "for i in 1 2 3 4 5 6 7 8 9 10; do
           kill -STOP {pid}; sleep 0.02; kill -CONT {pid}; sleep 0.01
         done"
    );
    let mut child = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(30) {
        std::hint::spin_loop();
    }
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    #[expect(clippy::cast_precision_loss, reason = "a handful of threads")]
    say(&[threads as f64]);
}
