//! What `becalm`, `-h`, `--help` and `becalm help` print.

mod groups;
mod short;
mod topics;

use crate::terminal;

pub(crate) use topics::topic;

/// What `becalm` alone prints.
pub(crate) const START: &str = "\
Compare two programs:        becalm compare ./old ./new
Compare two commits:         becalm compare --rev main --rev . --build make ./program
Measure one:                 becalm run ./program
What this machine resolves:  becalm compare --aa ./program
What disturbs this machine:  becalm check

All commands: becalm --help. The flags of one: becalm compare -h
Concepts: becalm help verdict, margin, noise or limits
";

/// On a terminal with fewer columns the help of a flag begins on a line of its own.
const NARROW: usize = 60;

/// Puts the commands in groups, shortens `-h`, and fits all help to the terminal.
pub(crate) fn arranged(command: clap::Command) -> clap::Command {
    let Some(width) = terminal::width() else {
        return short::shortened(groups::grouped(command, usize::MAX));
    };
    let command = short::shortened(groups::grouped(command, width));
    if width < NARROW {
        command.next_line_help(true).term_width(width)
    } else {
        command.term_width(width)
    }
}
