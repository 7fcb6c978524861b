//! Who the process runs as, and the groups of a user.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
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
            && unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) } == 0
            && drop_capabilities_raw() == 0;
        if changed { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure runs between fork and exec and makes system calls only: it allocates
    // nothing and takes no lock.
    unsafe { command.pre_exec(change) };
}

/// Makes a command end when this process dies, however that happens. To be called last: a change of
/// the user forgets it.
pub(crate) fn ends_with_us(command: &mut Command) {
    // SAFETY: prctl takes plain numbers here.
    let ask = || match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the closure runs between fork and exec and makes one system call.
    unsafe { command.pre_exec(ask) };
}

/// Empties the capability sets of the calling thread; 0, or -1 with `errno` set. A change from root
/// to another user empties all but the inheritable ones, unless the security bits say otherwise.
pub(super) fn drop_capabilities_raw() -> libc::c_long {
    /// `_LINUX_CAPABILITY_VERSION_3`: 64 capabilities in two words each.
    const VERSION: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION, 0];
    let none = [0_u32; 6];
    // SAFETY: the kernel reads a header of two words (version, 0 for this thread) and, for this
    // version, two times three words; both arrays have that length and outlive the call.
    unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }
}

/// What the user database says of a user.
pub(crate) struct Account {
    pub(crate) name: OsString,
    pub(crate) home: OsString,
    pub(crate) shell: OsString,
}

/// Returns the groups of a user by the system's user database, `gid` first; `None` when the
/// database does not know the user.
pub(crate) fn groups_of(uid: u32, gid: u32) -> Option<Vec<u32>> {
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
pub(crate) fn account_of(uid: u32) -> Option<Account> {
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
