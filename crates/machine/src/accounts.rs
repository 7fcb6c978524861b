//! Users and groups, as all of the system's databases know them.
//!
//! The C library reads them, and asks a directory service (LDAP, SSSD, systemd-homed) through libraries that it loads
//! while the program runs. A static build cannot load any: its C library reads `/etc/passwd` and `/etc/group` alone.
//! So a static build asks the programs of the system for the rest: `getent` for a user or a group that the files do not
//! have, `id` for the groups of a user. Only those of root are started, with no variables: becalm is root as it asks.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use becalm_kernel::user::{self, Account};

use crate::service::of_root_alone;

/// Whether the C library can load nothing.
const IS_STATIC: bool = cfg!(target_feature = "crt-static");

/// Where the programs of a system are; the last is NixOS's.
const FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/run/current-system/sw/bin"];

/// Returns a user by its number.
pub(crate) fn account_of(uid: u32) -> Option<Account> {
    user::account_of(uid).or_else(|| account(uid.to_string().as_ref()))
}

/// Returns a user by its login name.
pub(crate) fn account_named(name: &OsStr) -> Option<Account> {
    // To `getent` a number is a number.
    let is_number = name.as_bytes().iter().all(u8::is_ascii_digit);
    user::account_named(name).or_else(|| if is_number { None } else { account(name) })
}

/// Returns the number of a group by its name.
pub(crate) fn group_named(name: &str) -> Option<u32> {
    let asked = || {
        let line = programs()?.answer("getent", &["group".as_ref(), name.as_ref()])?;
        group_of_line(&line)
    };
    user::group_named(name).or_else(asked)
}

/// Returns the groups of a user, `gid` first; `None` if no database knows the user.
pub(crate) fn groups_of(uid: u32, gid: u32) -> Option<Vec<u32>> {
    // A user of the files may have groups of the directory.
    let asked = || {
        let programs = programs()?;
        let name = account_of(uid)?.name;
        groups_of_line(&programs.answer("id", &["-G".as_ref(), &name])?, gid)
    };
    asked().or_else(|| user::groups_of(uid, gid))
}

fn account(key: &OsStr) -> Option<Account> {
    account_of_line(&programs()?.answer("getent", &["passwd".as_ref(), key])?)
}

/// The programs that are asked, where they have to be.
fn programs() -> Option<Programs> {
    IS_STATIC.then(|| Programs {
        folders: FOLDERS.map(PathBuf::from).to_vec(),
        is_trusted: |program| of_root_alone(program).is_ok(),
    })
}

/// Programs that know what the files of this system do not have.
struct Programs {
    folders: Vec<PathBuf>,
    is_trusted: fn(&Path) -> bool,
}

impl Programs {
    /// Returns the first line that a program prints, if it has one and ends well.
    fn answer(&self, program: &str, arguments: &[&OsStr]) -> Option<OsString> {
        // What starts with a dash would be an option.
        if arguments.last().is_some_and(|last| last.as_bytes().starts_with(b"-")) {
            return None;
        }
        let mut candidates = self.folders.iter().map(|folder| folder.join(program));
        let program = candidates.find(|path| (self.is_trusted)(path))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().current_dir("/");
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let line = output.stdout.split(|byte| *byte == b'\n').next()?;
        let is_answer = output.status.success() && !line.is_empty();
        is_answer.then(|| OsString::from_vec(line.to_vec()))
    }
}

/// Reads a line of `/etc/passwd`: name, password, user, group, description, home and shell.
fn account_of_line(line: &OsStr) -> Option<Account> {
    let fields: Vec<&[u8]> = line.as_bytes().split(|byte| *byte == b':').collect();
    let [name, _, uid, gid, _, home, shell] = fields[..] else { return None };
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    Some(Account {
        uid: number(uid)?,
        gid: number(gid)?,
        name: text(name),
        home: text(home),
        shell: text(shell),
    })
}

/// Reads a line of `/etc/group`: name, password, number and members.
fn group_of_line(line: &OsStr) -> Option<u32> {
    number(line.as_bytes().split(|byte| *byte == b':').nth(2)?)
}

/// Reads what `id -G` prints, all of it numbers, and puts `gid` first.
fn groups_of_line(line: &OsStr, gid: u32) -> Option<Vec<u32>> {
    let words = line.as_bytes().split(|byte| *byte == b' ');
    let mut groups: Vec<u32> = words.map(number).collect::<Option<_>>()?;
    groups.retain(|group| *group != gid);
    groups.insert(0, gid);
    Some(groups)
}

fn number(text: &[u8]) -> Option<u32> {
    str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_databases_are_read() {
        let account = account_of_line("its:x:70001:70002:It, S:/home/its:/bin/zsh".as_ref());
        let text = |text: &str| OsString::from(text);
        let expected = Account {
            uid: 70001,
            gid: 70002,
            name: text("its"),
            home: text("/home/its"),
            shell: text("/bin/zsh"),
        };
        assert_eq!(account, Some(expected));
        assert_eq!(group_of_line("bench:*:70003:its,other".as_ref()), Some(70003));
        assert_eq!(groups_of_line("1000 27 70003".as_ref(), 27), Some(vec![27, 1000, 70003]));
        assert_eq!(groups_of_line("1000".as_ref(), 1000), Some(vec![1000]));
    }

    #[test]
    fn what_is_no_such_line_is_nobody() {
        for line in ["", "its", "its:x:a:1::/:", "its:x:1:1::/", "its:x:4294967296:1::/:"] {
            assert_eq!(account_of_line(line.as_ref()), None, "{line}");
        }
        assert_eq!(group_of_line("bench:*".as_ref()), None);
        assert_eq!(groups_of_line("1000 x".as_ref(), 1000), None);
        assert_eq!(groups_of_line("-1".as_ref(), 1000), None);
    }

    /// Returns what a program of this system answers.
    fn answer(
        program: &str,
        arguments: &[&str],
        is_trusted: fn(&Path) -> bool,
    ) -> Option<OsString> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let folders = FOLDERS.map(PathBuf::from).to_vec();
        Programs { folders, is_trusted }.answer(program, &arguments)
    }

    #[test]
    fn the_first_line_of_a_program_is_its_answer() {
        assert_eq!(answer("echo", &["its:x", "1\n2"], Path::is_file), Some("its:x 1".into()));
    }

    #[test]
    fn one_that_fails_or_is_silent_or_is_not_trusted_has_no_answer() {
        assert_eq!(answer("false", &[], Path::is_file), None);
        assert_eq!(answer("true", &[], Path::is_file), None);
        assert_eq!(answer("echo", &["its"], |_| false), None);
        assert_eq!(answer("echo", &["passwd", "-x"], Path::is_file), None);
    }

    #[test]
    fn programs_get_no_variables() {
        assert_eq!(answer("env", &[], Path::is_file), None);
    }

    #[test]
    fn root_is_known_to_every_build() {
        let root = account_of(0);
        assert_eq!(root.as_ref().map(|account| account.uid), Some(0));
        assert_eq!(account_named("root".as_ref()), root);
        assert_eq!(groups_of(0, 0).and_then(|groups| groups.first().copied()), Some(0));
    }
}
