//! From interpreters and compilers to workers that are ready to be run.

use std::time::Duration;

use becalm_machine::SysRoot;
use becalm_model::terms::Counters;
use becalm_model::with_causes;
use becalm_runner::timeit::{
    Calibration, CalibrationError, CompileError, Language, Setting, Snippet, Workbench, Worker,
    calibrate,
};
use becalm_runner::{CounterPlan, Interrupt, LaunchError, Program};

use super::amount::{AmountFlags, loops};
use crate::error::CommandError;
use crate::exit::Exit;
use becalm_session::Surroundings;

/// Where the programs of version managers such as pyenv lie that only start others.
const SHIMS: &str = "/shims/";

/// A language with the interpreters or compilers to be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tools {
    /// The language.
    pub(super) language: Language,
    /// One command each, the baseline first.
    pub(super) commands: Vec<Vec<String>>,
    /// Flags of the compiler.
    pub(super) flags: Vec<String>,
}

/// A worker, and what its calibration found.
#[derive(Debug)]
pub(super) struct ReadyWorker {
    /// What it is called in reports.
    pub(super) name: String,
    /// The interpreter or compiler, in words.
    pub(super) tool: Vec<String>,
    /// The worker.
    pub(super) worker: Worker,
    /// Loops of each value.
    pub(super) loops: u64,
    /// Seconds that a value takes.
    pub(super) value: f64,
    /// What the interpreter calls itself; empty where it does not know.
    pub(super) version: String,
}

/// Workers that are ready to be run, as long as this lives.
#[derive(Debug)]
pub(super) struct Ready {
    /// One for each interpreter or compiler, the baseline first.
    pub(super) workers: Vec<ReadyWorker>,
    /// Where they lie, removed in the end.
    _workbench: Workbench,
}

impl Tools {
    /// Finds out language and programs. The interpreter that is compared to is the baseline.
    pub(super) fn of(
        language: Option<Language>,
        interpreter: Option<&str>,
        compare_to: Option<&str>,
        flags: &[String],
    ) -> Result<Self, CommandError> {
        let given = |flag: &str, text: Option<&str>| text.map(|text| words(flag, text)).transpose();
        let baseline = given("--compare-to", compare_to)?;
        let own = given("--interpreter", interpreter)?;
        let guessed = own.iter().chain(&baseline).find_map(|words| Language::of_program(&words[0]));
        let language = match (language, guessed, &own) {
            (Some(language), _, _) | (None, Some(language), _) => language,
            (None, None, None) if baseline.is_none() => Language::Python,
            (None, None, _) => {
                return Err(CommandError::usage(
                    "the name of the program does not tell its language",
                )
                .hint("say it with --lang"));
            }
        };
        let own = match own {
            Some(words) => words,
            None => usual(language)?,
        };
        let mut compiler_flags = Vec::new();
        for text in flags {
            compiler_flags.extend(words_or_none("--flags", text)?);
        }
        if flags.is_empty() {
            let optimise = if language == Language::Rust { "-O" } else { "-O2" };
            compiler_flags.push(optimise.to_owned());
        } else if !language.is_compiled() {
            return Err(CommandError::usage(format!(
                "--flags are for a compiler, and {} has none",
                language.name()
            ))
            .hint("give an interpreter its flags with it, as in --interpreter 'python3 -O'"));
        }
        let commands = baseline.into_iter().chain([own]).collect();
        Ok(Self { language, commands, flags: compiler_flags })
    }

    /// Returns what each is called in reports: its command, with a number where two are the same.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for words in &self.commands {
            let base = shell_words::join(words);
            let same = names.iter().filter(|name| **name == base).count();
            names.push(if same == 0 { base } else { format!("{base} #{}", same + 1) });
        }
        names
    }
}

/// Returns the usual program of a language, or that of the variable which names it by custom.
fn usual(language: Language) -> Result<Vec<String>, CommandError> {
    let variable = language.program_variable();
    match variable.and_then(|name| std::env::var(name).ok().map(|text| (name, text))) {
        Some((name, text)) if !text.trim().is_empty() => words(&format!("${name}"), &text),
        _ => Ok(vec![language.program().to_owned()]),
    }
}

fn words(flag: &str, text: &str) -> Result<Vec<String>, CommandError> {
    let words = words_or_none(flag, text)?;
    if words.is_empty() {
        return Err(CommandError::usage(format!("{flag} names no program")));
    }
    Ok(words)
}

fn words_or_none(flag: &str, text: &str) -> Result<Vec<String>, CommandError> {
    shell_words::split(text).map_err(|error| CommandError::usage(format!("{flag} {text}: {error}")))
}

