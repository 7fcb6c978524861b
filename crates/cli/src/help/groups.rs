//! `becalm --help`: the commands by purpose.

use std::fmt::Write as _;

use becalm_report::folded;

/// The groups, in the order in which a reader needs them.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Compare and measure",
        &["compare", "run", "timeit", "load", "plan", "bisect", "init", "demo"],
    ),
    ("Read results", &["show", "stats", "hist", "plot", "diff", "import", "export"]),
    ("Over time", &["history", "changes", "serve", "gate", "ci"]),
    (
        "The machine",
        &[
            "check",
            "tune",
            "restore",
            "noise",
            "services",
            "topology",
            "boot-params",
            "machine",
            "hosts",
            "fleet",
        ],
    ),
    ("More", &["exec", "workload", "schema", "completions", "help"]),
];

/// Makes the overall help list the commands in groups.
pub(super) fn grouped(command: clap::Command, width: usize) -> clap::Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        folded(&list(&command), width)
    );
    command.help_template(template)
}

fn list(command: &clap::Command) -> String {
    let about = |name: &str| {
        let found = command.get_subcommands().find(|one| one.get_name() == name);
        found.and_then(clap::Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let _ = writeln!(text, "  {name:<11}  {}", about(name));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;

    #[test]
    fn every_command_that_is_shown_is_in_one_group() {
        let command = command();
        let mut shown: Vec<&str> = command
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn every_command_is_one_line() {
        let text = list(&command());
        for line in text.lines() {
            assert!(line.chars().count() <= 80 && !line.ends_with("  "), "{line}");
        }
    }
}
