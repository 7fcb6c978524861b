//! Putting everything back.
//!
//! What is as it was needs nothing, and what has a value that becalm did not leave belongs to somebody
//! else by now. The kernel's files depend on each other (a minimum above
//! the maximum is refused, a preference is locked by a governor), so what is not yet as it was is
//! tried again after the others, and everything is read once more at the end.

use std::time::Instant;

use becalm_model::{Change, Nature, Target};
use serde::{Deserialize, Serialize};

use super::capped::{is_capped, is_lower_limit};
use super::late;
use super::saved::{Saved, Trace};
use super::target::{self, ABSENT, is, tells_late};
use crate::knobs::tunables::governor_of;
use crate::knobs::{KNOBS, RESTORED_FIRST, irq_affinity};
use crate::{Reading, SysRoot};

/// Rounds over what is not yet as it was. Two settle every dependency that the kernel is known to
/// have, the third one is for those that are not.
const ROUNDS: usize = 3;

/// What restoring did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Targets that have their old value again.
    pub put_back: Vec<Change>,
    /// Targets that had their old value already, or that are gone with what they belonged to.
    pub untouched: usize,
    /// Targets with a value that somebody else set meanwhile, which was left.
    pub foreign: Vec<Left>,
    /// Targets that could not be put back.
    pub left: Vec<Left>,
    /// Which journal still tells of what was put back, because it cannot be written, and why not.
    pub stale_journal: Option<String>,
}

impl Restored {
    /// Adds what was done afterwards.
    pub(super) fn extend(&mut self, later: Self) {
        self.put_back.extend(later.put_back);
        self.untouched += later.untouched;
        self.foreign.extend(later.foreign);
        self.left.extend(later.left);
    }
}

/// A target that does not have its old value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// The change.
    pub change: Change,
    /// Its value now.
    pub now: Reading,
    /// Why it was not put back.
    pub why: String,
}

impl Left {
    /// Returns what a journal has to know of it.
    pub(super) fn saved(&self) -> Saved {
        let trace = match &self.now {
            Reading::Value(now) => Trace::Settled(now.clone()),
            _ => Trace::Unknown,
        };
        Saved { change: self.change.clone(), trace }
    }
}

/// Whether values that others set meanwhile are overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// They are left and reported.
    Leave,
    /// The old values come back whatever is there.
    Overwrite,
}

/// Marks the targets that have a value which becalm did not leave there, by reading them.
pub fn find_foreign(root: &SysRoot, saved: &mut [Saved]) {
    let mut order: Vec<usize> = (0..saved.len()).collect();
    // Whose a lower limit is depends on whose the upper one is.
    order.sort_by_key(|index| is_lower_limit(&saved[*index].change.target));
    // For all of them: where a machine of many CPUs is hot, each may be held lower.
    let end = Instant::now() + late::PATIENTLY;
    for index in order {
        let one = &saved[index];
        let now = target::read(root, &one.change.target);
        if !is_ours(one, &now) {
            let is_capped = is_capped(root, one, &now, saved, end);
            saved[index].trace = if is_capped { Trace::Capped } else { Trace::Foreign };
        }
    }
}

/// Puts back all of `saved`, given in the order in which the changes were made. What is somebody
/// else's was marked before by [`find_foreign`].
pub fn restore(root: &SysRoot, saved: &[Saved], foreign: Foreign) -> Restored {
    let mut result = Restored::default();
    let mut open: Vec<Open<'_>> =
        in_order(saved).into_iter().map(|saved| Open::new(root, saved)).collect();
    for _ in 0..ROUNDS {
        for target in &mut open {
            target.try_once(root, foreign, saved);
        }
    }
    let late: Vec<_> = open.iter().filter(|target| target.may_be_late()).collect();
    late::wait(Instant::now() + late::PATIENTLY, || {
        late.iter().all(|target| {
            let now = target::read(root, &target.saved.change.target);
            is_restored(&target.saved.change, &now, saved)
        })
    });
    for target in open {
        target.conclude(root, saved, &mut result);
    }
    result
}

