//! What `becalm`, `-h`, `--help` and `becalm help` print.

mod groups;
mod short;
mod topics;

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

/// Puts the commands in groups and shortens `-h`.
pub(crate) fn arranged(command: clap::Command) -> clap::Command {
    short::shortened(groups::grouped(command))
}
