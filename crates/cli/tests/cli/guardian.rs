//! The guardian by itself, with a test in the place of its owner.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use becalm_machine::SysRoot;
use becalm_machine::tune::{JournalFile, apply};
use becalm_model::Change;
use becalm_testkit::{FakeTree, TestEnv};

use crate::support::env;

const FILE: &str = "/proc/sys/kernel/numa_balancing";

/// A tuned machine with its guardian.
struct Tuned {
    tree: FakeTree,
    guardian: Child,
    socket: UnixStream,
    _env: TestEnv,
}

fn tuned() -> Tuned {
    let tree =
        FakeTree::new().file(FILE, "1\n").file("/proc/sys/kernel/random/boot_id", "this-boot\n");
    let root = SysRoot::new(tree.path());
    let mut journal = JournalFile::start(&root, "a test", &[]).unwrap();
    apply(&root, &mut journal, &[Change::file("k", FILE, "1", "0", "why")]).unwrap();
    let (socket, theirs) = UnixStream::pair().unwrap();
    let env = env();
    let mut command = env.command(["guardian", "--root"]);
    let guardian = command
        .arg(tree.path())
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The command has a copy of the guardian's end.
    drop(command);
    let tuned = Tuned { tree, guardian, socket, _env: env };
    assert_eq!(tuned.hear(), "ready");
    tuned
}

impl Tuned {
    fn hear(&self) -> String {
        let mut line = String::new();
        BufReader::new(&self.socket).read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn say(&self, words: &str) {
        writeln!(&self.socket, "{words}").unwrap();
    }

    /// The value once the guardian has ended.
    fn value_in_the_end(mut self) -> String {
        drop(self.socket);
        self.guardian.wait().unwrap();
        let path = self.tree.path().join(FILE.trim_start_matches('/'));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }
}

#[test]
fn a_guardian_without_an_owner_puts_nothing_back() {
    let tree =
        FakeTree::new().file(FILE, "1\n").file("/proc/sys/kernel/random/boot_id", "this-boot\n");
    let root = SysRoot::new(tree.path());
    let mut journal = JournalFile::start(&root, "a test", &[]).unwrap();
    apply(&root, &mut journal, &[Change::file("k", FILE, "1", "0", "why")]).unwrap();
    let folder = tree.path().to_str().unwrap();
    let output = env().run(["guardian", "--root", folder]).exits_with(2);
    assert!(output.stderr.contains("becalm starts its guardian itself"), "{}", output.stderr);
    assert_eq!(root.read(FILE).value().as_deref(), Some("0"));
}

#[test]
fn a_guardian_that_is_dismissed_leaves_everything_as_it_is() {
    let tuned = tuned();
    tuned.say("done");
    assert_eq!(tuned.value_in_the_end(), "0");
}

#[test]
fn an_owner_that_dies_while_it_hands_the_machine_over_does_not_leave_it_to_nobody() {
    let tuned = tuned();
    // As if the owner had died: what the guardian answers reaches nobody.
    tuned.socket.shutdown(Shutdown::Read).unwrap();
    tuned.say("keep");
    assert_eq!(tuned.value_in_the_end(), "1");
}

#[test]
fn what_cannot_be_held_is_told_and_the_machine_put_back() {
    // This machine has no /dev/cpu_dma_latency.
    let tuned = tuned();
    tuned.say("keep 5");
    let said = tuned.hear();
    assert!(said.contains("No such file"), "{said}");
    assert_eq!(tuned.value_in_the_end(), "1");
}
