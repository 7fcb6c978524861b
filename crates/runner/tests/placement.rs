//! What a subject sees of its placement and its environment.

mod support;

use std::ffi::{OsStr, OsString};

use becalm_machine::SysRoot;
use becalm_model::conditions::{Aslr, NodeSet, Scheduler, Thp};
use becalm_model::terms::Counters;
use becalm_model::{CpuSet, Outcome};
use becalm_runner::{CounterPlan, EnvPolicy, Environment, LaunchError, Step, own_affinity};
use becalm_testkit::wait_until;
use support::{Subject, command, shell, skipped};

#[test]
fn a_subject_sees_the_variables_given_and_nothing_else() {
    let mut subject = command(&["env"]);
    let vars = [("B", "2"), ("A", "1"), ("PATH", "/bin")];
    let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    subject.environment = Environment::from_vars(vars, EnvPolicy::Inherit).unwrap();
    assert_eq!(subject.output(), "A=1\nB=2\nPATH=/bin");
    subject.padding = 5;
    assert_eq!(subject.output(), "A=1\nB=2\nPATH=/bin\nBECALM_PADDING=xxxxx");
    subject.padding = 4095;
    assert_eq!(subject.output().len(), "A=1\nB=2\nPATH=/bin\nBECALM_PADDING=".len() + 4095);
    let environment = Environment::default().with(OsStr::new("ONLY"), OsStr::new(""));
    subject.environment = environment.unwrap();
    subject.padding = 0;
    assert_eq!(subject.output(), "ONLY=");
}

#[test]
fn a_subject_starts_in_the_directory_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut subject = shell("pwd -P");
    subject.cwd = Some(folder.path().to_owned());
    assert_eq!(subject.output(), folder.path().canonicalize().unwrap().to_str().unwrap());
    subject.cwd = Some("/no/such".into());
    let error = subject.error();
    assert!(error.contains("changing to the working directory: No such file"), "{error}");
}

fn status_field(name: &str) -> Subject {
    shell(&format!("sed -n 's/^{name}:[[:space:]]*//p' /proc/self/status"))
}

#[test]
fn a_subject_runs_on_the_cpus_given() {
    let last = own_affinity().unwrap().iter().next_back().unwrap();
    let mut subject = status_field("Cpus_allowed_list");
    subject.placement.affinity = Some([last].into_iter().collect());
    assert_eq!(subject.output(), last.to_string());
    subject.placement.affinity = None;
    assert_eq!(subject.output().parse::<CpuSet>().unwrap(), own_affinity().unwrap());
}

#[test]
fn cpus_that_are_not_there_are_an_explained_error() {
    let mut subject = command(&["true"]);
    subject.placement.affinity = Some("8191".parse().unwrap());
    let error = subject.try_run().unwrap_err();
    assert!(matches!(error, LaunchError::Step { step: Step::Affinity, .. }), "{error}");
    assert!(error.to_string().contains("none of these CPUs is online"), "{error}");
}

#[test]
fn a_subject_has_the_niceness_given() {
    let mut subject = command(&["nice"]);
    subject.placement.nice = Some(7);
    assert_eq!(subject.output(), "7");
}

#[test]
fn a_subject_without_layout_randomisation_has_the_same_stack_every_time() {
    let mut subject = shell("cat /proc/self/personality; grep -F '[stack]' /proc/self/maps");
    subject.placement.aslr = Aslr::Off;
    let first = match subject.try_run() {
        Ok(finished) => String::from_utf8(finished.output.unwrap()).unwrap(),
        Err(error) => return skipped("aslr_off", &error.to_string()),
    };
    assert!(first.starts_with("00040000\n"), "{first}");
    assert_eq!(subject.output(), first.trim_end());
    // Random, unless these tests were started without.
    subject.placement.aslr = Aslr::On;
    let own = std::fs::read_to_string("/proc/self/personality").unwrap();
    assert!(subject.output().starts_with(&own));
}

