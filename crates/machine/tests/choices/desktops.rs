//! Machines with one socket.

use becalm_testkit::FakeMachine;

use crate::{check, ryzen};

#[test]
fn machines_of_one_and_two_cpus() {
    let machine = |cores, threads| FakeMachine { cores, threads, ..FakeMachine::default() }.tree();
    check(
        &machine(1, 1),
        &[
            (1, "0", "0", "there is no other"),
            (4, "0", "0", "more threads do not make more CPUs; a limit says so"),
        ],
    );
    check(
        &machine(2, 1),
        &[(1, "1", "0", "CPU 0 has the kernel's work"), (2, "0-1", "0-1", "all")],
    );
    check(&machine(1, 2), &[(1, "0", "1", "becalm has nowhere to go but the sibling; it is said")]);
}

#[test]
fn one_cache_for_all_cores() {
    let machine = FakeMachine { cores: 4, threads: 2, ..FakeMachine::default() };
    check(
        &machine.tree(),
        &[
            (1, "3", "0-2,4-6", "the last core that is not CPU 0's; its sibling 7 stays idle"),
            (2, "2-3", "0-1,4-5", "a core each, away from CPU 0"),
            (3, "1-3", "0,4", "a core each, becalm with the kernel"),
            (4, "0-3", "4-7", "a core each needs all cores; becalm has the second threads"),
            (6, "0-3,6-7", "4-5", "second threads of the quietest cores only after all first ones"),
        ],
    );
}

#[test]
fn a_ryzen_with_two_core_complexes() {
    check(
        &ryzen().tree(),
        &[
            (1, "15", "0-7,16-23", "the L3 without CPU 0, and becalm keeps off that L3"),
            (4, "12-15", "0-7,16-23", "half of the L3 without CPU 0; the other half stays idle"),
            (8, "8-15", "0-7,16-23", "exactly the cores of that L3"),
            (12, "4-15", "0-3,16-19", "the clean L3 whole, and only what is missing of the other"),
            (16, "0-15", "16-31", "all cores"),
        ],
    );
}

#[test]
fn preferred_cores_of_a_ryzen() {
    let mut preferences = vec![166; 16];
    (preferences[2], preferences[9], preferences[11]) = (236, 231, 226);
    let machine = FakeMachine { preferences, ..ryzen() };
    check(
        &machine.tree(),
        &[
            (1, "9", "0-7,16-23", "core 2 is preferred most, and shares its L3 with CPU 0"),
            (2, "9,11", "0-7,16-23", "the two most preferred of the clean L3"),
            (3, "9,11,15", "0-7,16-23", "then the last of equals"),
            (8, "8-15", "0-7,16-23", "a whole L3 before preferred cores of another"),
        ],
    );
}

#[test]
fn interrupts_at_both_caches_of_a_ryzen() {
    let mut interrupts = vec![900; 32];
    interrupts[12] = 5_000_000;
    let machine = FakeMachine { interrupts, ..ryzen() };
    check(
        &machine.tree(),
        &[
            (1, "15", "0-7,16-23", "both L3 have others at work; not on the core itself is left"),
            (7, "8-11,13-15", "0-7,16-23", "around the core that a device interrupts"),
        ],
    );
}

#[test]
fn a_threadripper_whose_last_cache_a_device_interrupts() {
    let mut interrupts = vec![900; 12];
    interrupts[11] = 5_000_000;
    let machine = FakeMachine { cores: 12, l3s: 3, interrupts, ..FakeMachine::default() };
    check(
        &machine.tree(),
        &[
            (1, "7", "0-3,8-11", "the L3 in the middle has neither CPU 0 nor the device"),
            (4, "4-7", "0-3,8-11", "all of it"),
            (6, "4-7,9-10", "0-3", "all of it, and what is missing from the last cores beside"),
        ],
    );
}

#[test]
fn cores_with_a_large_cache() {
    let mut tree =
        ryzen().tree().file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
    for cpu in (0..8).chain(16..24) {
        let size = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index2/size");
        tree = tree.file(size, "98304K\n");
    }
    check(
        &tree,
        &[
            (1, "7", "8-15,24-31", "the kind with the larger L3 goes before an L3 without CPU 0"),
            (4, "4-7", "8-15,24-31", "likewise; becalm on the other L3"),
        ],
    );
}

#[test]
fn performance_and_efficient_cores() {
    let machine = FakeMachine {
        cores: 6,
        threads: 2,
        efficient: 8,
        efficient_per_l2: 4,
        ..FakeMachine::default()
    };
    check(
        &machine.tree(),
        &[
            (1, "5", "0-4,6-10,12-19", "a P-core: E-cores are slower, whatever they share"),
            (4, "2-5", "0-1,6-7,12-19", "P-cores without CPU 0"),
            (6, "0-5", "12-19", "all P-cores, one thread each; becalm on E-cores"),
            (8, "0-5,18-19", "12-15", "all P-cores and two E-cores; becalm not at the L2 of these"),
        ],
    );
    let mut island = machine.tree();
    for cpu in 0..20 {
        let cache = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index2");
        island = match cpu {
            0..18 => island.file(format!("{cache}/shared_cpu_list"), "0-17\n"),
            _ => island.without(cache),
        };
    }
    let outside = [
        (1, "5", "18-19", "becalm on the low-power E-cores, which alone are outside of the L3"),
        (6, "0-5", "18-19", "likewise"),
    ];
    check(&island, &outside);
}

#[test]
fn efficient_cores_alone_share_second_level_caches() {
    let machine =
        FakeMachine { cores: 0, efficient: 8, efficient_per_l2: 4, ..FakeMachine::default() };
    check(
        &machine.tree(),
        &[
            (1, "7", "0-3", "the L2 without CPU 0, and becalm keeps off it"),
            (2, "6-7", "0-3", "both at that L2"),
            (4, "4-7", "0-3", "exactly the cores at that L2"),
            (6, "2-7", "0-1", "that L2, and what is missing from the other"),
        ],
    );
}
