//! What users of other tools type first: what serves instead, in one line.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::CommandError;
use crate::numbers;
use crate::refused;

/// Flags of other tools, the commands of becalm at which they are typed, and what serves instead.
const FLAGS: [(&[&str], &[&str], &str); 36] = [
    // hyperfine
    (
        &["--sort"],
        MEASURING,
        "the table lists the fastest first; the first command stays the baseline",
    ),
    (
        &["--style"],
        ALL,
        "NO_COLOR=1 turns colours off; --quiet prints only results, warnings and errors",
    ),
    (
        &["--export-csv"],
        MEASURING,
        "save with --export-json r.json; `becalm export --to csv r.json` writes CSV",
    ),
    (
        &["--export-asciidoc", "--export-orgmode"],
        MEASURING,
        "--export-markdown FILE writes a table; `becalm export --formats` lists other formats",
    ),
    (&["--show-output"], MEASURING, "--output inherit shows what the commands print"),
    (&["--reference"], &["compare"], "the first command is the baseline: put it first"),
    (&["--reference-name"], &["compare"], "the first command is the baseline; -n sets its name"),
    (
        &["-u", "--time-unit"],
        ALL,
        "each value is printed in the unit that suits it; saved files are in seconds",
    ),
    (
        &["--min-benchmarking-time"],
        MEASURING,
        "--min-rounds N makes at least N rounds; --max-time limits the time",
    ),
    (&["--debug-mode"], MEASURING, "--verbose prints everything"),
    // pyperf
    (&["--processes"], COMPARING, "each round starts a new process; --rounds N makes N rounds"),
    (
        &["--values", "--loops", "--inner-loops"],
        COMPARING,
        "becalm times processes; to time values inside one, use --harness pyperf or `becalm \
         timeit`",
    ),
    (
        &["--rigorous"],
        COMPARING,
        "becalm stops when it can decide; --margin 0.5% or --max-time 5m makes it more rigorous",
    ),
    (&["--fast"], COMPARING, "--rounds 10 or --max-time 5s makes it faster"),
    (
        &["--track-memory", "--tracemalloc"],
        MEASURING,
        "max_rss is recorded for every run; --metric max_rss bases the verdict on it",
    ),
    (
        &["--append"],
        MEASURING,
        "--export-json FILE saves this session; `becalm history add FILE` keeps it over time",
    ),
    (
        &["--inherit-environ", "--copy-env"],
        MEASURING,
        "the commands inherit the environment; --env-clear starts them without it",
    ),
    (
        &["-G", "--group-by-speed"],
        &["diff"],
        "the table already lists what changed first, with its verdict",
    ),
    (&["--table"], &["diff"], "the result is already a table"),
    (
        &["-o"],
        MEASURING,
        "--export-json FILE saves the session, which `becalm show`, `diff` and others read",
    ),
    // criterion
    (
        &["--save-baseline"],
        MEASURING,
        "--export-json FILE saves this session; `becalm diff` compares two of them",
    ),
    (&["--baseline"], &["compare"], "the first command is the baseline"),
    (&["--sample-size"], MEASURING, "--rounds N makes exactly N rounds"),
    (&["--measurement-time"], MEASURING, "--max-time limits the time"),
    (&["--warm-up-time"], MEASURING, "--warmup N makes N rounds before the measured ones"),
    // perf stat
    (&["--repeat"], MEASURING, "--rounds N makes exactly N rounds"),
    (&["-e", "--event"], COMPARING, "--counters chooses which counters are read"),
    // go test
    (
        &["-bench", "-benchtime", "-benchmem"],
        &["compare", "run"],
        "--harness go measures the benchmarks of a Go test program: becalm compare --harness go \
         ./old.test ./new.test",
    ),
    // benchstat
    (&["-alpha", "--alpha"], &["diff", "compare"], "an alpha of 0.01 is --confidence 99%"),
    (
        &["-col", "-row", "-table", "--col", "--row"],
        &["diff"],
        "becalm diffs two files: `becalm diff old.txt new.txt`",
    ),
    (
        &["-filter", "--filter", "-ignore", "--ignore"],
        &["diff"],
        "--metric chooses a metric; to choose benchmarks, export with --subject",
    ),
    (
        &["-format", "--format"],
        &["diff", "show"],
        "--json prints JSON; `becalm export` writes CSV and other formats",
    ),
    (&["-csv"], &["diff"], "--json prints JSON, from which other formats can be made"),
    (&["-sort"], &["diff"], "the table already lists what changed first, with its verdict"),
    (
        &["-delta-test", "--delta-test"],
        &["diff"],
        "becalm tests the ratio, across processes if there are several",
    ),
    (
        &["-geomean", "--geomean"],
        &["diff"],
        "each benchmark has a verdict of its own; there is no mean over them",
    ),
];

