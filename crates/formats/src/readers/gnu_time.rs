//! GNU time, `/usr/bin/time`: with `-v`, and as it is.
//!
//! - `-v`: `Command being timed: "..."` begins, then `Label: value`; `Exit status` ends. Before it stands
//!   `Command exited with non-zero status 3` or `Command terminated by signal 9`.
//! - Without: `0.00user 0.01system 0:00.10elapsed 9%CPU (0avgtext+0avgdata 1552maxresident)k`, then a line of pagefaults.
//! - Memory is in KiB, and times are in hundredths of a second.
//!
//! The command is the subject, and each measurement of it a process.

use becalm_model::{Metric, Outcome, Unit, metric};

use crate::imported::Imported;
use crate::lines::{self, lines, number};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "gnu-time",
    about: "output of /usr/bin/time, also with -v",
    recognise: Takes::File(|file| {
        lines::any(file, |line| command(line).is_some() || brief(line).is_some())
    }),
    read: Takes::File(read),
};

const METRICS: [(&str, Unit); 7] = [
    (metric::WALL_TIME, Unit::Second),
    (metric::USER_TIME, Unit::Second),
    (metric::SYSTEM_TIME, Unit::Second),
    (metric::MAX_RSS, Unit::Byte),
    (metric::PAGE_FAULTS, Unit::Count),
    ("major_page_faults", Unit::Count),
    (metric::CONTEXT_SWITCHES, Unit::Count),
];

/// One measurement while it is read.
#[derive(Default)]
struct Run {
    command: String,
    values: [Option<f64>; METRICS.len()],
    outcome: Option<Outcome>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("GNU time");
    for (name, unit) in METRICS {
        imported.metric(Metric::lower(name, unit));
    }
    let mut run: Option<Run> = None;
    let mut ended = None;
    for (at, line) in lines(file)? {
        if let Some(outcome) = outcome(&line) {
            end(&mut imported, run.take());
            ended = Some(outcome);
        } else if let Some(command) = command(&line) {
            end(&mut imported, run.take());
            run =
                Some(Run { command: command.to_owned(), outcome: ended.take(), ..Run::default() });
        } else if let Some(values) = brief(&line) {
            end(&mut imported, run.take());
            run = Some(Run { command: "command".to_owned(), values, outcome: ended.take() });
        } else if let Some(run) = &mut run {
            run.line(line.trim())
                .map_err(|expected| ImportError::at_line(file, at, expected, line.trim()))?;
        }
    }
    end(&mut imported, run);
    Ok(imported)
}

fn end(imported: &mut Imported, run: Option<Run>) {
    let Some(run) = run.filter(|run| run.values.iter().any(Option::is_some)) else { return };
    let command = if run.command == "command" { Vec::new() } else { vec![run.command.clone()] };
    let subject = imported.command(&run.command, command, Vec::new());
    imported.process(subject, run.values.to_vec(), run.outcome.unwrap_or(Outcome::Unknown));
}

fn command(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Command being timed: \"")?.strip_suffix('"')
}

fn outcome(line: &str) -> Option<Outcome> {
    if let Some(code) = line.strip_prefix("Command exited with non-zero status ") {
        return code.trim().parse().ok().map(Outcome::Exited);
    }
    line.strip_prefix("Command terminated by signal ")?.trim().parse().ok().map(Outcome::Signalled)
}

impl Run {
    /// Reads a line; an error says what was expected.
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(rest) = line.strip_prefix("Elapsed (wall clock) time (h:mm:ss or m:ss): ") {
            self.values[0] = Some(clock(rest).ok_or("a time such as `0:01.50`")?);
            return Ok(());
        }
        if let Some((front, _)) =
            line.split_once(" pagefaults ").or_else(|| line.split_once(")pagefaults "))
        {
            self.faults(front);
            return Ok(());
        }
        let Some((label, value)) = line.rsplit_once(": ") else { return Ok(()) };
        let place = match label {
            "User time (seconds)" => 1,
            "System time (seconds)" => 2,
            "Maximum resident set size (kbytes)" => 3,
            "Minor (reclaiming a frame) page faults" => 4,
            "Major (requiring I/O) page faults" => 5,
            "Voluntary context switches" | "Involuntary context switches" => 6,
            "Exit status" => {
                let code = value.trim().parse().map_err(|_| "an exit status")?;
                self.outcome.get_or_insert(Outcome::Exited(code));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let value = number(value).ok_or("a number")?;
        let value = if place == 3 { value * 1024.0 } else { value };
        *self.values[place].get_or_insert(0.0) += value;
        // Page faults are those with and without I/O.
        if place == 5 {
            *self.values[4].get_or_insert(0.0) += value;
        }
        Ok(())
    }

    /// Reads `0inputs+0outputs (0major+96minor`.
    fn faults(&mut self, text: &str) {
        let Some((_, faults)) = text.rsplit_once('(') else { return };
        let Some((major, minor)) = faults.trim_end_matches(')').split_once("major+") else {
            return;
        };
        let (major, minor) = (number(major), minor.strip_suffix("minor").and_then(number));
        self.values[5] = major;
        self.values[4] = major.zip(minor).map(|(major, minor)| major + minor);
    }
}

/// Reads the first line without `-v`.
fn brief(line: &str) -> Option<[Option<f64>; METRICS.len()]> {
    let mut words = line.split_whitespace();
    let user = number(words.next()?.strip_suffix("user")?)?;
    let system = number(words.next()?.strip_suffix("system")?)?;
    let wall = clock(words.next()?.strip_suffix("elapsed")?)?;
    let memory =
        line.split_once("avgdata ").and_then(|(_, rest)| number(rest.split_once("maxresident")?.0));
    let memory = memory.map(|kilobytes| kilobytes * 1024.0);
    Some([Some(wall), Some(user), Some(system), memory, None, None, None])
}

/// Reads `h:mm:ss` or `m:ss.cc`.
fn clock(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    for part in text.trim().split(':') {
        seconds = seconds * 60.0 + number(part).filter(|part| *part >= 0.0)?;
    }
    text.contains(':').then_some(seconds)
}
