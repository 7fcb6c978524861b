//! Who the process runs as, and the groups of a user.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Returns the effective user id.
pub(crate) fn effective_uid() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Makes `command` run with this user, this group and exactly these groups. The standard library
/// alone would leave it without any group beside `gid`.
pub(crate) fn run_as(command: &mut Command, uid: u32, gid: u32, groups: Vec<u32>) {
    let change = move || {
        // The kernel's own calls: those of the C library would look for other threads.
        // SAFETY: pointer and length describe `groups`, which the kernel only reads.
        let set = unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) };
        // SAFETY: these take plain numbers; the group goes first, while that is still allowed.
        let changed = set == 0
            && unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) } == 0
            && unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) } == 0;
        if changed { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure runs between fork and exec and makes system calls only: it allocates
    // nothing and takes no lock.
    unsafe { command.pre_exec(change) };
}

/// Returns the groups of a user by the system's user database, `gid` first; `None` when the
/// database does not know the user.
pub(crate) fn groups_of(uid: u32, gid: u32) -> Option<Vec<u32>> {
    let name = name_of(uid)?;
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

fn name_of(uid: u32) -> Option<CString> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut buffer = vec![0; 16 * 1024];
    let mut result = std::ptr::null_mut();
    // SAFETY: all places are valid and `buffer` has the length stated; `result` is null or points
    // to `entry`, whose strings lie in `buffer`, which outlives the copy made below.
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
        Some(CStr::from_ptr((*result).pw_name).to_owned())
    }
}
