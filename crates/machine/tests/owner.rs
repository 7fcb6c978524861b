//! The owner of a tuned machine: how it carries out a plan, and what it does if its guardian does not do its
//! work.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use becalm_machine::knobs::{Situation, TuningRequest};
use becalm_machine::tune::{Effect, NotKept, Recovered, Tuning, Wait, journal, plan};
use becalm_machine::{SysRoot, Topology};
use becalm_model::Change;
use becalm_testkit::{FakeMachine, FakeTree};

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

#[test]
fn what_a_service_takes_back_as_it_stops_is_what_it_finds_when_it_is_started() {
    const SERVICE: &str = "/sys/service";
    const BALANCING: &str = "/proc/sys/kernel/numa_balancing";
    let machine = FakeMachine::default();
    let tree = machine.tree().file("/proc/sys/kernel/random/boot_id", "boot\n");
    // The service has switched it off, as it was told; it was on before, and is when the service stops.
    let tree = tree.file(SERVICE, "active\n").file(BALANCING, "0\n");
    let place = tree.path().join(BALANCING.trim_start_matches('/'));
    let (found, finds) = (Arc::new(Mutex::new(Vec::new())), place.clone());
    let (seen, becalms) = (Arc::clone(&found), tree.path().join("var/lib/becalm/journal"));
    let root = SysRoot::new(tree.path()).with_kernel(move |path, value| {
        if path == Path::new(SERVICE) {
            seen.lock().unwrap().push(fs::read_to_string(&finds)?.trim().to_owned());
            fs::write(&finds, if value == "active" { "0\n" } else { "1\n" })?;
            // Whoever goes on from here with the journal must not undo what the service sets.
            let knows = fs::read_to_string(&becalms)?.contains("numa_balancing");
            assert!(!knows, "as it stops nothing is planned, as it starts nothing is open");
        }
        Ok(Some(format!("{value}\n")))
    });
    let request =
        TuningRequest { only: vec!["numa-balancing".to_owned()], ..TuningRequest::default() };
    let topology = Topology::read(&root).unwrap();
    let situation = Situation::of(&root, &topology, "1".parse().unwrap(), &request);
    let stop = Change::file("services", SERVICE, "active", "inactive", "why");
    let mut plan = plan(&situation).unwrap();
    assert_eq!(plan.changes, [], "it is off already");
    plan.changes.push(stop.clone());
    let mut command = Command::new("sh");
    command.args(["-c", USELESS[1]]);
    let (mut tuning, _) = Tuning::begin(&root, "a test", command, Wait::No, &|| false).unwrap();
    let (plan, applied) = tuning.carry_out(plan, &situation).unwrap();
    let off = Change::file("numa-balancing", BALANCING, "1", "0", &plan.changes[1].reason);
    assert_eq!(plan.changes, [stop, off]);
    assert!(applied.iter().all(|applied| applied.effect == Effect::Set), "{applied:?}");
    assert_eq!(fs::read_to_string(&place).unwrap().trim(), "0");
    tuning.finish().unwrap();
    assert_eq!(*found.lock().unwrap(), ["0", "1"], "when it stopped, and when it was started");
    assert_eq!(fs::read_to_string(&place).unwrap().trim(), "0", "by the service");
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
