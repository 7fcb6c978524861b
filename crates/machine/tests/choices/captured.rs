//! Captures of real machines, read where `BECALM_MACHINE_TREES` names a folder with them unpacked (see
//! `real_trees.rs`).

use std::path::PathBuf;

use becalm_testkit::skipped;

use crate::{Answer, check_root};

const CAPTURES: [(&str, &[Answer]); 10] = [
    (
        "x86_64-epyc_7451",
        &[
            (1, "47", "0-44,48-92", "socket 1, away from CPU 0; becalm keeps off its L3 (45-47)"),
            (2, "46-47", "0-44,48-92", "of one L3"),
            (3, "45-47", "0-44,48-92", "exactly one L3"),
            (4, "44-47", "0-41,48-89", "one node, its L3 45-47 whole and one core of 42-44"),
            (6, "42-47", "0-41,48-89", "exactly one node"),
            (8, "40-47", "0-38,48-86", "that node, and two cores of one L3 of the next"),
        ],
    ),
    (
        "20em64t-hybrid-1p6c2t+2ca4co1t",
        &[
            (1, "8", "0-7,10-19", "the last of the two P-cores that boost highest (4 and 8)"),
            (2, "4,8", "0-3,6-7,10-19", "these two"),
            (3, "4,8,10", "0-3,6-7,12-19", "and the last of the other P-cores"),
            (6, "0,2,4,6,8,10", "12-19", "all P-cores; becalm on E-cores"),
            (8, "0,2,4,6,8,10,18-19", "12-15", "and two E-cores, whose L2 becalm keeps off"),
        ],
    ),
    (
        "64amd64-4s2n4ca2co",
        &[
            (1, "62", "0-55", "nodes 3, 5 and 7 are the farthest from CPU 0; 7 is the last"),
            (4, "56,58,60,62", "0-55", "a module each, all of node 7 and its L3"),
            (8, "48,50,52,54,56,58,60,62", "0-47", "exactly the two nodes of the last socket"),
        ],
    ),
    (
        "16em64t-4s2c2t-offlines",
        &[
            (1, "1", "0,3-4,6-8,10-12,15", "of its L3 only this core runs: nobody is beside it"),
            (2, "3,7", "0-1,4,6,8-10,12", "all cores of the last socket's L3"),
            (3, "1,3,7", "0,4,6,8,10,12", "and the one core of another L3, which is so whole too"),
            (6, "1,3-4,6-7,10", "0,8", "all cores but CPU 0's"),
        ],
    ),
    (
        "8em64t-2s4c-heterogeneous",
        &[
            (1, "7", "0-2,4-6", "the last core; becalm keeps off 3, at its L2"),
            (4, "1,3,5,7", "0,2,4,6", "the socket without CPU 0, with both its L2"),
        ],
    ),
    (
        "2arm-2c",
        &[(1, "1", "0", "CPU 0 has the kernel's work"), (2, "0-1", "0-1", "there are no others")],
    ),
    (
        "32amd64-4s2n4c-cgroup",
        &[
            (1, "5", "0-3", "of 0-5, which the batch system leaves, the node without CPU 0"),
            (2, "4-5", "0-3", "likewise"),
            (3, "1-3", "4-5", "one node, without CPU 0"),
            (4, "1-3,5", "0,4", "no node has four without CPU 0"),
            (6, "0-5", "0-5", "all there are"),
        ],
    ),
    (
        "arm-A510-A710-A715-X3",
        &[
            (1, "7", "0-6", "the Cortex-X3"),
            (2, "3-4", "0-2,5-7", "two alike of the fastest kind that has two: Cortex-A715"),
            (4, "3-6", "0-2,7", "A715 and A710, which the kernel calls equally fast"),
            (5, "3-7", "0-2", "then the X3 too"),
            (6, "2-7", "0", "and an A510; becalm keeps off 1, at the L2 of 2"),
        ],
    ),
    (
        "vmware_fpe",
        &[
            (1, "14", "0-11", "a module of the last node; 12-13 at its L3 stay idle"),
            (2, "12,14", "0-11", "exactly one L3 of two modules"),
            (4, "8,10,12,14", "0-7", "the other socket"),
        ],
    ),
    (
        "x86_64-64cpu-linux6.2",
        &[
            (1, "3", "0-2,4-6", "one L3 for all: the last core"),
            (3, "1-3", "0,4", "all cores but CPU 0's"),
        ],
    ),
];

/// Returns the folder of a capture, or says that its answers are not looked at.
fn capture(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("BECALM_MACHINE_TREES").map(PathBuf::from);
    let Some(folder) = folder.map(|folder| folder.join(name)).filter(|folder| folder.is_dir())
    else {
        skipped(&format!("BECALM_MACHINE_TREES names no folder with {name}"));
        return None;
    };
    Some(folder)
}

#[test]
fn captures_of_real_machines() {
    for (name, answers) in CAPTURES {
        if let Some(folder) = capture(name) {
            check_root(&folder, answers);
        }
    }
}
