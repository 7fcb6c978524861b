//! As whom this process acts.

use std::ffi::{OsStr, OsString};
use std::io;

use becalm_kernel::process;
use becalm_kernel::user::{self, Account};

use crate::steward::{Identity, TO_MEASURE};
use crate::{SysRoot, accounts, steward};

/// Returns the effective user of this process, where the kernel tells.
pub fn effective_user(root: &SysRoot) -> Option<u32> {
    let status = root.read("/proc/self/status").value()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, saved and of file systems.
    ids.split_whitespace().nth(1)?.parse().ok()
}

/// Says whether this machine may be changed from here: by this process itself, or by the steward for it.
pub fn may_change(root: &SysRoot) -> bool {
    effective_user(root) == Some(0) || steward::is_there(root)
}

/// Whoever had becalm started as root: by sudo, doas or pkexec, or by a program that is root's whoever starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who that is to the kernel.
    pub identity: Identity,
    account: Option<Account>,
}

/// Variables by which such programs say who called them. Who is not root any more was not called by one.
const BY_CALLERS: [&str; 7] =
    ["SUDO_COMMAND", "SUDO_GID", "SUDO_HOME", "SUDO_UID", "SUDO_USER", "DOAS_USER", "PKEXEC_UID"];

/// Why nobody knows for whom this process is root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerError {
    /// A variable names nobody.
    #[error("becalm is root, and {name} does not say which user called it: `{value}`")]
    Unknown {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
    },
    /// A file of becalm's with that bit would be root for everybody.
    #[error("becalm's file is set-user-ID root, which would give root to user {0}")]
    SetUserId(u32),
}

impl Caller {
    /// Returns the caller of this process; `None` where it is not root, or root itself has started it.
    pub fn of_this_process() -> Result<Option<Self>, CallerError> {
        let variable = |name: &str| std::env::var_os(name);
        let process = Ids { effective: user::effective_uid(), real: user::real_uid() };
        let called = caller(&process, &variable, &accounts::account_named, &accounts::account_of)?;
        let Some((uid, gid)) = called else { return Ok(None) };
        let account = accounts::account_of(uid);
        // A user that the database does not know still has the one group.
        let groups = accounts::groups_of(uid, gid).unwrap_or_else(|| vec![gid]);
        Ok(Some(Self { identity: Identity { uid, gid, groups }, account }))
    }

    /// Makes this process, which has one thread yet, this user for good, as if the user had started it without root.
    pub fn assume(&self) -> io::Result<()> {
        self.alone(|identity| identity.assume(&[]))
    }

    /// The same, with the rights to choose classes, CPUs and niceness, to count and to lock memory.
    pub fn assume_to_measure(&self) -> io::Result<()> {
        self.alone(|identity| identity.assume(&TO_MEASURE))
    }

    /// The same, with a steward beside it that keeps root.
    pub fn assume_beside_steward(&self) -> io::Result<()> {
        self.alone(Identity::assume_beside_steward)
    }

    /// Makes this process, which stays root, not look for or leave anything of becalm's where the user's variables say.
    pub fn forget_places(&self) {
        let places = ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];
        process::set_variables(places.map(|name| (name.into(), None)));
        // Who that is must still be known, to be left out of what is published.
        let name = self.account.as_ref().map(|account| account.name.clone());
        process::set_variables(name.map(|name| ("LOGNAME".into(), Some(name))));
    }

    /// Keeps this process and all that it starts from getting rights by the bits of a file.
    pub fn forgo_new_privileges() -> io::Result<()> {
        process::forgo_new_privileges()
    }

    fn alone(&self, assume: impl FnOnce(&Identity) -> io::Result<()>) -> io::Result<()> {
        let threads = SysRoot::default().list_dir("/proc/self/task").value();
        if threads.is_none_or(|threads| threads.len() != 1) {
            return Err(io::Error::other("this process has several threads already"));
        }
        // What a root shell had open is not the user's.
        process::hand_on_standard_streams_alone();
        process::set_variables(self.variables());
        assume(&self.identity)
    }

    /// Returns the variables that have other values for this user than for root: name, and value if there is one. The
    /// search path stays the one that was chosen for root.
    fn variables(&self) -> Vec<(OsString, Option<OsString>)> {
        let own = self.account.iter().flat_map(|account| {
            let shell = &account.shell;
            let shell = if shell.is_empty() { "/bin/sh".into() } else { shell.clone() };
            [
                ("HOME", account.home.clone()),
                ("LOGNAME", account.name.clone()),
                ("SHELL", shell),
                ("USER", account.name.clone()),
            ]
        });
        let own = own.map(|(name, value)| (name.into(), Some(value)));
        BY_CALLERS.into_iter().map(|name| (name.into(), None)).chain(own).collect()
    }
}

/// Who a process is.
struct Ids {
    effective: u32,
    real: u32,
}

