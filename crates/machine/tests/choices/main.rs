//! The CPUs chosen on many machines, against answers that were worked out by hand.
//!
//! Each answer is the number of threads, the CPUs of the subject, those of becalm, and why that is
//! right. Invented machines are built like those they are named after.

mod captured;
mod desktops;
mod limited;
mod servers;

use std::num::NonZeroUsize;
use std::path::Path;

use becalm_machine::{ChoiceFacts, SysRoot, Topology, Width, choose};
use becalm_testkit::{FakeMachine, FakeTree};

/// Threads, CPUs of the subject, CPUs of becalm, why.
type Answer = (usize, &'static str, &'static str, &'static str);

#[track_caller]
fn check(tree: &FakeTree, answers: &[Answer]) {
    check_root(tree.path(), answers);
}

#[track_caller]
fn check_root(root: &Path, answers: &[Answer]) {
    let root = SysRoot::new(root);
    let topology = Topology::read(&root).unwrap();
    let facts = ChoiceFacts::read(&root);
    for (threads, subject, housekeeping, why) in answers {
        let width = NonZeroUsize::new(*threads).expect("a subject has a thread");
        let choice = choose(&topology, &facts, Width::Several(width));
        let found = (choice.subject.to_string(), choice.housekeeping.to_string());
        let expected = ((*subject).to_owned(), (*housekeeping).to_owned());
        assert_eq!(found, expected, "{threads} threads: {why}; {choice:?}");
    }
}

/// A processor of several dies with a cache each, two threads a core: cores 0-7 and 8-15 share one.
fn ryzen() -> FakeMachine {
    FakeMachine { cores: 16, threads: 2, l3s: 2, ..FakeMachine::default() }
}
