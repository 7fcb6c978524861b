//! Tuning a folder that stands for a machine: what is changed comes back, whoever dies.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use becalm_testkit::{FakeMachine, FakeTree, TestEnv, wait_until};

use crate::support::{SIGTERM, catches, env};

const BALANCING: &str = "/proc/sys/kernel/numa_balancing";
/// One knob with a single file, so that a test says all there is to say.
const ONLY: [&str; 2] = ["--only", "numa-balancing"];

fn machine() -> FakeTree {
    FakeMachine::default()
        .tree()
        .file(BALANCING, "1\n")
        .file("/proc/sys/kernel/random/boot_id", "0000-this-boot\n")
}

struct Bench {
    env: TestEnv,
    tree: FakeTree,
}

fn bench() -> Bench {
    Bench { env: env(), tree: machine() }
}

impl Bench {
    fn root(&self) -> String {
        self.tree.path().display().to_string()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.tree.path().join(path.trim_start_matches('/'))
    }

    fn balancing(&self) -> String {
        std::fs::read_to_string(self.path(BALANCING)).unwrap().trim().to_owned()
    }

    fn journal(&self) -> bool {
        self.path("/var/lib/becalm/journal").exists()
    }

    fn tune(&self, arguments: &[&str]) -> becalm_testkit::CommandOutput {
        self.env.run([&["tune", "--root", &self.root()], &ONLY[..], arguments].concat())
    }

    fn restore(&self, arguments: &[&str]) -> becalm_testkit::CommandOutput {
        self.env.run([&["restore", "--root", &self.root()], arguments].concat())
    }

    /// Starts `tune --hold` for a command that ends when the file `stop` appears, or its folder goes.
    fn hold(&self) -> Child {
        let script = "while [ -e \"$PWD\" ] && ! [ -e stop ]; do sleep 0.02; done";
        let root = self.root();
        let arguments =
            [&["tune", "--root", &root], &ONLY[..], &["--hold", "--", "sh", "-c", script]].concat();
        let mut command: Command = self.env.command(arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the change", || self.balancing() == "0");
        child
    }

    /// Leaves the machine tuned by an owner and a guardian that were killed; what it was held for ends.
    fn abandon(&self) {
        let mut owner = self.hold();
        kill(self.guardian());
        owner.kill().unwrap();
        owner.wait().unwrap();
        self.env.write("stop", "");
    }

    /// The guardian that the journal names.
    fn guardian(&self) -> u32 {
        let journal = std::fs::read_to_string(self.path("/var/lib/becalm/journal")).unwrap();
        let line = journal.lines().find(|line| line.contains("guardian")).expect("a guardian");
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        u32::try_from(value["guardian"]["pid"].as_u64().unwrap()).unwrap()
    }
}

fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(status.unwrap().success());
}

/// Kills a process, and waits until it has really ended.
fn kill(pid: u32) {
    signal(pid, "KILL");
    wait_until("the end of it", || !is_running(pid));
}

/// Says whether a process has not ended; who reaps it is nobody's business.
fn is_running(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The command that a becalm holds for, once it has been started.
fn held_by(owner: u32) -> u32 {
    let list = format!("/proc/{owner}/task/{owner}/children");
    let is_held = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sh")
    };
    let held = || -> Option<u32> {
        let children = std::fs::read_to_string(&list).unwrap();
        children.split_whitespace().find(is_held)?.parse().ok()
    };
    wait_until("the command that it holds for", || held().is_some());
    held().expect("it ends only when it is told")
}

#[test]
fn a_plan_shows_old_and_new_value_and_changes_nothing() {
    let bench = bench();
    let plan = bench.tune(&["--plan"]).exits_with(0);
    assert!(plan.stdout.contains(&format!("{BALANCING}  1 -> 0")), "{}", plan.stdout);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_tuned_machine_stays_tuned_until_it_is_restored() {
    let bench = bench();
    let _ = bench.tune(&[]).exits_with(0);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("0", true));
    let guardian = bench.guardian();
    assert!(is_running(guardian));
    let output = bench.restore(&[]).exits_with(0);
    assert!(output.stderr.contains("1 setting put back"), "{}", output.stderr);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
    wait_until("the end of the guardian", || !is_running(guardian));
    let output = bench.restore(&[]).exits_with(0);
    assert!(output.stderr.contains("Nothing to restore"), "{}", output.stderr);
}