/// Returns user and group of whoever had a process started as root, as the program says that made it root. One that is
/// there and says nothing of use is an error: guessing would be root for somebody.
fn caller(
    process: &Ids,
    variable: &dyn Fn(&str) -> Option<OsString>,
    named: &dyn Fn(&OsStr) -> Option<Account>,
    numbered: &dyn Fn(u32) -> Option<Account>,
) -> Result<Option<(u32, u32)>, CallerError> {
    if process.effective != 0 {
        return Ok(None);
    }
    if process.real != 0 {
        return Err(CallerError::SetUserId(process.real));
    }
    let unknown = |name: &'static str| {
        let value = variable(name).unwrap_or_default();
        CallerError::Unknown { name, value: value.to_string_lossy().escape_debug().to_string() }
    };
    // The largest number means no user to the kernel.
    let number = |name: &'static str| {
        let number = variable(name).and_then(|value| value.to_str()?.parse::<u32>().ok());
        number.filter(|number| *number != u32::MAX).ok_or_else(|| unknown(name))
    };
    let ids = |account: Account| (account.uid, account.gid);
    let mut all = Vec::new();
    if variable("SUDO_UID").is_some() {
        all.push((number("SUDO_UID")?, number("SUDO_GID")?));
    }
    if let Some(name) = variable("DOAS_USER") {
        all.push(named(&name).map(ids).ok_or_else(|| unknown("DOAS_USER"))?);
    }
    if variable("PKEXEC_UID").is_some() {
        let uid = number("PKEXEC_UID")?;
        // A user that the database does not know has no group but its own.
        all.push(numbered(uid).map_or((uid, uid), ids));
    }
    Ok(all.into_iter().find(|(uid, _)| *uid != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_second_number_is_the_effective_user() {
        let user = |status: &str| {
            let tree = FakeTree::new().file("/proc/self/status", status);
            effective_user(&SysRoot::new(tree.path()))
        };
        assert_eq!(user("Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\n"), Some(0));
        assert_eq!(user("Uid:\t1000\t0\t0\t0\n"), Some(0));
        assert_eq!(user("Uid:\t0\t1000\t0\t0\n"), Some(1000));
        assert_eq!(user(""), None);
    }

    fn account(uid: u32, shell: &str) -> Account {
        let text = |text: &str| OsString::from(text);
        let (name, home) = (text("its"), text("/home/its"));
        Account { uid, gid: uid + 1, name, home, shell: text(shell) }
    }

    #[test]
    fn who_called_is_told_by_each_program_that_makes_root_of_users() {
        let called = |effective: u32, real: u32, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let of = variables.iter().find(|(known, _)| *known == name);
                of.map(|(_, value)| OsString::from(value))
            };
            let named = |name: &OsStr| (name == "its").then(|| account(1000, ""));
            let numbered = |uid: u32| (uid == 1000).then(|| account(uid, ""));
            caller(&Ids { effective, real }, &variable, &named, &numbered)
        };
        let sudo = [("SUDO_UID", "1000"), ("SUDO_GID", "7")];
        assert_eq!(called(0, 0, &sudo), Ok(Some((1000, 7))));
        assert_eq!(called(1000, 1000, &sudo), Ok(None));
        assert_eq!(called(0, 0, &[("SUDO_UID", "0"), ("SUDO_GID", "0")]), Ok(None));
        assert_eq!(called(0, 0, &[("DOAS_USER", "its")]), Ok(Some((1000, 1001))));
        assert_eq!(called(0, 0, &[("PKEXEC_UID", "1000")]), Ok(Some((1000, 1001))));
        assert_eq!(called(0, 0, &[("PKEXEC_UID", "77")]), Ok(Some((77, 77))));
        assert_eq!(called(0, 0, &[]), Ok(None));
        assert_eq!(called(0, 55, &[]), Err(CallerError::SetUserId(55)));
        for variables in [
            &[("SUDO_UID", "mallory"), ("SUDO_GID", "0")][..],
            &[("SUDO_UID", "1000")],
            &[("SUDO_UID", "1000"), ("SUDO_GID", "x")],
            &[("SUDO_UID", "4294967295"), ("SUDO_GID", "7")],
            &[("DOAS_USER", "nobody-knows")],
            &[("PKEXEC_UID", "abc")],
        ] {
            let refused = called(0, 0, variables);
            assert!(matches!(refused, Err(CallerError::Unknown { .. })), "{variables:?}");
        }
    }

    #[test]
    fn a_caller_sees_its_own_home_and_nothing_of_who_made_it_root() {
        let identity = Identity { uid: 1000, gid: 1001, groups: vec![1001] };
        let changes = |account| Caller { identity: identity.clone(), account }.variables();
        let value = |name: &str| {
            let all = changes(Some(account(1000, "")));
            all.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
        };
        assert_eq!(value("HOME"), Some(Some("/home/its".into())));
        assert_eq!(value("SHELL"), Some(Some("/bin/sh".into())));
        assert_eq!(value("SUDO_UID"), Some(None));
        assert!(changes(None).iter().all(|(_, value)| value.is_none()));
    }
}