/// One target while it is being put back.
struct Open<'a> {
    saved: &'a Saved,
    /// What it had before anything was put back.
    first: Reading,
    /// Whether anything was written.
    touched: bool,
    /// What the kernel answered last.
    refusal: Option<String>,
}

impl<'a> Open<'a> {
    fn new(root: &SysRoot, saved: &'a Saved) -> Self {
        let first = target::read(root, &saved.change.target);
        Self { saved, first, touched: false, refusal: None }
    }

    fn try_once(&mut self, root: &SysRoot, foreign: Foreign, all: &[Saved]) {
        let change = &self.saved.change;
        let now = target::read(root, &change.target);
        if tells_late(&change.target) {
            if self.touched && self.refusal.is_none() || now == Reading::Absent {
                return;
            }
        } else if is_restored(change, &now, all) && !self.may_read_as_before() {
            return;
        }
        if foreign == Foreign::Leave && self.saved.trace == Trace::Foreign {
            return;
        }
        self.touched = true;
        self.refusal =
            target::write(root, &change.target, &change.old).err().map(|error| error.to_string());
    }

    /// Says whether it was set, so that its old value may be shown although the new one is about to be.
    fn may_read_as_before(&self) -> bool {
        let change = &self.saved.change;
        !self.touched && change.new.is_some() && late::is_late(&change.target)
    }

    /// Says whether its old value was written and may not be shown yet. Where the kernel holds it lower it will not.
    fn may_be_late(&self) -> bool {
        self.touched
            && self.refusal.is_none()
            && self.saved.trace != Trace::Capped
            && late::is_late(&self.saved.change.target)
    }

    fn conclude(self, root: &SysRoot, all: &[Saved], result: &mut Restored) {
        let change = self.saved.change.clone();
        let now = target::read(root, &change.target);
        let is_taken = self.touched
            && self.refusal.is_none()
            && (tells_late(&change.target) || self.saved.trace == Trace::Capped);
        if is_taken || is_restored(&change, &now, all) {
            if self.touched || !is_restored(&change, &self.first, all) {
                result.put_back.push(change);
            } else {
                result.untouched += 1;
            }
            return;
        }
        let left = |why: String| Left { change, now: now.clone(), why };
        if !self.touched && self.saved.trace == Trace::Foreign {
            result.foreign.push(left("something else changed it meanwhile".to_owned()));
        } else {
            result.left.push(left(match (self.refusal, now.why_not()) {
                (Some(refusal), _) => format!("the kernel refused: {refusal}"),
                (None, None) => "the kernel accepted the value but did not keep it".into(),
                (None, Some(why_not)) => why_not,
            }));
        }
    }
}

/// Says whether a target is as it was, or has gone for good together with its value.
fn is_restored(change: &Change, now: &Reading, all: &[Saved]) -> bool {
    match now {
        Reading::Value(now) => is(&change.target, now, &change.old),
        Reading::Absent => {
            dies_with_its_owner(&change.target)
                || is_in_our_folder(change, all)
                || is_of_a_past_governor(change, all)
        }
        _ => false,
    }
}

/// Where the settings of interrupts, interfaces and drives are.
const OF_DEVICES: [&str; 7] = [
    "/proc/irq/",
    "/proc/sys/net/ipv6/conf/",
    "/sys/block/",
    "/sys/class/ata_port/",
    "/sys/class/net/",
    "/sys/class/nvme/",
    "/sys/class/scsi_host/",
];

/// A task that ended, an interrupt that was freed and a device that was pulled out take their settings with them.
fn dies_with_its_owner(target: &Target) -> bool {
    match target {
        Target::Affinity(_)
        | Target::Membership { .. }
        | Target::IrqbalanceBan
        | Target::NewInterrupts(_)
        | Target::Interface(_)
        | Target::Routes(_) => true,
        Target::File(path) => OF_DEVICES.iter().any(|folder| path.starts_with(folder)),
        _ => false,
    }
}

