//! Whether a file is root's alone: root runs the program that the unit of the service names and goes by its policy, so
//! nobody else may write there.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Why root must not go by a file.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    /// It cannot be looked at.
    #[error("cannot read {path}: {source}")]
    Unknown {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else could replace it.
    #[error(
        "root must not trust {file}: {path} belongs to user {owner} and has the mode {mode:o}, so \
         users other than root could replace it"
    )]
    Writable {
        /// What root would run or read.
        file: PathBuf,
        /// The file itself, or a folder above it.
        path: PathBuf,
        /// Who owns that.
        owner: u32,
        /// Who may do what with it, as for `chmod`.
        mode: u32,
    },
}

/// Returns where a file really lies, if it and all folders above it are root's to write alone.
pub fn of_root_alone(path: &Path) -> Result<PathBuf, Untrusted> {
    const STICKY: u32 = 0o1000;
    let unknown = |path: &Path, source| Untrusted::Unknown { path: path.to_owned(), source };
    let file = path.canonicalize().map_err(|source| unknown(path, source))?;
    for place in file.ancestors() {
        let facts = place.symlink_metadata().map_err(|source| unknown(place, source))?;
        let (owner, mode) = (facts.uid(), facts.mode() & 0o7777);
        // In a folder such as /tmp nobody can replace what is root's.
        let is_shared_by_all = facts.is_dir() && mode & STICKY != 0;
        if owner != 0 || (mode & 0o022 != 0 && !is_shared_by_all) {
            let path = place.to_owned();
            return Err(Untrusted::Writable { file, path, owner, mode });
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;
    use becalm_kernel::user::effective_uid;
    use becalm_testkit::skipped;

    #[test]
    fn what_others_could_replace_is_not_trusted() {
        if effective_uid() != 0 {
            skipped("what_others_could_replace: not root");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("bin");
        let (file, link) = (below.join("becalm"), folder.path().join("link"));
        fs::create_dir(&below).unwrap();
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(&file, 0o755);
        mode(&below, 0o755);
        assert_eq!(of_root_alone(&link).unwrap(), file.canonicalize().unwrap());
        let refused = |why: &str| {
            let error = of_root_alone(&link).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        for (path, wrong) in [(&file, 0o775), (&file, 0o757), (&below, 0o775), (&below, 0o777)] {
            mode(path, wrong);
            refused(&format!("{} belongs to user 0 and has the mode {wrong:o}", path.display()));
            mode(path, 0o755);
        }
        for path in [&file, &below] {
            chown(path, Some(4242), None).unwrap();
            refused(&format!("{} belongs to user 4242", path.display()));
            chown(path, Some(0), None).unwrap();
        }
        fs::remove_file(&file).unwrap();
        refused("cannot read");
    }
}
