//! Machines on which not every CPU can be had.

use becalm_testkit::FakeMachine;

use crate::{check, ryzen};

/// Four third-level caches of four cores.
fn four_caches() -> FakeMachine {
    FakeMachine { cores: 16, l3s: 4, ..FakeMachine::default() }
}

#[test]
fn numbers_with_holes() {
    let power = FakeMachine { cores: 4, stride: 8, ..FakeMachine::default() };
    check(
        &power.tree(),
        &[(1, "24", "0,8,16", "the last core, by its number"), (2, "16,24", "0,8", "likewise")],
    );
    let offline = FakeMachine { offline: vec![3, 15, 19, 31], ..ryzen() };
    check(
        &offline.tree(),
        &[
            (1, "14", "0-2,4-7,16-18,20-23", "the last core that runs, in the L3 without CPU 0"),
            (7, "8-14", "0-2,4-7,16-18,20-23", "exactly what runs of that L3"),
            (
                8,
                "7-14",
                "0-2,4-6,16-18,20-22",
                "it has seven cores now, so one comes from the other",
            ),
        ],
    );
    let first = FakeMachine { offline: vec![0], ..four_caches() };
    check(&first.tree(), &[(1, "15", "1-11", "without CPU 0 all L3 are equal: the last")]);
}

#[test]
fn a_container_with_some_of_the_cpus() {
    let machine = FakeMachine { allowed: "2-9", ..four_caches() };
    check(
        &machine.tree(),
        &[
            (1, "7", "2-3,8-9", "the one L3 that is ours alone"),
            (2, "6-7", "2-3,8-9", "likewise"),
            (4, "4-7", "2-3,8-9", "exactly that L3"),
            (6, "4-9", "2-3", "it whole, and two beside others' CPUs, which are not CPU 0's"),
        ],
    );
}

#[test]
fn cpus_reserved_at_boot() {
    let isolated = FakeMachine { isolated: "4-7,14-15", ..four_caches() };
    check(
        &isolated.tree(),
        &[
            (1, "7", "0-3,8-13", "14 and 15 share their L3 with what is not reserved; 4-7 do not"),
            (
                2,
                "12-13",
                "0-3,8-11",
                "threads are not balanced on isolated CPUs; of equal places the last",
            ),
        ],
    );
    let tickless = FakeMachine { nohz_full: "4-7,14-15", ..four_caches() };
    check(
        &tickless.tree(),
        &[
            (1, "7", "0-3,8-13", "a stopped tick, and an L3 that is reserved whole"),
            (2, "6-7", "0-3,8-13", "threads are balanced there, so they get reserved CPUs too"),
            (6, "4-7,14-15", "0-3,8-11", "all of them"),
        ],
    );
    let all = FakeMachine { isolated: "1-3", allowed: "1-3", ..FakeMachine::default() };
    check(&all.tree(), &[(2, "3", "1-2", "isolated CPUs alone: threads would all stay on one")]);
}
