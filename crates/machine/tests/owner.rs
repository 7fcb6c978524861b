//! The owner of a tuned machine whose guardian does not do its work.

use std::fs;
use std::process::Command;

use becalm_machine::SysRoot;
use becalm_machine::tune::{NotKept, Recovered, Tuning, Wait, journal};
use becalm_model::Change;
use becalm_testkit::FakeTree;

const A: &str = "/sys/a";

fn tree() -> FakeTree {
    FakeTree::new().file("/proc/sys/kernel/random/boot_id", "boot\n").file(A, "1\n")
}

/// A tuned machine with a script for a guardian, whose standard input is its socket.
fn tuned<'a>(root: &'a SysRoot, guardian: &str) -> Tuning<'a> {
    let mut command = Command::new("sh");
    command.args(["-c", guardian]);
    let (mut tuning, before) = Tuning::begin(root, "a test", command, Wait::No, &|| false).unwrap();
    assert_eq!(before, Recovered::Nothing);
    tuning.apply(&[Change::file("k", A, "1", "0", "why")]).unwrap();
    tuning
}

#[track_caller]
fn check_put_back(tree: &FakeTree, root: &SysRoot) {
    assert_eq!(fs::read_to_string(tree.path().join("sys/a")).unwrap().trim(), "1");
    assert!(!journal::exists(root));
}

/// One that was killed, or that failed, at once or once it is needed.
const USELESS: [&str; 2] = ["echo ready >&0", "echo ready >&0; cat >/dev/null; exit 5"];

#[test]
fn a_machine_that_no_guardian_can_keep_is_put_back_by_its_owner() {
    // One that was told to keep the machine and dies, and one that was dead before.
    for guardian in [USELESS[0], "echo ready >&0; read word"] {
        let tree = tree();
        let root = SysRoot::new(tree.path());
        let NotKept { restored, .. } = tuned(&root, guardian).keep().unwrap_err();
        let Recovered::Restored(restored) = restored.unwrap() else { panic!("{guardian}") };
        assert_eq!((restored.put_back.len(), restored.left.len()), (1, 0), "{guardian}");
        check_put_back(&tree, &root);
    }
}

#[test]
fn an_owner_that_gives_up_does_not_rely_on_its_guardian() {
    for guardian in USELESS {
        let tree = tree();
        let root = SysRoot::new(tree.path());
        drop(tuned(&root, guardian));
        check_put_back(&tree, &root);
    }
}

#[test]
fn what_neither_guardian_nor_owner_can_put_back_stays_in_the_journal() {
    let tree = tree();
    let root = SysRoot::new(tree.path());
    let tuning = tuned(&root, USELESS[0]);
    let tree = tree.unreadable(A);
    let restored = tuning.keep().unwrap_err().restored.unwrap();
    assert_eq!((restored.left().len(), journal::exists(&root)), (1, true));
    drop(tree);
}
