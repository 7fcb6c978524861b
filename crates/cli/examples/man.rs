//! Writes the manual page of every command, from the same source as its `--help`:
//! `cargo run -p becalm --example man -- FOLDER DATE`.

#![expect(clippy::print_stderr, reason = "it speaks to whoever builds the pages")]

use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, date] = &arguments[..] else {
        eprintln!("usage: man FOLDER DATE");
        return ExitCode::from(2);
    };
    match write(Path::new(folder), date) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write manual pages into {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path, date: &str) -> std::io::Result<()> {
    pages(becalm::command(), date)?
        .into_iter()
        .try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
}

/// Returns the page of a command and those of all below it, with the name of its file.
fn pages(mut command: Command, date: &str) -> std::io::Result<Vec<(String, String)>> {
    command.build();
    let mut all = Vec::new();
    append(&mut all, &command, date)?;
    Ok(all)
}

fn append(all: &mut Vec<(String, String)>, command: &Command, date: &str) -> std::io::Result<()> {
    let source = format!("becalm {}", env!("CARGO_PKG_VERSION"));
    // The usage of the help: clap_mangen would list every flag.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let man = Man::new(command.clone().override_usage(usage))
        .date(date)
        .source(source)
        .manual("becalm manual");
    let mut text = Vec::new();
    man.render(&mut text)?;
    let text = String::from_utf8(text).map_err(std::io::Error::other)?;
    all.push((man.get_filename(), headed(&text)));
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    shown.into_iter().try_for_each(|one| append(all, one, date))
}

/// Gives the parts their usual names.
fn headed(text: &str) -> String {
    text.replace("\n.SH EXTRA\n", "\n.SH NOTES\n")
        .replace("\n.SH SUBCOMMANDS\n", "\n.SH COMMANDS\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What `--help` prints, command by command; `cargo xtask test` keeps it up to date.
    const COMMANDS: &str = include_str!("../../../docs/COMMANDS.md");

    #[test]
    fn every_command_of_the_help_has_a_page() {
        let headings = COMMANDS.lines().filter_map(|line| line.strip_prefix("## `"));
        let mut documented: BTreeSet<String> =
            headings.map(|line| line.trim_end_matches('`').replace(' ', "-") + ".1").collect();
        // The reference has no part about `becalm help`.
        documented.insert("becalm-help.1".to_owned());
        let pages = pages(becalm::command(), "2026-01-01").unwrap();
        let names: BTreeSet<String> = pages.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, documented);
    }

    #[test]
    fn a_page_has_the_flags_of_its_command_and_the_given_date() {
        let pages = pages(becalm::command(), "2026-01-02").unwrap();
        let (_, text) = pages.iter().find(|(name, _)| name == "becalm-compare.1").unwrap();
        assert!(text.contains(".TH becalm-compare 1 2026-01-02"), "{text}");
        assert!(text.contains("\\-\\-margin"), "{text}");
        assert!(text.contains(".SH SYNOPSIS\n\\fBbecalm compare\\fR [OPTIONS]"), "{text}");
    }
}
