//! The root folder through which everything about the machine is read.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Room for the text of a file before it has been seen.
const ROOM: usize = 4096;

/// What came of reading one thing from the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reading<T = String> {
    /// It could be read.
    Value(T),
    /// It does not exist here: the kernel, the driver or the machine does not have it.
    Absent,
    /// It exists and this process may not read it.
    NoPermission,
    /// It exists and reading failed, as drivers do for CPUs that are offline.
    Unreadable {
        /// What the kernel answered.
        reason: String,
    },
}

impl<T> Reading<T> {
    /// Returns the value, if it could be read.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::NoPermission | Self::Unreadable { .. } => None,
        }
    }

    /// Returns why there is no value, as a fragment such as `does not exist`; `None` if there is.
    pub fn why_not(&self) -> Option<String> {
        match self {
            Self::Value(_) => None,
            Self::Absent => Some("does not exist here".into()),
            Self::NoPermission => Some("may not be read by this process".into()),
            Self::Unreadable { reason } => Some(format!("cannot be read: {reason}")),
        }
    }

    /// Returns the value of `path`, or why there is none, as a fragment that starts with the path.
    pub fn of(self, path: impl fmt::Display) -> Result<T, String> {
        match self {
            Self::Value(value) => Ok(value),
            missing => Err(format!("{path} {}", missing.why_not().unwrap_or_default())),
        }
    }

    /// Returns the value of `path`, or nothing if there is no such thing.
    ///
    /// # Errors
    ///
    /// Why it cannot be read although it is there, as a fragment that starts with the path.
    pub fn if_there(self, path: impl fmt::Display) -> Result<Option<T>, String> {
        match self {
            Self::Absent => Ok(None),
            other => other.of(path).map(Some),
        }
    }

    /// Changes the value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Value(value) => Reading::Value(change(value)),
            Self::Absent => Reading::Absent,
            Self::NoPermission => Reading::NoPermission,
            Self::Unreadable { reason } => Reading::Unreadable { reason },
        }
    }

    fn from_error(error: &io::Error) -> Self {
        match error.kind() {
            // A path through something that is not a folder is as absent as a missing file.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent,
            io::ErrorKind::PermissionDenied => Self::NoPermission,
            _ => Self::Unreadable { reason: error.to_string() },
        }
    }
}

/// What a path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathKind {
    /// A regular file, which the kernel's own files are too.
    File,
    /// A folder.
    Folder,
    /// A link, to what it says.
    Link(PathBuf),
}

/// Whether a link counts as itself or as what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// As itself.
    Keep,
    /// As what it leads to.
    Follow,
}

/// The root folder of the machine: `/`, or a folder of captured or invented files.
///
/// Links are followed as they are, so an absolute link inside of a capture leads out of it.
#[derive(Clone)]
pub struct SysRoot {
    root: PathBuf,
    denied: Vec<PathBuf>,
    kernel: Option<Arc<Kernel>>,
}

/// What answers to writes in a folder that stands for a machine: it takes the path as becalm names
/// it and the value, and returns the text to be stored, `None` to store nothing, or a refusal. For
/// folders the value is `present` or `absent`, and anything stored means that it is done.
pub type Kernel = dyn Fn(&Path, &str) -> io::Result<Option<String>> + Send + Sync;

impl fmt::Debug for SysRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SysRoot")
            .field("root", &self.root)
            .field("denied", &self.denied)
            .finish_non_exhaustive()
    }
}

impl Default for SysRoot {
    /// Returns the machine this process runs on.
    fn default() -> Self {
        Self::new("/")
    }
}

impl SysRoot {
    /// Returns the machine whose `/proc` and `/sys` lie in the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), denied: Vec::new(), kernel: None }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Makes a path, and everything below it, answer as if permission were refused.
    ///
    /// Tests often run as root, whom file modes do not stop.
    #[must_use]
    pub fn denying(mut self, path: impl Into<PathBuf>) -> Self {
        self.denied.push(path.into());
        self
    }

    /// Lets `kernel` answer to writes, as the kernel's own files do not simply keep what is written:
    /// they refuse, round, and change each other.
    #[must_use]
    pub fn with_kernel(
        mut self,
        kernel: impl Fn(&Path, &str) -> io::Result<Option<String>> + Send + Sync + 'static,
    ) -> Self {
        self.kernel = Some(Arc::new(kernel));
        self
    }

