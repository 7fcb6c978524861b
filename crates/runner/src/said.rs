//! The end of what a program said: kept in memory, shown where it failed.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

use becalm_kernel::memory::{file_in_memory, give_back_start};

/// Bytes of standard error from which its beginning is forgotten.
const MOST: u64 = 4 << 20;

/// Most bytes of the end that are shown.
const SHOWN_BYTES: u64 = 16 << 10;

/// Most characters of a line that are shown.
const LINE: usize = 400;

/// The standard error of one run. A pipe would wake becalm at each line, and `/dev/null` says nothing afterwards.
#[derive(Debug)]
pub(crate) struct Kept(File);

impl Kept {
    pub(crate) fn open() -> io::Result<Self> {
        file_in_memory(c"standard-error").map(Self)
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }

    /// Forgets the beginning where there is much. Where the kernel refuses it, all of it stays until the run ends.
    pub(crate) fn forget_beginning(&self) {
        let length = self.0.metadata().map_or(0, |facts| facts.len());
        if length > MOST {
            let _ = give_back_start(&self.0, length - SHOWN_BYTES);
        }
    }

    /// Says whether a line of what is kept contains a text.
    pub(crate) fn contains(&self, text: &str) -> bool {
        let mut bytes = Vec::new();
        // The position in the file is shared with whoever writes.
        let length = self.0.metadata().map_or(0, |facts| facts.len());
        bytes.resize(usize::try_from(length.min(MOST)).unwrap_or(0), 0);
        let from = length - bytes.len() as u64;
        self.0.read_exact_at(&mut bytes, from).is_ok()
            && String::from_utf8_lossy(&bytes).lines().any(|line| line.contains(text))
    }

    /// Returns the last lines.
    pub(crate) fn last_lines(mut self, most: usize) -> Vec<String> {
        last_lines(&mut self.0, most).unwrap_or_default()
    }
}

/// Returns the last lines of a file, at most so many, without what would steer a terminal.
///
/// # Errors
///
/// If it cannot be read.
pub fn last_lines(file: &mut File, most: usize) -> io::Result<Vec<String>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(SHOWN_BYTES).read_to_end(&mut bytes)?;
    Ok(lines_of(&bytes, most))
}

/// Returns the last lines of a text, as [`last_lines`] does.
pub(crate) fn lines_of(bytes: &[u8], most: usize) -> Vec<String> {
    let from = bytes.len().saturating_sub(usize::try_from(SHOWN_BYTES).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes[from..]);
    // A file that was emptied while somebody had it open for writing begins with zeros.
    let text = text.trim_start_matches('\0').trim_end();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..].iter().map(|line| harmless(line)).collect()
}

/// Leaves out escape sequences' introducers and other control characters, and the end of a very long line.
fn harmless(line: &str) -> String {
    // What a progress bar wrote over itself is not worth showing.
    let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
    let mut shown: String = line
        .chars()
        .take(LINE)
        .map(|c| if c == '\t' { ' ' } else { c })
        .flat_map(|c| match c {
            c if c.is_control() => c.escape_default().collect::<Vec<_>>(),
            c => vec![c],
        })
        .collect();
    if line.chars().nth(LINE).is_some() {
        shown.push_str(" ...");
    }
    shown
}

/// Writes lines for the end of an error, each after a line break; nothing if there are none.
pub fn quoted(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |text, line| text + "\n  " + line)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_last_lines_are_kept_without_control_characters() {
        let text = b"one\ntwo\r\n10 %\r50 %\rdone\nthree\x1b[31m\tred\n\n";
        assert_eq!(lines_of(text, 3), ["two", "done", "three\\u{1b}[31m red"]);
        assert_eq!(lines_of(b"\0\0\0after\n", 5), ["after"]);
        assert_eq!(lines_of(b"", 5), Vec::<String>::new());
        assert_eq!(lines_of(b"\xff\n", 5), ["\u{fffd}"]);
        let long = "x".repeat(10 * LINE);
        assert_eq!(lines_of(long.as_bytes(), 5), [format!("{} ...", "x".repeat(LINE))]);
    }

    #[test]
    fn a_line_is_found_while_more_is_written() {
        let mut kept = Kept::open().unwrap();
        kept.0.write_all(b"starting\nlistening on 80").unwrap();
        assert!(kept.contains("listening") && kept.contains("on 80") && !kept.contains("ready"));
        kept.0.write_all(b"80\nready\n").unwrap();
        assert!(kept.contains("on 8080") && kept.contains("ready"));
        assert_eq!(kept.last_lines(1), ["ready"]);
    }

    #[test]
    fn the_beginning_of_much_is_given_back_and_the_end_stays() {
        let mut kept = Kept::open().unwrap();
        let line = [b'x'; 1023];
        for _ in 0..5000 {
            kept.0.write_all(&line).unwrap();
            kept.0.write_all(b"\n").unwrap();
        }
        kept.0.write_all(b"the end\n").unwrap();
        kept.forget_beginning();
        let blocks = std::os::unix::fs::MetadataExt::blocks(&kept.0.metadata().unwrap());
        assert!(blocks * 512 < 1 << 20, "{blocks}");
        assert_eq!(kept.last_lines(1), ["the end"]);
    }
}
