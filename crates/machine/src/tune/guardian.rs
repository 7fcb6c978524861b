//! A second process that puts the machine back when the first one dies.
//!
//! It is started before the first change, in its own session, with the signals that end programs
//! blocked, and shares the machine's lock as its standard output. Its standard input is a socket to
//! the owner: the end of it without a farewell means that the owner died.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use becalm_kernel::ending::{Ending, block_endings, wait_for_ending};
use becalm_kernel::{descriptor, process, signal};
use becalm_model::ProcessIdentity;

use super::lock::MachineLock;
use super::recover::recover;
use super::task::named;
use super::{Foreign, JournalFileError, Recovered};
use crate::SysRoot;

const READY: &str = "ready";
const DONE: &str = "done";
const KEEP: &str = "keep";
const KEPT: &str = "kept";

/// Returns the command line of a guardian: this very program.
pub fn guardian_of(root: &SysRoot) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("becalm").arg("guardian");
    if !root.is_live() {
        command.arg("--root").arg(root.path());
    }
    command
}

/// The owner's side of a guardian.
#[derive(Debug)]
pub(super) struct Guardian {
    child: Child,
    socket: Option<UnixStream>,
}

impl Guardian {
    /// Starts `command`, which has to call [`stand_guard`], and waits until it is ready.
    pub(super) fn start(mut command: Command, lock: &MachineLock) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // It may stay for long: whoever waits for the end of a pipe or for a lock must not wait for it.
        process::hand_on_nothing_else(&mut command);
        let child = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(lock.share()?))
            .spawn()?;
        // The command keeps its copies of what it hands on, and the end of the socket must be seen.
        drop(command);
        let guardian = Self { child, socket: Some(ours) };
        guardian.expect(READY)?;
        Ok(guardian)
    }

    /// Returns which process it is.
    pub(super) fn process(&self) -> ProcessIdentity {
        named(self.child.id())
    }

    /// Sends it home: everything is put back.
    pub(super) fn dismiss(&mut self) {
        // If it cannot be told it finds nothing to do.
        let _ = self.say(DONE);
        self.wait_for_end();
    }

    /// Leaves the tuned machine to it, with the longest wake-up latency that the CPUs may have, in
    /// microseconds.
    pub(super) fn keep(&mut self, latency: Option<i32>) -> io::Result<()> {
        let words = latency.map_or_else(|| KEEP.to_owned(), |us| format!("{KEEP} {us}"));
        self.say(&words)?;
        self.expect(KEPT)?;
        // It outlives this process: nobody waits for it.
        self.socket = None;
        Ok(())
    }

    /// Lets it put everything back, unless it was told otherwise, and waits until it has ended. It may have
    /// been killed long before: whether anything is left the journal tells.
    pub(super) fn wait_for_end(&mut self) {
        if self.socket.take().is_some() {
            // Somebody may have stopped it. It has not been waited for, so that the number is still its own.
            let _ = signal::send(self.child.id(), signal::SIGCONT);
            let _ = self.child.wait();
        }
    }

    /// Says whether it still stands guard for this process, as far as that knows.
    pub(super) fn is_on_duty(&self) -> bool {
        self.socket.is_some()
    }

    fn say(&mut self, words: &str) -> io::Result<()> {
        match &mut self.socket {
            Some(socket) => writeln!(socket, "{words}"),
            None => Ok(()),
        }
    }

    fn expect(&self, word: &str) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line)?;
        match line.trim_end() {
            heard if heard == word => Ok(()),
            "" => Err(io::Error::other("it ended immediately")),
            other => Err(io::Error::other(format!("it said `{other}`"))),
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // What it puts back now must be back before this process ends.
        self.wait_for_end();
    }
}

/// Why a guardian ended.
#[derive(Debug)]
pub enum Watch {
    /// The owner put everything back itself, or somebody else took over.
    Relieved,
    /// The owner died, or the guardian was told to end.
    Restored(Recovered),
}

/// What the guardian process does: stands by until it is dismissed or has to act.
///
/// # Errors
///
/// If it cannot be a guardian, or cannot read the journal when it has to act.
pub fn stand_guard(root: &SysRoot) -> Result<Watch, GuardError> {
    let input = descriptor::standard_input()?;
    if !is_socket(&input)? {
        return Err(GuardError::NoOwner);
    }
    process::leave_session();
    signal::outlive_file_size_limit();
    block_endings()?;
    let socket = UnixStream::from(input);
    writeln!(&socket, "{READY}")?;
    let mut lines = BufReader::new(&socket).lines();
    while let Some(Ok(line)) = lines.next() {
        if line == DONE {
            return Ok(Watch::Relieved);
        }
        let Some(latency) = line.strip_prefix(KEEP) else { continue };
        match keep(root, latency.trim(), &socket) {
            Ok(Ending::Relieved) => return Ok(Watch::Relieved),
            Ok(Ending::Asked) => {}
            // The owner learns it and ends, or is dead already. Nobody else would put things back.
            Err(error) => {
                let _ = writeln!(&socket, "{error}");
            }
        }
        break;
    }
    Ok(Watch::Restored(recover(root, Foreign::Leave)?))
}

/// Says whether a file is a socket, as an owner gives one to its guardian.
fn is_socket(file: &OwnedFd) -> io::Result<bool> {
    Ok(File::from(file.try_clone()?).metadata()?.file_type().is_socket())
}

/// Stays with the tuned machine until somebody ends that. `latency` is the longest wake-up latency
/// in microseconds, or nothing.
fn keep(root: &SysRoot, latency: &str, socket: &UnixStream) -> io::Result<Ending> {
    // Held until the end: the kernel forgets it with the file.
    let _held = match latency.parse() {
        Ok(microseconds) => Some(hold_latency(root, microseconds)?),
        Err(_) => None,
    };
    // Whoever reads what the owner says must not wait for a guardian that stays, nor whoever wants to
    // unmount the folder in which it was started.
    descriptor::mute()?;
    if root.is_live() {
        std::env::set_current_dir("/")?;
    }
    writeln!(&*socket, "{KEPT}")?;
    wait_for_ending()
}

/// Why a guardian cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// Nobody has started it who tunes the machine: to put that back would disturb whoever does.
    #[error("becalm starts its guardian itself, with a socket as standard input; this is none")]
    NoOwner,
    /// A system call failed.
    #[error("the guardian cannot work: {0}")]
    System(#[from] io::Error),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalFileError),
}

/// Asks the kernel to keep the CPUs out of idle states that take longer than `microseconds` to
/// leave, for as long as the file is open.
pub(super) fn hold_latency(root: &SysRoot, microseconds: i32) -> io::Result<File> {
    let mut file = root.open_to_hold("/dev/cpu_dma_latency")?;
    file.write_all(&microseconds.to_ne_bytes())?;
    Ok(file)
}