    /// Says whether this is the machine the process runs on, and not a folder that stands for one.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Reads a whole file and drops white space at its end, and the NUL that some kernels leave there
    /// (Linux 5.15-rc wrote `0-63\n\0`, device trees always do). Bytes that are not UTF-8, which only
    /// names chosen by users contain, become replacement characters.
    pub fn read(&self, path: impl AsRef<Path>) -> Reading {
        let bytes = self.reading(path, |place| {
            // Some files (`osnoise_cpus_read` in kernel/trace/trace_osnoise.c) refuse to be read into
            // less room than their whole text needs, at their end too.
            let mut bytes = Vec::with_capacity(ROOM);
            File::open(place)?.read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        let is_filling = |letter: char| letter.is_whitespace() || letter == '\0';
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim_end_matches(is_filling).to_owned())
    }

    /// Reads a file that holds a number, or whatever else a text can be parsed as; `None` if it does not.
    pub fn parse<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.read(path).value()?.parse().ok()
    }

    /// Returns the names in a folder, sorted.
    pub fn list_dir(&self, path: impl AsRef<Path>) -> Reading<Vec<String>> {
        self.reading(path, |place| {
            let mut names = fs::read_dir(place)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect::<io::Result<Vec<_>>>()?;
            names.sort_unstable();
            Ok(names)
        })
    }

    /// Writes a value to a file that is there already, as the kernel's own files want it: in one
    /// system call, and without making a new file where the kernel has none.
    pub fn write(&self, path: impl AsRef<Path>, value: &str) -> io::Result<()> {
        let path = path.as_ref();
        if self.denies(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let Some(value) = self.answer(path, value)? else { return Ok(()) };
        // A plain file that stands for one of the kernel's is replaced as a whole.
        let mut file =
            OpenOptions::new().write(true).truncate(!self.is_live()).open(self.resolve(path))?;
        if file.write(value.as_bytes())? < value.len() {
            return Err(io::Error::other("the kernel accepted only a part of the value"));
        }
        Ok(())
    }

    /// Makes a folder, such as a control group, in a folder that is there already.
    pub fn make_folder(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.unless_answered(path.as_ref(), "present", fs::create_dir)
    }

    /// Removes a folder without folders in it, such as a control group.
    pub fn remove_folder(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.unless_answered(path.as_ref(), "absent", fs::remove_dir)
    }

    /// Makes a file of ours among the system's, with its whole text or not at all.
    pub(crate) fn put_file(&self, path: impl AsRef<Path>, text: &str) -> io::Result<()> {
        let path = path.as_ref();
        let Some(text) = self.answer(path, text)? else { return Ok(()) };
        let place = self.resolve(path);
        let fresh = place.with_extension("becalm-new");
        // What a becalm left that was killed here.
        let _ = fs::remove_file(&fresh);
        // Whatever the mask of whoever started becalm: root acts on what it says.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, place)
    }

    /// Removes a file of ours.
    pub(crate) fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.unless_answered(path.as_ref(), "absent", fs::remove_file)
    }

