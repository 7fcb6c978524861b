//! Power that fails while the machine is tuned.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::death::n_calls;
use super::expect::{as_before, contains, same};
use super::{Body, Machines, Test};
use crate::vm::guest::{DiskFormat, Guest};
use crate::vm::lab::{Place, empty_disk};
use crate::vm::profile::Profile;

pub(super) const TESTS: &[Test] = &[
    test(
        "after_a_power_cut_the_journal_of_the_other_boot_is_discarded",
        Machines::Only(&["acpi-cpufreq", "intel-pstate"]),
        cut,
    ),
    test("power_lost_at_some_calls_of_tune", FIRST, |place| losses(place, &TUNE)),
    test("power_lost_at_some_calls_of_restore", FIRST, |place| losses(place, &RESTORE)),
    test("power_lost_at_some_calls_of_an_isolated_session", FIRST, |place| losses(place, &ISOLATE)),
];

const FIRST: Machines = Machines::Only(&["acpi-cpufreq"]);

const fn test(name: &'static str, machines: Machines, body: fn(&Place<'_>) -> Result<()>) -> Test {
    Test { name, machines, sample: &[], body: Body::Place(body) }
}

const MOUNT: &str = "mount -t ext4 /dev/vdb /mnt && mkdir -p /mnt/becalm /var/lib/becalm && \
                     mount --bind /mnt/becalm /var/lib/becalm && chmod 700 /var/lib/becalm";

fn cut(place: &Place<'_>) -> Result<()> {
    let disk = place.lab.cache.path("disk");
    empty_disk(&disk, DiskFormat::Raw)?;
    let mut guest = place.boot(&disk, DiskFormat::Raw)?;
    guest.ok(MOUNT)?;
    let untouched = guest.state()?;
    guest.ok("becalm tune --profile strict")?;
    let mut tuned = untouched.differences(&guest.state()?);
    // Huge pages change it too, and each boot takes it from the memory that is free then.
    tuned.retain(|one| one.path() != "/proc/sys/vm/min_free_kbytes");
    ensure!(!tuned.is_empty(), "nothing was tuned");
    guest.lose_power("lose_power")?;

    let mut guest = place.boot(&disk, DiskFormat::Raw)?;
    guest.ok(MOUNT)?;
    guest.ok("test -s /var/lib/becalm/journal")?;
    let said = guest.ok("becalm restore")?;
    contains(&said, "boot")?;
    guest.ok("test ! -e /var/lib/becalm/journal")?;
    let now = guest.state()?;
    // Other values a boot may choose anew: ids, and sizes by the memory that is free.
    same(&untouched.only(&tuned), &now.only(&tuned))?;
    // And the machine can be tuned again.
    guest.ok("becalm tune --hold -- true")?;
    as_before(&mut guest, &now)
}

/// A command during which the power fails.
struct Loss {
    before: &'static str,
    command: &'static str,
    /// How often it fails, at calls that are spread evenly.
    count: u32,
}

/// It also restores: what it leaves without `--hold` is the case above.
const TUNE: Loss =
    Loss { before: "true", command: "becalm tune --profile strict --hold -- true", count: 40 };
const RESTORE: Loss =
    Loss { before: "becalm tune --profile strict", command: "becalm restore", count: 32 };
const ISOLATE: Loss = Loss {
    before: "true",
    command: "becalm run --tune --isolate --threads 1 --rounds 1 --warmup 0 -- true",
    count: 32,
};

/// What meets the journal of the other boot, in turns. Both must succeed.
const NEXT: [&str; 2] = ["becalm restore", "becalm tune --only aslr --hold -- true"];

/// A slot into which a disk can be put while the machine runs.
const SLOT: &[&str] = &["-device", "pcie-root-port,id=bay,chassis=1"];

/// Of a boot only its disk lasts, so the boot after a loss may have been made beforehand: it is the snapshot of a second
/// one, into whose slot the disk goes. The last loss is followed by a boot that begins with it.
fn losses(place: &Place<'_>, loss: &Loss) -> Result<()> {
    let with_slot = |name| Profile { name, devices: SLOT, ..*place.profile };
    let [first, second] = ["acpi-cpufreq-first-boot", "acpi-cpufreq-second-boot"].map(with_slot);
    let [first, second] = [&first, &second].map(|profile| Place { profile, ..place.clone() });
    let Loss { before, command, count } = loss;
    let boot = "cat /proc/sys/kernel/random/boot_id";
    let mut guest = first.guest()?;
    let id = guest.ok(boot)?;
    let said = guest.ok(&format!("{before} >/dev/null 2>&1 && kill_at first 0 {command}"))?;
    // A snapshot is for one machine at a time.
    drop(guest);
    let n_calls = n_calls(&said)?;
    ensure!(id != second.guest()?.ok(boot)?, "the two boots are the same");
    for loss in 1..=*count {
        // A disk that keeps what it is given, and one that keeps what is flushed.
        let format = if loss % 2 == 0 { DiskFormat::Raw } else { DiskFormat::Qcow2 };
        let at = loss * n_calls / count;
        let disk = lost(&first, format, before, &format!("kill_at do:lose_power {at} {command}"))?;
        let next = NEXT[loss as usize / 2 % 2];
        let mut guest = if loss == *count {
            place.boot(&disk, format)?
        } else {
            plugged(&second, &disk, format)?
        };
        let result = as_if_nothing_had_been(&mut guest, next);
        if result.is_err() {
            guest.deaths().differed();
        }
        result.with_context(|| {
            format!("{next} after a power loss at call {at} of `{command}` on a {format:?} disk")
        })?;
    }
    println!("    {count} power losses at {n_calls} calls");
    Ok(())
}

/// Cuts the power of a machine in a script; returns its disk.
fn lost(place: &Place<'_>, format: DiskFormat, before: &str, script: &str) -> Result<PathBuf> {
    let disk = place.lab.cache.path("disk");
    empty_disk(&disk, format)?;
    let mut guest = plugged(place, &disk, format)?;
    guest.ok(MOUNT)?;
    guest.ok(&format!("{before} >/dev/null 2>&1"))?;
    // There may be fewer calls than the last time.
    guest.lose_power(&format!("{script}\nlose_power"))?;
    Ok(disk)
}

fn plugged(place: &Place<'_>, disk: &Path, format: DiskFormat) -> Result<Guest> {
    let mut guest = place.guest()?;
    guest.plug(disk, format)?;
    Ok(guest)
}

/// The machine is as its boot made it once the next becalm has seen what the other boot left, and also once it was
/// tuned and put back.
fn as_if_nothing_had_been(guest: &mut Guest, next: &str) -> Result<()> {
    let before = guest.state()?;
    guest.ok(MOUNT)?;
    let said = guest.ok(next)?;
    as_before(guest, &before).context(said)?;
    guest.ok("becalm tune --only watchdog --only aslr --hold -- true")?;
    as_before(guest, &before)
}