/// Commands that take the flags of a measurement.
const MEASURING: &[&str] = &["compare", "run", "timeit", "bisect"];

/// Those of them that do not have flags of pyperf.
const COMPARING: &[&str] = &["compare", "run", "bisect"];

/// Every command.
const ALL: &[&str] = &[];

/// Commands of other tools, and those of becalm that serve instead.
const COMMANDS: [(&str, &str); 16] = [
    ("compare_to", "becalm diff OLD NEW"),
    ("command", "becalm run COMMAND"),
    ("metadata", "becalm show --metadata FILE"),
    ("collect_metadata", "becalm topology"),
    ("dump", "becalm show --json FILE"),
    ("slowest", "becalm stats FILE"),
    ("system", "becalm tune, becalm check"),
    ("convert", "becalm export FILE"),
    ("benchstat", "becalm diff OLD NEW"),
    ("hyperfine", "becalm compare COMMAND COMMAND"),
    ("perf", "becalm run COMMAND"),
    ("stat", "becalm run COMMAND"),
    ("time", "becalm run COMMAND"),
    ("bench", "becalm run COMMAND, becalm run --suite"),
    ("measure", "becalm run COMMAND"),
    ("report", "becalm show FILE"),
];

/// Returns a better answer than the parser's, if there is one.
pub(crate) fn better(error: &clap::Error, words: &[OsString]) -> Option<CommandError> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            unknown_flag(error, &words).or_else(|| numbers::negative(error, &words))
        }
        ErrorKind::InvalidSubcommand => unknown_command(error, &words),
        ErrorKind::ValueValidation => numbers::refused(error),
        _ => None,
    }
    .or_else(|| refused::answer(error, &words))
}

/// Names what serves instead of a flag.
fn unknown_flag(error: &clap::Error, words: &[String]) -> Option<CommandError> {
    let given = context(error, ContextKind::InvalidArg)?;
    let command = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
    // The parser takes `-alpha` for `-a`, the first of several letters.
    let is_it = |flag: &str| {
        flag == given || words.iter().any(|word| word == flag && flag.starts_with(given.as_str()))
    };
    let (flags, _, instead) = FLAGS.iter().find(|(flags, commands, _)| {
        flags.iter().any(|flag| is_it(flag))
            && (commands.is_empty() || commands.contains(&command.as_str()))
    })?;
    let flag = flags.iter().find(|flag| is_it(flag))?;
    Some(CommandError::usage(format!("`becalm {command}` has no {flag}")).hint(instead))
}