    /// Opens a file whose setting lasts for as long as it is open.
    pub(crate) fn open_to_hold(&self, path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.resolve(path.as_ref()))
    }

    fn unless_answered(
        &self,
        path: &Path,
        value: &str,
        act: impl FnOnce(PathBuf) -> io::Result<()>,
    ) -> io::Result<()> {
        self.answer(path, value)?.map_or(Ok(()), |_| act(self.resolve(path)))
    }

    fn answer(&self, path: &Path, value: &str) -> io::Result<Option<String>> {
        match &self.kernel {
            Some(kernel) => kernel(path, value),
            None => Ok(Some(value.to_owned())),
        }
    }

    /// Says whether a file or folder exists, whether or not it can be read.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.resolve(path.as_ref()).exists()
    }

    /// Says whether a file can be written at all, by its mode: also root's writes fail where the kernel's own
    /// file takes none.
    pub(crate) fn is_for_writing(&self, path: impl AsRef<Path>) -> bool {
        let facts = fs::metadata(self.resolve(path.as_ref()));
        facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o200 != 0)
    }

    /// Says whether nobody but root can replace what lies at a path: it is root's, and so is every folder above
    /// it. In a folder that stands for a machine it only has to be there.
    pub(crate) fn is_kept_by_root(&self, path: impl AsRef<Path>) -> bool {
        let place = self.resolve(path.as_ref());
        if !self.is_live() {
            return place.exists();
        }
        place.ancestors().all(|one| {
            // A disk is not replaced by who may write to it.
            fs::symlink_metadata(one).is_ok_and(|facts| {
                let is_shared = facts.mode() & 0o022 != 0 && !facts.file_type().is_block_device();
                facts.uid() == 0 && !is_shared && !facts.is_symlink()
            })
        })
    }

    /// Returns where a symbolic link leads, in its own words; `None` for what is no link.
    pub fn link(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        fs::read_link(self.resolve(path.as_ref())).ok()
    }

    /// Says what a path is; `None` for what is not there and for devices, pipes and sockets.
    pub(crate) fn path_kind(&self, path: impl AsRef<Path>, links: Links) -> Option<PathKind> {
        let path = self.resolve(path.as_ref());
        let facts = match links {
            Links::Keep => fs::symlink_metadata(&path),
            Links::Follow => fs::metadata(&path),
        };
        let kind = facts.ok()?.file_type();
        match () {
            () if kind.is_file() => Some(PathKind::File),
            () if kind.is_dir() => Some(PathKind::Folder),
            () if kind.is_symlink() => fs::read_link(&path).ok().map(PathKind::Link),
            () => None,
        }
    }

    /// Reads the first `limit` bytes of a file as they are, without waiting for any. What may only be
    /// written answers as if permission were refused, also to root.
    pub(crate) fn read_start(&self, path: impl AsRef<Path>, limit: usize) -> Reading<Vec<u8>> {
        self.reading(path, |place| {
            let mut bytes = Vec::new();
            let flags = becalm_kernel::file::O_NONBLOCK;
            let file = OpenOptions::new().read(true).custom_flags(flags).open(place)?;
            if file.metadata()?.permissions().mode() & 0o444 == 0 {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            file.take(limit as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }

    /// Reads a register of a CPU, whose number is the place in the file.
    pub(crate) fn read_word(&self, path: impl AsRef<Path>, place: u64) -> Reading<u64> {
        self.reading(path, |file| {
            let mut bytes = [0; 8];
            File::open(file)?.read_exact_at(&mut bytes, place)?;
            Ok(u64::from_ne_bytes(bytes))
        })
    }

    /// Writes one.
    pub(crate) fn write_word(
        &self,
        path: impl AsRef<Path>,
        place: u64,
        value: u64,
    ) -> io::Result<()> {
        self.unless_answered(path.as_ref(), &format!("{value:#x}"), |file| {
            OpenOptions::new().write(true).open(file)?.write_all_at(&value.to_ne_bytes(), place)
        })
    }

    /// Opens a file to be read again and again.
    pub(crate) fn open(&self, path: impl AsRef<Path>) -> Reading<File> {
        self.reading(path, File::open)
    }

    fn reading<T>(
        &self,
        path: impl AsRef<Path>,
        read: impl FnOnce(PathBuf) -> io::Result<T>,
    ) -> Reading<T> {
        if self.denies(path.as_ref()) {
            return Reading::NoPermission;
        }
        match read(self.resolve(path.as_ref())) {
            Ok(value) => Reading::Value(value),
            Err(error) => Reading::from_error(&error),
        }
    }

    fn denies(&self, path: &Path) -> bool {
        self.denied.iter().any(|denied| path.starts_with(denied))
    }

    /// Returns where a path of the machine lies for this process.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        // `join` would forget the root for an absolute path.
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn a_file_is_read_below_the_root_without_its_line_end() {
        let tree =
            FakeTree::new().file("/proc/version", "Linux 6.18\n").file("/sys/nul", "0-63\n\0");
        let root = SysRoot::new(tree.path());
        assert_eq!(root.read("/proc/version"), Reading::Value("Linux 6.18".into()));
        assert_eq!(root.read("/sys/nul"), Reading::Value("0-63".into()));
        assert!(root.exists("/proc/version") && !root.exists("/etc/passwd"));
    }

    #[test]
    fn absent_refused_and_failing_files_are_told_apart() {
        let tree = FakeTree::new()
            .file("/sys/secret/key", "1")
            .file("/sys/plain", "1")
            .unreadable("/sys/broken");
        let root = SysRoot::new(tree.path()).denying("/sys/secret");
        assert_eq!(root.read("/sys/none"), Reading::Absent);
        assert_eq!(root.read("/sys/plain/below"), Reading::Absent);
        assert_eq!(root.read("/sys/secret/key"), Reading::NoPermission);
        let broken = root.read("/sys/broken");
        assert!(matches!(broken, Reading::Unreadable { .. }), "{broken:?}");
        assert!(broken.why_not().unwrap().starts_with("cannot be read: "));
    }

    #[test]
    fn a_folder_is_listed_in_order() {
        let tree = FakeTree::new().file("/sys/b", "").file("/sys/a", "");
        let root = SysRoot::new(tree.path());
        assert_eq!(root.list_dir("/sys"), Reading::Value(vec!["a".into(), "b".into()]));
        assert_eq!(root.list_dir("/proc"), Reading::Absent);
    }
}
