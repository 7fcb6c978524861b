//! Where the journal lies, and whose it is.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use becalm_model::wire::boot_of_journal;

use super::{JournalFileError, boot_id, is_of_boot};
use crate::SysRoot;

/// Where the journal lies: the first folder that can be written. The second one does not outlive a
/// boot, which resets what becalm changes anyway.
const FOLDERS: [&str; 2] = ["/var/lib/becalm", "/run/becalm"];
const NAME: &str = "journal";

/// Root alone may write there, and see which files there are. Everybody may ask for a file by its name: who
/// measures without root has to learn that the machine may still be tuned.
const FOLDER_MODE: u32 = 0o711;

/// Makes a folder for a file of becalm's own, or lets everybody into the one that an earlier becalm made.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(FOLDER_MODE).recursive(true).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let mode = folder.metadata()?.mode() & 0o7777;
    if mode | FOLDER_MODE != mode {
        // Where that is not allowed, whoever has no root learns less.
        let _ = fs::set_permissions(folder, Permissions::from_mode(mode | FOLDER_MODE));
    }
    Ok(())
}

/// Returns where the journal may lie, the best place first.
pub(super) fn places(root: &SysRoot) -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().map(|folder| root.resolve(Path::new(folder)).join(NAME))
}

/// Returns where the journal lies. One of an earlier boot, which perhaps cannot be removed, hides no
/// other. Of two of this boot the one in the second folder counts, which is used where the first can be written no
/// longer.
pub(super) fn find(root: &SysRoot) -> Option<PathBuf> {
    let mut all = find_all(root);
    let boot = boot_id(root);
    let is_of_now =
        |path: &PathBuf| Some(is_of_boot(&boot_of_journal(&fs::read(path).ok()?)?, &boot));
    let index = match all.as_slice() {
        [] => return None,
        [_] => 0,
        several => several.iter().rposition(|path| is_of_now(path) == Some(true)).unwrap_or(0),
    };
    Some(all.swap_remove(index))
}

pub(super) fn find_all(root: &SysRoot) -> Vec<PathBuf> {
    places(root).filter(|path| fs::symlink_metadata(path).is_ok()).collect()
}

/// Removes what an earlier becalm wrote into another folder: all that it tells of is in this one.
pub(super) fn remove_others(root: &SysRoot, path: &Path) {
    for other in find_all(root).iter().filter(|other| *other != path) {
        // Where that is not possible it is passed over once its boot is over.
        let _ = fs::remove_file(other);
    }
}

/// Refuses what somebody else than root could have written: who writes the journal writes as root.
pub(super) fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<(), JournalFileError> {
    if metadata.uid() == 0 && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    Err(JournalFileError::NotOurs { path: path.to_owned(), owner, mode })
}

/// Makes the names in a file's folder as durable as the file.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().expect("the journal is in a folder")
}
