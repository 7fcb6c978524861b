//! What to do about the errors of a session.

use becalm_lab::trace::TraceError;
use becalm_machine::service::SOCKET;
use becalm_machine::tune::{LockError, TuneError};
use becalm_machine::{SysRoot, acts_for_caller};
use becalm_model::history::short_commit;
use becalm_runner::LaunchError;
use becalm_runner::timeit::{CalibrationError, Language};
use becalm_session::ablate::AblateError;
use becalm_session::bisect::BisectError;
use becalm_session::init::WalkError;
use becalm_session::suite::SuiteError;
use becalm_session::timeit::TimeitError;
use becalm_session::{
    BuildError, EnvironmentError, Error, Fault, FileError, GitError, HarnessError, LayoutsError,
    MetricsError, PilotError, ProfileError, PutBack, QuietError, ReplacedBySetup, ResumeError,
    RevisionsError, SetupError, SubjectsError, TunedError,
};

use super::CommandError;
use crate::exit::Exit;

/// Lets `?` turn the errors of the parts of a session into those of a command.
macro_rules! by_way_of_session {
    ($($type:ty),+) => {$(
        impl From<$type> for CommandError {
            fn from(error: $type) -> Self {
                Error::from(error).into()
            }
        }
    )+};
}

by_way_of_session!(
    BuildError,
    EnvironmentError,
    FileError,
    GitError,
    MetricsError,
    PilotError,
    ProfileError,
    RevisionsError,
    SetupError,
    SubjectsError,
    SuiteError,
    TimeitError,
    TraceError,
    TunedError
);

impl From<WalkError> for CommandError {
    fn from(error: WalkError) -> Self {
        Self::usage(error)
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let exit = match error.fault() {
            Fault::Usage => Exit::Usage,
            Fault::Measurement => Exit::CouldNotMeasure,
            Fault::Signal(signal) => Exit::Signal(signal),
            Fault::NotRestored => Exit::NotRestored,
        };
        Self { exit, message: message(&error), hints: hints(&error) }
    }
}

/// Returns what failed. A difference in how runs are made is told by the flag that makes it.
fn message(error: &Error) -> String {
    match error {
        Error::Resume(ResumeError::OtherRuns(other)) => format!(
            "--{} cannot be given together with --resume: the runs before were made in another way",
            flag(&other.field)
        ),
        other => other.to_string(),
    }
}

/// Returns the flag for a field of the terms of runs.
fn flag(field: &str) -> String {
    match field {
        "names" => "name".to_owned(),
        "parameters" => "parameter-list".to_owned(),
        field => field.replace('_', "-"),
    }
}

/// Returns what to do, or what state things are in.
fn hints(error: &Error) -> Vec<String> {
    let hint = match error {
        Error::Subjects(SubjectsError::NeedsShell(_)) => {
            "add --shell to run it through one (its start is then measured too)"
        }
        Error::Metrics(error) => return of_metrics(error),
        Error::Suite(SuiteError::NoFile(_)) => {
            "`becalm init` writes one from what it finds here; --suite=FILE names another file"
        }
        Error::Suite(SuiteError::NoBenchmark { .. }) => {
            "a benchmark is a table such as [benchmark.sort] with a command"
        }
        Error::Suite(SuiteError::NeedsShell { .. }) => {
            "write command = [\"sh\", \"-c\", \"...\"]; the start of the shell is then measured too"
        }
        Error::Suite(SuiteError::Redo) => {
            "the runs of a round have nothing to do with each other; disturbed ones are labelled"
        }
        Error::Resume(ResumeError::OtherRuns(_)) => {
            "leave it out to go on as the session was begun, or begin anew"
        }
        Error::Setup(SetupError::Harness(HarnessError::Shell)) => {
            "its flags could not be put in their places; leave --shell out"
        }
        Error::Setup(SetupError::Harness(HarnessError::NotRecognised(_))) => {
            "name it, as in --harness google-benchmark; `custom` reads what a program prints"
        }
        Error::Setup(SetupError::InMemory(_)) => {
            "leave --in-memory out, and start becalm in a folder on another tmpfs"
        }
        Error::Setup(SetupError::NoValgrind) => {
            "Debian and its like have it as `valgrind`: apt-get install valgrind"
        }
        Error::Replaced(ReplacedBySetup { .. }) => {
            "let each setup make a program of another name, or use --prepare, which comes before each run"
        }
        Error::Subjects(_)
        | Error::Suite(_)
        | Error::Resume(_)
        | Error::Setup(_)
        | Error::Signals(_) => "",
        Error::Build(error) => of_build(error),
        Error::Revisions(error) => of_revisions(error),
        Error::Quiet(error) => return of_quiet(error),
        Error::Tuned(error) => of_tuned(error),
        Error::Trace(error) => return vec![error.hint().to_string()],
        Error::File(error) => return of_file(error),
        Error::Bisect(error) => return of_bisect(error),
        Error::Timeit(error) => return of_timeit(error),
        Error::Pilot(error) => return of_pilot(error),
        Error::Ablate(error) => return of_ablate(error),
        Error::NotRestored(error) => return hints(error),
    };
    some([hint])
}