#[test]
fn a_guardian_keeps_nothing_that_its_owner_was_started_with() {
    let bench = bench();
    let becalm = bench.env.command(["tune", "--root", &bench.root()]);
    let environment = becalm.get_envs().filter_map(|(name, value)| Some((name, value?)));
    // As with a lock of flock, or the results of a test runner.
    let mut holding = Command::new("sh");
    holding.args(["-c", "exec 9>held; exec \"$0\" \"$@\""]).arg(becalm.get_program());
    holding.args(becalm.get_args()).args(ONLY);
    holding.env_clear().envs(environment).current_dir(bench.env.work());
    assert!(holding.stderr(Stdio::null()).status().unwrap().success());
    let files =
        |descriptor: u32| std::fs::read_link(format!("/proc/{}/fd/{descriptor}", bench.guardian()));
    assert!(files(1).is_ok() && files(9).is_err());
    let _ = bench.restore(&[]).exits_with(0);
}

#[test]
fn a_guardian_that_is_asked_to_end_puts_the_machine_back_first() {
    let bench = bench();
    let _ = bench.tune(&[]).exits_with(0);
    signal(bench.guardian(), "TERM");
    wait_until("the end of the journal", || !bench.journal());
    assert_eq!(bench.balancing(), "1");
}

#[test]
fn a_command_is_held_for_and_its_exit_code_passed_on() {
    let bench = bench();
    let show = format!("cat {}; exit 7", bench.path(BALANCING).display());
    let output = bench.tune(&["--hold", "--", "sh", "-c", &show]).exits_with(7);
    assert_eq!(output.stdout.trim(), "0");
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
    let output = bench.tune(&["--hold", "--", "/nonexistent/program"]).exits_with(4);
    assert!(output.stderr.contains("/nonexistent/program"), "{}", output.stderr);
    assert!(!output.stderr.contains("Tuned"), "{}", output.stderr);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_guardian_puts_the_machine_back_when_its_owner_is_killed() {
    let bench = bench();
    let mut owner = bench.hold();
    let held = held_by(owner.id());
    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until("the end of the journal", || !bench.journal());
    assert_eq!(bench.balancing(), "1");
    // What it was held for does not go on on another machine than it was started on.
    wait_until("the end of the command", || !is_running(held));
}

#[test]
fn restore_puts_back_what_a_killed_owner_and_guardian_left() {
    let bench = bench();
    bench.abandon();
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("0", true));
    let output = bench.restore(&[]).exits_with(0);
    assert!(output.stderr.contains("1 setting put back"), "{}", output.stderr);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn the_next_one_to_tune_does_not_take_tuned_values_for_the_old_ones() {
    let bench = bench();
    bench.abandon();
    let output = bench.tune(&["--hold", "--", "true"]).exits_with(0);
    assert!(output.stderr.contains("an earlier becalm died"), "{}", output.stderr);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn what_an_earlier_becalm_left_and_nobody_can_put_back_is_the_exit_code() {
    let bench = bench();
    bench.abandon();
    std::fs::remove_file(bench.path(BALANCING)).unwrap();
    std::fs::create_dir(bench.path(BALANCING)).unwrap();
    let kept = bench.tune(&[]).exits_with(5);
    assert!(kept.stderr.contains("1 setting could not be put back"), "{}", kept.stderr);
    assert!(kept.stderr.contains("Tuned: "), "{}", kept.stderr);
    std::fs::remove_dir(bench.path(BALANCING)).unwrap();
    std::fs::write(bench.path(BALANCING), "0\n").unwrap();
    let _ = bench.restore(&[]).exits_with(0);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_disk_that_is_full_after_the_changes_does_not_keep_them() {
    const BLOCK: usize = 512;
    let bench = bench();
    // The last line of a journal does not fit, and all others do: its length depends on the command's.
    let journal = bench.path("/var/lib/becalm/journal").display().to_string();
    let whole = bench.tune(&["--hold", "--", "sh", "-c", &format!("cat {journal}")]).exits_with(0);
    let (before, last) = whole.stdout.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("settled"), "{last}");
    let before = before.len() + "\n/bin/".len();
    let blocks = (before + last.len()).div_ceil(BLOCK);
    let detours = "./".repeat((blocks * BLOCK - before) / 2 - last.len() / 4);
    let root = bench.root();
    let mut full = Command::new("sh");
    full.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    let becalm = bench.env.command(["tune", "--root", &root]);
    let environment = becalm.get_envs().filter_map(|(name, value)| Some((name, value?)));
    full.env_clear().envs(environment).current_dir(bench.env.work());
    full.arg(becalm.get_program()).args(becalm.get_args()).args(ONLY);
    full.args(["--hold", "--", &format!("/bin/{detours}sh"), "-c", "exit 0"]);
    let output = full.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("cannot write the journal"), "{said}");
    assert!(said.contains("the earlier changes have been put back"), "{said}");
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_signal_to_the_owner_ends_the_command_and_puts_the_machine_back() {
    let bench = bench();
    let mut owner = bench.hold();
    signal(owner.id(), "TERM");
    assert_eq!(owner.wait().unwrap().code(), Some(128 + 15));
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn the_second_one_is_refused_or_waits() {
    let bench = bench();
    let mut first = bench.hold();
    let refused = bench.tune(&["--hold", "--", "true"]).exits_with(4);
    let name = format!("(process {})", first.id());
    assert!(refused.stderr.contains(&name), "{}", refused.stderr);
    let refused = bench.restore(&[]).exits_with(4);
    assert!(refused.stderr.contains(&name), "{}", refused.stderr);
    let short = bench.tune(&["--wait=50ms", "--hold", "--", "true"]).exits_with(4);
    assert!(short.stderr.contains(&name), "{}", short.stderr);
    let show = format!("cat {}", bench.path(BALANCING).display());
    let arguments = [
        &["tune", "--root", &bench.root()],
        &ONLY[..],
        &["--wait", "--hold", "--", "sh", "-c", &show],
    ];
    let second =
        bench.env.command(arguments.concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    bench.env.write("stop", "");
    assert!(first.wait().unwrap().success());
    let output = second.unwrap().wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0");
    // The value before the first one, not the one that the second may have seen.
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_signal_ends_the_queue_and_is_the_exit_code() {
    let bench = bench();
    let mut first = bench.hold();
    let root = bench.root();
    for arguments in [
        [&["tune", "--root", &root][..], &ONLY, &["--wait"]].concat(),
        vec!["restore", "--root", &root, "--wait"],
    ] {
        let mut command = bench.env.command(&arguments);
        let mut queued = command.stderr(Stdio::null()).spawn().unwrap();
        wait_until("its handler", || catches(queued.id(), SIGTERM));
        signal(queued.id(), "TERM");
        let status = queued.wait().unwrap();
        assert_eq!(status.code(), Some(143), "{status}");
    }
    signal(first.id(), "TERM");
    first.wait().unwrap();
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn what_could_not_be_put_back_says_more_than_how_the_command_ended() {
    let bench = bench();
    let file = bench.path(BALANCING).display().to_string();
    let spoil = format!("rm {file}; mkdir {file}; kill -TERM $PPID; exec sleep 100");
    let output = bench.tune(&["--hold", "--", "sh", "-c", &spoil]).exits_with(5);
    assert!(output.stderr.contains("By hand: "), "{}", output.stderr);
}

#[test]
fn what_somebody_else_set_is_left_and_told() {
    let bench = bench();
    let change = format!("echo 2 > {}", bench.path(BALANCING).display());
    let output = bench.tune(&["--hold", "--", "sh", "-c", &change]).exits_with(0);
    assert!(output.stderr.contains("another program set it to 2"), "{}", output.stderr);
    let by_hand = format!("to set that: echo 1 > {BALANCING}");
    assert!(output.stderr.contains(&by_hand), "{}", output.stderr);
    assert_eq!(bench.balancing(), "2");
}

#[test]
fn what_cannot_be_put_back_is_told_with_the_command_that_does_it() {
    let bench = bench();
    let file = bench.path(BALANCING).display().to_string();
    let spoil = format!("rm {file}; mkdir {file}");
    let output = bench.tune(&["--hold", "--", "sh", "-c", &spoil]).exits_with(5);
    let by_hand = format!("echo 1 > {BALANCING}");
    assert!(output.stderr.contains(&by_hand), "{}", output.stderr);
    assert!(bench.journal());
    std::fs::remove_dir(bench.path(BALANCING)).unwrap();
    std::fs::write(bench.path(BALANCING), "0\n").unwrap();
    let _ = bench.restore(&[]).exits_with(0);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_damaged_journal_counts_up_to_the_damage_for_whoever_insists() {
    use std::io::Write as _;
    let bench = bench();
    let _ = bench.tune(&[]).exits_with(0);
    kill(bench.guardian());
    let journal = bench.path("/var/lib/becalm/journal");
    let mut file = std::fs::OpenOptions::new().append(true).open(journal).unwrap();
    file.write_all(b"garbage\n").unwrap();
    let output = bench.restore(&[]).exits_with(5);
    assert!(output.stderr.contains("`becalm restore --force`"), "{}", output.stderr);
    assert_eq!(bench.balancing(), "0");
    let _ = bench.restore(&["--force"]).exits_with(0);
    assert_eq!((bench.balancing().as_str(), bench.journal()), ("1", false));
}

#[test]
fn a_journal_that_cannot_be_used_is_moved_aside_for_whoever_insists() {
    let bench = bench();
    let tree = bench.tree.file("/var/lib/becalm/journal", b"\xff rubbish\n");
    let bench = Bench { tree, ..bench };
    let refused = bench.tune(&["--hold", "--", "true"]).exits_with(4);
    assert!(refused.stderr.contains("`becalm restore --force` moves"), "{}", refused.stderr);
    let _ = bench.restore(&[]).exits_with(5);
    let aside = bench.restore(&["--force"]).exits_with(5);
    assert!(aside.stderr.contains("nothing could be put back"), "{}", aside.stderr);
    assert!(aside.stderr.contains("journal.damaged-1"), "{}", aside.stderr);
    let _ = bench.tune(&["--hold", "--", "true"]).exits_with(0);
}

#[test]
fn a_knob_that_was_named_and_has_nothing_to_do_says_why() {
    let bench = bench();
    let output = bench.tune(&["--also", "network"]).exits_with(0);
    assert!(!output.stderr.contains("network"), "--only excludes it: {}", output.stderr);
    let root = bench.root();
    let output = bench.env.run(["restore", "--root", &root]).exits_with(0);
    assert!(output.stderr.contains("put back"), "{}", output.stderr);
    let output = bench.env.run(["tune", "--root", &root, "--stop", "mine"]).exits_with(0);
    let said = "services: systemd does not run on this machine";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    let _ = bench.restore(&[]).exits_with(0);
}

#[test]
fn without_a_journal_nothing_is_changed() {
    let bench = bench();
    let tree = bench.tree.file("/var/lib", "").file("/run", "");
    let bench = Bench { tree, ..bench };
    let _ = bench.tune(&[]).exits_with(4);
    assert_eq!(bench.balancing(), "1");
}

#[test]
fn requests_that_make_no_sense_are_usage_errors() {
    let bench = bench();
    let check = |arguments: &[&str], said: &str| {
        let output =
            bench.env.run([&["tune", "--root", &bench.root()], arguments].concat()).exits_with(2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    };
    check(&["--only", "numa"], "there is no knob `numa`; the knobs are ");
    check(&["--cpus", "77"], "--cpus 77: the online CPUs are 0-3");
    check(&["--profile", "strickt"], "expected safe, strict or a TOML file");
    check(&["--profile", "./none.toml"], "cannot read the profile ./none.toml");
    check(&["--frequency", "fast"], "expected base");
    check(&["--hold"], "`becalm tune` needs COMMAND");
    check(&["--cpus", ""], "--cpus: the list contains no CPU");
    check(&["--only", "thp", "--stop", "a"], "--stop is for the knob `services`, which --only");
    check(&["--skip", "smt", "--smt", "off"], "--smt off is for the knob `smt`");
    check(&["--only", "thp", "--frequency", "base"], "--frequency is for the knob `frequency`");
    assert!(!bench.journal());
}
