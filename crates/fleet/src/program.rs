//! A becalm that is copied to where it runs: its bytes, and the name that follows from them.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::FleetError;
use crate::{hash, names};

/// A file with a becalm.
#[derive(Debug)]
pub(crate) struct BecalmFile {
    path: PathBuf,
    /// SHA-256 of its content.
    pub(crate) hash: String,
}

impl BecalmFile {
    /// Returns the program of this process, even if its file has been replaced since.
    pub(crate) fn own() -> Result<Self, FleetError> {
        Self::read(PathBuf::from("/proc/self/exe"))
    }

    /// Returns the becalm for another architecture that is installed beside this one.
    pub(crate) fn of_architecture(architecture: &str) -> Option<Result<Self, FleetError>> {
        let is_plain = architecture.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let own = std::env::current_exe().ok().filter(|_| is_plain)?;
        let folder = own.parent()?;
        let name = format!("becalm-{architecture}");
        [folder.join(&name), folder.join("../lib/becalm").join(&name)]
            .into_iter()
            .find(|path| path.is_file())
            .map(Self::read)
    }

    fn read(path: PathBuf) -> Result<Self, FleetError> {
        let hash = File::open(&path).and_then(hash::of);
        match hash {
            Ok((hash, _)) => Ok(Self { path, hash }),
            Err(source) => Err(FleetError::Here { path, source }),
        }
    }

    /// Returns the name of its copy.
    pub(crate) fn name(&self) -> String {
        names::of_copy(&self.hash)
    }

    /// Opens it; says how many bytes it has.
    pub(crate) fn open(&self) -> Result<(File, u64), FleetError> {
        let opened = File::open(&self.path).and_then(|file| {
            let size = file.metadata()?.len();
            Ok((file, size))
        });
        opened.map_err(|source| FleetError::Here { path: self.path.clone(), source })
    }

    /// Copies it to a path, unless it is there already; then it counts as used now, as jobs that wait will use it.
    pub(crate) fn copy_to(&self, to: &Path) -> Result<(), FleetError> {
        let there = |source| FleetError::Here { path: to.to_owned(), source };
        if let Ok(file) = File::open(to)
            && hash::of(&file).is_ok_and(|(hash, _)| hash == self.hash)
        {
            let _ = file.set_modified(SystemTime::now());
            return Ok(());
        }
        let fresh = to.with_extension(format!("{}.new", std::process::id()));
        let (mut from, _) = self.open()?;
        let copied = copy_program(&mut from, &fresh).and_then(|()| std::fs::rename(&fresh, to));
        copied.map_err(there)
    }
}

fn copy_program(from: &mut File, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut make = std::fs::OpenOptions::new();
    let mut file = make.write(true).create(true).truncate(true).mode(0o700).open(to)?;
    io::copy(from, &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_copy_that_is_found_counts_as_used() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("own");
        std::fs::write(&path, "a becalm").unwrap();
        let program = BecalmFile::read(path).unwrap();
        let to = scratch.path().join(program.name());
        assert!(names::is_copy(&program.name()));
        program.copy_to(&to).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        File::open(&to).unwrap().set_modified(long_ago).unwrap();
        program.copy_to(&to).unwrap();
        assert!(to.metadata().unwrap().modified().unwrap() > long_ago);
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "a becalm");
    }
}
