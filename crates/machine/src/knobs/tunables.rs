//! The tunables of a governor, which exist for as long as a policy has it.
//!
//! When the last policy gets another governor the kernel forgets them, and makes new ones with its defaults
//! when the governor comes back. They are in `cpufreq/GOVERNOR` or, for drivers that set each policy by
//! itself, in `cpufreq/policyN/GOVERNOR`.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html>, `cpufreq_dbs_governor_exit` in
//! `drivers/cpufreq/cpufreq_governor.c`, `sugov_exit` in `kernel/sched/cpufreq_schedutil.c`.

use super::Planner;
use super::policies::{FOLDER, Policy};

/// Saves the tunables of the governor that a policy has. To be called before the change of the governor is
/// planned, so that they are put back after it.
pub(super) fn guard(planner: &mut Planner<'_>, policy: &Policy) {
    let root = planner.situation.root;
    let Some(governor) = root.read(policy.file("scaling_governor")).value() else { return };
    for folder in [format!("{FOLDER}/{governor}"), policy.file(&governor)] {
        for name in root.list_dir(&folder).value().unwrap_or_default() {
            let path = format!("{folder}/{name}");
            // Others tell what the hardware can do (`sampling_rate_min`).
            if root.is_for_writing(&path) {
                planner.guard(path);
            }
        }
    }
}

/// Returns the governor to which a file belongs, if it is one of these.
pub(crate) fn governor_of(path: &str) -> Option<&str> {
    let (folder, _) = path.strip_prefix(FOLDER)?.strip_prefix('/')?.rsplit_once('/')?;
    let (policy, governor) = folder.rsplit_once('/').unwrap_or(("", folder));
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let is_policy = |name: &str| name.strip_prefix("policy").is_some_and(is_number);
    (!is_policy(governor) && (policy.is_empty() || is_policy(policy))).then_some(governor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunables_are_told_by_their_folder() {
        let check = |path: &str, expected: Option<&str>| {
            let path = format!("/sys/devices/system/cpu/cpufreq/{path}");
            assert_eq!(governor_of(&path), expected, "{path}");
        };
        check("schedutil/rate_limit_us", Some("schedutil"));
        check("policy0/ondemand/up_threshold", Some("ondemand"));
        check("policy0/scaling_governor", None);
        check("boost", None);
        assert_eq!(governor_of("/sys/a/b"), None);
    }
}
