//! The user's side of the service.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use becalm_kernel::poll::{self, Entry};
use becalm_kernel::user;
use becalm_model::ProcessIdentity;
use becalm_model::wire::Holder;
use serde::de::DeserializeOwned;

use super::SOCKET;
use super::answer::{Answer, Queued, Reply, Status, TimeUp};
use super::call::{Call, ServiceRefusal, VERSION, Wish};
use crate::SysRoot;
use crate::isolate::Attempt;
use crate::knobs::Situation;
use crate::steward::failure::Of;
use crate::steward::{IsolationRequest, KnobRequest, Lines, Request, StewardLost};
use crate::tune::{
    Applied, JournalFileError, LockError, NotKept, Recovered, TuneError, TuningPlan, TurnError,
    Wait, task,
};

/// How often a queue looks whether it is to be given up.
const PATIENCE: Duration = Duration::from_millis(50);

/// The connection to a steward of the service.
#[derive(Debug)]
struct Link {
    lines: Lines,
    /// Set once the steward puts the machine back by itself, or is gone.
    over: Option<TimeUp>,
}

/// The one of this process, for the starts of subjects: who starts one knows nothing of who has the machine tuned.
static LINK: Mutex<Weak<Mutex<Link>>> = Mutex::new(Weak::new());

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says whether there is a service that this user may ask. Root has no need of it.
pub(crate) fn is_there(root: &SysRoot) -> bool {
    user::effective_uid() != 0 && connect(root).is_ok()
}

fn connect(root: &SysRoot) -> io::Result<UnixStream> {
    UnixStream::connect(root.resolve(Path::new(SOCKET)))
}

/// Calls the service.
fn call(socket: UnixStream, wish: Wish) -> io::Result<Lines> {
    let lines = Lines::new(socket);
    lines.send(&Call { version: VERSION.to_owned(), wish }, None)?;
    Ok(lines)
}

/// Why nobody knows who has the machine.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// There is nobody to ask.
    #[error("no service of becalm runs on this machine: {0}")]
    NotThere(io::Error),
    /// It is not for this user.
    #[error("this user may not use the service of this machine: {0}")]
    NotForYou(io::Error),
    /// It does not answer.
    #[error("the service of this machine does not answer: {0}")]
    NoAnswer(io::Error),
    /// It does not want to.
    #[error(transparent)]
    Refused(#[from] ServiceRefusal),
}

/// Asks the service who has the machine.
pub fn status(root: &SysRoot) -> Result<Status, StatusError> {
    let socket = connect(root).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => StatusError::NotForYou(error),
        _ => StatusError::NotThere(error),
    })?;
    let asked = call(socket, Wish::Status).and_then(|mut lines| lines.receive());
    match asked.map_err(StatusError::NoAnswer)? {
        Some((Answer::Status(status), _)) => Ok(status),
        Some((Answer::OtherVersion(theirs), _)) => Err(ServiceRefusal::OtherVersion(theirs).into()),
        Some((Answer::TooMany, _)) => Err(ServiceRefusal::TooMany.into()),
        _ => Err(StatusError::NoAnswer(ended())),
    }
}

fn ended() -> io::Error {
    io::Error::other("it closed the connection")
}

/// A steward of the service that works for this process. When it is dropped the machine is put back.
#[derive(Debug)]
pub(crate) struct Hired(Arc<Mutex<Link>>);

impl Hired {
    /// Takes the machine, or its place in the queue; `None` where there is no service for this user.
    pub(crate) fn begin(
        root: &SysRoot,
        command: &str,
        wait: Wait,
        stop: &dyn Fn() -> bool,
        queued: &dyn Fn(&Queued),
    ) -> Option<Result<(Self, Recovered), TuneError>> {
        let socket = (user::effective_uid() != 0).then(|| connect(root).ok())??;
        let wish = Wish::Machine { command: command.to_owned(), wait };
        Some(Self::wait_for_turn(socket, wish, stop, queued))
    }

    fn wait_for_turn(
        socket: UnixStream,
        wish: Wish,
        stop: &dyn Fn() -> bool,
        queued: &dyn Fn(&Queued),
    ) -> Result<(Self, Recovered), TuneError> {
        let mut lines = call(socket, wish).map_err(StewardLost::from)?;
        let mut holder = None;
        loop {
            let mut entry = [Entry::readable(&lines)];
            poll::wait(&mut entry, Some(PATIENCE)).map_err(StewardLost::from)?;
            let is_open = !entry[0].is_ready() || lines.fill().map_err(StewardLost::from)?.0;
            while let Some(answer) = lines.take().map_err(StewardLost::from)? {
                match answer {
                    Answer::Queued(place) => {
                        queued(&place);
                        holder = place.holder.map(|held| Holder {
                            process: task::named(held.pid),
                            command: held.command,
                        });
                    }
                    Answer::Held(holder) => return Err(LockError::Held(holder).into()),
                    Answer::OtherVersion(theirs) => {
                        return Err(ServiceRefusal::OtherVersion(theirs).into());
                    }
                    Answer::TooMany => return Err(ServiceRefusal::TooMany.into()),
                    Answer::Begun(begun) => {
                        let recovered = begun?;
                        let link = Arc::new(Mutex::new(Link { lines, over: None }));
                        *locked(&LINK) = Arc::downgrade(&link);
                        return Ok((Self(link), recovered));
                    }
                    Answer::Status(_) => {}
                }
            }
            if !is_open {
                return Err(StewardLost::from(ended()).into());
            }
            if stop() {
                return Err(LockError::Held(holder).into());
            }
        }
    }

