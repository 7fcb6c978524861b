//! becalm called as root by real sudo, doas and pkexec.

use anyhow::{Context, Result, ensure};

use super::expect::{UNTIL_ALONE, as_before};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;
use crate::vm::lab::Place;

pub(super) const TESTS: &[Test] = &[
    test("callers_get_subjects_of_their_own", subjects),
    test("callers_borrow_nothing_of_root", borrowing),
    test("callers_killed_becalm_leaves_the_machine_as_it_was", killed),
];

const fn test(name: &'static str, body: fn(&Place<'_>) -> Result<()>) -> Test {
    Test { name, machines: Machines::Only(&["acpi-cpufreq"]), sample: &[], body: Body::Place(body) }
}

/// What stands before the words of a command. pkexec starts in root's home.
const CALLS: [(&str, &str); 3] = [
    ("sudo", "sudo /lab/becalm"),
    ("doas", "doas /lab/becalm"),
    ("pkexec", "pkexec env --chdir=/home/tester/work /lab/becalm"),
];

/// A short session that tunes and isolates.
const SESSION: &str = "run --tune --isolate --threads 1 --rounds 2 --warmup 0";

/// A file and a folder of root's beside a working folder of the user's.
const SCENE: &str = "chown root:root /home/tester; rm -rf /home/tester/*; cd /home/tester; umask 077; echo of root > secret; mkdir vault; \
                     umask 022; mkdir work; chown tester:tester work; chmod 755 /home/tester";

/// Lets the user call becalm; returns what it said.
fn call(guest: &mut Guest, how: &str, words: &str) -> Result<String> {
    let script = format!("{how} {words}").replace('\'', r"'\''");
    guest.ok(&format!("cd /home/tester/work && runuser -u tester -- sh -c '{script}' 2>&1"))
}

fn subjects(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    guest.ok("systemctl stop irqbalance; systemctl start polkit")?;
    for (name, how) in CALLS {
        guest.ok(SCENE)?;
        let before = guest.state()?;
        let show =
            "sh -c 'id -u; grep -E \"CapEff|NoNewPrivs\" /proc/self/status; cat /proc/self/cgroup'";
        let said = call(&mut guest, how, &format!("{SESSION} --output shown -- {show}"))?;
        let shown = guest.ok("cat /home/tester/work/shown")?;
        let expect = "1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n";
        ensure!(shown.starts_with(expect), "{name}: {shown}\n{said}");
        ensure!(shown.contains("becalm"), "{name}: the subject is in no group of its own: {shown}");
        let owner = guest.ok("stat -c %U /home/tester/work/shown")?;
        ensure!(owner == "tester", "{name}: the output belongs to {owner}");
        as_before(&mut guest, &before).with_context(|| format!("{name}: {said}"))?;
    }
    Ok(())
}

fn borrowing(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    guest.ok("systemctl start polkit")?;
    let plant = "sh -c 'rm -f out; ln -s ../secret out'";
    let steal = "sh -c 'cat > got; rm -f in; ln -s ../secret in'";
    let run = "run --rounds 3 --warmup 0";
    for (name, how) in CALLS {
        for words in [
            format!("{run} --output out -- {plant}"),
            format!("{run} --export-json out -- {plant}"),
            format!("{run} --input in -- {steal}"),
            format!("{run} --expect-output ../secret -- true"),
            format!("{run} --output ../vault/new -- true"),
            "machine dump ../vault/new".to_owned(),
            "show ../secret".to_owned(),
            "topology --svg=../vault/new".to_owned(),
        ] {
            guest.ok(SCENE)?;
            guest.ok("echo x > /home/tester/work/in; chown tester /home/tester/work/in")?;
            let said = call(&mut guest, how, &format!("{words}; true"))?;
            let left = guest
                .ok("cd /home/tester; cat secret; ls vault; cat work/got 2>/dev/null; true")?;
            ensure!(
                left.trim_end() == "of root" || left == "of root\nx",
                "{name} {words}: {left}\n{said}"
            );
            ensure!(!said.contains("of root"), "{name} {words}: {said}");
        }
    }
    Ok(())
}

fn killed(place: &Place<'_>) -> Result<()> {
    let mut guest = place.debian()?;
    guest.ok("systemctl stop irqbalance; systemctl start polkit")?;
    for (name, how) in CALLS {
        guest.ok(SCENE)?;
        let before = guest.state()?;
        let subject = "sh -c 'echo $PPID > pid; sleep 1000'";
        let script = format!("{how} {SESSION} -- {subject} >/dev/null 2>&1").replace('\'', r"'\''");
        guest.ok(&format!(
            "cd /home/tester/work && {{ runuser -u tester -- sh -c '{script}' & }}\n\
             until_so '[ -s /home/tester/work/pid ]'; kill -9 $(cat /home/tester/work/pid); wait; {UNTIL_ALONE}"
        ))?;
        as_before(&mut guest, &before).with_context(|| name.to_owned())?;
    }
    Ok(())
}
