//! Turbo and frequencies: every driver has its own way.

use becalm_machine::knobs::{Frequency, NoteKind, Situation, TuningRequest};
use becalm_machine::tune::plan;
use becalm_machine::{SysRoot, Topology};
use becalm_model::{CpuSet, Target};
use becalm_testkit::{FakeCpufreq, FakeMachine};

use crate::{
    ACPI, ACPI_CPB, AMD_EPP, AMD_EPP_BARE, AMD_EPP_OLD, AMD_PASSIVE, CPPC, CPU, INTEL_CPUFREQ,
    INTEL_HWP, POLICY_SWITCHES, lines, only, planned, tree,
};

#[test]
fn turbo_goes_off_by_the_way_that_the_driver_has() {
    let check = |cpufreq: FakeCpufreq, expected: &[&str]| {
        let tree = tree(cpufreq);
        let plan = planned(&SysRoot::new(tree.path()), &only("turbo"));
        assert_eq!(lines(&plan), expected, "{}", cpufreq.driver);
    };
    check(ACPI, &["cpufreq/boost 1 -> 0"]);
    let switches = [0, 1, 2, 3].map(|policy| format!("cpufreq/policy{policy}/cpb 1 -> 0"));
    check(ACPI_CPB, &switches.iter().map(String::as_str).collect::<Vec<_>>());
    check(INTEL_HWP, &["intel_pstate/no_turbo 0 -> 1"]);
    check(INTEL_CPUFREQ, &["intel_pstate/no_turbo 0 -> 1"]);
    check(AMD_PASSIVE, &["cpufreq/boost 1 -> 0"]);
    check(AMD_EPP, &["cpufreq/boost 1 -> 0"]);
    let clamps = [0, 1, 2, 3]
        .map(|policy| format!("cpufreq/policy{policy}/scaling_max_freq 3200000 -> 2400000"));
    let clamps: Vec<&str> = clamps.iter().map(String::as_str).collect();
    check(AMD_EPP_OLD, &[&["cpufreq/boost 1 -> 0"], &clamps[..]].concat());
    check(AMD_EPP_BARE, &clamps);
    check(CPPC, &["cpufreq/boost 1 -> 0"]);
    let switches = [0, 1, 2, 3].map(|policy| format!("cpufreq/policy{policy}/boost 1 -> 0"));
    check(POLICY_SWITCHES, &switches.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn firmware_may_allow_less_than_the_nominal_frequency() {
    let tree = tree(AMD_EPP_BARE).file(format!("{CPU}/cpufreq/policy0/bios_limit"), "2000000\n");
    let tree = tree.file(format!("{CPU}/cpufreq/policy1/bios_limit"), "3000000\n");
    let plan = planned(&SysRoot::new(tree.path()), &only("turbo"));
    assert_eq!(
        lines(&plan)[..2],
        [
            "cpufreq/policy0/scaling_max_freq 3200000 -> 2000000",
            "cpufreq/policy1/scaling_max_freq 3200000 -> 2400000"
        ]
    );
}

#[test]
fn a_limit_that_the_kernel_holds_lower_is_left_alone() {
    const COOLING: &str = "/sys/class/thermal/cooling_device0";
    let check = |limit: &str, state: &str, firmware: &str, is_left: bool| {
        let policy = format!("{CPU}/cpufreq/policy0");
        let tree = tree(AMD_EPP_BARE)
            .file(format!("{policy}/scaling_max_freq"), limit)
            .file(format!("{policy}/bios_limit"), firmware)
            .file(format!("{COOLING}/type"), "Processor\n")
            .file(format!("{COOLING}/cur_state"), state);
        let root = SysRoot::new(tree.path());
        let request = TuningRequest { frequency: Frequency::Base, ..TuningRequest::default() };
        let plan = planned(&root, &request);
        let target = Target::File(format!("{policy}/scaling_max_freq"));
        let is_planned = plan.changes.iter().any(|change| change.target == target);
        let is_told = plan.notes.iter().any(|note| note.text.contains("is hidden"));
        assert_eq!((is_planned, is_told), (!is_left, is_left), "{limit} {state} {firmware}");
    };
    let highest = "3200000\n";
    check(highest, "0\n", highest, false);
    // Somebody has lowered it, and the CPU is cool; it is hot and not slowed down yet.
    check("3000000\n", "0\n", highest, false);
    check(highest, "3\n", highest, false);
    check("3000000\n", "3\n", highest, true);
    check("2800000\n", "0\n", "2800000\n", true);
    check("2000000\n", "0\n", "2800000\n", false);
}

#[test]
fn without_a_frequency_driver_there_is_a_note_and_no_error() {
    let tree = FakeMachine { cpufreq: false, ..FakeMachine::default() }.tree();
    let root = SysRoot::new(tree.path());
    for knob in ["governor", "epp", "turbo", "frequency"] {
        let topology = Topology::read(&root).unwrap();
        let cpus: CpuSet = "1".parse().unwrap();
        let housekeeping = topology.online.difference(&cpus);
        let request = only(knob);
        let situation =
            Situation { root: &root, topology: &topology, cpus, housekeeping, request: &request };
        let plan = plan(&situation).unwrap();
        assert_eq!((plan.changes.len(), plan.notes.len()), (0, 1), "{knob}: {plan:?}");
        assert_eq!(plan.notes[0].kind, NoteKind::NotHere);
    }
}

#[test]
fn a_fixed_frequency_is_set_in_the_order_that_the_kernel_needs() {
    let check = |frequency: Frequency, expected: &[&str]| {
        let tree = tree(AMD_PASSIVE);
        let request = TuningRequest { frequency, ..only("frequency") };
        let plan = planned(&SysRoot::new(tree.path()), &request);
        assert_eq!(&lines(&plan)[..expected.len().min(2)], expected);
    };
    let first = "cpufreq/policy0/scaling_";
    check(Frequency::Keep, &[]);
    check(
        Frequency::Base,
        &[
            &format!("{first}min_freq 800000 -> 2400000"),
            &format!("{first}max_freq 3200000 -> 2400000"),
        ],
    );
    check(
        Frequency::Share(0.5),
        &[
            &format!("{first}min_freq 800000 -> 1200000"),
            &format!("{first}max_freq 3200000 -> 1200000"),
        ],
    );
    check(
        Frequency::Kilohertz(4_000_000),
        &[
            &format!("{first}max_freq 3200000 -> 4000000"),
            &format!("{first}min_freq 800000 -> 4000000"),
        ],
    );
}

#[test]
fn a_frequency_that_is_asked_for_is_not_undone_by_keeping_turbo_away() {
    for cpufreq in [AMD_EPP_BARE, AMD_EPP_OLD, ACPI, INTEL_HWP] {
        for (frequency, value) in [
            (Frequency::Kilohertz(1_200_000), "1200000"),
            (Frequency::Kilohertz(3_000_000), "3000000"),
        ] {
            let tree = tree(cpufreq);
            let request = TuningRequest { frequency, ..TuningRequest::default() };
            let plan = planned(&SysRoot::new(tree.path()), &request);
            for limit in ["scaling_min_freq", "scaling_max_freq"] {
                let target = Target::File(format!("{CPU}/cpufreq/policy0/{limit}"));
                let change = plan.changes.iter().find(|change| change.target == target).unwrap();
                assert_eq!(change.new.as_deref(), Some(value), "{}", cpufreq.driver);
            }
        }
    }
}
