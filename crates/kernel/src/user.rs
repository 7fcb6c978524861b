//! Who the process runs as, and the groups of a user.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;

use crate::capability::{self, Capability};
use crate::{checked, process};

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
fn set_groups_raw(groups: &[u32]) -> libc::c_long {
    // SAFETY: pointer and length describe `groups`, which the kernel only reads.
    unsafe { libc::syscall(calls::SETGROUPS, groups.len(), groups.as_ptr()) }
}

/// The same for the group, of which no saved one is left to return to.
fn set_group_raw(gid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESGID, gid, gid, gid) }
}

/// The same for the user.
fn set_user_raw(uid: u32) -> libc::c_long {
    // SAFETY: plain numbers.
    unsafe { libc::syscall(calls::SETRESUID, uid, uid, uid) }
}

/// Returns the effective user id.
pub fn effective_uid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Makes this process and all that it starts this user for good: no way leads back. Of root's rights it keeps `kept`
/// alone, which a program that it executes does not get.
///
/// The kernel keeps rights for each thread, so this is for a process that has only one yet. Its memory and its open
/// files stay out of reach of the user's other programs, as those of a program that was root.
pub fn become_user(uid: u32, gid: u32, groups: &[u32], kept: &[Capability]) -> io::Result<()> {
    // The groups go first, while that is still allowed.
    checked(set_groups_raw(groups))?;
    checked(set_group_raw(gid))?;
    capability::survive_a_change_of_user()?;
    checked(set_user_raw(uid))?;
    // Some numbers mean "leave it as it is" to the kernel.
    let ids = [real_uid(), effective_uid(), real_gid(), effective_gid()];
    if ids != [uid, uid, gid, gid] {
        return Err(io::Error::other("the kernel left the user as it was"));
    }
    process::leave_keyrings();
    capability::keep_only(kept)?;
    process::forbid_inspection()
}

/// Returns the real user id: who started this process, whatever its program's file says.
pub fn real_uid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getuid() }
}

/// Returns the effective group id.
pub fn effective_gid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getegid() }
}

/// Returns the real group id.
pub fn real_gid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getgid() }
}

/// What the user database says of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// User id.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
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
    look_up(|entry, buffer, result| {
        // SAFETY: all places are valid and `buffer` has the length stated.
        unsafe { libc::getpwuid_r(uid, entry, buffer.as_mut_ptr(), buffer.len(), result) }
    })
}

/// The same for a login name.
pub fn account_named(name: &OsStr) -> Option<Account> {
    let name = CString::new(name.as_bytes()).ok()?;
    look_up(|entry, buffer, result| {
        // SAFETY: `name` is a C string, all places are valid and `buffer` has the length stated.
        unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer.as_mut_ptr(), buffer.len(), result) }
    })
}

/// Returns the number of a group by the system's group database.
pub fn group_named(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    let mut entry = MaybeUninit::<libc::group>::uninit();
    // A group names its members, all of which have to fit.
    let mut buffer = vec![0; 1 << 20];
    let mut result = std::ptr::null_mut();
    // SAFETY: `name` is a C string, all places are valid and `buffer` has the length stated.
    let got = unsafe {
        libc::getgrnam_r(
            name.as_ptr(),
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut result,
        )
    };
    if got != 0 || result.is_null() {
        return None;
    }
    // SAFETY: a result that is not null points to `entry`, which the call has filled in.
    Some(unsafe { (*result).gr_gid })
}

fn look_up(
    ask: impl FnOnce(*mut libc::passwd, &mut [libc::c_char], *mut *mut libc::passwd) -> libc::c_int,
) -> Option<Account> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut buffer = vec![0; 16 * 1024];
    let mut result = std::ptr::null_mut();
    if ask(entry.as_mut_ptr(), &mut buffer, &raw mut result) != 0 || result.is_null() {
        return None;
    }
    // SAFETY: a result that is not null points to `entry`, which the call has filled in, and whose strings lie in
    // `buffer`; both outlive the copies made here.
    let (entry, text) = unsafe {
        (&*result, |start| OsStr::from_bytes(CStr::from_ptr(start).to_bytes()).to_owned())
    };
    Some(Account {
        uid: entry.pw_uid,
        gid: entry.pw_gid,
        name: text(entry.pw_name),
        home: text(entry.pw_dir),
        shell: text(entry.pw_shell),
    })
}
