//! A folder in memory in which the subjects work, or leave their results, so that no disk is part of what
//! is measured.
//!
//! It lies in a `tmpfs` that is mounted already, so that neither root nor a mount is needed. It is removed
//! with the value; one whose owner was killed is removed by the next becalm of the same user.
//! <https://docs.kernel.org/filesystems/tmpfs.html>

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use becalm_kernel::{file, user};
use becalm_machine::SysRoot;
use becalm_machine::tune::task::{is_alive, this_process};
use becalm_model::ProcessIdentity;

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

/// Most folders of one kind that a process has: more than a suite has benchmarks.
const MOST: u32 = 100_000;

/// An empty folder in memory, removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// If `/dev/shm` is no file system in memory, or cannot be written to.
    pub fn create() -> io::Result<Self> {
        Self::create_in_memory(Path::new(PLACE), WORK)
            .map_err(|error| io::Error::new(error.kind(), format!("{PLACE}: {error}")))
    }

    /// Makes a folder in which subjects leave their results: in memory if that
    /// can be had, so that no disk is busy with them, and otherwise among the temporary files. A suite has one for
    /// each of its benchmarks.
    ///
    /// # Errors
    ///
    /// If neither can be written to.
    pub fn for_results() -> io::Result<Self> {
        let in_memory = Self::in_memory(Path::new(PLACE))
            .and_then(|()| Self::create_another_in(Path::new(PLACE), RESULTS));
        in_memory.or_else(|_| Self::create_another_in(&std::env::temp_dir(), RESULTS))
    }

    /// Makes a folder below `place` in which revisions are built.
    ///
    /// # Errors
    ///
    /// If `place` cannot be written to.
    pub fn for_builds(place: &Path) -> io::Result<Self> {
        Self::create_in(place, BUILDS)
    }

    /// Says whether this is the name of a folder that [`for_builds`](Self::for_builds) has made.
    pub fn is_for_builds(name: &OsStr) -> bool {
        name.to_str().is_some_and(|name| owner(BUILDS, name).is_some())
    }

    /// Makes a folder with programs that becalm makes: among the temporary files,
    /// since in memory nothing may be executed in many a container.
    ///
    /// # Errors
    ///
    /// If the temporary files cannot be written to.
    pub fn for_programs() -> io::Result<Self> {
        let place = std::env::temp_dir();
        Self::create_in(&place, PROGRAMS)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.display())))
    }

    fn create_in_memory(place: &Path, prefix: &str) -> io::Result<Self> {
        Self::in_memory(place)?;
        Self::create_in(place, prefix)
    }

    /// Fails unless a place is in memory.
    fn in_memory(place: &Path) -> io::Result<()> {
        if file::is_in_memory(&File::open(place)?)? {
            Ok(())
        } else {
            Err(io::Error::other("it is not a file system in memory (tmpfs)"))
        }
    }

    fn create_in(place: &Path, prefix: &str) -> io::Result<Self> {
        remove_left(place, prefix);
        let path = place.join(name(prefix, this_process()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// Makes one more folder below `place`, whatever this process has there.
    fn create_another_in(place: &Path, prefix: &str) -> io::Result<Self> {
        remove_left(place, prefix);
        let name = name(prefix, this_process());
        for number in 0..MOST {
            let path = place.join(format!("{name}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self { path }),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Makes a file in it, and returns where it lies.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or there is one of this name.
    pub fn make_file(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        File::create_new(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// Puts a copy of a file into it, and returns where the copy lies.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or the copy not be written.
    pub fn keep_copy(&self, from: &Path, name: &str) -> io::Result<PathBuf> {
        let to = self.path.join(name);
        fs::copy(from, &to)?;
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

/// Removes the folders of this user whose owners are gone.
fn remove_left(place: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let owner = entry.file_name().to_str().and_then(|name| owner(prefix, name));
        let is_left = owner.is_some_and(|owner| !is_alive(&SysRoot::default(), owner));
        if is_left && entry.metadata().is_ok_and(|facts| is_own(&facts)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Says whether this is a folder (no link to one) of the user of this process.
fn is_own(facts: &Metadata) -> bool {
    facts.is_dir() && facts.uid() == user::effective_uid()
}

fn name(prefix: &str, owner: ProcessIdentity) -> String {
    format!("{prefix}{}-{}", owner.pid, owner.start_time)
}

/// Reads the owner from a name; a number may follow.
fn owner(prefix: &str, name: &str) -> Option<ProcessIdentity> {
    let (pid, start_time) = name.strip_prefix(prefix)?.split_once('-')?;
    let (start_time, number) = start_time.split_once('-').unwrap_or((start_time, "0"));
    number.parse::<u32>().ok()?;
    Some(ProcessIdentity { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::skipped;

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
        let folder = WorkFolder::create_in_memory(place.path(), WORK).unwrap();
        assert!(!left.exists() && other.exists());
        // Another one of the same process would find it in use, and not remove it.
        assert!(WorkFolder::create_in_memory(place.path(), WORK).is_err());
        let path = folder.path().to_owned();
        fs::write(path.join("data"), "x").unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_suite_has_as_many_places_for_results_as_benchmarks() {
        let folders: Vec<WorkFolder> = (0..5).map(|_| WorkFolder::for_results().unwrap()).collect();
        for (at, folder) in folders.iter().enumerate() {
            assert!(folders[..at].iter().all(|other| other.path() != folder.path()));
            let name = folder.path().file_name().unwrap().to_str().unwrap();
            assert_eq!(owner(RESULTS, name), Some(this_process()));
        }
        assert_eq!(owner(WORK, "becalm-work-1-2-x"), None);
    }

    #[test]
    fn a_disk_is_refused() {
        let error = WorkFolder::create_in_memory(Path::new("/proc"), WORK).unwrap_err();
        assert!(error.to_string().contains("not a file system in memory"), "{error}");
    }
}
