//! Upper limits of frequencies that the kernel holds lower than anybody asked for.
//!
//! `scaling_max_freq` shows the lowest of all requests: the one made by writing to it, and those of the
//! kernel itself while a CPU is too hot or firmware allows less (`cpufreq_cooling`, `_PPC`). A value that
//! is lower than what becalm wrote is then nobody's, and the old request has to be put back all the same:
//! it counts as soon as the CPU has cooled down.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>

use becalm_model::Target;

use super::restore::{Saved, Trace};
use crate::{Reading, SysRoot};

/// Says whether a value that becalm did not leave is a limit of the kernel's: what becalm left is written
/// once more, and if nothing comes of it nobody else has asked for less. Otherwise their value is set
/// again.
pub(super) fn is_capped(root: &SysRoot, saved: &Saved, now: &Reading) -> bool {
    let Some(path) = limit(&saved.change.target) else { return false };
    let (Trace::Settled(settled), Reading::Value(now)) = (&saved.trace, now) else { return false };
    if kilohertz(now) >= kilohertz(settled) || root.write(path, settled).is_err() {
        return false;
    }
    let is_the_kernels = root.read(path).value().as_ref() == Some(now);
    if !is_the_kernels {
        // It was theirs, and is again. Where that fails they find the limit higher than they left it.
        let _ = root.write(path, now);
    }
    is_the_kernels
}

fn limit(target: &Target) -> Option<&str> {
    match target {
        Target::File(path) if path.ends_with("/scaling_max_freq") => Some(path),
        _ => None,
    }
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

    /// A limit as the kernel keeps it: what was asked for, and what it allows itself.
    struct Limit {
        asked: u64,
        cap: u64,
    }

    /// Tunes and restores; between that `meanwhile` happens. Returns what is asked for in the end, and how
    /// many settings were put back, are somebody else's, and are left.
    fn check(meanwhile: fn(&mut Limit), expected: (u64, [usize; 3])) {
        let tree = FakeTree::new().file(LIMIT, "3200000\n");
        let place = tree.path().join(LIMIT.trim_start_matches('/'));
        let show = move |place: &Path, limit: &Limit| {
            fs::write(place, format!("{}\n", limit.asked.min(limit.cap))).unwrap();
        };
        let limit = Arc::new(Mutex::new(Limit { asked: 3_200_000, cap: u64::MAX }));
        let (kernel, file) = (Arc::clone(&limit), place.clone());
        let root = SysRoot::new(tree.path()).with_kernel(move |_, value| {
            let mut limit = kernel.lock().unwrap();
            limit.asked = value.parse().unwrap();
            show(&file, &limit);
            Ok(None)
        });
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
        check(|_| (), (3_200_000, [1, 0, 0]));
        check(|limit| limit.cap = 1_800_000, (3_200_000, [1, 0, 0]));
        // Where becalm had asked for less than the kernel allows, that is only seen in the end, and told.
        check(|limit| limit.cap = 2_800_000, (3_200_000, [0, 0, 1]));
    }

    #[test]
    fn a_lower_limit_of_somebody_else_is_theirs() {
        check(|limit| limit.asked = 1_600_000, (1_600_000, [0, 1, 0]));
        check(|limit| limit.asked = 2_800_000, (2_800_000, [0, 1, 0]));
    }
}
