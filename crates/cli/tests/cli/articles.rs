//! The table of docs/MACHINE.md that says what becalm does about each recommendation of five articles.

use std::collections::BTreeSet;
use std::path::Path;

use becalm_machine::knobs::KNOBS;
use becalm_testkit::{FakeCpufreq, FakeMachine, FakeTree, Switch};

use crate::support::{env, json};

const ARTICLES: [&str; 5] = ["twigslot", "alvarez", "stinner", "gribov", "akkoyun"];

/// Findings about this process and this moment, which no captured machine has. `machine/src/check/mod.rs` tests them.
const OF_THE_MOMENT: [&str; 6] = ["cpu-pressure", "load", "memlock", "nice", "rtprio", "threads"];

/// Findings of machines that cannot be the same one.
const ELSEWHERE: [&str; 2] = ["isolation", "isolcpus"];

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Article, technique and answer of each line.
fn lines() -> Vec<[String; 3]> {
    let text = document("MACHINE.md");
    let (_, section) = text.split_once("## What five articles recommend").unwrap();
    let rows =
        section.lines().filter(|line| line.starts_with("| ") && !line.contains("| becalm |"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        <[&str; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}")).map(str::to_owned)
    })
    .collect()
}

/// Returns what is named in backticks after a word: `finding` or `knob`.
fn named<'a>(answer: &'a str, word: &str) -> Vec<&'a str> {
    let after = answer.split(word).skip(1);
    after.filter_map(|rest| rest.strip_prefix(" `")?.split('`').next()).collect()
}

/// Returns the commands of becalm that are named in backticks, without its name.
fn commands(answer: &str) -> Vec<&str> {
    answer.split('`').skip(1).step_by(2).filter_map(|one| one.strip_prefix("becalm ")).collect()
}

#[test]
fn every_line_has_an_answer_and_every_article_has_lines() {
    let lines = lines();
    for name in ARTICLES {
        assert!(lines.iter().any(|[article, ..]| article == name), "{name}");
    }
    for [article, technique, answer] in &lines {
        assert!(ARTICLES.contains(&article.as_str()), "{article}");
        let is_answered = answer.contains("Not: ")
            || !commands(answer).is_empty()
            || !named(answer, "finding").is_empty()
            || !named(answer, "knob").is_empty();
        assert!(is_answered, "{article}: {technique}");
    }
}

#[test]
fn knobs_commands_and_flags_that_it_names_exist() {
    let reference = document("COMMANDS.md");
    let section = |command: &str| {
        let (_, text) = reference.split_once(&format!("\n## `becalm {command}`\n"))?;
        Some(text.split("\n## ").next().unwrap_or(text))
    };
    for [article, technique, answer] in lines() {
        for name in named(&answer, "knob") {
            let is_one = KNOBS.iter().any(|knob| knob.name == name);
            assert!(is_one, "{article}: {technique}: knob {name}");
        }
        for command in commands(&answer) {
            let (name, flag) =
                command.split_once(" --").map_or((command, None), |(a, b)| (a, Some(b)));
            let text = section(name);
            assert!(text.is_some(), "{article}: {technique}: becalm {command}");
            let has_it = |flag: &str| {
                let is_end = |c: char| !c.is_ascii_lowercase() && c != '-';
                text.is_some_and(|text| {
                    let flag = format!("--{flag}");
                    let mut places = text.split(flag.as_str()).skip(1);
                    places.any(|rest| rest.is_empty() || rest.starts_with(is_end))
                })
            };
            assert!(flag.is_none_or(has_it), "{article}: {technique}: becalm {command}");
        }
    }
}

#[test]
fn check_reports_every_finding_that_it_names() {
    let noisy = noisy();
    let reserved = FakeMachine { l3s: 2, ..FakeMachine::default() }
        .tree()
        .file("/sys/devices/system/cpu/isolated", "2-3\n")
        .file("/proc/cmdline", "isolcpus=2-3\n");
    let idle = FakeMachine::default().tree().file("/proc/cmdline", "quiet\n");
    let (here, mut elsewhere) = (found(&noisy), found(&reserved));
    elsewhere.extend(found(&idle));
    for [article, technique, answer] in lines() {
        for name in named(&answer, "finding") {
            let is_reported = OF_THE_MOMENT.contains(&name)
                || if ELSEWHERE.contains(&name) { &elsewhere } else { &here }.contains(name);
            assert!(is_reported, "{article}: {technique}: finding {name}, of {here:?}");
        }
    }
}

fn found(tree: &FakeTree) -> BTreeSet<String> {
    let output = env().run(["check", "--json", "--root", &tree.path().display().to_string()]);
    let document = json(&output.stdout);
    let findings = document["findings"].as_array().unwrap();
    findings.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// A machine on which nearly everything is wrong.
fn noisy() -> FakeTree {
    let cpu = "/sys/devices/system/cpu";
    let machine = FakeMachine {
        cores: 2,
        threads: 2,
        efficient: 2,
        cpufreq: false,
        isolated: "1,3",
        ..FakeMachine::default()
    };
    let frequencies = FakeCpufreq {
        driver: "intel_pstate",
        governor: "powersave",
        epp: true,
        switch: Switch::NoTurbo,
        switch_per_policy: false,
        tells_nominal: false,
    };
    let mut tree = frequencies
        .add_to(machine.tree(), &[0, 1, 2, 3, 4, 5])
        .file(format!("{cpu}/cpu0/thermal_throttle/core_throttle_count"), "9\n")
        .file(format!("{cpu}/vulnerabilities/meltdown"), "Mitigation: PTI\n")
        .file("/proc/cmdline", "isolcpus=1,3\n")
        .file("/proc/stat", "cpu  100 0 100 100 0 0 0 100 0 0\n")
        .file(
            "/proc/meminfo",
            "MemTotal: 9000000 kB\nMemAvailable: 9000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 0 kB\n",
        )
        .file("/proc/irq/9/smp_affinity_list", "0-5\n")
        .file("/proc/irq/default_smp_affinity", "3f\n")
        .file("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
        .file("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n")
        .file("/sys/class/net/eth0/flags", "0x1003\n")
        .file("/sys/class/net/eth0/device/vendor", "0x8086\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "94000\n")
        .file("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
        .file("/sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n")
        .file("/sys/class/thermal/thermal_zone0/trip_point_0_temp", "95000\n")
        .file("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
        .file("/proc/self/cgroup", "0::/job\n")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpu\n")
        .file("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    for (name, value) in [
        ("kernel/randomize_va_space", "2"),
        ("kernel/numa_balancing", "1"),
        ("kernel/watchdog", "1"),
        ("kernel/nmi_watchdog", "1"),
        ("kernel/soft_watchdog", "1"),
        ("kernel/sched_rt_runtime_us", "950000"),
        ("vm/swappiness", "60"),
    ] {
        tree = tree.file(format!("/proc/sys/{name}"), format!("{value}\n"));
    }
    for (state, latency) in [("state0", 0), ("state1", 2), ("state2", 100)] {
        for one in 0..6 {
            let folder = format!("{cpu}/cpu{one}/cpuidle/{state}");
            tree = tree
                .file(format!("{folder}/latency"), format!("{latency}\n"))
                .file(format!("{folder}/disable"), "0\n");
        }
    }
    for (index, name) in ["cron", "gnome-shell", "irqbalance", "tuned"].iter().enumerate() {
        tree = tree.file(format!("/proc/{}/comm", 70 + index), format!("{name}\n"));
    }
    // A thread of the kernel that may run anywhere.
    tree
}
