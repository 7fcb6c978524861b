//! Machines with several sockets or NUMA nodes, and one with many cores.

use becalm_testkit::FakeMachine;

use crate::check;

/// Two sockets of four nodes, each of two third-level caches of three cores; like the capture of an
/// EPYC 7451.
fn epyc_7451() -> FakeMachine {
    FakeMachine { packages: 2, cores: 24, threads: 2, nodes: 4, l3s: 8, ..FakeMachine::default() }
}

#[test]
fn two_sockets_of_four_dies_like_epyc_7451() {
    check(
        &epyc_7451().tree(),
        &[
            (1, "47", "0-44,48-92", "socket 1, away from CPU 0; becalm keeps off its L3 (45-47)"),
            (2, "46-47", "0-44,48-92", "of one L3"),
            (3, "45-47", "0-44,48-92", "exactly one L3"),
            (4, "44-47", "0-41,48-89", "one node, its L3 45-47 whole and one core of 42-44"),
            (6, "42-47", "0-41,48-89", "exactly one node of two L3"),
            (12, "36-47", "0-35,48-83", "exactly two nodes of the other socket"),
            (24, "24-47", "0-23,48-71", "exactly the other socket"),
            (30, "18-47", "0-17,48-65", "that socket, and one node of CPU 0's"),
        ],
    );
}

#[test]
fn interrupts_in_a_far_node_of_an_epyc_7451() {
    let mut interrupts = vec![900; 96];
    interrupts[43] = 5_000_000;
    let machine = FakeMachine { interrupts, ..epyc_7451() };
    check(
        &machine.tree(),
        &[
            (1, "41", "0-38,42-86,90-95", "node 7 has an interrupted CPU, node 6 has none"),
            (3, "39-41", "0-38,42-86,90-95", "the last L3 of node 6"),
            (21, "24-41,45-47", "0-23,42-44,48-71,90-92", "one socket, without that CPU's L3"),
            (
                24,
                "21-41,45-47",
                "0-20,42-44,48-68,90-92",
                "an L3 of socket 0 instead of that CPU's",
            ),
        ],
    );
}

/// From Linux on two EPYC 7763 in the setting NPS4.
const NPS4: [&str; 8] = [
    "10 12 12 12 32 32 32 32",
    "12 10 12 12 32 32 32 32",
    "12 12 10 12 32 32 32 32",
    "12 12 12 10 32 32 32 32",
    "32 32 32 32 10 12 12 12",
    "32 32 32 32 12 10 12 12",
    "32 32 32 32 12 12 10 12",
    "32 32 32 32 12 12 12 10",
];

#[test]
fn two_sockets_like_epyc_7763() {
    let whole =
        FakeMachine { packages: 2, cores: 64, threads: 2, l3s: 8, ..FakeMachine::default() };
    check(
        &whole.tree(),
        &[
            (1, "127", "0-119,128-247", "the last L3 of the socket without CPU 0"),
            (8, "120-127", "0-119,128-247", "exactly that L3"),
            (12, "116-127", "0-111,128-239", "that L3 and half of another of the same node"),
            (16, "112-127", "0-111,128-239", "exactly two L3"),
            (64, "64-127", "0-63,128-191", "exactly one socket"),
        ],
    );
    let mut interrupts = vec![900; 256];
    interrupts[100] = 5_000_000;
    let split = FakeMachine { nodes: 4, distances: &NPS4, interrupts, ..whole };
    check(
        &split.tree(),
        &[
            (1, "127", "0-119,128-247", "nodes 0 and 6 have interrupts; all others are 12 away"),
            (8, "120-127", "0-119,128-247", "one L3 of node 7"),
            (16, "112-127", "0-111,128-239", "all of node 7"),
        ],
    );
}

#[test]
fn two_sockets_like_epyc_9654() {
    let machine =
        FakeMachine { packages: 2, cores: 96, threads: 2, l3s: 12, ..FakeMachine::default() };
    check(
        &machine.tree(),
        &[
            (1, "191", "0-183,192-375", "the last L3 of the other socket"),
            (8, "184-191", "0-183,192-375", "exactly one L3"),
            (10, "182-191", "0-175,192-367", "one L3 whole, two cores of the next"),
            (96, "96-191", "0-95,192-287", "one socket"),
        ],
    );
}

/// From Linux on two Xeons of two nodes each, and on one.
const SNC2: [&str; 4] = ["10 11 21 21", "11 10 21 21", "21 21 10 11", "21 21 11 10"];
const SNC2_ALONE: [&str; 2] = ["10 11", "11 10"];

#[test]
fn two_xeons_of_two_nodes_each() {
    let machine = FakeMachine {
        packages: 2,
        cores: 16,
        threads: 2,
        nodes: 2,
        distances: &SNC2,
        ..FakeMachine::default()
    };
    check(
        &machine.tree(),
        &[
            (1, "31", "0-15,32-47", "the L3 of the other socket, though nodes halve it"),
            (8, "24-31", "0-15,32-47", "exactly one node of the other socket"),
            (12, "20-31", "0-15,32-47", "one socket where no node is large enough"),
            (16, "16-31", "0-15,32-47", "exactly one socket"),
        ],
    );
    let alone = FakeMachine { packages: 1, distances: &SNC2_ALONE, ..machine };
    check(
        &alone.tree(),
        &[
            (
                1,
                "15",
                "0-14,16-30",
                "all share the L3; the node without CPU 0 is farther from interrupts",
            ),
            (4, "12-15", "0-11,16-27", "likewise"),
            (8, "8-15", "0-7,16-23", "exactly the other node"),
        ],
    );
}

/// A ring of four nodes.
const RING: [&str; 4] = ["10 16 22 16", "16 10 16 22", "22 16 10 16", "16 22 16 10"];

#[test]
fn distances_decide_where_no_cache_does() {
    let machine =
        FakeMachine { packages: 4, cores: 4, l3s: 0, distances: &RING, ..FakeMachine::default() };
    check(
        &machine.tree(),
        &[
            (1, "11", "0-10,12-15", "node 2 is the farthest from CPU 0, not the last one"),
            (4, "8-11", "0-7,12-15", "all of node 2"),
        ],
    );
}

#[test]
fn an_ampere_altra_shows_no_third_level_cache() {
    let one = FakeMachine { cores: 80, l3s: 0, ..FakeMachine::default() };
    check(
        &one.tree(),
        &[
            (1, "79", "0-78", "private caches only, so the last core is as good as any but CPU 0"),
            (4, "76-79", "0-75", "likewise"),
            (79, "1-79", "0", "all but CPU 0"),
        ],
    );
    let two = FakeMachine { packages: 2, ..one };
    check(&two.tree(), &[(4, "156-159", "0-155", "the node without CPU 0")]);
}
