//! Power that fails while the machine is tuned.

use anyhow::{Result, ensure};

use super::expect::{as_before, contains, same};
use super::{Body, Machines, Test};
use crate::vm::lab::{Place, empty_disk};

pub(super) const TESTS: &[Test] = &[Test {
    name: "after_a_power_cut_the_journal_of_the_other_boot_is_discarded",
    machines: Machines::Only(&["acpi-cpufreq", "intel-pstate"]),
    sample: &[],
    body: Body::Place(cut),
}];

const MOUNT: &str = "mount -t ext4 /dev/vdb /mnt && mkdir -p /mnt/becalm /var/lib/becalm && \
                     mount --bind /mnt/becalm /var/lib/becalm && chmod 700 /var/lib/becalm";

fn cut(place: &Place<'_>) -> Result<()> {
    let disk = place.lab.cache.path("disk");
    empty_disk(&disk)?;
    let mut guest = place.boot(Some(&disk))?;
    guest.ok(MOUNT)?;
    let untouched = guest.state()?;
    guest.ok("becalm tune --profile strict")?;
    let mut tuned = untouched.differences(&guest.state()?);
    // Huge pages change it too, and each boot takes it from the memory that is free then.
    tuned.retain(|one| one.path() != "/proc/sys/vm/min_free_kbytes");
    ensure!(!tuned.is_empty(), "nothing was tuned");
    // No shutdown, no sync: QEMU is killed.
    drop(guest);

    let mut guest = place.boot(Some(&disk))?;
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
