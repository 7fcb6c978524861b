//! becalm's side: what it asks the steward for.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::MutexGuard;
use std::time::Duration;

use becalm_kernel::poll::{self, Entry};
use becalm_model::ProcessIdentity;
use becalm_model::ablate::MitigationEffect;
use serde::de::DeserializeOwned;

use super::failure::Of;
use super::lines::Lines;
use super::request::{KnobRequest, Request};
use super::{IsolationRequest, StewardLost, link};
use crate::SysRoot;
use crate::energy::{EnergyReading, NoEnergy};
use crate::isolate::Attempt;
use crate::knobs::Situation;
use crate::tracefs::Described;
use crate::tune::{
    Applied, JournalFileError, NotKept, Recovered, TuneError, TuningPlan, TurnError, Wait,
};

/// How often a queue looks whether it is to be given up.
const PATIENCE: Duration = Duration::from_millis(50);

/// The steward of this process.
#[derive(Debug)]
pub(crate) struct Steward {
    lines: MutexGuard<'static, Lines>,
}

impl From<io::Error> for StewardLost {
    fn from(error: io::Error) -> Self {
        Self { why: error.to_string() }
    }
}

impl From<StewardLost> for JournalFileError {
    fn from(lost: StewardLost) -> Self {
        Self::Steward(lost.to_string())
    }
}

impl From<StewardLost> for TurnError {
    fn from(lost: StewardLost) -> Self {
        Self::Journal(lost.into())
    }
}

impl Steward {
    /// Returns the steward, where there is one for this machine.
    pub(crate) fn of(root: &SysRoot) -> Option<Self> {
        Some(Self { lines: link(root)? })
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, StewardLost> {
        self.lines.send(request, None)?;
        Ok(self.answer()?.0)
    }

    fn answer<T: DeserializeOwned>(&mut self) -> io::Result<(T, Option<std::os::fd::OwnedFd>)> {
        self.lines.receive()?.ok_or_else(|| io::Error::other("it has ended"))
    }

    /// See [`crate::tune::Tuning::begin`].
    pub(crate) fn begin(
        &mut self,
        command: &str,
        wait: Wait,
        stop: &dyn Fn() -> bool,
    ) -> Result<Recovered, TuneError> {
        let request = Request::Begin { command: command.to_owned(), wait };
        self.lines.send(&request, None).map_err(StewardLost::from)?;
        let mut is_stopped = false;
        loop {
            let mut entry = [Entry::readable(&*self.lines)];
            poll::wait(&mut entry, Some(PATIENCE)).map_err(StewardLost::from)?;
            if entry[0].is_ready() {
                let answer: Result<Recovered, TuneError> =
                    self.answer().map_err(StewardLost::from)?.0;
                return answer;
            }
            if !is_stopped && stop() {
                self.lines.send(&Request::Stop, None).map_err(StewardLost::from)?;
                is_stopped = true;
            }
        }
    }

    /// See [`crate::tune::Tuning::turn`].
    pub(crate) fn turn(
        &mut self,
        situation: &Situation<'_>,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        self.ask::<Result<_, _>>(&Request::Turn(KnobRequest::of(situation)))?
    }

    /// See [`crate::tune::Tuning::isolate`].
    pub(crate) fn isolate(
        &mut self,
        request: IsolationRequest,
    ) -> Result<Attempt, JournalFileError> {
        self.ask::<Result<_, _>>(&Request::Isolate(request))?
    }

    /// Opens the list of processes of the control group that the last isolation made.
    pub(crate) fn open_group(&mut self) -> io::Result<File> {
        self.lines.send(&Request::OpenGroup, None)?;
        let (answer, file): (Result<(), Of>, _) = self.answer()?;
        answer.map_err(|Of(error)| error)?;
        file.map(File::from).ok_or_else(|| io::Error::other("the answer came without a file"))
    }

    /// See [`crate::tune::Tuning::hold_latency`].
    pub(crate) fn hold_latency(&mut self, microseconds: i32) -> io::Result<()> {
        self.ask_the_system(&Request::HoldLatency { microseconds })
    }

    /// See [`crate::tune::Tuning::finish`].
    pub(crate) fn finish(&mut self) -> Result<Recovered, JournalFileError> {
        self.ask::<Result<_, _>>(&Request::Finish)?
    }

    /// See [`crate::tune::Tuning::keep`].
    pub(crate) fn keep(&mut self) -> Result<ProcessIdentity, NotKept> {
        self.ask::<Result<_, NotKept>>(&Request::Keep).unwrap_or_else(|lost| {
            let why = io::Error::other(lost.why.clone());
            Err(NotKept { why, restored: Err(lost.into()) })
        })
    }

    /// Drops the page cache.
    pub(crate) fn drop_page_cache(&mut self) -> io::Result<()> {
        self.ask_the_system(&Request::DropPageCache)
    }

    /// See [`crate::tracepoints`].
    pub(crate) fn tracepoints(&mut self) -> io::Result<Described> {
        self.ask_the_system(&Request::Tracepoints)
    }

    /// See [`crate::EnergyMeter::read`].
    pub(crate) fn energy(&mut self) -> io::Result<Result<EnergyReading, NoEnergy>> {
        self.ask_the_system(&Request::Energy)
    }

    /// See [`crate::MitigationEffects::add`].
    pub(crate) fn remember(&mut self, effects: Vec<MitigationEffect>) -> io::Result<PathBuf> {
        self.ask_the_system(&Request::Remember(effects))
    }

    fn ask_the_system<T: DeserializeOwned>(&mut self, request: &Request) -> io::Result<T> {
        let answer: Result<T, Of> = self.ask(request).map_err(io::Error::other)?;
        answer.map_err(|Of(error)| error)
    }
}