    pub(crate) fn turn(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        let request = Request::Turn(KnobRequest::of(situation));
        locked(&self.0).ask::<Result<_, _>>(&request)?.0
    }

    pub(crate) fn isolate(
        &mut self,
        request: IsolationRequest,
    ) -> Result<Attempt, JournalFileError> {
        locked(&self.0).ask::<Result<_, _>>(&Request::Isolate(request))?.0
    }

    pub(crate) fn hold_latency(&mut self, microseconds: i32) -> io::Result<()> {
        let asked = locked(&self.0).ask(&Request::HoldLatency { microseconds });
        let answer: Result<(), Of> = asked.map_err(io::Error::other)?.0;
        answer.map_err(|Of(error)| error)
    }

    /// Says so if the steward has put the machine back already.
    pub(crate) fn time_up(&self) -> Option<TimeUp> {
        let mut link = locked(&self.0);
        let mut entry = [Entry::readable(&link.lines)];
        let looked = poll::wait(&mut entry, Some(Duration::ZERO));
        // Nothing but its farewell comes without being asked for.
        if link.over.is_none() && looked.is_ok() && entry[0].is_ready() {
            let _ = link.receive::<()>();
        }
        link.over
    }

    pub(crate) fn finish(self) -> Result<Recovered, JournalFileError> {
        let mut link = locked(&self.0);
        match link.ask(&Request::Finish) {
            Ok((restored, _)) => restored,
            Err(lost) => link.restored_before().unwrap_or_else(|| Err(lost.into())),
        }
    }

    pub(crate) fn keep(self) -> Result<ProcessIdentity, NotKept> {
        let mut link = locked(&self.0);
        match link.ask(&Request::Keep) {
            Ok((kept, _)) => kept,
            Err(lost) => {
                let why = io::Error::other(lost.why.clone());
                let restored = link.restored_before().unwrap_or_else(|| Err(lost.into()));
                Err(NotKept { why, restored })
            }
        }
    }
}

/// Asks for the way into the control group that the service has made for this process: `None` where
/// there is no such service, and nothing if it has removed the group since.
pub(crate) fn gate(root: &SysRoot) -> Option<io::Result<Option<OwnedFd>>> {
    let link = locked(&LINK).upgrade().filter(|_| root.is_live())?;
    let asked: Result<(Result<(), Of>, _), StewardLost> = locked(&link).ask(&Request::OpenGroup);
    Some(match asked {
        Ok((Ok(()), socket)) => socket.map(Some).ok_or_else(ended),
        Ok((Err(Of(error)), _)) => Err(error),
        // The subject goes on outside, and the record says so in the end.
        Err(_) => Ok(None),
    })
}

impl Link {
    fn ask<T: DeserializeOwned>(
        &mut self,
        request: &Request,
    ) -> Result<(T, Option<OwnedFd>), StewardLost> {
        if self.over.is_none() {
            // Where it is gone, what it has said before is read first.
            let _ = self.lines.send(request, None);
            if let Some(answer) = self.receive() {
                return Ok(answer);
            }
        }
        let seconds = self.over.and_then(|over| over.seconds);
        Err(StewardLost {
            why: match seconds {
                Some(seconds) => format!("the {seconds} s that the service allows a user are up"),
                None => ended().to_string(),
            },
        })
    }

    /// Receives an answer; `None` where there is a farewell instead.
    fn receive<T: DeserializeOwned>(&mut self) -> Option<(T, Option<OwnedFd>)> {
        let seconds = match self.lines.receive() {
            Ok(Some((Reply::Answer(answer), file))) => return Some((answer, file)),
            Ok(Some((Reply::TimeUp { seconds }, _))) => Some(seconds),
            Ok(Some((Reply::PutBack(_), _)) | None) | Err(_) => None,
        };
        self.over = Some(TimeUp { seconds });
        None
    }

    /// What came of putting the machine back, where the steward has done so by itself.
    fn restored_before(&mut self) -> Option<Result<Recovered, JournalFileError>> {
        // Without a farewell there is nobody to hear it from.
        self.over?.seconds?;
        match self.lines.receive::<Reply<()>>() {
            Ok(Some((Reply::PutBack(restored), _))) => Some(restored),
            _ => None,
        }
    }
}