/// Returns the hints that there are.
fn some<const N: usize>(hints: [&str; N]) -> Vec<String> {
    hints.into_iter().filter(|hint| !hint.is_empty()).map(str::to_owned).collect()
}

fn of_metrics(error: &MetricsError) -> Vec<String> {
    match error {
        MetricsError::Simulated(_) => {
            vec!["instructions and simulated_... are counted".to_owned()]
        }
        MetricsError::HarnessOutput => {
            vec!["run the program by itself to see what it prints".to_owned()]
        }
        MetricsError::NotRecorded { known, .. } => {
            let known = known.join(", ");
            vec![format!("recorded are {known}; NAME=REGEX reads one from the output")]
        }
        _ => Vec::new(),
    }
}

fn of_build(error: &BuildError) -> &'static str {
    match error {
        BuildError::Of { source, .. } => of_build(source),
        BuildError::Git(error) => of_git(error),
        BuildError::Layouts(LayoutsError::NotBuilt(_)) => {
            "name the program by its path, as in ./prog; an interpreter cannot be linked anew"
        }
        _ => "",
    }
}

fn of_revisions(error: &RevisionsError) -> &'static str {
    match error {
        RevisionsError::Git(error) => of_git(error),
        RevisionsError::Build(error) => of_build(error),
        RevisionsError::ChangedSubmodule(_) => {
            "commit it in the submodule and here, on a branch of its own, and give that branch to --rev"
        }
        _ => "",
    }
}

fn of_git(error: &GitError) -> &'static str {
    match error {
        error if error.is_of_other_owner() => {
            "it belongs to another user, as in a container: `git config --global --add safe.directory \
             \"$PWD\"` trusts it"
        }
        GitError::NoRevision { .. } => {
            "a branch, a tag or a commit id is one; `.` is the working tree as it is"
        }
        _ => "",
    }
}

/// What to do about a clone without history.
const SHALLOW: &str =
    "this clone is shallow: its older history was left out; `git fetch --unshallow` gets it";

fn of_bisect(error: &BisectError) -> Vec<String> {
    let hint = match error {
        BisectError::End { source, is_shallow } => {
            return some([of_git(source), if *is_shallow { SHALLOW } else { "" }]);
        }
        BisectError::NotInHistory { is_shallow: true, .. } => SHALLOW.to_owned(),
        BisectError::NotInHistory { base: Some(base), .. } => {
            let base = short_commit(base);
            format!(
                "the newest commit in the history of both is {base}; if that is good too: --good {base}"
            )
        }
        BisectError::NotInHistory { .. } => "they have no commit in common".to_owned(),
        BisectError::NoSearch { .. } => "expected a file that `becalm bisect` wrote".to_owned(),
        BisectError::Unfinished(path) => format!(
            "`becalm bisect --resume {}` goes on with it; remove the file to begin anew, or choose another with \
             --state",
            path.display()
        ),
        BisectError::Occupied(_) => {
            "choose another file with --state, or remove this one".to_owned()
        }
        BisectError::Another { .. } => {
            "what was measured does not belong to it; begin anew without --resume".to_owned()
        }
        BisectError::NoLongerBuilt(error) => {
            let built = "it was built before, in this search: something else is wrong now";
            return some([of_build(error), built]);
        }
        _ => return Vec::new(),
    };
    vec![hint]
}

fn of_timeit(error: &TimeitError) -> Vec<String> {
    let hint = match error {
        TimeitError::NoLanguage => "say it with --lang",
        TimeitError::NoCompiler(_) => {
            "give an interpreter its flags with it, as in --interpreter 'python3 -O'"
        }
        TimeitError::NameTaken(_) => "give the benchmark another name, with --name",
        TimeitError::NotCompiled { source, language } if source.is_missing() => {
            return vec![missing(*language)];
        }
        TimeitError::NotCompiled { .. } => {
            "functions and types belong into --global, headers into --setup '#include <...>', and what the compiler \
             has to be told, such as -lz, into --flags"
        }
        TimeitError::NotCalibrated { source, language } => match source {
            CalibrationError::Launch(LaunchError::NotFound { .. }) => {
                return vec![missing(*language)];
            }
            CalibrationError::Launch(LaunchError::Interrupted { .. }) => "",
            CalibrationError::Launch(_) if language.is_compiled() => {
                "programs have to be allowed in the temporary folder; TMPDIR names another one"
            }
            CalibrationError::Failed { .. } => {
                "what is wrong stands above, with the lines of the statement and of its setup"
            }
            CalibrationError::NoWork { .. } => {
                "does the statement do anything? hand its result to becalm_use(...)"
            }
            CalibrationError::Launch(_) | CalibrationError::Answer(_) => "",
        },
        _ => "",
    };
    some([hint])
}

