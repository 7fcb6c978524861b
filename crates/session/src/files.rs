//! Reading files, and writing them so that they are either whole or not there.

use std::io::{ErrorKind, IsTerminal as _, Read as _, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use becalm_runner::open_at_once;

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not text.
    #[error("cannot read {}: it is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// It could not be written. What was there before is still there.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It could not be written later; nothing was started.
    #[error("cannot write {}: {source}", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Standard input where a file to write is wanted.
    #[error("`-` (standard output) is not supported here; give a file")]
    Dash,
}

impl FileError {
    /// Says whether the user named a file that cannot be used, before anything was started.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::NotWritable { .. } | Self::Dash)
    }

    /// Says whether becalm lacks the permission, rather than the space or the folder.
    pub fn is_refused(&self) -> bool {
        match self {
            Self::Read { source, .. }
            | Self::Write { source, .. }
            | Self::NotWritable { source, .. } => is_refused(source),
            Self::NotText { .. } | Self::Dash => false,
        }
    }
}

/// Name of the folder at the top of a repository in which becalm keeps what it needs again.
pub const FOLDER: &str = ".becalm";

/// Reads a file, or standard input for `-`, as text.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    as_text(path, read_bytes(path)?)
}

fn as_text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// Most that is read of one file, in bytes: anything larger is not a file of results.
pub const LARGEST: u64 = 2 << 30;

/// Reads a file, or standard input for `-`. A file of more than [`LARGEST`] bytes is refused before
/// it fills the memory, and a device, such as `/dev/zero`, before it is read. A terminal is
/// allowed, as somebody types there.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let bytes = if path == Path::new("-") {
        let stdin = std::io::stdin();
        stdin.as_fd().try_clone_to_owned().and_then(|same| {
            refuse_device(&std::fs::File::from(same))?;
            all_of(stdin.lock())
        })
    } else {
        std::fs::File::open(path).and_then(|file| {
            refuse_device(&file)?;
            all_of(file)
        })
    };
    bytes.map_err(|source| FileError::Read { path: path.to_owned(), source })
}

fn refuse_device(file: &std::fs::File) -> std::io::Result<()> {
    let kind = file.metadata()?.file_type();
    if (kind.is_char_device() || kind.is_block_device()) && !file.is_terminal() {
        return Err(std::io::Error::other("it is a device, not a file"));
    }
    Ok(())
}

fn all_of(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(std::io::Error::other(format!("it is larger than {} GiB", LARGEST >> 30)));
    }
    Ok(bytes)
}

/// Writes a file beside its place and moves it there, so that a crash leaves the old one. Anything
/// but a regular file (a device, a pipe) is written to and never replaced; a link keeps its target.
/// An existing file keeps its owner.
pub fn write_atomically(path: &Path, text: &str) -> Result<(), FileError> {
    write_bytes_atomically(path, text.as_bytes())
}