/// Makes the workers and finds out their loops.
pub(super) fn ready(
    snippet: &Snippet,
    tools: &Tools,
    amount: &AmountFlags,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
) -> Result<Ready, CommandError> {
    let user = surroundings.placement.user.as_ref();
    let workbench = Workbench::create(snippet, user).map_err(|error| {
        CommandError::measure(format!("no folder for the code can be made: {error}"))
    })?;
    let (counters, _) = CounterPlan::probe(&SysRoot::default(), Counters::None);
    let setting = Setting {
        environment: &surroundings.environment,
        placement: &surroundings.placement,
        counters: &counters,
        interrupt,
    };
    let mut workers = Vec::new();
    for (index, (tool, name)) in tools.commands.iter().zip(tools.names()).enumerate() {
        let worker = if tools.language.is_compiled() {
            let made = workbench.compiled(tool, &tools.flags, index, user);
            made.map_err(|error| not_compiled(&error, tools.language, interrupt))?
        } else {
            workbench.interpreted(tool)
        };
        // The loops that the user gives are tried too, once: so a mistake in the code is told before the session.
        let given = loops(amount.loops);
        let least = if given.is_some() { Duration::from_nanos(1) } else { amount.min_time };
        let found = calibrate(&worker, least, setting)
            .map_err(|error| not_calibrated(&error, tools.language))?;
        let worker = without_shim(worker, &found, surroundings);
        workers.push(ReadyWorker {
            name,
            tool: tool.clone(),
            worker,
            loops: given.unwrap_or(found.loops),
            value: value(&found, given),
            version: found.version,
        });
    }
    Ok(Ready { workers, _workbench: workbench })
}

/// Returns about how long a value takes, as far as it is known: where the user gave the loops only one was
/// tried, and that is no measure of many unless it is a long one.
fn value(found: &Calibration, given: Option<u64>) -> f64 {
    const LONG: f64 = 0.01;
    match given {
        None => found.seconds(),
        Some(loops) if found.seconds() > LONG => {
            found.seconds() / found.loops as f64 * loops as f64
        }
        Some(_) => 0.0,
    }
}

/// Runs the interpreter itself instead of the script of a version manager that looks for it each time.
fn without_shim(worker: Worker, found: &Calibration, surroundings: &Surroundings) -> Worker {
    let path = surroundings.environment.get("PATH".as_ref());
    let is_shim = Program::resolve(&worker.words, path, None)
        .is_ok_and(|program| program.path().to_string_lossy().contains(SHIMS));
    match &found.program {
        Some(program) if is_shim && program.is_file() => {
            let mut words = worker.words;
            words[0] = program.to_string_lossy().into_owned();
            Worker { words }
        }
        _ => worker,
    }
}

fn missing(language: Language) -> String {
    let what = if language.is_compiled() { "compiler" } else { "interpreter" };
    format!(
        "Debian and Ubuntu have it in the package {}; --interpreter names another {what}",
        language.package()
    )
}

fn not_compiled(error: &CompileError, language: Language, interrupt: &Interrupt) -> CommandError {
    if let Some(signal) = interrupt.signal() {
        let stopped = CommandError::measure("stopped while the code was compiled");
        return CommandError { exit: Exit::Signal(signal), ..stopped };
    }
    let refused = CommandError::measure(with_causes(error));
    if error.is_missing() {
        refused.hint(missing(language))
    } else {
        refused.hint(
            "functions and types belong into --global, headers into --setup '#include <...>', and what the \
             compiler has to be told, such as -lz, into --flags",
        )
    }
}

fn not_calibrated(error: &CalibrationError, language: Language) -> CommandError {
    let failed = CommandError::measure(with_causes(error));
    match error {
        CalibrationError::Launch(LaunchError::NotFound { .. }) => failed.hint(missing(language)),
        CalibrationError::Launch(LaunchError::Interrupted { signal }) => {
            CommandError { exit: Exit::Signal(*signal), ..failed }
        }
        CalibrationError::Launch(_) if language.is_compiled() => failed
            .hint("programs have to be allowed in the temporary folder; TMPDIR names another one"),
        CalibrationError::Failed { .. } => failed
            .hint("what is wrong stands above, with the lines of the statement and of its setup"),
        CalibrationError::NoWork { .. } => {
            failed.hint("does the statement do anything? hand its result to becalm_use(...)")
        }
        CalibrationError::Launch(_) | CalibrationError::Answer(_) => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Option<Language>, own: Option<&str>, to: Option<&str>, expected: &str) {
        let shown = match Tools::of(language, own, to, &[]) {
            Ok(tools) => format!("{}: {}", tools.language.name(), tools.names().join(", ")),
            Err(error) => format!("error: {}", error.message),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn language_and_program_follow_from_each_other() {
        check(None, None, None, "python: python3");
        check(Some(Language::Perl), None, None, "perl: perl");
        check(None, Some("bash"), None, "sh: bash");
        check(None, Some("node --no-opt"), None, "node: node --no-opt");
        check(Some(Language::Python), Some("./mine"), None, "python: ./mine");
        check(
            None,
            Some("./mine"),
            None,
            "error: the name of the program does not tell its language",
        );
        check(None, Some(" "), None, "error: --interpreter names no program");
    }

    #[test]
    fn what_is_compared_to_is_the_baseline() {
        check(None, None, Some("dash"), "sh: dash, sh");
        check(None, Some("bash"), Some("dash"), "sh: dash, bash");
        check(None, Some("bash"), Some("bash"), "sh: bash, bash #2");
    }

    #[test]
    fn flags_are_those_of_a_compiler() {
        let flags = |language, flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            Tools::of(Some(language), None, None, &flags).map(|tools| tools.flags)
        };
        assert_eq!(flags(Language::C, &[]).unwrap(), ["-O2"]);
        assert_eq!(flags(Language::Rust, &[]).unwrap(), ["-O"]);
        assert_eq!(flags(Language::C, &["-O3 -g", "-lz"]).unwrap(), ["-O3", "-g", "-lz"]);
        assert!(flags(Language::C, &[""]).unwrap().is_empty());
        assert!(flags(Language::Perl, &["-w"]).is_err());
    }
}