fn of_pilot(error: &PilotError) -> Vec<String> {
    let hint = match error {
        PilotError::SeveralBenchmarks(names) => {
            return vec![format!("--metric NAME chooses it; there are {}", names.join(", "))];
        }
        PilotError::NoCost => "a record that `becalm run` or `compare` saved tells it",
        PilotError::TooLittle(_) => {
            "it needs at least two runs with values above 0; more rounds give a better plan"
        }
        PilotError::TooFewPairs { .. } => {
            "more rounds give them; values of 0 and below count for none"
        }
        PilotError::NotRecorded(_) | PilotError::NoTime => "",
    };
    some([hint])
}

fn of_ablate(error: &AblateError) -> Vec<String> {
    match error {
        AblateError::Subject { .. } => vec!["the machine is as it was".to_owned()],
        AblateError::Nothing { reasons, .. } => reasons.clone(),
        AblateError::NoTime { enough, .. } => vec![format!(
            "--max-time {enough} would do; --only or --skip leave fewer mitigations, and a shorter subject tells more \
             in the same time"
        )],
        _ => Vec::new(),
    }
}

/// Names the package that has an interpreter or a compiler.
fn missing(language: Language) -> String {
    let what = if language.is_compiled() { "compiler" } else { "interpreter" };
    format!(
        "Debian and Ubuntu have it in the package {}; --interpreter names another {what}",
        language.package()
    )
}

fn of_quiet(error: &QuietError) -> Vec<String> {
    let hint = match error {
        QuietError::NoCpuLeft(_) => "leave at least one out of the list",
        QuietError::Profile(ProfileError::Senseless { .. }) => {
            "it may set profile, only, skip, also, frequency, smt and stop"
        }
        QuietError::NoCpus | QuietError::Profile(ProfileError::Read { .. }) => "",
        QuietError::Tuned(error) => of_tuned(error),
        QuietError::GivenUp { machine, .. } => return of_put_back(machine),
    };
    some([hint])
}

/// Says what became of the machine after an error.
pub(super) fn of_put_back(machine: &PutBack) -> Vec<String> {
    let hint = match machine {
        PutBack::Unchanged => "nothing that becalm has changed is left",
        PutBack::Everything => "what was changed before is put back",
        PutBack::NotEverything => "not everything could be put back",
        PutBack::Unknown(error) => return vec![error.to_string(), RESTORE.to_owned()],
    };
    vec![hint.to_owned()]
}

/// What to do where the journal does not say whether everything is as it was.
const RESTORE: &str = "`becalm restore` tries again; a restart resets every setting";

fn of_tuned(error: &TunedError) -> &'static str {
    match error {
        TunedError::Begin { source: TuneError::Lock(LockError::Held(_)), .. } => {
            "`--wait` queues until it is done; `becalm restore` ends what a guardian keeps"
        }
        TunedError::Begin { source: TuneError::Lock(lock), .. } if lock.needs_root() => {
            if SysRoot::default().exists(SOCKET) {
                "run it with sudo, or ask the administrator to let you use the service of this machine (the group \
                 of /run/becalm/service.sock)"
            } else {
                "run it with sudo; a command to be measured still runs as you"
            }
        }
        TunedError::NotAllowed(_) => {
            "`becalm machine service status` says what users may have; with sudo you may have all of it"
        }
        TunedError::NotRestored(_) => RESTORE,
        _ => "",
    }
}

fn of_file(error: &FileError) -> Vec<String> {
    match error {
        FileError::Dash => {
            vec!["--json prints to standard output; for a file of that name write ./-".to_owned()]
        }
        FileError::NotWritable { .. } => {
            let mut hints = vec![
                "nothing was begun; choose a file in a folder that exists and is writable"
                    .to_owned(),
            ];
            if acts_for_caller() && error.is_refused() {
                hints.push(
                    "called by sudo or the like, becalm reads and writes files with the rights of whoever called it"
                        .to_owned(),
                );
            }
            hints
        }
        _ => Vec::new(),
    }
}
