//! Starting, ending and measuring real processes.

mod support;

use std::fs;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use becalm_machine::SysRoot;
use becalm_model::metric::{CPU_MIGRATIONS, PAGE_FAULTS, TASK_CLOCK};
use becalm_model::terms::Counters;
use becalm_model::{CpuSet, Outcome};
use becalm_runner::{
    CounterPlan, Finished, Interrupt, LaunchError, MAX_CAPTURE, Stdin, Stdout, own_affinity,
};
use becalm_testkit::{wait_until, write_program};
use support::{command, shell, skipped};

#[test]
fn exit_codes_and_signals_are_told_apart() {
    assert_eq!(command(&["true"]).run().outcome, Outcome::Exited(0));
    assert_eq!(shell("exit 3").run().outcome, Outcome::Exited(3));
    assert_eq!(shell("kill -SEGV $$").run().outcome, Outcome::Signalled(11));
    // What a failed step of the child exits with is a code that a subject can have too.
    assert_eq!(shell("exit 127").run().outcome, Outcome::Exited(127));
}

#[test]
fn a_file_of_an_unknown_format_is_an_explained_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    write_program(&path, "echo no first line\n");
    let error = command(&[path.to_str().unwrap()]).error();
    assert!(error.contains("executing it: Exec format error"), "{error}");
    assert!(error.contains("#!/bin/sh"), "{error}");
}

#[test]
fn a_missing_interpreter_is_an_explained_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    write_program(&path, "#!/no/such/interpreter\n");
    let error = command(&[path.to_str().unwrap()]).error();
    assert!(error.contains("executing it: No such file or directory"), "{error}");
    assert!(error.contains("interpreter"), "{error}");
}

#[test]
fn a_program_that_vanished_after_it_was_found_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool");
    fs::copy("/bin/true", &path).unwrap();
    let words = [path.to_str().unwrap().to_owned()];
    let program = becalm_runner::Program::resolve(&words, None, None).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let subject = command(&[]);
    let interrupt = Interrupt::new().unwrap();
    let error = subject.run_program(&program, None, &interrupt).unwrap_err().to_string();
    assert!(error.contains("executing it: Permission denied"), "{error}");
    fs::remove_file(&path).unwrap();
    let error = subject.run_program(&program, None, &interrupt).unwrap_err().to_string();
    assert!(error.contains("executing it: No such file"), "{error}");
}

#[test]
fn times_are_those_of_the_subject() {
    let finished = command(&["sleep", "0.05"]).run();
    // The clock that it sleeps by may be pushed forward, up to a tenth faster than the one it is measured by.
    assert!(finished.wall >= 0.045, "{finished:?}");
    assert!(finished.cpu_time() < finished.wall, "{finished:?}");
    assert!(finished.voluntary_switches >= 1, "{finished:?}");

    let finished = shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done").run();
    assert!(finished.cpu_time() > 0.0, "{finished:?}");
    assert!(finished.cpu_time() <= finished.wall + 0.02, "one thread only: {finished:?}");
    let main = finished.main_thread_time.unwrap();
    assert!((main - finished.cpu_time()).abs() < 0.02, "one thread only: {finished:?}");
    assert!(finished.run_delay.unwrap() >= 0.0);
    assert!(finished.max_rss > 100_000 && finished.minor_faults > 10, "{finished:?}");
}

