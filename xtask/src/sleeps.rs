//! All sleeps of product code, tests and chores, with the reason for each.
//!
//! A sleep makes an outcome depend on how busy a machine is, unless it only looks again until something has
//! happened, or lasts at least as long as it says and no longer matters. Shell scripts in tests count too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// Why there are sleeps, and in which files how many.
const SLEEPS: &[(&str, &[(&str, usize)])] = &[
    (
        "looks again until something has happened or given up; how long that takes decides nothing",
        &[
            ("crates/cli/tests/cli/exec.rs", 1),
            ("crates/cli/tests/cli/leases.rs", 2),
            ("crates/cli/tests/cli/probe.rs", 1),
            ("crates/cli/tests/cli/resume.rs", 2),
            ("crates/cli/tests/cli/service/mod.rs", 1),
            ("crates/cli/tests/cli/service/sessions.rs", 2),
            ("crates/cli/tests/cli/tune.rs", 2),
            ("crates/fleet/src/blocks/attend.rs", 1),
            ("crates/cli/src/commands/serve/mod.rs", 1),
            ("crates/cli/src/commands/serve/projects.rs", 1),
            ("crates/cli/src/commands/workload/serve.rs", 1),
            ("crates/load/src/engine/connection.rs", 1),
            ("crates/load/src/engine/mod.rs", 1),
            ("crates/load/src/engine/shard.rs", 2),
            ("crates/fleet/src/near.rs", 3),
            ("crates/fleet/src/request.rs", 1),
            ("crates/fleet/src/slurm/mod.rs", 1),
            ("crates/fleet/src/writer.rs", 1),
            ("crates/kernel/src/wait.rs", 1),
            ("crates/lab/src/probe/siblings.rs", 1),
            ("crates/machine/src/service/serve.rs", 1),
            ("crates/machine/src/tune/late.rs", 1),
            ("crates/machine/src/tune/lock.rs", 1),
            ("crates/machine/src/tune/target/group.rs", 1),
            ("crates/runner/src/pace.rs", 2),
            ("crates/runner/src/rounds/hook.rs", 2),
            ("crates/runner/src/rounds/spawn/calm.rs", 2),
            ("crates/runner/src/rounds/spawn/serve.rs", 1),
            ("crates/store/src/postgres/connector.rs", 1),
            ("crates/store/src/sqlite.rs", 1),
            ("crates/testkit/src/postgres.rs", 1),
            ("crates/testkit/src/slurm.rs", 2),
            ("crates/testkit/src/wait.rs", 1),
            ("crates/web/src/server/connection.rs", 2),
            ("crates/web/src/server/mod.rs", 1),
            ("xtask/src/bench/load/speed.rs", 1),
            ("xtask/src/ending.rs", 2),
            ("xtask/src/vm/guest.rs", 1),
        ],
    ),
    (
        "the pause or the duration that somebody asked for, or that a method prescribes",
        &[
            ("crates/session/src/ablate/bench.rs", 2),
            ("crates/runner/src/awake.rs", 1),
            ("crates/cli/src/commands/noise/trace.rs", 1),
            ("crates/cli/src/commands/services.rs", 1),
            ("crates/forge/src/api.rs", 2),
            ("crates/lab/src/probe/clock.rs", 1),
            ("crates/lab/src/probe/hwlat.rs", 1),
            ("crates/lab/src/probe/tracer.rs", 2),
            ("crates/lab/src/timer.rs", 1),
            ("crates/lab/src/trace/tracer.rs", 1),
            ("crates/lab/src/workloads/burst_sum.rs", 1),
            ("crates/machine/examples/show.rs", 1),
            ("crates/runner/src/rounds/spawn/one_run.rs", 1),
            ("xtask/src/bench/disturber.rs", 2),
            ("xtask/src/bench/load/mod.rs", 2),
            ("xtask/src/bench/probe.rs", 1),
            ("xtask/src/bench/trace.rs", 1),
            ("xtask/src/bench/warmup/neighbours.rs", 1),
        ],
    ),
    (
        "stands for a program that does not end by itself: it is ended",
        &[
            ("crates/session/src/ablate/hogs.rs", 2),
            ("crates/session/src/servers/runs.rs", 12),
            ("crates/cli/tests/cli/servers.rs", 4),
            ("crates/cli/tests/cli/ablate.rs", 1),
            ("crates/cli/tests/cli/ci/posted.rs", 1),
            ("crates/cli/tests/cli/hooks.rs", 4),
            ("crates/cli/tests/cli/import.rs", 1),
            ("crates/cli/tests/cli/interrupted.rs", 6),
            ("crates/cli/tests/cli/suite.rs", 2),
            ("crates/cli/tests/isolation.rs", 1),
            ("crates/testkit/src/process.rs", 1),
            ("xtask/src/vm/tests/basics.rs", 1),
            ("xtask/src/vm/tests/callers.rs", 1),
            ("xtask/src/vm/tests/isolation.rs", 2),
            ("xtask/src/vm/tests/killed.rs", 1),
            ("xtask/src/vm/tests/network.rs", 1),
            ("xtask/src/vm/tests/service.rs", 3),
            ("xtask/src/vm/tests/systemd.rs", 3),
        ],
    ),
    (
        "lasts at least as long as it says, and more changes nothing: it is asserted as a lower bound, is past a \
         timeout, or is far more than the program beside it takes",
        &[
            ("crates/cli/tests/cli/grpc.rs", 1),
            ("crates/cli/tests/cli/bisect.rs", 1),
            ("crates/cli/tests/cli/deciding.rs", 7),
            ("crates/cli/tests/cli/elsewhere/cuts.rs", 2),
            ("crates/cli/tests/cli/failures.rs", 4),
            ("crates/cli/tests/cli/gate.rs", 3),
            ("crates/cli/tests/cli/output.rs", 2),
            ("crates/cli/tests/cli/plan.rs", 1),
            ("crates/cli/tests/cli/saved.rs", 1),
            ("crates/lab/tests/trace.rs", 3),
            ("crates/runner/src/evidence.rs", 1),
            ("xtask/src/vm/tests/trace.rs", 2),
        ],
    ),
    (
        "lets something else happen first that may as well happen afterwards: the outcome is the same",
        &[("crates/kernel/src/interrupt.rs", 5), ("crates/runner/src/hold.rs", 4)],
    ),
    (
        "subjects that do not end, or last at least so long; interrupts that may as well come before the start",
        &[("crates/runner/tests/launch.rs", 13)],
    ),
    (
        "a command line that nobody starts, or one of another tool that sleeps for no time",
        &[
            ("crates/cli/tests/cli/real_harnesses.rs", 1),
            ("crates/formats/src/writers/names.rs", 2),
        ],
    ),
];

