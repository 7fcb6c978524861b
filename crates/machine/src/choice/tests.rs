use super::*;
use crate::remembered::{NoiseRanking, Rank};
use crate::sysroot::SysRoot;
use becalm_model::SharedBecause::{FewCores, OthersInUse};
use becalm_model::conditions::{ChosenFor, CpuMerit};
use becalm_model::{CpuId, PlacementLimit};
use becalm_testkit::FakeMachine;
use proptest::prelude::*;

fn chosen(machine: &FakeMachine, width: Width) -> Choice {
    let tree = machine.tree();
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    choose(&topology, &ChoiceFacts::read(&root), width)
}

#[track_caller]
fn check(machine: &FakeMachine, width: Width, subject: &str, housekeeping: &str) -> Choice {
    let choice = chosen(machine, width);
    let found = (choice.subject.to_string(), choice.housekeeping.to_string());
    assert_eq!(found, (subject.to_owned(), housekeeping.to_owned()), "{choice:?}");
    choice
}

fn machine(packages: u32, cores: u32, threads: u32) -> FakeMachine {
    FakeMachine { packages, cores, threads, ..FakeMachine::default() }
}

fn cpus(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn merits(choice: &Choice) -> &[CpuMerit] {
    let AffinityReason::Chosen { because, .. } = &choice.reason else { return &[] };
    because
}

#[track_caller]
fn has_merit(choice: &Choice, merit: &CpuMerit) {
    assert!(merits(choice).contains(merit), "{choice:?}");
}

#[track_caller]
fn has_limit(choice: &Choice, limit: PlacementLimit) {
    assert!(choice.limits.contains(&limit.into()), "{choice:?}");
}

#[test]
fn a_single_cpu_is_shared_and_that_is_said() {
    for width in [Width::One, Width::All] {
        let choice = check(&machine(1, 1, 1), width, "0", "0");
        assert_eq!(choice.reason, AffinityReason::OnlyCpu { cpus: cpus("0") });
        assert_eq!(choice.limits, [PlacementLimit::OneCpu { cpus: cpus("0") }.into()]);
    }
}

#[test]
fn on_two_cpus_the_subject_gets_the_one_the_kernel_works_less_on() {
    let choice = check(&machine(1, 2, 1), Width::One, "1", "0");
    let reason = AffinityReason::Chosen {
        cpus: cpus("1"),
        housekeeping: cpus("0"),
        threads: ChosenFor::One,
        because: vec![CpuMerit::AwayFromCpu0],
    };
    assert_eq!((choice.reason, choice.limits), (reason, vec![]));
    let choice = check(&machine(1, 2, 1), Width::All, "0-1", "0-1");
    has_limit(&choice, PlacementLimit::Shared { cpus: cpus("0-1"), because: FewCores(2) });
}

#[test]
fn two_threads_of_one_core_leave_becalm_on_the_sibling_and_say_so() {
    let choice = check(&machine(1, 1, 2), Width::One, "0", "1");
    has_limit(&choice, PlacementLimit::SameCore { cpus: cpus("1") });
}

#[test]
fn the_sibling_of_the_subject_stays_idle() {
    let choice = check(&machine(1, 4, 2), Width::One, "3", "0-2,4-6");
    has_merit(&choice, &CpuMerit::IdleSiblings { cpus: cpus("7") });
    has_merit(&choice, &CpuMerit::LastOfEquals { cores: 3 });
    check(&machine(2, 4, 2), Width::One, "7", "0-3,8-11");
    check(&machine(4, 2, 1), Width::One, "7", "0-5");
}

#[test]
fn all_cpus_but_one_core_from_four_cores_on() {
    check(&machine(1, 4, 1), Width::All, "1-3", "0");
    check(&machine(1, 4, 2), Width::All, "1-3,5-7", "0,4");
    check(&machine(2, 2, 2), Width::All, "1-3,5-7", "0,4");
    let choice = check(&machine(1, 3, 2), Width::All, "0-5", "0-5");
    has_limit(&choice, PlacementLimit::Shared { cpus: cpus("0-5"), because: FewCores(3) });
}

#[test]
fn a_subject_runs_on_performance_cores_and_becalm_on_the_others() {
    let hybrid = FakeMachine { efficient: 4, ..machine(1, 4, 2) };
    let choice = check(&hybrid, Width::One, "3", "0-2,4-6,8-11");
    has_merit(&choice, &CpuMerit::OfKinds { kinds: names(&["P-core"]) });
    let choice = check(&hybrid, Width::All, "0-7", "8-11");
    let (kinds, of_several_cores) = (names(&["P-core"]), false);
    has_merit(&choice, &CpuMerit::OnlyFastest { kinds, of_several_cores });
}

#[test]
fn a_lone_prime_core_is_for_one_thread_only() {
    let mut phone = machine(1, 1, 1);
    phone.efficient = 4;
    check(&phone, Width::One, "0", "1-4");
    let choice = check(&phone, Width::All, "1-4", "0");
    let (kinds, of_several_cores) = (names(&["E-core"]), true);
    has_merit(&choice, &CpuMerit::OnlyFastest { kinds, of_several_cores });
}

#[test]
fn isolated_cpus_are_for_one_thread_and_never_for_many() {
    let isolated = FakeMachine { isolated: "2,6", ..machine(1, 4, 2) };
    let choice = check(&isolated, Width::One, "2", "0-1,3-5,7");
    has_merit(&choice, &CpuMerit::Isolated);
    let choice = check(&isolated, Width::All, "0-1,3-5,7", "0-1,3-5,7");
    has_merit(&choice, &CpuMerit::IsolatedLeftOut { cpus: cpus("2,6") });
}

#[test]
fn an_isolated_core_is_better_whole_than_half() {
    let half = FakeMachine { isolated: "1,2,6", ..machine(1, 4, 2) };
    check(&half, Width::One, "2", "0,3-5,7");
}

#[test]
fn only_isolated_cpus_give_many_threads_one_cpu() {
    let all = FakeMachine { isolated: "2-3", allowed: "2-3", ..machine(1, 4, 1) };
    let choice = check(&all, Width::All, "3", "2");
    has_limit(&choice, PlacementLimit::AllIsolated { cpus: cpus("2-3") });
}

#[test]
fn holes_of_offline_cpus_are_stepped_over() {
    let holes = FakeMachine { offline: vec![3, 5], ..machine(1, 4, 2) };
    check(&holes, Width::One, "7", "0-2,4,6");
    check(&FakeMachine { offline: vec![0], ..machine(1, 4, 1) }, Width::One, "3", "1-2");
}

#[test]
fn a_container_gets_its_own_cpus_and_a_word_on_its_neighbours() {
    let container = FakeMachine { allowed: "2-3", ..machine(1, 4, 2) };
    let choice = check(&container, Width::One, "3", "2");
    has_limit(&choice, PlacementLimit::ForeignSiblings { cpus: cpus("7") });
    let choice = check(&container, Width::All, "2-3", "2-3");
    has_limit(&choice, PlacementLimit::ForeignSiblings { cpus: cpus("6-7") });
    // A whole core inside of the affinity is better than half of one.
    check(&FakeMachine { allowed: "1-3,5", ..machine(1, 4, 2) }, Width::One, "1", "2-3");
}

#[test]
fn cpus_that_devices_interrupt_are_avoided() {
    let busy = FakeMachine { interrupts: vec![900, 900, 900, 2_000_000], ..machine(1, 4, 1) };
    let choice = check(&busy, Width::One, "2", "0-1,3");
    has_merit(&choice, &CpuMerit::NotInterrupted);
    let even =
        FakeMachine { interrupts: vec![90_000, 80_000, 99_000, 150_000], ..machine(1, 4, 1) };
    check(&even, Width::One, "3", "0-2");
    let container =
        FakeMachine { allowed: "1-5", interrupts: vec![9, 9, 9, 5000, 9, 9], ..machine(1, 6, 1) };
    check(&container, Width::All, "1-2,4-5", "3");
}

#[test]
fn a_stopped_tick_decides_between_equals() {
    let tree = machine(1, 4, 1).tree().file("/sys/devices/system/cpu/nohz_full", "1\n");
    let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
    let choice = choose(&topology, &ChoiceFacts::default(), Width::One);
    assert_eq!(choice.subject.to_string(), "1");
}

#[test]
fn cpus_on_which_others_measure_are_avoided() {
    let check = |machine: &FakeMachine, leased: &str, width, subject: &str, housekeeping: &str| {
        let tree = machine.tree();
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        let facts = ChoiceFacts { leased: leased.parse().unwrap(), ..ChoiceFacts::default() };
        let choice = choose(&topology, &facts, width);
        let found = (choice.subject.to_string(), choice.housekeeping.to_string());
        assert_eq!(found, (subject.to_owned(), housekeeping.to_owned()), "{choice:?}");
        choice
    };
    let two = machine(1, 2, 1);
    let choice = check(&two, "1", Width::One, "0", "0");
    has_merit(&choice, &CpuMerit::OthersMeasured { cpus: cpus("1") });
    has_limit(&choice, PlacementLimit::Shared { cpus: cpus("0"), because: OthersInUse });
    check(&two, "0-1", Width::One, "1", "1");
    check(&two, "1", Width::All, "0", "0");
    check(&machine(1, 4, 2), "3", Width::One, "2", "0-1,4-5,7");
    check(&machine(1, 4, 1), "3", Width::All, "0-2", "0-2");
    check(&machine(1, 6, 1), "5", Width::All, "1-4", "0");
    check(&machine(1, 4, 1), "0-3", Width::All, "1-3", "0");
    check(&machine(1, 4, 1), "3", several(2), "1-2", "0");
}

#[test]
fn a_chooser_leases_what_it_chooses() {
    let tree = machine(1, 2, 1).tree();
    let root = SysRoot::new(tree.path());
    let chooser = Chooser::new(&root, &Topology::read(&root).unwrap());
    let (first, one) = chooser.take(Width::One);
    let (second, other) = chooser.take(Width::One);
    assert_eq!((first.subject.to_string(), second.subject.to_string()), ("1".into(), "0".into()));
    has_limit(&second, PlacementLimit::Shared { cpus: cpus("0"), because: OthersInUse });
    assert_eq!(second.limits.len(), 1, "{second:?}");
    let (third, _) = chooser.take(Width::One);
    let holders = vec![std::process::id()];
    let cpus = third.subject.clone();
    has_limit(&third, PlacementLimit::MeasuredByOthers { cpus, holders });
    drop((one, other));
    assert_eq!(chooser.look(Width::One), first);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_machine_both_sets_are_allowed_and_not_empty(
        packages in 1_u32..3, cores in 1_u32..4, threads in 1_u32..3, efficient in 0_u32..3,
        offline in proptest::collection::vec(1_u32..12, 0..3), wide: bool,
    ) {
        let machine = FakeMachine { packages, cores, threads, efficient, offline, ..FakeMachine::default() };
        let tree = machine.tree();
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        let width = if wide { Width::All } else { Width::One };
        let choice = choose(&topology, &ChoiceFacts::default(), width);
        for set in [&choice.subject, &choice.housekeeping] {
            prop_assert!(!set.is_empty());
            prop_assert!(set.difference(&topology.allowed).is_empty());
        }
        prop_assert!(wide || choice.subject.len() == 1);
        prop_assert!(!choice.subject.contains(CpuId(0)) || topology.cores.len() < 4 || efficient > 0);
    }
}

/// A choice on a machine whose CPUs are in these tiers by noise, each with 1 % more of its time lost.
fn chosen_by_noise(machine: &FakeMachine, tiers: &[(u32, usize)], width: Width) -> Choice {
    let tree = machine.tree();
    let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
    let rank = |tier: usize| Rank { tier, lost_ppm: 100 + 10_000 * tier as u64 };
    let noise = NoiseRanking::new(tiers.iter().map(|(cpu, tier)| (CpuId(*cpu), rank(*tier))));
    choose(&topology, &ChoiceFacts { noise, ..ChoiceFacts::default() }, width)
}

#[test]
fn a_cpu_that_was_measured_to_be_quieter_is_taken() {
    let check = |machine: &FakeMachine, tiers: &[(u32, usize)], width, subject: &str| {
        let choice = chosen_by_noise(machine, tiers, width);
        assert_eq!(choice.subject.to_string(), subject, "{choice:?}");
        choice
    };
    let four = machine(1, 4, 1);
    let choice = check(&four, &[(0, 1), (1, 0), (2, 2), (3, 2)], Width::One, "1");
    let quieter = |most_ppm| CpuMerit::Quieter { lost_ppm: 100, least_ppm: 10_100, most_ppm };
    has_merit(&choice, &quieter(20_100));
    // Measured noise counts for more than that the kernel usually works on CPU 0.
    let choice = check(&machine(1, 2, 1), &[(0, 0), (1, 1)], Width::One, "0");
    has_merit(&choice, &quieter(10_100));
    // CPUs of one tier, and those that were not probed, are chosen as before.
    let choice = check(&four, &[(0, 0), (1, 0)], Width::One, "3");
    let is_quieter = |one: &CpuMerit| matches!(one, CpuMerit::Quieter { .. });
    assert!(!merits(&choice).iter().any(is_quieter), "{choice:?}");
    check(&four, &[(3, 1), (2, 1)], several(2), "0-1");
    // The noisiest core is the one that is given up.
    check(&four, &[(2, 1)], Width::All, "0-1,3");
    // Speed is no noise.
    let hybrid = FakeMachine { efficient: 4, ..machine(1, 4, 1) };
    check(&hybrid, &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 0)], Width::One, "3");
}