#[test]
fn what_never_left_its_one_cpu_was_not_kept_waiting() {
    let cpus = own_affinity().unwrap();
    let one: CpuSet = cpus.iter().take(1).collect();
    let mut short = command(&["true"]);
    short.placement.affinity = Some(one.clone());
    // Whoever else wants this CPU may get it in between, but hardly every time.
    let runs: Vec<_> = (0..50).map(|_| short.run()).collect();
    let left = |run: &Finished| run.voluntary_switches + run.involuntary_switches > 1;
    for run in &runs {
        assert!(run.main_thread_time.is_some(), "{run:?}");
        if !left(run) {
            assert_eq!(run.main_thread_time, Some(run.cpu_time()), "{run:?}");
            assert_eq!(run.run_delay, Some(0.0), "{run:?}");
        }
    }
    assert!(!runs.iter().all(left), "{runs:?}");

    // What leaves it is looked at: it is a child that computes.
    let mut parent = shell("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit 0");
    parent.placement.affinity = Some(one);
    let run = parent.run();
    assert!(run.main_thread_time.unwrap() < run.cpu_time() / 2.0, "{run:?}");

    assert_eq!(own_affinity().unwrap(), cpus, "becalm has the CPUs that it had");
}

#[test]
fn what_was_done_before_the_subject_was_executed_is_not_its_own() {
    let mut computing = shell("i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done");
    for cpu in own_affinity().unwrap().iter() {
        // Coming from another CPU, the child waits once for the kernel to move it.
        computing.placement.affinity = Some([cpu].into_iter().collect());
        // A run may have to read files from the disk.
        let switches = (0..5).map(|_| computing.run().voluntary_switches).min();
        assert!(switches <= Some(1), "only its end, on CPU {cpu}: {switches:?}");
    }
}

#[test]
fn work_of_a_child_is_counted_for_the_subject_but_not_for_its_main_thread() {
    let script = "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit 0";
    let finished = shell(script).run();
    assert!(finished.cpu_time() > 0.01, "{finished:?}");
    assert!(finished.main_thread_time.unwrap() < finished.cpu_time() / 2.0, "{finished:?}");
}

#[test]
fn a_subject_past_its_time_is_ended_with_everything_it_started() {
    // However long it takes until both are there, the subject must have had that time.
    let pids = [1, 5, 30, 120].into_iter().find_map(started_and_timed_out);
    for pid in pids.expect("both started within two minutes").lines() {
        wait_for_end(pid);
    }
}

/// Gives so many seconds to a leader that ignores SIGTERM and a child that ignores it too, and returns their ids;
/// `None` where they had not both started by then.
fn started_and_timed_out(seconds: u64) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!(
        "trap '' TERM; (trap '' TERM; exec sleep 1000) & echo $! > {0}; echo $$ >> {0}; \
         while :; do sleep 1000; done",
        pids.display()
    );
    let mut subject = shell(&script);
    subject.timeout = Some(Duration::from_secs(seconds));
    let finished = subject.run();
    assert_eq!(finished.outcome, Outcome::TimedOut);
    assert!(finished.wall >= seconds as f64, "{finished:?}");
    fs::read_to_string(pids).ok().filter(|pids| pids.lines().count() == 2)
}

#[test]
fn a_subject_that_ends_at_sigterm_is_timed_out_all_the_same() {
    let mut subject = shell("trap 'exit 0' TERM; sleep 100 & wait");
    subject.timeout = Some(Duration::from_millis(100));
    let finished = subject.run();
    assert_eq!(finished.outcome, Outcome::TimedOut);
    assert!(finished.wall >= 0.1, "{finished:?}");
}

#[test]
fn what_a_subject_leaves_running_is_ended() {
    let pid = shell("sleep 100 > /dev/null & echo $!").output();
    wait_for_end(&pid);
}

/// Waits for a process to end, which may take a moment, and init may be slow to reap it.
#[track_caller]
fn wait_for_end(pid: &str) {
    let has_ended = || match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => true,
        Ok(stat) => stat.contains(") Z "),
    };
    wait_until(&format!("the end of process {pid}"), has_ended);
}

#[test]
fn an_interrupt_ends_the_subject() {
    let interrupt = Interrupt::new().unwrap();
    let start = Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            interrupt.raise(2);
        });
        command(&["sleep", "100"]).run_until(&interrupt).unwrap_err()
    });
    assert!(matches!(error, LaunchError::Interrupted { signal: 2 }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(60));
    let again = command(&["true"]).run_until(&interrupt).unwrap_err();
    assert!(matches!(again, LaunchError::Interrupted { signal: 2 }), "{again}");
}

