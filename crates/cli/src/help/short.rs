//! `-h` of the commands that measure: the flags that people use, a line each. `--help` has them all.

/// The flags that `-h` shows, by their name in the code, each with its line.
const USED: [(&str, &str); 24] = [
    ("aa", "Compare a command with itself: how small a change is detectable?"),
    ("margin", "Smallest relative change that matters [default: 1%]"),
    ("rev", "Compare revisions (twice): branch, tag, commit, or `.`"),
    ("build", "Build with CMD first, each revision in a worktree"),
    ("harness", "The programs time themselves: go, criterion, jmh ... or auto"),
    ("warmup", "Rounds before the measured ones [default: 1]"),
    ("rounds", "Make exactly N rounds"),
    ("max_time", "Start no further round after this time"),
    ("setup", "Run CMD once for each command, before its warm-up"),
    ("prepare", "Run CMD before each run"),
    ("precision", "Stop when the median's interval is at most this wide"),
    ("parameter_list", "Substitute each value for {NAME}"),
    ("parameter_scan", "Substitute each number for {NAME}"),
    ("shell", "Run the commands through a shell, and measure its start too"),
    ("names", "Name of a command in reports, once for each"),
    ("output", "Where their output goes: null, inherit or a file [default: null]"),
    ("ignore_failure", "Use runs that fail; with CODES, only these exit codes"),
    ("isolate", "Keep everything else off their CPUs (needs root)"),
    ("tune", "Quiet the machine meanwhile: safe or strict (needs root)"),
    ("on", "Measure on another machine, by ssh"),
    ("verbose", "Print everything, as `becalm show` does afterwards"),
    ("json", "Print the record as JSON"),
    ("export_json", "Save the record, which `becalm show`, `diff` and others read"),
    ("export_html", "Save an HTML report"),
];

/// Commands with the flags of a measurement. What each has besides is shown.
const MEASURING: [&str; 3] = ["compare", "run", "bisect"];

/// Flags of a measurement are those that `run` and `compare` both have.
pub(super) fn shortened(command: clap::Command) -> clap::Command {
    let shared = shared(&command);
    command.mut_subcommands(|one| match one.get_name().to_owned() {
        name if MEASURING.contains(&name.as_str()) => short(one, &name, &shared),
        // Its blocks are comparisons.
        name if name == "fleet" => {
            one.mut_subcommand("run", |run| short(run, "fleet run", &shared))
        }
        _ => one,
    })
}

/// Shortens the help of one command.
fn short(command: clap::Command, name: &str, shared: &[String]) -> clap::Command {
    command
        .mut_args(|arg| line(arg, shared))
        .after_help(format!("`becalm {name} --help` shows all flags, with more about each."))
        .after_long_help("")
}

/// Returns the names of the flags that every measuring command has.
fn shared(command: &clap::Command) -> Vec<String> {
    let of = |name: &str| -> Vec<String> {
        let found = command.get_subcommands().find(|one| one.get_name() == name);
        let args = found.into_iter().flat_map(clap::Command::get_arguments);
        args.map(|arg| arg.get_id().to_string()).collect()
    };
    let compare = of("compare");
    of("run").into_iter().filter(|name| compare.contains(name)).collect()
}

fn line(arg: clap::Arg, shared: &[String]) -> clap::Arg {
    let id = arg.get_id().as_str();
    let used = USED.iter().find(|(name, _)| *name == id).map(|(_, line)| *line);
    // The default and the possible values are in the line, or in `--help`.
    let long = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default();
    match used {
        Some(line) => arg.help(line).long_help(long),
        None if shared.iter().any(|name| name == id) => arg.hide_short_help(true),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;

    /// Lines of a terminal that `-h` may fill.
    const SCREEN: usize = 60;

    fn of(name: &str) -> clap::Command {
        command().find_subcommand(name).unwrap().clone().term_width(100)
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        for name in MEASURING {
            let text = of(name).render_help().to_string();
            assert!(text.lines().count() <= SCREEN, "{name}: {}:\n{text}", text.lines().count());
        }
    }

    #[test]
    fn long_help_has_every_flag() {
        for name in MEASURING {
            let command = of(name);
            let text = command.clone().render_long_help().to_string();
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                if let Some(long) = arg.get_long() {
                    assert!(text.contains(&format!("--{long}")), "{name} --{long}");
                }
            }
        }
    }

    #[test]
    fn every_flag_in_the_list_is_one_of_compare_or_run() {
        let known = |id: &str| {
            MEASURING.iter().any(|name| of(name).get_arguments().any(|arg| arg.get_id() == id))
        };
        for (id, line) in USED {
            assert!(known(id), "{id}");
            assert!(line.chars().count() <= 66, "{line}");
        }
    }
}