#[test]
fn the_ranking_that_was_saved_in_this_boot_is_among_the_facts() {
    let tree = machine(1, 2, 1).tree().file("/proc/sys/kernel/random/boot_id", "this-boot\n");
    let root = SysRoot::new(tree.path());
    let cpu = |cpu, tier| becalm_model::wire::RankedCpu { cpu, tier, ..Default::default() };
    let document = becalm_model::wire::CpuNoiseDocument {
        cpus: vec![cpu(0, 0), cpu(1, 1)],
        ..Default::default()
    };
    NoiseRanking::save(&root, document).unwrap();
    let topology = Topology::read(&root).unwrap();
    let choice = choose(&topology, &ChoiceFacts::read(&root), Width::One);
    assert_eq!(choice.subject.to_string(), "0");
}

fn several(threads: usize) -> Width {
    Width::Several(threads.try_into().unwrap())
}

#[test]
fn several_threads_get_a_core_each_while_there_are_cores() {
    let choice = check(&machine(1, 4, 2), several(2), "2-3", "0-1,4-5");
    has_merit(&choice, &CpuMerit::OwnCores);
    check(&machine(1, 4, 2), several(3), "1-3", "0,4");
    let choice = check(&machine(1, 4, 2), several(4), "0-3", "4-7");
    assert_eq!(choice.limits, []);
    let choice = check(&machine(1, 4, 2), several(6), "0-3,6-7", "4-5");
    has_limit(&choice, PlacementLimit::ThreadsShareCores);
    let choice = check(&machine(1, 2, 1), several(9), "0-1", "0-1");
    has_limit(&choice, PlacementLimit::TooManyThreads { threads: 9, cpus: cpus("0-1") });
}