/// The same for bytes that are not text.
pub fn write_bytes_atomically(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for what is written piece by piece.
pub fn write_with(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), FileError> {
    write_there(path, write).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

fn write_there(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    if is_special(path) {
        return open_at_once(std::fs::OpenOptions::new().write(true), path)
            .and_then(|mut file| write(&mut file));
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let temporary = temporary_beside(&target);
    // Not through a link that somebody has put there: the name can be guessed.
    let fresh = || std::fs::OpenOptions::new().write(true).create_new(true).open(&temporary);
    let fresh = fresh().or_else(|error| match error.kind() {
        // Left by one that was killed; in a container numbers of processes come again.
        ErrorKind::AlreadyExists => std::fs::remove_file(&temporary).and_then(|()| fresh()),
        _ => Err(error),
    });
    let mut file = match fresh {
        Ok(file) => file,
        // A file that may be written in a folder that may not.
        Err(error) if is_refused(&error) && target.exists() => {
            return std::fs::File::create(&target).and_then(|mut file| write(&mut file));
        }
        Err(error) => return Err(error),
    };
    if let Ok(facts) = target.metadata() {
        // Who is not root cannot give anything away, and need not: it is theirs.
        let _ = std::os::unix::fs::fchown(&file, Some(facts.uid()), Some(facts.gid()));
    }
    let written = write(&mut file).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| std::fs::rename(&temporary, &target)) {
        // The half-written file is of no use to anybody.
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    Ok(())
}

/// Returns where a file is written before it takes the place of another.
fn temporary_beside(path: &Path) -> PathBuf {
    beside(path, &format!(".{}.tmp", std::process::id()))
}

/// Says whether files in a folder are not permitted, rather than out of space.
fn is_refused(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Makes a folder, with those above it.
pub fn make_folder(path: &Path) -> std::io::Result<()> {
    let missing = path.ancestors().take_while(|folder| !folder.exists()).collect::<Vec<_>>();
    for folder in missing.iter().rev() {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Makes the folder `.becalm` that a file should be in, if it should be in one, and makes git
/// ignore it.
pub fn make_own_folder(file: &Path) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| folder.file_name().is_some_and(|n| n == FOLDER));
    let Some(folder) = folder else { return Ok(()) };
    make_folder(folder)?;
    make_if_missing(&folder.join(".gitignore"), "*\n")
}

/// Makes a file with this content. An existing one stays, even if somebody else makes it at the
/// same time.
pub fn make_if_missing(path: &Path, content: &str) -> std::io::Result<()> {
    match make_new_file(path) {
        Ok(mut file) => file.write_all(content.as_bytes()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes an empty file, in place of an existing one, and never through a link.
pub fn make_file(path: &Path) -> std::io::Result<std::fs::File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::File::create_new(path),
    }
}

/// Makes an empty file where there is none.
pub fn make_new_file(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::create_new(path)
}

/// Returns the path with `ending` after its name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Says whether something other than a regular file is there.
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| !facts.is_file())
}

/// Fails early when a file cannot be written later, without touching one that is there.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    if path == Path::new("-") {
        // As a file to read it is standard input, so nobody wants a file of this name.
        return Err(FileError::Dash);
    }
    // Whoever reads a named pipe takes it for the end when it is closed again.
    if path.metadata().is_ok_and(|facts| facts.file_type().is_fifo()) {
        return Ok(());
    }
    let existed = path.symlink_metadata().is_ok();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let opened = opened.map(|_| ()).or_else(|error| {
        // The file is replaced, and need not be writable where its folder is.
        let probe = temporary_beside(path);
        let replace = || make_new_file(&probe).and_then(|_| std::fs::remove_file(&probe));
        let may_be_replaced = existed && is_refused(&error) && !is_special(path);
        if may_be_replaced { replace().map_err(|_| error) } else { Err(error) }
    });
    opened.map_err(|source| FileError::NotWritable { path: path.to_owned(), source })?;
    if !existed {
        // Only the probe is removed; the folder has been shown to be writable.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_refused_before_it_is_read() {
        for device in ["/dev/zero", "/dev/urandom", "/dev/full", "/dev/null"] {
            let error = read_bytes(Path::new(device)).unwrap_err().to_string();
            assert_eq!(error, format!("cannot read {device}: it is a device, not a file"));
        }
        let zeros = std::fs::File::open("/dev/zero").unwrap();
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&zeros));
        let error = read_bytes(Path::new(&path)).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read {path}: it is a device, not a file"));
    }

    #[test]
    fn a_pipe_is_read() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"text").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(read_bytes(Path::new(&path)).unwrap(), b"text");
    }

    #[test]
    fn a_file_of_one_that_was_killed_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let left = beside(&path, &format!(".{}.tmp", std::process::id()));
        std::fs::write(&left, "half").unwrap();
        write_atomically(&path, "whole").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert!(!left.exists());
    }
}