#[test]
fn a_second_interrupt_ends_at_once_a_subject_that_ignores_the_first() {
    let interrupt = Interrupt::new().unwrap();
    let start = Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2 {
                std::thread::sleep(Duration::from_millis(100));
                interrupt.raise(15);
            }
        });
        shell("trap '' TERM; while :; do sleep 100; done").run_until(&interrupt).unwrap_err()
    });
    assert!(matches!(error, LaunchError::Interrupted { signal: 15 }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn large_outputs_are_captured_whole() {
    let finished = shell("head -c 5000000 /dev/zero; echo end").run();
    let output = finished.output.unwrap();
    assert_eq!(output.len(), 5_000_004);
    assert!(output.ends_with(b"end\n"));
}

#[test]
fn a_subject_that_never_stops_writing_is_ended() {
    let error = shell("cat /dev/zero").try_run().unwrap_err();
    assert!(matches!(error, LaunchError::OutputTooLarge { limit: MAX_CAPTURE, .. }), "{error}");
    assert!(error.to_string().contains("more than 64 MiB"), "{error}");
}

#[test]
fn a_subject_that_closes_its_output_is_waited_for() {
    let finished = shell("echo x; exec > /dev/null; sleep 0.1; exit 4").run();
    assert_eq!(finished.outcome, Outcome::Exited(4));
    assert_eq!(finished.output.as_deref(), Some(&b"x\n"[..]));
    assert!(finished.wall >= 0.09, "{finished:?}");
}

#[test]
fn standard_input_is_empty_or_a_file_read_from_its_start_every_time() {
    let mut subject = command(&["cat"]);
    assert_eq!(subject.output(), "");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "hello").unwrap();
    subject.stdin = Stdin::File(file.path().to_owned());
    assert_eq!(subject.output(), "hello");
    assert_eq!(subject.output(), "hello");
    subject.stdin = Stdin::File("/no/such".into());
    assert_eq!(subject.error(), "cannot open /no/such as standard input of the command");
}

#[test]
fn a_pipe_is_no_standard_input_of_many_runs() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"once").unwrap();
    let mut subject = command(&["cat"]);
    subject.stdin = Stdin::File(format!("/proc/self/fd/{}", reader.as_raw_fd()).into());
    assert!(subject.error().contains("is a pipe, which the first run would empty"));
    // Nobody writes to this one, and yet nobody waits.
    let folder = tempfile::tempdir().unwrap();
    // One for each way: a process that another test has just forked may still have the end that was read from.
    let [for_input, for_output] = ["input", "output"].map(|name| folder.path().join(name));
    let both = [&for_input, &for_output];
    assert!(std::process::Command::new("mkfifo").args(both).status().unwrap().success());
    subject.stdin = Stdin::File(for_input);
    assert!(subject.error().contains("is a pipe"));
    subject.stdin = Stdin::Null;
    subject.stdout = Stdout::File(for_output);
    assert!(subject.error().contains("as standard output of the command"));
}

#[test]
fn who_wants_the_terminal_is_ended_and_told() {
    // What the kernel sends to a group in the background that reads from its terminal.
    let error = shell("kill -TTIN $$; sleep 1000").error();
    assert!(error.contains("needs the terminal, which it cannot use"), "{error}");
    // Who is stopped for another reason goes on when it is told to.
    let script = "(until grep -q '^State:.T' /proc/$$/status; do sleep 0.05; done
                   sleep 1.3; kill -CONT $$) & kill -STOP $$; exit 3";
    let finished = shell(script).run();
    assert_eq!(finished.outcome, Outcome::Exited(3));
}

#[test]
fn standard_output_can_go_to_a_file_that_every_run_starts_afresh() {
    let folder = tempfile::tempdir().unwrap();
    let mut subject = shell("echo $$");
    subject.cwd = Some(folder.path().to_owned());
    subject.stdout = Stdout::File("out".into());
    for _ in 0..2 {
        assert_eq!(subject.run().output, None);
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap().lines().count(), 1);
    }
}

