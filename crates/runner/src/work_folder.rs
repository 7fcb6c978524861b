//! A folder in memory in which the subjects work, or leave their results, so that no disk is part of what
//! is measured.
//!
//! It lies in a `tmpfs` that is mounted already, so that neither root nor a mount is needed. It is removed
//! with the value; one whose owner was killed is removed by the next becalm of the same user.
//!
//! Where it belongs to the user behind sudo, so does its name: the user's programs may put a link in place of
//! the folder or of anything in it. So nothing is read or written there with more than the user's rights.
//! <https://docs.kernel.org/filesystems/tmpfs.html>

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

use becalm_kernel::{file, user};
use becalm_machine::SysRoot;
use becalm_machine::tune::task::{is_alive, this_process};
use becalm_model::ProcessIdentity;

use crate::User;

/// Where a `tmpfs` that everybody may write to is expected.
const PLACE: &str = "/dev/shm";

/// What the names of folders to work in begin with; the process id and the start time of the owner follow.
const WORK: &str = "becalm-work-";

/// The same for folders in which revisions are built.
const BUILDS: &str = "becalm-builds-";

/// The same for folders in which programs leave their results.
const RESULTS: &str = "becalm-results-";

/// The same for folders with programs that becalm has made.
const PROGRAMS: &str = "becalm-timeit-";

/// An empty folder in memory, removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// To whom it belongs, if not to the user of this process.
    user: Option<User>,
}

impl WorkFolder {
    /// Makes the folder, for `user` if there is one.
    ///
    /// # Errors
    ///
    /// If `/dev/shm` is no file system in memory, or cannot be written to.
    pub fn create(user: Option<&User>) -> io::Result<Self> {
        Self::create_in_memory(Path::new(PLACE), WORK, user)
            .map_err(|error| io::Error::new(error.kind(), format!("{PLACE}: {error}")))
    }

    /// Makes a folder in which subjects leave their results, for `user` if there is one: in memory if that
    /// can be had, so that no disk is busy with them, and otherwise among the temporary files.
    ///
    /// # Errors
    ///
    /// If neither can be written to.
    pub fn for_results(user: Option<&User>) -> io::Result<Self> {
        Self::create_in_memory(Path::new(PLACE), RESULTS, user)
            .or_else(|_| Self::create_in(&std::env::temp_dir(), RESULTS, user))
    }

    /// Makes a folder below `place` in which revisions are built, for `user` if there is one.
    ///
    /// # Errors
    ///
    /// If `place` cannot be written to.
    pub fn for_builds(place: &Path, user: Option<&User>) -> io::Result<Self> {
        Self::create_in(place, BUILDS, user)
    }

