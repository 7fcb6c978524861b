//! The only place that writes to the terminal. Data go to standard output, messages to standard
//! error.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use becalm_report::Style;

use crate::error::CommandError;
use becalm_model::wire::json_text;

/// How becalm speaks to people.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    /// Whether standard error is a terminal on which a line can be redrawn, so that a progress line
    /// makes sense.
    pub(crate) progress: bool,
    quiet: bool,
    style: Style,
    table_width: usize,
}

/// Width used where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 80;

/// Width of large tables where standard output is no terminal: files and pagers have room, and a
/// table that does not fit becomes a line for each value. Who asks for less than usual has none.
const TABLE_WIDTH: usize = 160;

/// Wider lines than this are hard to read.
const LARGEST_WIDTH: usize = 120;

impl Ui {
    /// Looks at the terminal and the environment once.
    pub(crate) fn new(quiet: bool) -> Self {
        let colour =
            anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        let width = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok())
            // What some terminals say that do not know their width.
            .filter(|&columns| columns > 0)
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
            .unwrap_or(DEFAULT_WIDTH)
            .min(LARGEST_WIDTH);
        let is_terminal = std::io::stdout().is_terminal();
        let table_width = if is_terminal || width < DEFAULT_WIDTH { width } else { TABLE_WIDTH };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
            .unwrap_or_default();
        // Without any locale (a container, a CI job) the output is still UTF-8 nearly everywhere.
        let unicode = locale.is_empty() || locale.to_lowercase().replace('-', "").contains("utf8");
        Self {
            progress: std::io::stderr().is_terminal()
                && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
                && !quiet,
            quiet,
            style: Style { width, colour, unicode },
            table_width,
        }
    }

    /// Returns one that prints only results, warnings and errors, and its progress.
    pub(crate) fn hushed(&self) -> Self {
        Self { quiet: true, ..*self }
    }

    /// Returns the style of texts on stdout.
    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// Returns how wide a large table on stdout may be.
    pub(crate) fn table_width(&self) -> usize {
        self.table_width
    }

    /// Returns how tables are written.
    pub(crate) fn table_style(&self) -> Style {
        Style { width: self.table_width, ..self.style }
    }

    /// Writes data to standard output. A closed pipe is not an error: the reader has had enough.
    pub(crate) fn print(&self, text: &str) -> Result<(), CommandError> {
        self.print_with(|out| out.write_all(text.as_bytes()))
    }

    /// Writes a document to stdout, as JSON.
    pub(crate) fn print_json(&self, document: &impl serde::Serialize) -> Result<(), CommandError> {
        self.print(&json_text(document))
    }

    /// Prints a document as JSON where that is asked for, else as the text that tells the same.
    pub(crate) fn print_either(
        &self,
        as_json: bool,
        document: &impl serde::Serialize,
        text: impl FnOnce(&Style) -> String,
    ) -> Result<(), CommandError> {
        if as_json { self.print_json(document) } else { self.print(&text(self.style())) }
    }

    /// Writes what `write` makes to standard output, piece by piece. A closed pipe is not an error
    /// here either.
    #[expect(clippy::unused_self, reason = "everything that prints goes through a Ui")]
    pub(crate) fn print_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), CommandError> {
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(CommandError::measure(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes bytes to standard output unchanged; a stream of text would remove colour sequences
    /// from them.
    #[expect(clippy::unused_self, reason = "everything that prints goes through a Ui")]
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(CommandError::measure(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes a sentence to stderr, unless `--quiet`.
    pub(crate) fn say(&self, text: impl Display) {
        if !self.quiet {
            // Nothing sensible can be done when stderr is gone.
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        }
    }

    /// Writes a warning to stderr, even with `--quiet`.
    #[expect(clippy::unused_self, reason = "everything that prints goes through a Ui")]
    pub(crate) fn warn(&self, text: impl Display) {
        let _ = writeln!(anstream::stderr().lock(), "warning: {text}");
    }

    /// Writes an error and its hints to stderr.
    #[expect(clippy::unused_self, reason = "everything that prints goes through a Ui")]
    pub(crate) fn error(&self, error: &CommandError) {
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "error: {}", error.message);
        for hint in &error.hints {
            let _ = writeln!(out, "hint: {hint}");
        }
    }

    /// Says what starts that may take long, to who watches; what it prints itself may follow.
    pub(crate) fn step(&self, text: impl Display) {
        if self.progress {
            self.say(text);
        }
    }

    /// Replaces the progress line; an empty one removes it.
    pub(crate) fn progress_line(&self, line: &str) {
        if self.progress {
            // As it is: without colours a stream of text would take out what erases the line, too.
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[2K{line}");
            let _ = out.flush();
        }
    }
}
