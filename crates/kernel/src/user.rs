//! Who the process runs as, and the groups of a user.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::checked;

/// The calls that take ids of 32 bits: the older ones of these architectures take 16, and would make the group 0 of
/// every second half.
#[cfg(any(target_arch = "arm", target_arch = "x86"))]
mod calls {
    pub(super) use libc::{
        SYS_setgroups32 as SETGROUPS, SYS_setresgid32 as SETRESGID, SYS_setresuid32 as SETRESUID,
    };
}
#[cfg(not(any(target_arch = "arm", target_arch = "x86")))]
mod calls {
    pub(super) use libc::{
        SYS_setgroups as SETGROUPS, SYS_setresgid as SETRESGID, SYS_setresuid as SETRESUID,
    };
}

/// Gives the calling thread exactly these groups; 0, or -1 with `errno` set. The kernel's own call: that of the C
/// library would change, or look for, other threads. Allocates nothing.
pub(crate) fn set_groups_raw(groups: &[u32]) -> libc::c_long {
    // SAFETY: pointer and length describe `groups`, which the kernel only reads.
    unsafe { libc::syscall(calls::SETGROUPS, groups.len(), groups.as_ptr()) }
}

/// The same for the group, of which no saved one is left to return to.
pub(crate) fn set_group_raw(gid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESGID, gid, gid, gid) }
}

/// The same for the user.
pub(crate) fn set_user_raw(uid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESUID, uid, uid, uid) }
}

/// Returns the effective user id.
pub fn effective_uid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Makes `command` run with this user, this group and exactly these groups. The standard library
/// alone would leave it without any group beside `gid`.
pub fn run_as(command: &mut Command, uid: u32, gid: u32, groups: Vec<u32>) {
    let change = move || {
        // The groups go first, while that is still allowed.
        let changed = set_groups_raw(&groups) == 0
            && set_group_raw(gid) == 0
            && set_user_raw(uid) == 0
            && drop_capabilities_raw() == 0;
        if changed { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure runs between fork and exec and makes system calls only: it allocates
    // nothing and takes no lock.
    unsafe { command.pre_exec(change) };
}

/// Does `work` on this thread with the rights of another user, and takes back those of this process.
///
/// The kernel keeps rights for each thread; the C library's calls would change all of them. The real and the
/// saved user stay root's, so that the user can neither signal nor trace this thread meanwhile, and it may come
/// back.
pub fn with_rights_of<T>(
    uid: u32,
    gid: u32,
    groups: &[u32],
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let mut own = OwnRights::keep()?;
    // The user goes last: after that the groups can no longer be changed.
    checked(set_groups_raw(groups))?;
    own.has_other_groups = true;
    checked(set_effective_group_raw(gid))?;
    checked(set_effective_user_raw(uid))?;
    work()
}

/// The rights of this thread, which it has again when this is dropped.
struct OwnRights {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
    /// Whether the groups were changed: who may not change them cannot change them back either.
    has_other_groups: bool,
}

impl OwnRights {
    fn keep() -> io::Result<Self> {
        // SAFETY: these take nothing and cannot fail.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        // SAFETY: of zero groups nothing is written; the answer is how many there are.
        let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
        let mut groups = vec![0; usize::try_from(count).map_err(|_| io::Error::last_os_error())?];
        // SAFETY: `groups` has room for `count` numbers, and the kernel writes no more than that.
        checked(unsafe { libc::getgroups(count, groups.as_mut_ptr()) })?;
        Ok(Self { uid, gid, groups, has_other_groups: false })
    }
}

impl Drop for OwnRights {
    fn drop(&mut self) {
        if !self.has_other_groups {
            return;
        }
        let back = checked(set_effective_user_raw(self.uid))
            .and_then(|_| checked(set_effective_group_raw(self.gid)))
            .and_then(|_| checked(set_groups_raw(&self.groups)));
        back.expect("a thread may come back to the user that it really is");
    }
}

/// Leaves a user or group as it is.
const KEEP: u32 = u32::MAX;

/// Sets the effective group of the calling thread alone; 0, or -1 with `errno` set.
fn set_effective_group_raw(gid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESGID, KEEP, gid, KEEP) }
}

/// The same for the user.
fn set_effective_user_raw(uid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESUID, KEEP, uid, KEEP) }
}

/// Empties the capability sets of the calling thread; 0, or -1 with `errno` set. A change from root
/// to another user empties all but the inheritable ones, unless the security bits say otherwise.
pub(crate) fn drop_capabilities_raw() -> libc::c_long {
    /// `_LINUX_CAPABILITY_VERSION_3`: 64 capabilities in two words each.
    const VERSION: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION, 0];
    let none = [0_u32; 6];
    // SAFETY: the kernel reads a header of two words (version, 0 for this thread) and, for this
    // version, two times three words; both arrays have that length and outlive the call.
    unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }
}

/// What the user database says of a user.
pub struct Account {
    /// Login name.
    pub name: OsString,
    /// Home folder.
    pub home: OsString,
    /// Login shell; may be empty.
    pub shell: OsString,
}

/// Returns the groups of a user by the system's user database, `gid` first; `None` when the
/// database does not know the user.
pub fn groups_of(uid: u32, gid: u32) -> Option<Vec<u32>> {
    let name = CString::new(account_of(uid)?.name.as_bytes()).ok()?;
    let mut groups = vec![0; 64];
    loop {
        let mut length = libc::c_int::try_from(groups.len()).ok()?;
        // SAFETY: `name` is a C string; `groups` has room for `length` numbers, and the call
        // writes no more than that and the number of groups into `length`.
        let found =
            unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut length) };
        let length = usize::try_from(length).ok()?;
        if found >= 0 {
            groups.truncate(length);
            return Some(groups);
        }
        if length <= groups.len() {
            return None;
        }
        groups.resize(length, 0);
    }
}

/// Returns what the system's user database says of a user; `None` when it does not know the user.
pub fn account_of(uid: u32) -> Option<Account> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut buffer = vec![0; 16 * 1024];
    let mut result = std::ptr::null_mut();
    // SAFETY: all places are valid and `buffer` has the length stated; `result` is null or points
    // to `entry`, whose strings lie in `buffer`, which outlives the copies made below.
    unsafe {
        let code = libc::getpwuid_r(
            uid,
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut result,
        );
        if code != 0 || result.is_null() {
            return None;
        }
        let text = |start| OsStr::from_bytes(CStr::from_ptr(start).to_bytes()).to_owned();
        let entry = &*result;
        Some(Account {
            name: text(entry.pw_name),
            home: text(entry.pw_dir),
            shell: text(entry.pw_shell),
        })
    }
}
