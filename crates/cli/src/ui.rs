//! The only place that writes to the terminal. Data go to standard output, messages to standard
//! error.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use becalm_fleet::{Frame, FrameWriter, Terminal};
use becalm_report::{Style, folded};

use crate::error::CommandError;
use crate::terminal;
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
    /// Where everything goes if this process is the far end of a connection.
    far: Option<&'static FrameWriter>,
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
        let width = terminal::width().unwrap_or(DEFAULT_WIDTH).min(LARGEST_WIDTH);
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
            far: None,
        }
    }

    /// Returns one that speaks to the terminal at the near end of a connection.
    pub(crate) fn far(terminal: Terminal, writer: &'static FrameWriter) -> Self {
        let Terminal { progress, quiet, width, table_width, colour, unicode } = terminal;
        let style = Style { width, colour, unicode };
        Self { progress, quiet, style, table_width, far: Some(writer) }
    }

    /// Returns where frames go, if this process is the far end of a connection.
    pub(crate) fn writer(&self) -> Option<&'static FrameWriter> {
        self.far
    }

    /// Returns the terminal, for a far end.
    pub(crate) fn terminal(&self) -> Terminal {
        let Style { width, colour, unicode } = self.style;
        let Self { progress, quiet, table_width, .. } = *self;
        Terminal { progress, quiet, width, table_width, colour, unicode }
    }

    /// Sends a frame, if this is the far end of a connection; says whether it is.
    fn sends(&self, frame: impl FnOnce() -> Frame) -> bool {
        let Some(writer) = self.far else { return false };
        writer.send(&frame());
        true
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

    /// Writes text to standard output that was written for no width.
    pub(crate) fn print_folded(&self, text: &str) -> Result<(), CommandError> {
        self.print(&folded(text, self.style.width))
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
    pub(crate) fn print_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), CommandError> {
        if self.far.is_some() {
            let mut text = Vec::new();
            write(&mut text).expect("memory can be written");
            return self.print_bytes(&text);
        }
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
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        if self.sends(|| Frame::Print(String::from_utf8_lossy(bytes).into_owned())) {
            return Ok(());
        }
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
        if !self.quiet && !self.sends(|| Frame::Say(text.to_string())) {
            // Nothing sensible can be done when stderr is gone.
            let _ = writeln!(anstream::stderr().lock(), "{}", self.folded(text));
        }
    }

    /// Breaks a message between words on a terminal that is narrower than usual.
    fn folded(&self, text: impl Display) -> String {
        let text = text.to_string();
        if self.style.width < DEFAULT_WIDTH { folded(&text, self.style.width) } else { text }
    }

    /// Writes a warning to stderr, even with `--quiet`.
    pub(crate) fn warn(&self, text: impl Display) {
        if self.sends(|| Frame::Warn(text.to_string())) {
            return;
        }
        let text = self.folded(format!("warning: {text}"));
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Writes an error and its hints to stderr.
    pub(crate) fn error(&self, error: &CommandError) {
        let CommandError { message, hints, .. } = error;
        if self.sends(|| Frame::Error { message: message.clone(), hints: hints.clone() }) {
            return;
        }
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{}", self.folded(format!("error: {}", error.message)));
        for hint in &error.hints {
            let _ = writeln!(out, "{}", self.folded(format!("hint: {hint}")));
        }
    }

    /// Sends lines of a session's log to the near end of a connection; here they are in a file.
    pub(crate) fn log(&self, lines: &str) {
        self.sends(|| Frame::Log(lines.to_owned()));
    }

    /// Passes on what a program on another machine wrote to standard error.
    pub(crate) fn pass_on_errors(&self, text: &str) {
        self.progress_line("");
        let _ = write!(anstream::stderr().lock(), "{text}");
    }

    /// Says what starts that may take long, to who watches; what it prints itself may follow.
    pub(crate) fn step(&self, text: impl Display) {
        if self.progress {
            self.say(text);
        }
    }

    /// Replaces the progress line; an empty one removes it.
    pub(crate) fn progress_line(&self, line: &str) {
        if self.progress && !self.sends(|| Frame::Progress(line.to_owned())) {
            // As it is: without colours a stream of text would take out what erases the line, too.
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[2K{line}");
            let _ = out.flush();
        }
    }
}
