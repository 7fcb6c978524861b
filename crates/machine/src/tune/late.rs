//! Limits of frequencies show what was written only a moment later.
//!
//! Since Linux 5.3 a write to `scaling_max_freq` or `scaling_min_freq` changes a request, and returns; a worker of
//! the kernel applies it to the policy, and only then the file shows it (`cpufreq_notifier_max` and `handle_update`
//! in `drivers/cpufreq/cpufreq.c`). What is read meanwhile is the past. So a limit that becalm set is always put
//! back, also where it still reads as it was before, and is given time before anybody says that it did not take.

use std::thread;
use std::time::{Duration, Instant};

use becalm_model::Target;

/// The upper limit of a policy.
pub(super) const UPPER: &str = "scaling_max_freq";

/// The lower one.
pub(super) const LOWER: &str = "scaling_min_freq";

/// How long one limit is waited for that may never show what was written.
pub(super) const BRIEFLY: Duration = Duration::from_millis(100);

/// How long all limits together are waited for, on a machine that is busy with everything else.
pub(super) const PATIENTLY: Duration = Duration::from_secs(2);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// Says whether a target shows a moment later what was written.
pub(super) fn is_late(target: &Target) -> bool {
    limit(target).is_some()
}

/// Waits until `is_there`, or until `end`.
pub(super) fn wait(end: Instant, mut is_there: impl FnMut() -> bool) {
    while !is_there() && Instant::now() < end {
        thread::sleep(PAUSE);
    }
}

/// Returns the folder of the policy and the name of the file, of a limit of frequencies.
pub(super) fn limit(target: &Target) -> Option<(&str, &str)> {
    match target {
        Target::File(path) => {
            path.rsplit_once('/').filter(|(_, name)| [UPPER, LOWER].contains(name))
        }
        _ => None,
    }
}
