//! The lab itself, commands that change nothing, and commands that put everything back.

use anyhow::{Result, ensure};

use super::expect::{as_before, contains, ends_with, lacks, leaves_no_trace};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "a_machine_left_alone_does_not_differ",
        machines: Machines::All,
        sample: &["acpi-cpufreq"],
        body: Body::Guest(left_alone),
    },
    Test {
        name: "topology_agrees_with_the_kernel",
        machines: Machines::All,
        sample: &["numa"],
        body: Body::Guest(topology),
    },
    Test {
        name: "check_and_plan_change_nothing",
        machines: Machines::All,
        sample: &["acpi-cpufreq"],
        body: Body::Guest(looks_only),
    },
    Test {
        name: "tune_and_restore_leave_no_difference",
        machines: Machines::All,
        sample: &["acpi-cpufreq", "amd-pstate", "plain"],
        body: Body::Guest(tune_and_restore),
    },
    Test {
        name: "strict_and_restore_leave_no_difference",
        machines: Machines::All,
        sample: &["acpi-shared"],
        body: Body::Guest(strict_and_restore),
    },
    Test {
        name: "holding_strict_leaves_no_difference",
        machines: Machines::All,
        sample: &["acpi-cpufreq", "boot-isolated"],
        body: Body::Guest(hold_strict),
    },
    Test {
        name: "every_knob_alone_is_put_back",
        machines: Machines::All,
        sample: &[],
        body: Body::Guest(each_knob),
    },
    Test {
        name: "a_measurement_that_tunes_leaves_no_difference",
        machines: Machines::All,
        sample: &["acpi-cpufreq"],
        body: Body::Guest(tuned_run),
    },
    Test {
        name: "without_root_nothing_is_changed_and_it_says_so",
        machines: Machines::Only(&["acpi-cpufreq"]),
        sample: &["acpi-cpufreq"],
        body: Body::Guest(without_root),
    },
];

/// Else no comparison would mean anything.
fn left_alone(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    ensure!(before.n_files() > 1500, "only {} files were read", before.n_files());
    guest.ok("becalm --version; sleep 1")?;
    as_before(guest, &before)
}

fn topology(guest: &mut Guest) -> Result<()> {
    let json: serde_json::Value = serde_json::from_str(&guest.ok("becalm topology --json")?)?;
    let count = |name: &str| json[name].as_array().map_or(0, Vec::len).to_string();
    let n = |guest: &mut Guest, script: &str| guest.ok(script);
    let cpus = n(guest, "ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l")?;
    let cores =
        n(guest, "cat /sys/devices/system/cpu/cpu*/topology/core_cpus_list | sort -u | wc -l")?;
    let packages =
        n(guest, "cat /sys/devices/system/cpu/cpu*/topology/package_cpus_list | sort -u | wc -l")?;
    let nodes = n(guest, "ls -d /sys/devices/system/node/node[0-9]* | wc -l")?;
    let ours = ["cpus", "cores", "packages", "nodes"].map(count);
    ensure!(ours == [cpus, cores, packages, nodes], "topology says {ours:?}");
    Ok(())
}

fn looks_only(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let check = guest.run("becalm check --json")?;
    ensure!(check.status <= 1, "check ended with {}:\n{}", check.status, check.text);
    for command in
        ["becalm tune --plan", "becalm tune --plan --profile strict --json", "becalm tune --list"]
    {
        guest.ok(command)?;
    }
    as_before(guest, &before)
}

fn tune_and_restore(guest: &mut Guest) -> Result<()> {
    // What is tuned before `restore` must differ, or nothing is tested.
    let before = guest.state()?;
    let said = guest.ok("becalm tune")?;
    lacks(&said, "warning: ")?;
    ensure!(!before.differences(&guest.state()?).is_empty(), "nothing was tuned: {said}");
    let said = guest.ok("becalm restore")?;
    as_before(guest, &before).map_err(|error| error.context(said))
}

fn strict_and_restore(guest: &mut Guest) -> Result<()> {
    let said = leaves_no_trace(guest, "becalm tune --profile strict --smt off && becalm restore")?;
    lacks(&said, "warning: ")
}

fn hold_strict(guest: &mut Guest) -> Result<()> {
    leaves_no_trace(guest, "becalm tune --profile strict --hold -- true")?;
    leaves_no_trace(guest, "becalm tune --profile strict --hold -- sh -c 'exit 3'; [ $? = 3 ]")?;
    leaves_no_trace(guest, "becalm tune --hold -- /nonexistent; [ $? = 4 ]").map(drop)
}

fn each_knob(guest: &mut Guest) -> Result<()> {
    let list = guest.ok("becalm tune --list")?;
    let before = guest.state()?;
    for knob in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let flags = match knob {
            "smt" => "--smt off",
            "frequency" => "--frequency base",
            _ => "",
        };
        let said = guest.run(&format!("becalm tune --only {knob} {flags} && becalm restore"))?;
        ensure!(said.status == 0, "{knob}: ended with {}:\n{}", said.status, said.text);
        as_before(guest, &before)
            .map_err(|error| error.context(format!("{knob}: {}", said.text)))?;
    }
    Ok(())
}

fn tuned_run(guest: &mut Guest) -> Result<()> {
    leaves_no_trace(guest, "becalm run --tune --rounds 3 -- true").map(drop)
}

fn without_root(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    let said = ends_with(guest, "su tester -c 'becalm tune'", 4)?;
    contains(&said, "root")?;
    ends_with(guest, "su tester -c 'becalm restore'", 4)?;
    let check = guest.run("su tester -c 'becalm check'")?;
    ensure!(check.status <= 1, "check without root ended with {}:\n{}", check.status, check.text);
    as_before(guest, &before)
}
