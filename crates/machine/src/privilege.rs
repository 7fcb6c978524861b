//! What this process may do to the machine and to its own scheduling.

use crate::sys;
use crate::sysroot::SysRoot;

/// Bit of `CAP_SYS_NICE` in the masks of `/proc/self/status` (`linux/capability.h`).
const CAP_SYS_NICE: u32 = 23;

/// What this process may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Privilege {
    /// Effective user id; 0 is root.
    pub euid: u32,
    /// Whether `CAP_SYS_NICE` is in effect; `None` when the kernel does not say.
    pub sys_nice: Option<bool>,
    /// Highest real-time priority allowed without `CAP_SYS_NICE` (`RLIMIT_RTPRIO`).
    pub rtprio_limit: Limit,
    /// Bytes that may be locked into memory without `CAP_IPC_LOCK` (`RLIMIT_MEMLOCK`).
    pub memlock_limit: Limit,
    /// Room for raising the priority without `CAP_SYS_NICE` (`RLIMIT_NICE`, 20 less the niceness).
    pub nice_limit: Limit,
    /// Who called `sudo`: subjects run as this user, never as root because tuning needed root.
    pub invoking_user: Option<User>,
}

/// A resource limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// At most this much.
    AtMost(u64),
    /// As much as there is.
    Unlimited,
}

/// A user and their main group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl Privilege {
    /// Reads what this process may do. `sudo_uid` and `sudo_gid` are the values of the variables
    /// that `sudo` sets, `SUDO_UID` and `SUDO_GID`; they count only for root, who alone can change
    /// user, because anybody can set variables.
    pub fn read(root: &SysRoot, sudo_uid: Option<&str>, sudo_gid: Option<&str>) -> Self {
        let euid = sys::effective_user();
        let status = root.read("/proc/self/status").value().unwrap_or_default();
        Self {
            euid,
            sys_nice: effective_capabilities(&status).map(|mask| mask >> CAP_SYS_NICE & 1 == 1),
            rtprio_limit: sys::resource_limit(sys::Resource::RealTimePriority),
            memlock_limit: sys::resource_limit(sys::Resource::LockedMemory),
            nice_limit: sys::resource_limit(sys::Resource::Nice),
            invoking_user: (euid == 0).then(|| invoking_user(sudo_uid, sudo_gid)).flatten(),
        }
    }

    /// Says whether this process is root.
    pub fn is_root(&self) -> bool {
        self.euid == 0
    }

    /// Returns the highest real-time priority this process may take, 0 for none.
    pub fn highest_rtprio(&self) -> u32 {
        const HIGHEST: u32 = 99;
        match (self.sys_nice, self.rtprio_limit) {
            (Some(true), _) | (_, Limit::Unlimited) => HIGHEST,
            (_, Limit::AtMost(limit)) => {
                u32::try_from(limit).map_or(HIGHEST, |limit| limit.min(HIGHEST))
            }
        }
    }

    /// Returns the lowest niceness (the highest priority) this process may take.
    pub fn lowest_nice(&self) -> i32 {
        const LOWEST: i32 = -20;
        match (self.sys_nice, self.nice_limit) {
            (Some(true), _) | (_, Limit::Unlimited) => LOWEST,
            // The limit counts from 1 (niceness 19) to 40 (niceness -20); 0 allows no change.
            (_, Limit::AtMost(limit)) => {
                let room = i32::try_from(limit.min(40)).unwrap_or(40);
                (20 - room).clamp(LOWEST, 19)
            }
        }
    }
}

/// Reads the mask of capabilities in effect from `/proc/self/status`.
fn effective_capabilities(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Reads who called `sudo`; root calling `sudo` is nobody else.
fn invoking_user(uid: Option<&str>, gid: Option<&str>) -> Option<User> {
    let user = User { uid: uid?.parse().ok()?, gid: gid?.parse().ok()? };
    (user.uid != 0).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn privilege(sys_nice: Option<bool>, limit: Limit) -> Privilege {
        Privilege {
            euid: 1000,
            sys_nice,
            rtprio_limit: limit,
            memlock_limit: Limit::AtMost(0),
            nice_limit: limit,
            invoking_user: None,
        }
    }

    #[test]
    fn a_capability_or_a_limit_allows_a_higher_priority() {
        let may = |sys_nice, limit| {
            let privilege = privilege(sys_nice, limit);
            (privilege.highest_rtprio(), privilege.lowest_nice())
        };
        assert_eq!(may(Some(false), Limit::AtMost(0)), (0, 19));
        assert_eq!(may(None, Limit::AtMost(30)), (30, -10));
        assert_eq!(may(Some(false), Limit::AtMost(1000)), (99, -20));
        assert_eq!(may(Some(false), Limit::Unlimited), (99, -20));
        assert_eq!(may(Some(true), Limit::AtMost(0)), (99, -20));
    }

    #[test]
    fn the_capability_is_read_from_its_mask() {
        let tree =
            FakeTree::new().file("/proc/self/status", "CapPrm:\t0\nCapEff:\t0000000000800000\n");
        let read =
            |tree: &FakeTree| Privilege::read(&SysRoot::new(tree.path()), None, None).sys_nice;
        assert_eq!(read(&tree), Some(true));
        let tree = tree.file("/proc/self/status", "CapEff:\t00000000007fffff\n");
        assert_eq!(read(&tree), Some(false));
        assert_eq!(read(&tree.without("/proc/self/status")), None);
    }

    #[test]
    fn the_user_behind_sudo_is_never_root() {
        assert_eq!(invoking_user(Some("1000"), Some("100")), Some(User { uid: 1000, gid: 100 }));
        assert_eq!(invoking_user(Some("0"), Some("0")), None);
        assert_eq!(invoking_user(Some("1000"), None), None);
        assert_eq!(invoking_user(Some("-1"), Some("x")), None);
    }
}