    /// Says whether this is the name of a folder that [`for_builds`](Self::for_builds) has made.
    pub fn is_for_builds(name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| owner(BUILDS, name).is_some())
    }

    /// Makes a folder with programs that becalm makes, for `user` if there is one: among the temporary files,
    /// since in memory nothing may be executed in many a container.
    ///
    /// # Errors
    ///
    /// If the temporary files cannot be written to.
    pub fn for_programs(user: Option<&User>) -> io::Result<Self> {
        let place = std::env::temp_dir();
        Self::create_in(&place, PROGRAMS, user)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.display())))
    }

    fn create_in_memory(place: &Path, prefix: &str, user: Option<&User>) -> io::Result<Self> {
        if !file::is_in_memory(&File::open(place)?)? {
            return Err(io::Error::other("it is no file system in memory (tmpfs)"));
        }
        Self::create_in(place, prefix, user)
    }

    fn create_in(place: &Path, prefix: &str, user: Option<&User>) -> io::Result<Self> {
        remove_left(place, prefix, user);
        let path = place.join(name(prefix, this_process()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self { path, user: user.cloned() };
        if let Some(user) = user {
            give(&folder.path, user)?;
        }
        Ok(folder)
    }

    /// Does `work` in it with the rights of its owner.
    ///
    /// # Errors
    ///
    /// Those of `work`, or if this process may not act for the owner.
    pub fn as_owner<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match &self.user {
            Some(user) => user.does(work),
            None => work(),
        }
    }

    /// Makes a file in it, and returns where it lies.
    ///
    /// # Errors
    ///
    /// If its owner cannot write it, or there is one of this name.
    pub fn make_file(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        self.as_owner(|| File::create_new(&path)?.write_all(text.as_bytes()))?;
        Ok(path)
    }

    /// Puts a copy of a file into it, if its owner may read that file, and returns where the copy lies.
    ///
    /// # Errors
    ///
    /// If its owner cannot read the file or write the copy.
    pub fn keep_copy(&self, from: &Path, name: &str) -> io::Result<PathBuf> {
        let to = self.path.join(name);
        self.as_owner(|| fs::copy(from, &to))?;
        Ok(to)
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Whatever stays goes with the next becalm, or with the contents of the memory.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Gives a folder that was just made to a user. Not by its name: below a folder of the user that may be a link
/// by now, or somebody else's folder.
fn give(path: &Path, user: &User) -> io::Result<()> {
    let flags = file::O_DIRECTORY | file::O_NOFOLLOW;
    let folder = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if folder.metadata()?.uid() != user::effective_uid() {
        return Err(io::Error::other(format!("somebody has replaced {}", path.display())));
    }
    fchown(&folder, Some(user.uid), Some(user.gid))
}

/// Removes the folders of this user whose owners are gone.
fn remove_left(place: &Path, prefix: &str, user: Option<&User>) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let owner = entry.file_name().to_str().and_then(|name| owner(prefix, name));
        let is_left = owner.is_some_and(|owner| !is_alive(&SysRoot::default(), owner));
        if is_left && entry.metadata().is_ok_and(|facts| is_own(&facts, user)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Says whether this is a folder (no link to one) of the user of this process, or of `user`.
fn is_own(facts: &Metadata, user: Option<&User>) -> bool {
    let is_theirs = user.is_some_and(|user| facts.uid() == user.uid);
    facts.is_dir() && (is_theirs || facts.uid() == user::effective_uid())
}

fn name(prefix: &str, owner: ProcessIdentity) -> String {
    format!("{prefix}{}-{}", owner.pid, owner.start_time)
}

/// Reads the owner from a name.
fn owner(prefix: &str, name: &str) -> Option<ProcessIdentity> {
    let (pid, start_time) = name.strip_prefix(prefix)?.split_once('-')?;
    Some(ProcessIdentity { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::skipped;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    #[test]
    fn it_goes_with_the_value_and_what_the_dead_left_goes_with_the_next() {
        let place = match tempfile::tempdir_in(PLACE) {
            Ok(place) if file::is_in_memory(&File::open(PLACE).unwrap()).unwrap() => place,
            _ => return skipped("it_goes_with_the_value: no memory can be written at /dev/shm"),
        };
        let own = this_process();
        let dead = ProcessIdentity { start_time: own.start_time + 1, ..own };
        let (left, other) =
            (place.path().join(name(WORK, dead)), place.path().join("becalm-work-x"));
        for folder in [&left, &other] {
            fs::create_dir_all(folder.join("within")).unwrap();
        }
        let folder = WorkFolder::create_in_memory(place.path(), WORK, None).unwrap();
        assert!(!left.exists() && other.exists());
        // Another one of the same process would find it in use, and not remove it.
        assert!(WorkFolder::create_in_memory(place.path(), WORK, None).is_err());
        let path = folder.path().to_owned();
        fs::write(path.join("data"), "x").unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn in_a_folder_of_a_user_nothing_is_done_that_the_user_may_not_do() {
        if user::effective_uid() != 0 {
            return skipped("in_a_folder_of_a_user: not root");
        }
        // Everybody may go there, wherever temporary folders are.
        let place = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let secret = place.path().join("secret");
        fs::write(&secret, "of root").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let user = User { uid: 4242, gid: 4343, groups: vec![4343] };
        let folder = WorkFolder::create_in(place.path(), PROGRAMS, Some(&user)).unwrap();
        let own = folder.make_file("own", "theirs").unwrap();
        let facts = own.metadata().unwrap();
        assert_eq!((facts.uid(), facts.gid()), (4242, 4343));
        // What a program of the user can do in between.
        symlink(&secret, folder.path().join("link")).unwrap();
        assert!(folder.make_file("link", "x").is_err());
        for (from, name) in [(&secret, "copy"), (&own, "link")] {
            let refused = folder.keep_copy(from, name).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{name}: {refused}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "of root", "and root may read it again");
        let copy = folder.keep_copy(&own, "copy").unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), "theirs");
    }

    #[test]
    fn what_was_put_in_place_of_a_folder_is_given_to_nobody() {
        if user::effective_uid() != 0 {
            return skipped("what_was_put_in_place: not root");
        }
        let place = tempfile::tempdir().unwrap();
        let [link, theirs] = ["link", "theirs"].map(|name| place.path().join(name));
        symlink(place.path(), &link).unwrap();
        fs::create_dir(&theirs).unwrap();
        chown(&theirs, Some(4242), None).unwrap();
        let user = User { uid: 4343, gid: 4343, groups: Vec::new() };
        assert!(give(&link, &user).is_err() && give(&theirs, &user).is_err());
        assert_eq!(place.path().metadata().unwrap().uid(), 0);
    }

    #[test]
    fn a_disk_is_refused() {
        let error = WorkFolder::create_in_memory(Path::new("/proc"), WORK, None).unwrap_err();
        assert!(error.to_string().contains("no file system in memory"), "{error}");
    }
}