#[test]
fn every_sleep_has_its_reason() {
    let known: BTreeMap<String, usize> = SLEEPS
        .iter()
        .flat_map(|(_, files)| files.iter().map(|(file, count)| ((*file).to_owned(), *count)))
        .collect();
    let found: BTreeMap<String, usize> = ["crates", "xtask"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
        .filter(|file| !file.ends_with("xtask/src/sleeps.rs"))
        .filter_map(|file| {
            let count = fs::read_to_string(&file).unwrap().lines().map(sleeps).sum();
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            (count > 0).then_some((name, count))
        })
        .collect();
    let files: BTreeSet<&String> = known.keys().chain(found.keys()).collect();
    let wrong: Vec<String> = files
        .into_iter()
        .filter(|file| known.get(*file) != found.get(*file))
        .map(|file| {
            format!("{file}: {:?} in the list, {:?} found", known.get(file), found.get(file))
        })
        .collect();
    assert!(wrong.is_empty(), "sleeps without a reason:\n  {}", wrong.join("\n  "));
}

/// Counts the sleeps in a line: calls, and commands of a shell.
fn sleeps(line: &str) -> usize {
    const CALLS: [&str; 3] = ["sleep(", "park_timeout(", "recv_timeout("];
    if line.trim_start().starts_with("//") {
        return 0;
    }
    let is_word = |at: usize| {
        let before = &line[..at];
        !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !before.ends_with("fn ")
    };
    let calls =
        CALLS.iter().flat_map(|call| line.match_indices(call)).filter(|(at, _)| is_word(*at));
    let commands = line.match_indices("sleep ").filter(|(at, word)| {
        is_word(*at) && line[at + word.len()..].starts_with(|c: char| c.is_ascii_digit())
    });
    calls.count() + commands.count() + line.matches("\"sleep\"").count()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let is_source = path.extension().is_some_and(|ending| ending == "rs");
            if path.is_dir() { sources(&path) } else { Vec::from_iter(is_source.then_some(path)) }
        })
        .collect()
}

#[test]
fn calls_and_commands_are_counted() {
    for (line, count) in [
        ("std::thread::sleep(PAUSE);", 1),
        ("pub fn sleep(&self) {", 0),
        ("// sleep(1)", 0),
        ("let script = \"sleep 1000 & sleep 0.1; a_sleep 3\";", 2),
        ("Command::new(\"sleep\").arg(\"1000\")", 1),
        ("oversleep(1); end.recv_timeout(LONG)", 1),
    ] {
        assert_eq!(sleeps(line), count, "{line}");
    }
}