#[test]
fn several_threads_stay_in_one_node_if_they_fit() {
    let choice = check(&machine(2, 4, 1), several(4), "4-7", "0-3");
    has_merit(&choice, &CpuMerit::OneNode { node: 1 });
    check(&machine(2, 4, 1), several(6), "2-7", "0-1");
}

#[test]
fn several_threads_are_of_the_fastest_kind_if_it_has_enough_cores() {
    let hybrid = FakeMachine { cores: 4, threads: 2, efficient: 4, ..FakeMachine::default() };
    let choice = check(&hybrid, several(3), "1-3", "0,4,8-11");
    has_merit(&choice, &CpuMerit::OfKinds { kinds: names(&["P-core"]) });
    let choice = check(&hybrid, several(8), "0-3,8-11", "4-7");
    has_merit(&choice, &CpuMerit::OfKinds { kinds: names(&["P-core", "E-core"]) });
}

#[test]
fn what_the_cpus_share_is_among_the_reasons() {
    let rome = FakeMachine { nodes: 2, l3s: 4, ..machine(1, 16, 1) };
    let choice = check(&rome, Width::One, "15", "0-11");
    has_merit(&choice, &CpuMerit::OwnCaches { level: 3 });
    has_merit(&choice, &CpuMerit::FarFromInterrupts);
    let choice = check(&rome, several(8), "8-15", "0-7");
    has_merit(&choice, &CpuMerit::WholeCaches { caches: 2 });
    // A third of its L3 is becalm's: there is no other place.
    let choice = check(&rome, several(13), "3-15", "0-2");
    let is_new = |one: &CpuMerit| {
        use CpuMerit as M;
        matches!(one, M::OwnCaches { .. } | M::WholeCaches { .. } | M::FarFromInterrupts)
    };
    assert!(!merits(&choice).iter().any(is_new), "{choice:?}");
    let one_cache = check(&machine(1, 4, 1), Width::One, "3", "0-2");
    assert!(!merits(&one_cache).iter().any(is_new), "{one_cache:?}");
    let preferred = FakeMachine { preferences: vec![9, 9, 20, 9], ..machine(1, 4, 1) };
    has_merit(&check(&preferred, Width::One, "2", "0-1,3"), &CpuMerit::Preferred);
    let choice = check(&preferred, several(2), "2-3", "0-1");
    assert!(!merits(&choice).contains(&CpuMerit::Preferred), "{choice:?}");
}

#[test]
fn two_measurements_share_no_cache_where_there_are_several() {
    let tree = FakeMachine { l3s: 4, ..machine(1, 16, 1) }.tree();
    let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
    let facts = ChoiceFacts { leased: cpus("15"), ..ChoiceFacts::default() };
    let chosen = |width| choose(&topology, &facts, width).subject.to_string();
    assert_eq!((chosen(Width::One), chosen(several(4))), ("11".into(), "8-11".into()));
}