#[test]
fn a_subject_has_the_huge_pages_given_and_becalm_its_own() {
    let mut subject = status_field("THP_enabled");
    let own = subject.output();
    if own.is_empty() {
        return skipped("huge_pages", "this kernel does not say who gets huge pages");
    }
    subject.placement.thp = Thp::Off;
    assert_eq!(subject.output(), "0");
    subject.placement.thp = Thp::Inherit;
    assert_eq!(subject.output(), own);
    subject.placement.thp = Thp::On;
    assert_eq!(subject.output(), "1");
    subject.placement.thp = Thp::Advised;
    match subject.try_run() {
        // The field says whether there are none at all.
        Ok(finished) => assert_eq!(finished.output.unwrap(), b"1\n"),
        Err(error @ LaunchError::Step { step: Step::HugePages, .. }) => {
            assert!(error.to_string().contains("Linux 6.18"), "{error}");
            skipped("huge_pages", &error.to_string());
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_memory_of_a_subject_is_bound_to_the_nodes_given() {
    let mut subject = shell("head -1 /proc/self/numa_maps");
    subject.placement.memory = Some(NodeSet::from_iter([0]));
    match subject.try_run() {
        Ok(finished) if finished.outcome == Outcome::Exited(0) => {
            let output = String::from_utf8(finished.output.unwrap()).unwrap();
            assert!(output.contains(" bind:0 "), "{output}");
        }
        Ok(_) => skipped("membind", "there is no /proc/self/numa_maps"),
        Err(error @ LaunchError::Step { step: Step::MemoryNodes, .. }) => {
            return skipped("membind", &error.to_string());
        }
        Err(error) => panic!("{error}"),
    }
    subject.placement.memory = Some(NodeSet::from_iter([1000]));
    let error = subject.error();
    assert!(error.contains("none of these nodes has memory"), "{error}");
}

#[test]
fn a_subject_can_be_real_time_where_that_is_allowed() {
    let mut subject = command(&["chrt", "-p", "0"]);
    subject.placement.scheduler = Scheduler::Fifo(7);
    match subject.try_run() {
        Ok(finished) if finished.outcome == Outcome::Exited(0) => {
            let output = String::from_utf8(finished.output.unwrap()).unwrap();
            assert!(output.contains("SCHED_FIFO") && output.contains('7'), "{output}");
        }
        Ok(_) => skipped("fifo", "chrt is not here"),
        Err(error @ LaunchError::Step { step: Step::Scheduler, .. }) => {
            assert!(error.to_string().contains("CAP_SYS_NICE"), "{error}");
            skipped("fifo", &error.to_string());
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_wrong_real_time_priority_is_an_explained_error() {
    let mut subject = command(&["true"]);
    subject.placement.scheduler = Scheduler::Fifo(200);
    let error = subject.error();
    assert!(error.contains("setting the scheduling class"), "{error}");
}

#[test]
fn a_subject_has_no_signal_blocked_or_ignored() {
    // cat itself, because a shell changes its own signals.
    let output = command(&["cat", "/proc/self/status"]).output();
    let field = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim_start_matches([':', '\t'])
    };
    assert_eq!(field("SigBlk"), "0000000000000000");
    assert_eq!(field("SigIgn"), "0000000000000000", "std ignores SIGPIPE, the subject must not");
}

#[test]
fn a_subject_inherits_no_descriptor_of_becalm() {
    // Whoever started the tests may have left descriptors open for every program.
    let usual = std::process::Command::new("ls").arg("/proc/self/fd").output().unwrap();
    let usual = String::from_utf8(usual.stdout).unwrap();
    let mut subject = command(&["ls", "/proc/self/fd"]);
    assert_eq!(subject.output(), usual.trim_end());
    subject.counters = CounterPlan::probe(&SysRoot::default(), Counters::Software).0;
    assert_eq!(subject.output(), usual.trim_end());
}

#[test]
fn a_subject_leads_a_process_group_of_its_own() {
    let fields = command(&["cat", "/proc/self/stat"]).output();
    let pid = fields.split(' ').next().unwrap();
    let after_name = fields.rsplit(") ").next().unwrap();
    assert_eq!(after_name.split(' ').nth(2).unwrap(), pid, "{fields}");
}

/// A folder of the first control group hierarchy in which this process may make one.
fn own_group(name: &str) -> Option<std::path::PathBuf> {
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"]
        .map(std::path::Path::new)
        .into_iter()
        .filter(|hierarchy| hierarchy.join("cgroup.procs").exists())
        .map(|hierarchy| hierarchy.join(name))
        .find(|group| std::fs::create_dir(group).is_ok())
}

#[test]
fn a_subject_enters_the_control_group_given() {
    let name = format!("becalm-test-enter-{}", std::process::id());
    let Some(group) = own_group(&name) else {
        return skipped("control_group", "no control group can be made here");
    };
    let mut subject = shell("cat /proc/self/cgroup");
    subject.placement.control_group = Some(group.clone());
    let entered = subject.try_run();
    // A process that was waited for may still be in it for a moment, since Linux 6.19.
    wait_until("the end of the group", || std::fs::remove_dir(&group).is_ok());
    let output = String::from_utf8(entered.unwrap().output.unwrap()).unwrap();
    assert!(output.contains(&format!("/{name}\n")), "{output}");
}

#[test]
fn a_control_group_that_is_gone_is_named() {
    let mut subject = command(&["true"]);
    subject.placement.control_group = Some("/sys/fs/cgroup/becalm-gone".into());
    assert_eq!(
        subject.error(),
        "cannot start `true`: entering the control group /sys/fs/cgroup/becalm-gone: No such file or directory (os error 2) (it no longer exists; was it removed meanwhile?)"
    );
}