/// Names the command that was left out, or that another tool calls by this name.
fn unknown_command(error: &clap::Error, words: &[String]) -> Option<CommandError> {
    let given = context(error, ContextKind::InvalidSubcommand)?;
    if let Some((_, instead)) = COMMANDS.iter().find(|(name, _)| *name == given) {
        return Some(
            CommandError::usage(format!("becalm has no command `{given}`"))
                .hint(format!("use: {instead}")),
        );
    }
    let is_program = given.contains(['/', ' ']) || Path::new(&given).exists();
    if !is_program {
        return None;
    }
    let at = words.iter().position(|word| *word == given)?;
    let programs: Vec<&String> =
        words[at..].iter().take_while(|word| !word.starts_with('-')).collect();
    let are_results = programs.iter().all(|name| is_no_program(Path::new(name)));
    let (command, what) = match (are_results, programs.len()) {
        (false, 1) => ("run", "to measure it"),
        (false, _) => ("compare", "to measure it"),
        (true, 1) => ("show", "to see what it contains"),
        (true, 2) => ("diff", "to compare results"),
        (true, _) => ("import", "to read results"),
    };
    let line = words[at..].iter().map(|word| shell_words::quote(word).into_owned());
    let line = line.collect::<Vec<_>>().join(" ");
    Some(
        CommandError::usage(format!("becalm has no command `{given}`"))
            .hint(format!("{what}: becalm {command} {line}")),
    )
}

/// Says whether this is a file that cannot be started.
fn is_no_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 == 0)
}

pub(crate) fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::args::command;

    pub(crate) fn answer(line: &str) -> Option<String> {
        let words: Vec<OsString> =
            shell_words::split(line).unwrap().into_iter().map(OsString::from).collect();
        let error = command().try_get_matches_from(&words).unwrap_err();
        better(&error, &words)
            .map(|better| format!("{}: {}", better.message, better.hints.join(", ")))
    }

    #[test]
    fn every_flag_of_another_tool_is_answered_at_its_commands() {
        for (flags, commands, instead) in FLAGS {
            let commands = if commands.is_empty() { &["compare"] } else { commands };
            for (flag, command) in
                flags.iter().flat_map(|flag| commands.iter().map(move |one| (flag, one)))
            {
                let said = answer(&format!("becalm {command} {flag} x"));
                let expected = format!("`becalm {command}` has no {flag}: {instead}");
                assert_eq!(said.as_deref(), Some(expected.as_str()));
            }
        }
    }

    #[test]
    fn what_serves_instead_exists() {
        let known = |word: &str| {
            let mut whole = command();
            whole.build();
            let mut all: Vec<clap::Command> = vec![whole];
            let mut found = false;
            while let Some(one) = all.pop() {
                found |= one.get_arguments().any(|arg| arg.get_long() == Some(word));
                all.extend(one.get_subcommands().cloned());
            }
            found
        };
        for (_, _, instead) in FLAGS {
            for word in instead.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
                if let Some(flag) = word.strip_prefix("--") {
                    assert!(known(flag), "--{flag} in: {instead}");
                }
            }
        }
        for (_, instead) in COMMANDS {
            let name = instead.split([' ', ',']).nth(1).unwrap();
            assert!(command().find_subcommand(name).is_some(), "{instead}");
        }
    }

    #[test]
    fn programs_without_a_command_are_answered_with_the_line_to_type() {
        let said = answer("becalm ./old './new -x'").unwrap();
        assert!(said.ends_with("to measure it: becalm compare ./old './new -x'"), "{said}");
        assert!(answer("becalm ./old").unwrap().ends_with("to measure it: becalm run ./old"));
        assert!(answer("becalm compare_to a b").unwrap().ends_with("use: becalm diff OLD NEW"));
    }

    #[test]
    fn results_without_a_command_are_to_be_compared_and_not_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "x").unwrap();
            path.display().to_string()
        };
        let (old, new) = (file("o.txt"), file("n.txt"));
        let ends = |line: &str, end: &str| {
            let said = answer(line).unwrap();
            assert!(said.ends_with(end), "{said}");
        };
        ends(
            &format!("becalm {old} {new}"),
            &format!("to compare results: becalm diff {old} {new}"),
        );
        ends(&format!("becalm {old}"), &format!("to see what it contains: becalm show {old}"));
    }
}
