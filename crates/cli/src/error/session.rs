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
use becalm_session::suite::{LoadTextError, SuiteError};
use becalm_session::timeit::TimeitError;
use becalm_session::{
    BuildError, EnvironmentError, Error, Fault, FileError, GitError, HarnessError, LayoutsError,
    MetricsError, PilotError, ProfileError, PutBack, QuietError, ReplacedBySetup, ResumeError,
    RevisionsError, ServerTermsError, SetupError, SubjectsError, TunedError,
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

impl From<LoadTextError> for CommandError {
    fn from(error: LoadTextError) -> Self {
        Self::usage(error)
    }
}

impl From<ServerTermsError> for CommandError {
    fn from(error: ServerTermsError) -> Self {
        SetupError::from(error).into()
    }
}

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

/// Returns what failed. A difference in how runs are made is reported with the flag that causes it.
fn message(error: &Error) -> String {
    match error {
        Error::Resume(ResumeError::OtherRuns(other)) => format!(
            "--{} cannot be combined with --resume: the earlier runs were made differently",
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

/// Returns what to do, or the state that things are in.
fn hints(error: &Error) -> Vec<String> {
    let hint = match error {
        Error::Subjects(SubjectsError::NeedsShell(_)) => {
            "add --shell to run it through one (the measurement then includes the start of the \
             shell)"
        }
        Error::Metrics(error) => return of_metrics(error),
        Error::Suite(SuiteError::NoFile(_)) => {
            "`becalm init` writes one with the benchmarks that it finds; --suite=FILE uses \
             another file"
        }
        Error::Suite(SuiteError::NoBenchmark { .. }) => {
            "give it one, in two lines: [benchmark.NAME] and command = './program'; `becalm run ./program` needs \
             no suite"
        }
        Error::Suite(SuiteError::NeedsShell { .. }) => {
            "write command = [\"sh\", \"-c\", \"...\"]; the measurement then includes the start \
             of the shell"
        }
        Error::Suite(SuiteError::Redo) => {
            "the runs of a round are independent of each other; disturbed ones are labelled"
        }
        Error::Resume(ResumeError::OtherRuns(_)) => {
            "drop it to continue the session as it was started, or start a new session"
        }
        Error::Setup(SetupError::Harness(HarnessError::Shell)) => {
            "becalm cannot insert its flags into this command; drop --shell"
        }
        Error::Setup(SetupError::Harness(HarnessError::NotRecognised(_))) => {
            "name the harness, as in --harness google-benchmark; `custom` reads what any program \
             prints"
        }
        Error::Setup(SetupError::InMemory(_)) => {
            "drop --in-memory, and start becalm in a folder on another tmpfs"
        }
        Error::Setup(SetupError::NoValgrind) => {
            "install Valgrind; on Debian and Ubuntu: apt-get install valgrind"
        }
        Error::Setup(SetupError::Servers(ServerTermsError::NoUrl(_))) => {
            "give --url 'http://127.0.0.1:{port}/', with {port} in the command too, or give the URLs of running \
             servers in place of commands"
        }
        Error::Setup(SetupError::Servers(ServerTermsError::UnusedPort(_))) => {
            "write {port} where the command takes its port, or give it by --env PORT={port}"
        }
        Error::Setup(SetupError::Servers(ServerTermsError::OnlyForServers(_))) => {
            "--load rate=2000 sends 2000 requests per second to each subject"
        }
        Error::Replaced(ReplacedBySetup { .. }) => {
            "let each setup make a program of a different name, or use --prepare, which runs \
             before each run"
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

/// Returns the hints.
fn some<const N: usize>(hints: [&str; N]) -> Vec<String> {
    hints.into_iter().filter(|hint| !hint.is_empty()).map(str::to_owned).collect()
}

fn of_metrics(error: &MetricsError) -> Vec<String> {
    match error {
        MetricsError::Simulated(_) => {
            vec!["the counted metrics are instructions and simulated_...".to_owned()]
        }
        MetricsError::HarnessOutput => {
            vec!["run the program without becalm to see what it prints".to_owned()]
        }
        MetricsError::NotRecorded { known, .. } => {
            let known = known.join(", ");
            vec![format!("recorded are {known}; --metric NAME=REGEX reads another from the output")]
        }
        _ => Vec::new(),
    }
}

fn of_build(error: &BuildError) -> &'static str {
    match error {
        BuildError::Of { source, .. } => of_build(source),
        BuildError::Git(error) => of_git(error),
        BuildError::Layouts(LayoutsError::NotBuilt(_)) => {
            "name the program by its path, as in ./prog; a script's interpreter cannot be relinked"
        }
        _ => "",
    }
}

fn of_revisions(error: &RevisionsError) -> &'static str {
    match error {
        RevisionsError::Git(error) => of_git(error),
        RevisionsError::Build(error) => of_build(error),
        RevisionsError::ChangedSubmodule(_) => {
            "commit it in the submodule and here, on a separate branch, and give that branch to \
             --rev"
        }
        _ => "",
    }
}

fn of_git(error: &GitError) -> &'static str {
    match error {
        error if error.is_of_other_owner() => {
            "the repository belongs to another user, as is usual in a container: `git config \
             --global --add safe.directory \"$PWD\"` trusts it"
        }
        GitError::NoRevision { .. } => {
            "give a branch, a tag or a commit id, or `.` for the working tree as it is"
        }
        _ => "",
    }
}

/// What to do about a clone without history.
const SHALLOW: &str =
    "this clone is shallow, so its older history is missing; `git fetch --unshallow` gets it";

fn of_bisect(error: &BisectError) -> Vec<String> {
    let hint = match error {
        BisectError::End { source, is_shallow } => {
            return some([of_git(source), if *is_shallow { SHALLOW } else { "" }]);
        }
        BisectError::NotInHistory { is_shallow: true, .. } => SHALLOW.to_owned(),
        BisectError::NotInHistory { base: Some(base), .. } => {
            let base = short_commit(base);
            format!("the newest common ancestor is {base}; if that is good too: --good {base}")
        }
        BisectError::NotInHistory { .. } => "they have no commit in common".to_owned(),
        BisectError::NoSearch { .. } => "expected a file that `becalm bisect` wrote".to_owned(),
        BisectError::Unfinished(path) => format!(
            "`becalm bisect --resume {}` continues it; to start a new search, remove the file or \
             choose another with --state",
            path.display()
        ),
        BisectError::Occupied(_) => {
            "choose another file with --state, or remove this one".to_owned()
        }
        BisectError::Another { .. } => {
            "the saved measurements do not belong to it; start a new search, without --resume"
                .to_owned()
        }
        BisectError::NoLongerBuilt(error) => {
            let built = "this commit was built before in this search, so the build now fails for another \
                 reason";
            return some([of_build(error), built]);
        }
        _ => return Vec::new(),
    };
    vec![hint]
}

fn of_timeit(error: &TimeitError) -> Vec<String> {
    let hint = match error {
        TimeitError::NoLanguage => "set the language with --lang",
        TimeitError::NoCompiler(_) => {
            "give the interpreter its flags, as in --interpreter 'python3 -O'"
        }
        TimeitError::NameTaken(_) => "choose another name for the benchmark with --name",
        TimeitError::NotCompiled { source, language } if source.is_missing() => {
            return vec![missing(*language)];
        }
        TimeitError::NotCompiled { .. } => {
            "put functions and types into --global, headers into --setup '#include <...>', and \
             compiler flags such as -lz into --flags"
        }
        TimeitError::NotCalibrated { source, language } => match source {
            CalibrationError::Launch(LaunchError::NotFound { .. }) => {
                return vec![missing(*language)];
            }
            CalibrationError::Launch(LaunchError::Interrupted { .. }) => "",
            CalibrationError::Launch(_) if language.is_compiled() => {
                "the temporary folder must allow programs to be executed; TMPDIR chooses another \
                 folder"
            }
            CalibrationError::Failed { .. } => {
                "see the message above; it names lines of the statement and of its setup"
            }
            CalibrationError::NoWork { .. } => {
                "does the statement do anything? pass its result to becalm_use(...)"
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
            return vec![format!(
                "choose it with --metric NAME; the metrics are {}",
                names.join(", ")
            )];
        }
        PilotError::NoCost => "a record that `becalm run` or `compare` saved contains it",
        PilotError::TooLittle(_) => {
            "at least two runs with values above 0 are needed; more rounds give a better plan"
        }
        PilotError::TooFewPairs { .. } => {
            "more rounds provide them; values of 0 and below do not count"
        }
        PilotError::NotRecorded(_) | PilotError::NoTime => "",
    };
    some([hint])
}

fn of_ablate(error: &AblateError) -> Vec<String> {
    match error {
        AblateError::Subject { .. } => vec!["the machine was not changed".to_owned()],
        AblateError::Nothing { reasons, .. } => reasons.clone(),
        AblateError::NoTime { enough, .. } => vec![format!(
            "--max-time {enough} is enough; --only or --skip try fewer mitigations, and a shorter \
             subject gives more runs in the same time"
        )],
        _ => Vec::new(),
    }
}

/// Names the package that contains an interpreter or a compiler.
fn missing(language: Language) -> String {
    let what = if language.is_compiled() { "compiler" } else { "interpreter" };
    format!(
        "on Debian and Ubuntu, install the package {}; --interpreter or --compare-to names another {what}",
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

/// Says what state the machine is in after an error.
pub(super) fn of_put_back(machine: &PutBack) -> Vec<String> {
    let hint = match machine {
        PutBack::Unchanged => "everything that becalm changed has been put back",
        PutBack::Everything => "the earlier changes have been put back",
        PutBack::NotEverything => "some settings could not be put back",
        PutBack::Unknown(error) => return vec![error.to_string(), RESTORE.to_owned()],
    };
    vec![hint.to_owned()]
}

/// What to do if the journal does not show whether everything is as it was.
const RESTORE: &str = "`becalm restore` tries again; a restart resets every setting";

fn of_tuned(error: &TunedError) -> &'static str {
    match error {
        TunedError::Begin { source: TuneError::Lock(LockError::Held(_)), .. } => {
            "`--wait` queues until it is done; `becalm restore` ends a `becalm tune` that a \
             guardian keeps"
        }
        TunedError::Begin { source: TuneError::Lock(lock), .. } if lock.needs_root() => {
            if SysRoot::default().exists(SOCKET) {
                "run it with sudo, or ask the administrator for access to the service of this \
                 machine (the group of /run/becalm/service.sock)"
            } else {
                "run it with sudo; becalm still runs the measured command as you"
            }
        }
        TunedError::NotAllowed(_) => {
            "`becalm machine service status` shows what users may have; sudo has no such limits"
        }
        TunedError::NotRestored(_) => RESTORE,
        _ => "",
    }
}

fn of_file(error: &FileError) -> Vec<String> {
    match error {
        FileError::Dash => {
            vec![
                "--json prints to standard output; to save to a file of that name, write ./-"
                    .to_owned(),
            ]
        }
        FileError::NotWritable { .. } => {
            let mut hints = vec![
                "nothing was started; choose a file in an existing, writable folder".to_owned(),
            ];
            if acts_for_caller() && error.is_refused() {
                hints.push(
                    "when called through sudo or the like, becalm reads and writes files with the \
                     rights of the calling user"
                        .to_owned(),
                );
            }
            hints
        }
        _ => Vec::new(),
    }
}
