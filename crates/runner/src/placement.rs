//! Where and as whom a subject runs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Command;

use becalm_kernel::affinity::CALLER;
use becalm_kernel::user;
use becalm_machine::affinity;
use becalm_model::CpuSet;
use becalm_model::conditions::{Aslr, Scheduler};

/// Where and as whom a subject runs. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// Folder of the control group that the subject enters before anything else; `None` leaves it
    /// in becalm's.
    pub control_group: Option<PathBuf>,
    /// CPUs that the subject may use; `None` leaves those of becalm's calling thread.
    pub affinity: Option<CpuSet>,
    /// Scheduling class.
    pub scheduler: Scheduler,
    /// Niceness; `None` leaves becalm's.
    pub nice: Option<i32>,
    /// Whether addresses are random, for this process and its children.
    pub aslr: Aslr,
    /// The user to become; `None` stays who becalm is.
    pub user: Option<User>,
}

/// A user that a subject runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Every group, the one above included.
    pub groups: Vec<u32>,
}

/// Variables by which sudo tells of its caller. Who is not root any more was not called by sudo.
const OF_SUDO: [&str; 5] = ["SUDO_COMMAND", "SUDO_GID", "SUDO_HOME", "SUDO_UID", "SUDO_USER"];

impl User {
    /// Makes a command run as this user, with all the user's groups, the user's own `HOME`, `USER`,
    /// `LOGNAME` and `SHELL`, and without any capability.
    pub fn runs(&self, command: &mut Command) {
        for name in OF_SUDO {
            command.env_remove(name);
        }
        command.envs(self.own_variables());
        user::run_as(command, self.uid, self.gid, self.groups.clone());
    }

    /// Does `work` on this thread with what this user may do, and no more. For whatever lies where the user may
    /// put a link in its place at any moment: root would read, write or remove what the link leads to.
    ///
    /// # Errors
    ///
    /// Those of `work`, or if this process may not become the user.
    pub fn does<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        user::with_rights_of(self.uid, self.gid, &self.groups, work)
    }

    /// Returns the environment that this user's programs see, made from becalm's own: sudo has put
    /// root's home, name and shell into it. The search path stays the one that sudo chose.
    pub fn environment(
        &self,
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<_> = inherited
            .into_iter()
            .filter(|(name, _)| !OF_SUDO.iter().any(|of_sudo| name == of_sudo))
            .collect();
        // Of a name that comes twice the later value counts.
        variables.extend(self.own_variables());
        variables
    }

    /// A user whom the database does not know keeps what is there.
    fn own_variables(&self) -> Vec<(OsString, OsString)> {
        let Some(account) = user::account_of(self.uid) else { return Vec::new() };
        let shell = if account.shell.is_empty() { "/bin/sh".into() } else { account.shell };
        vec![
            ("HOME".into(), account.home),
            ("LOGNAME".into(), account.name.clone()),
            ("SHELL".into(), shell),
            ("USER".into(), account.name),
        ]
    }
}

/// Returns the user who called sudo, when becalm runs as root through it.
///
/// The two texts are the variables `SUDO_UID` and `SUDO_GID`. `None` when becalm is not root, was
/// not started by sudo, or root itself called sudo.
pub fn invoking_user(sudo_uid: Option<&OsStr>, sudo_gid: Option<&OsStr>) -> Option<User> {
    let (uid, gid) = invoking_ids(user::effective_uid(), sudo_uid, sudo_gid)?;
    // A user that the database does not know still has the one group that sudo tells.
    let groups = user::groups_of(uid, gid).unwrap_or_else(|| vec![gid]);
    Some(User { uid, gid, groups })
}

fn invoking_ids(euid: u32, uid: Option<&OsStr>, gid: Option<&OsStr>) -> Option<(u32, u32)> {
    let number = |text: Option<&OsStr>| text?.to_str()?.parse::<u32>().ok();
    match (euid, number(uid)?, number(gid)?) {
        (0, uid, gid) if uid != 0 => Some((uid, gid)),
        _ => None,
    }
}

/// Puts the calling thread on these CPUs, with everything that it starts from now on.
pub fn pin_self(cpus: &CpuSet) -> io::Result<()> {
    affinity::set(CALLER, cpus)
}

/// Returns the CPUs that the calling thread may use.
pub fn own_affinity() -> io::Result<CpuSet> {
    affinity::get(CALLER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_through_sudo_has_an_invoking_user() {
        let ids = |euid, uid: Option<&str>, gid: Option<&str>| {
            invoking_ids(euid, uid.map(OsStr::new), gid.map(OsStr::new))
        };
        assert_eq!(ids(0, Some("1000"), Some("1001")), Some((1000, 1001)));
        assert_eq!(ids(1000, Some("1000"), Some("1001")), None);
        assert_eq!(ids(0, Some("0"), Some("0")), None);
        assert_eq!(ids(0, None, Some("0")), None);
        assert_eq!(ids(0, Some("mallory"), Some("0")), None);
        assert_eq!(ids(0, Some("-1"), Some("0")), None);
    }

    #[test]
    fn a_user_under_sudo_sees_its_own_home_and_nothing_of_sudo() {
        let inherited = [("HOME", "/elsewhere"), ("SUDO_UID", "1000"), ("LANG", "C")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let last = |user: &User, name: &str| {
            let variables = user.environment(inherited.clone());
            variables.into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
        };
        let root = User { uid: 0, gid: 0, groups: vec![0] };
        assert_eq!(last(&root, "HOME"), Some("/root".into()));
        assert_eq!(
            (last(&root, "USER"), last(&root, "LANG")),
            (Some("root".into()), Some("C".into()))
        );
        assert_eq!(last(&root, "SUDO_UID"), None);
        let unknown = User { uid: 3_999_999_999, ..root };
        assert_eq!(last(&unknown, "HOME"), Some("/elsewhere".into()));
    }

    #[test]
    fn the_groups_of_a_user_start_with_the_group_given() {
        let groups = user::groups_of(0, 0).expect("every system knows root");
        assert_eq!(groups.first(), Some(&0));
        assert_eq!(user::groups_of(3_999_999_999, 7), None);
    }

    #[test]
    fn the_own_cpus_can_be_narrowed_and_read_back() {
        // In a thread of its own, because the affinity of a test thread would leak.
        std::thread::spawn(|| {
            let all = own_affinity().unwrap();
            let one: CpuSet = all.first().into_iter().collect();
            pin_self(&one).unwrap();
            assert_eq!(own_affinity().unwrap(), one);
        })
        .join()
        .unwrap();
    }
}
