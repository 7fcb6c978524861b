//! Limits of frequencies that the kernel holds lower than anybody asked for.
//!
//! `scaling_max_freq` shows the lowest of all requests: the one made by writing to it, and those of the
//! kernel itself while a CPU is too hot or firmware allows less (`cpufreq_cooling`, `_PPC`). A value that
//! is lower than what becalm wrote is then nobody's, and the old request has to be put back all the same:
//! it counts as soon as the CPU has cooled down. `scaling_min_freq` is never shown above it
//! (`cpufreq_verify_within_limits`), so that a lower limit may be held lower with it.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>

use std::time::Instant;

use becalm_model::Target;

use super::late::{self, LOWER, UPPER, limit};
use super::saved::{Saved, Trace};
use super::target;
use crate::{Reading, SysRoot};

/// Says whether a target is a lower limit of frequencies, of which [`is_capped`] can be asked once it is known
/// whose the upper one is.
pub(super) fn is_lower_limit(target: &Target) -> bool {
    limit(target).is_some_and(|(_, name)| name == LOWER)
}

/// Says whether a value of `one` that becalm did not leave is a limit of the kernel's. `all` are all changes.
/// Until `end` a limit that does not change at once is waited for.
pub(super) fn is_capped(
    root: &SysRoot,
    one: &Saved,
    now: &Reading,
    all: &[Saved],
    end: Instant,
) -> bool {
    let (Trace::Settled(settled), Reading::Value(now)) = (&one.trace, now) else { return false };
    // What settled while the kernel held it lower is less than what was asked for.
    let asked = one.change.new.as_ref().unwrap_or(&one.change.old);
    let asked = if kilohertz(settled) < kilohertz(asked) { asked } else { settled };
    if kilohertz(now) >= kilohertz(asked) {
        return false;
    }
    match limit(&one.change.target) {
        Some((policy, UPPER)) => is_held(root, &format!("{policy}/{UPPER}"), asked, now, end),
        Some((policy, LOWER)) => {
            let upper = Target::File(format!("{policy}/{UPPER}"));
            let is_becalms =
                |other: &Saved| other.change.target == upper && other.trace != Trace::Foreign;
            all.iter().any(is_becalms) && target::read(root, &upper).value().as_ref() == Some(now)
        }
        _ => false,
    }
}

/// Says whether the kernel holds an upper limit at `now`: what was asked for is written once more, and if nothing
/// comes of it nobody else has asked for less. Otherwise their value is set again.
fn is_held(root: &SysRoot, path: &str, asked: &str, now: &str, end: Instant) -> bool {
    if root.write(path, asked).is_err() {
        return false;
    }
    let shows_now = || root.read(path).value().as_deref() == Some(now);
    late::wait(end.min(Instant::now() + late::BRIEFLY), || !shows_now());
    let is_held = shows_now();
    if !is_held {
        // It was theirs, and is again. Where that fails they find the limit higher than they left it.
        let _ = root.write(path, now);
    }
    is_held
}

fn kilohertz(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::{Foreign, JournalFile, Recovered, apply, journal, recover};
    use crate::SysRoot;
    use becalm_model::Change;
    use becalm_testkit::FakeTree;
    use std::fs;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    const LIMIT: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";

    /// The kernel allows everything.
    const NONE: u64 = u64::MAX;

    /// A limit as the kernel keeps it: what was asked for, and what it allows itself.
    struct Limit {
        asked: u64,
        cap: u64,
    }

    /// Tunes while the kernel allows no more than `cap`, and restores; between that `meanwhile` happens. Expects
    /// what is asked for in the end, and how many settings were put back, are somebody else's, and are left.
    fn check(cap: u64, meanwhile: fn(&mut Limit), expected: (u64, [usize; 3])) {
        let tree = FakeTree::new().file(LIMIT, "3200000\n");
        let place = tree.path().join(LIMIT.trim_start_matches('/'));
        let show = move |place: &Path, limit: &Limit| {
            fs::write(place, format!("{}\n", limit.asked.min(limit.cap))).unwrap();
        };
        let limit = Arc::new(Mutex::new(Limit { asked: 3_200_000, cap: NONE }));
        let (kernel, file) = (Arc::clone(&limit), place.clone());
        let root = SysRoot::new(tree.path()).with_kernel(move |_, value| {
            let mut limit = kernel.lock().unwrap();
            limit.asked = value.parse().unwrap();
            show(&file, &limit);
            Ok(None)
        });
        limit.lock().unwrap().cap = cap;
        let mut journal = JournalFile::start(&root, "test", &[]).unwrap();
        let change = Change::file("frequency", LIMIT, "3200000", "2400000", "why");
        apply(&root, &mut journal, &[change]).unwrap();
        meanwhile(&mut limit.lock().unwrap());
        show(&place, &limit.lock().unwrap());
        let Recovered::Restored(done) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
        let counts = [done.put_back.len(), done.foreign.len(), done.left.len()];
        assert_eq!((limit.lock().unwrap().asked, counts), expected);
        assert_eq!(journal::exists(&root), counts[2] > 0);
    }

    #[test]
    fn the_old_limit_comes_back_though_the_cpu_is_hot() {
        check(NONE, |_| (), (3_200_000, [1, 0, 0]));
        check(NONE, |limit| limit.cap = 1_800_000, (3_200_000, [1, 0, 0]));
        // Where becalm had asked for less than the kernel allows, that is only seen in the end, and told.
        check(NONE, |limit| limit.cap = 2_800_000, (3_200_000, [0, 0, 1]));
        // It became hot before the new limit had settled.
        check(1_800_000, |limit| limit.cap = 2_000_000, (3_200_000, [1, 0, 0]));
        check(1_800_000, |limit| limit.cap = NONE, (3_200_000, [1, 0, 0]));
    }

    /// The kernel shows each value only when the next one was written.
    #[test]
    fn a_limit_that_still_reads_as_before_is_put_back() {
        let tree = FakeTree::new().file(LIMIT, "3200000\n");
        let place = tree.path().join(LIMIT.trim_start_matches('/'));
        let asked = Arc::new(Mutex::new("3200000".to_owned()));
        let kernel = Arc::clone(&asked);
        let root = SysRoot::new(tree.path()).with_kernel(move |_, value| {
            let before = std::mem::replace(&mut *kernel.lock().unwrap(), value.to_owned());
            fs::write(&place, before).unwrap();
            Ok(None)
        });
        let mut journal = JournalFile::start(&root, "test", &[]).unwrap();
        let change = Change::file("frequency", LIMIT, "3200000", "2400000", "why");
        apply(&root, &mut journal, &[change]).unwrap();
        assert_eq!(*asked.lock().unwrap(), "2400000");
        let Recovered::Restored(done) = recover(&root, Foreign::Leave).unwrap() else { panic!() };
        assert_eq!((done.put_back.len(), done.left.len()), (1, 0));
        assert_eq!(*asked.lock().unwrap(), "3200000");
    }

    #[test]
    fn a_lower_limit_of_somebody_else_is_theirs() {
        check(NONE, |limit| limit.asked = 1_600_000, (1_600_000, [0, 1, 0]));
        check(NONE, |limit| limit.asked = 2_800_000, (2_800_000, [0, 1, 0]));
        check(1_800_000, |limit| limit.asked = 1_600_000, (1_600_000, [0, 1, 0]));
    }
}