/// A file in a folder that becalm made goes with it, as does one of a slice that it started.
fn is_in_our_folder(change: &Change, all: &[Saved]) -> bool {
    let Target::File(path) = &change.target else { return false };
    all.iter().any(|other| match &other.change.target {
        Target::Folder(folder) => {
            other.change.old == ABSENT && path.starts_with(&format!("{folder}/"))
        }
        Target::Unit(name) => other.change.old == "inactive" && path.contains(&format!("/{name}/")),
        _ => false,
    })
}

/// The tunables of a governor go with it. They come back with it where that is put back, which it is not
/// where somebody else has chosen another one meanwhile.
fn is_of_a_past_governor(change: &Change, all: &[Saved]) -> bool {
    let Target::File(path) = &change.target else { return false };
    let Some(governor) = governor_of(path) else { return false };
    !all.iter().any(|other| {
        let is_governor = matches!(&other.change.target, Target::File(path)
            if path.ends_with("/scaling_governor"));
        is_governor && other.change.old == governor && other.trace != Trace::Foreign
    })
}

/// Says whether a value that a target has now may be one that becalm left.
fn is_ours(saved: &Saved, now: &Reading) -> bool {
    let change = &saved.change;
    let settled = match &saved.trace {
        Trace::Unknown | Trace::Capped => return true,
        Trace::Foreign => return false,
        Trace::Settled(settled) => settled,
    };
    let Reading::Value(now) = now else { return true };
    let known = [Some(settled), change.new.as_ref(), Some(&change.old)];
    change.nature == Nature::Drifts
        || known.into_iter().flatten().any(|value| is(&change.target, now, value))
}

/// The order of restoring: what others depend on first, the rest as it was made, backwards.
fn in_order(saved: &[Saved]) -> Vec<&Saved> {
    let mut ordered: Vec<&Saved> = saved.iter().rev().collect();
    ordered.sort_by_key(|saved| {
        let knob = saved.change.knob.as_str();
        // Before the interfaces: a driver requests its interrupts as it brings one up.
        if saved.change.target == Target::File(irq_affinity::DEFAULT.to_owned()) {
            return RESTORED_FIRST.len();
        }
        RESTORED_FIRST.iter().position(|first| *first == knob).unwrap_or_else(|| {
            let position = KNOBS.iter().position(|known| known.name == knob);
            // Later knobs first; what is no knob (isolation) before all of them.
            RESTORED_FIRST.len() + position.map_or(0, |position| KNOBS.len() - position)
        })
    });
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_started_when_everything_else_is_back() {
        let knobs = ["services", "desktop", "smt", "governor", "thp", "network", "isolation"];
        let saved = knobs.map(|knob| Saved {
            change: Change::file(knob, format!("/sys/{knob}"), "1", "0", "why"),
            trace: Trace::Unknown,
        });
        let order: Vec<&str> =
            in_order(&saved).iter().map(|saved| saved.change.knob.as_str()).collect();
        let expected = ["smt", "governor", "isolation", "network", "thp", "desktop", "services"];
        assert_eq!(order, expected);
    }

    #[test]
    fn interrupts_that_an_interface_requests_find_the_cpus_that_they_had_before() {
        let file = |path: &str| Change::file("irq-affinity", path, "f", "3", "why");
        let network = Change {
            target: Target::Interface("eth0".to_owned()),
            ..Change::file("network", "", "up", "down", "why")
        };
        let changes =
            [file("/proc/irq/default_smp_affinity"), file("/proc/irq/9/smp_affinity"), network];
        let saved = changes.map(|change| Saved { change, trace: Trace::Unknown });
        let order: Vec<String> =
            in_order(&saved).iter().map(|saved| saved.change.target.to_string()).collect();
        assert_eq!(
            order,
            [
                "/proc/irq/default_smp_affinity",
                "network interface eth0",
                "/proc/irq/9/smp_affinity"
            ]
        );
    }
}
