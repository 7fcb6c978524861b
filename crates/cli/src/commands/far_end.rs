//! `becalm far-end`: carries out what a becalm on another machine asks for, over its standard streams.

use std::path::PathBuf;

use becalm_fleet::{FarEnd, FarError, Frame, FrameWriter, Job, Received, SessionWork, Work};

use crate::args::{self, Need};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{conduct, interrupt};
use crate::rights::Rights;
use crate::ui::Ui;

/// Carry out what a becalm on another machine asks for (its --on starts this)
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// Take the job from this file, instead of a connection
    #[arg(long, value_name = "FILE", requires = "frames")]
    job: Option<PathBuf>,

    /// Write frames to this file
    #[arg(long, value_name = "FILE", requires = "job")]
    frames: Option<PathBuf>,
}

/// Carries out one job. It has the rights of its own command, before it opens a file.
pub(crate) fn run(args: &Args) -> Exit {
    let mut end = match started(args) {
        Ok(end) => end,
        Err(error) => {
            Ui::new(false).error(&error);
            return error.exit;
        }
    };
    let writer = end.writer();
    let ended = end.job().map_err(CommandError::from).and_then(|job| {
        let ui = Ui::far(job.terminal, writer);
        carry_out(end, job, &ui)
    });
    let exit = ended.unwrap_or_else(|error| {
        let CommandError { exit, message, hints } = error;
        writer.send(&Frame::Error { message, hints });
        exit
    });
    writer.send(&Frame::End(exit.code()));
    writer.finish();
    exit
}

/// Opens the connection, or the files that stand for it, as the user: anybody may have named those.
fn started(args: &Args) -> Result<FarEnd, CommandError> {
    match (&args.job, &args.frames) {
        (Some(job), Some(frames)) => {
            Rights::User.take(false)?;
            Ok(FarEnd::of_files(job, frames)?)
        }
        _ => Ok(FarEnd::start()?),
    }
}

fn carry_out(end: FarEnd, mut job: Job, ui: &Ui) -> Result<Exit, CommandError> {
    if job.version != env!("CARGO_PKG_VERSION") {
        let there = &job.version;
        return Err(CommandError::measure(format!(
            "becalm {there} sent this job, but this is becalm {}",
            env!("CARGO_PKG_VERSION")
        )));
    }
    match std::mem::replace(&mut job.work, Work::Command(Vec::new())) {
        Work::Session(work) => {
            let need = Need {
                uses_the_machine: true,
                rights: Some(Rights::Steward),
                keeps_privileges: false,
            };
            args::with_rights(&need, ui, || {
                let received = end.receive(&job, interrupt()?)?;
                session(*work, &received, ui)
            })
        }
        Work::Command(arguments) => {
            let writer = end.writer();
            args::carry_out_far(&arguments, job.has_files(), ui, |rights| {
                if rights == Rights::Root {
                    // It has no files, and root makes no folder for it.
                    end.attend(interrupt()?);
                    return Ok(None);
                }
                let received = end.receive(&job, interrupt()?)?;
                Ok(Some(Outputs { received, job: &job, writer }))
            })
        }
    }
}

fn session(work: SessionWork, received: &Received, ui: &Ui) -> Result<Exit, CommandError> {
    let waits = || ui.say("waiting for the becalm whose connection was lost to end its session");
    let request = received.request(work, interrupt()?, &waits)?;
    // How it ended is for the near end to say.
    conduct(request, ui).map(|_| Exit::Done)
}

/// Sends what a command has written, when it is over.
struct Outputs<'a> {
    received: Received,
    job: &'a Job,
    writer: &'static FrameWriter,
}

impl Drop for Outputs<'_> {
    fn drop(&mut self) {
        self.received.send_outputs(self.job, self.writer);
    }
}

impl From<FarError> for CommandError {
    fn from(error: FarError) -> Self {
        Self::measure(error)
    }
}