#[test]
fn what_wait4_tells_is_there_without_any_right_to_count() {
    let (plan, _) = CounterPlan::probe(&SysRoot::new("/no/such"), Counters::Software);
    let mut subject = command(&["true"]);
    subject.counters = plan.clone();
    let finished = subject.run();
    let value = |name: &str| finished.counters[plan.index(name).unwrap()].unwrap();
    assert_eq!(finished.counters.len(), plan.metrics().len());
    assert!((value(TASK_CLOCK) - finished.cpu_time()).abs() < 1e-9);
    assert!(value(PAGE_FAULTS) > 10.0, "{finished:?}");
}

#[test]
fn migrations_are_counted_in_every_run_and_in_children() {
    const NAME: &str = "migrations_are_counted_in_every_run_and_in_children";
    let (plan, limits) = CounterPlan::probe(&SysRoot::default(), Counters::Software);
    let Some(migrations) = plan.index(CPU_MIGRATIONS) else {
        return skipped(NAME, &format!("{limits:?}"));
    };
    let cpus = own_affinity().unwrap();
    let (Some(first), Some(last)) = (cpus.iter().next(), cpus.iter().next_back()) else { return };
    if first == last {
        return skipped(NAME, "there is one CPU only");
    }
    let hop = format!("taskset -pc {first} $$; taskset -pc {last} $$;");
    let mut subject = shell(&format!("taskset --version || exit 9; {}", hop.repeat(3)));
    subject.counters = plan;
    // More often than twice: counters inherited over a vfork stop counting there.
    for _ in 0..5 {
        let finished = subject.run();
        if finished.outcome == Outcome::Exited(9) {
            return skipped(NAME, "taskset is not here");
        }
        assert!(finished.counters[migrations].unwrap() >= 3.0, "{finished:?}");
    }
}

#[test]
fn hardware_counters_are_plausible() {
    let (plan, limits) = CounterPlan::probe(&SysRoot::default(), Counters::All);
    let (Some(cycles), Some(instructions)) = (plan.index("cycles"), plan.index("instructions"))
    else {
        return skipped("hardware_counters_are_plausible", &format!("{limits:?}"));
    };
    let mut subject = shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done");
    subject.counters = plan;
    let finished = subject.run();
    let values = (finished.counters[cycles], finished.counters[instructions]);
    let (Some(cycles), Some(instructions)) = values else {
        return skipped("hardware_counters_are_plausible", "others had the counters all the time");
    };
    let rate = cycles / finished.cpu_time();
    assert!((1e8..1e10).contains(&rate), "{rate} cycles per second of CPU time");
    assert!(instructions > 1e6, "{finished:?}");
}

#[test]
fn a_thousand_runs_leave_no_descriptor_and_no_zombie() {
    let (plan, _) = CounterPlan::probe(&SysRoot::default(), Counters::Software);
    let mut subject = command(&["true"]);
    subject.counters = plan;
    let mut failing = command(&["true"]);
    failing.counters = subject.counters.clone();
    failing.placement.nice = Some(-5);
    failing.placement.affinity = Some("8191".parse().unwrap());
    subject.run();
    let pids: Vec<_> = (0..1000)
        .map(|round| {
            if round % 10 == 0 {
                failing.try_run().unwrap_err();
            }
            subject.run().outcome
        })
        .collect();
    assert!(pids.iter().all(|outcome| outcome.is_success()));
    // Other tests of this binary open and close descriptors at the same time: ask for a trend.
    let open = fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 150, "{open} descriptors are open");
    // Those of other tests of this binary are reaped by them.
    wait_until("a moment without zombies", || own_zombies() == 0);
}

/// Counts our children that nobody has reaped.
fn own_zombies() -> usize {
    let us = format!(") Z {} ", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| stat.contains(&us))
        .count()
}
