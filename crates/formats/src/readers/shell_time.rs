//! The shell's `time`: `real 0m0.100s`, `user 0m0.020s`, `sys 0m0.003s`.
//!
//! bash and zsh's `bash` mode write minutes and seconds, `time -p` and POSIX only seconds. Whatever the
//! command itself printed may stand between. In many languages the decimal point is a comma (`0m0,510s`). Three lines are one process; all of a file are of one
//! subject, because nothing names the command.

use becalm_model::{Metric, Outcome, Unit, metric};

use crate::imported::Imported;
use crate::lines::{self, lines, number};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "time",
    about: "output of the shell's `time`",
    recognise: Takes::File(|file| {
        ["real", "user", "sys"]
            .iter()
            .all(|label| lines::any(file, |line| seconds(line, label).is_some()))
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("time");
    for name in [metric::WALL_TIME, metric::USER_TIME, metric::SYSTEM_TIME] {
        imported.metric(Metric::lower(name, Unit::Second));
    }
    let subject = imported.subject("command");
    let mut values = vec![None; 3];
    for (_, line) in lines(file)? {
        for (at, label) in ["real", "user", "sys"].iter().enumerate() {
            if let Some(seconds) = seconds(&line, label) {
                values[at] = Some(seconds);
            }
        }
        if values.iter().all(Option::is_some) {
            imported.process(
                subject,
                std::mem::replace(&mut values, vec![None; 3]),
                Outcome::Unknown,
            );
        }
    }
    Ok(imported)
}

fn seconds(line: &str, label: &str) -> Option<f64> {
    let text = line.strip_prefix(label)?;
    let text = text.strip_prefix(['\t', ' '])?.trim();
    let (minutes, text) = match text.split_once('m') {
        Some((minutes, seconds)) => (number(minutes)?, seconds.strip_suffix('s')?),
        None => (0.0, text),
    };
    // No shell puts anything between thousands.
    Some(minutes * 60.0 + number(&text.replacen(',', ".", 1))?).filter(|seconds| *seconds >= 0.0)
}
