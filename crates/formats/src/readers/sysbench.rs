//! sysbench: what it prints.
//!
//! - `sysbench 1.0.20 ...` begins. Each test has rates of its own: `events per second`, `Total operations: 25600
//!   (162760.29 per second)`, `transferred (1271.56 MiB/sec)`, `reads/s`, `read, MiB/s`, `transactions: 9 (0.90 per sec.)`.
//! - `Latency (ms)` has minimum, average, maximum and one percentile, the 95th unless another was asked for.
//! - `total number of events` over `total time` is the rate of tests that print none.

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number, scaled};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "sysbench",
    about: "output of sysbench",
    recognise: Takes::File(|file| {
        lines::any(file, |line| line.starts_with(BEGIN))
            && lines::any(file, |line| {
                line.trim() == "General statistics:" || line.trim() == LATENCY
            })
    }),
    read: Takes::File(read),
};

const BEGIN: &str = "sysbench ";
const LATENCY: &str = "Latency (ms):";

/// One test while it is read.
#[derive(Default)]
struct Run {
    rates: Vec<(String, Unit, f64)>,
    figures: Vec<(String, f64)>,
    is_latency: bool,
    /// The title above rates such as `read, MiB/s`.
    seconds: Option<f64>,
    events: Option<f64>,
    threads: Option<String>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("sysbench");
    let mut run: Option<Run> = None;
    for (_, line) in lines(file)? {
        if let Some(version) = line.strip_prefix(BEGIN)
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            end(&mut imported, run.take());
            imported
                .fact("sysbench_version", version.split_whitespace().next().unwrap_or_default());
            run = Some(Run::default());
        } else if let Some(run) = &mut run {
            run.line(line.trim());
        }
    }
    end(&mut imported, run);
    Ok(imported)
}

impl Run {
    fn line(&mut self, line: &str) {
        if line == LATENCY {
            self.is_latency = true;
            return;
        }
        // `25600 transferred` and the like: a rate in parentheses behind a count.
        if let Some((front, rate)) = line.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("))
            && let Some((value, unit)) = rate.split_once(' ')
            && let Some(value) = number(value)
        {
            let label = front.split(':').next().unwrap_or(front).trim();
            let (name, unit) = match unit {
                "per second" | "per sec." => (label.to_ascii_lowercase(), "1/s"),
                other => ("transferred".to_owned(), other),
            };
            if label != "events" {
                self.rate(&name, unit, value);
            }
            return;
        }
        let Some((label, text)) = line.split_once(':') else {
            if line.is_empty() {
                self.is_latency = false;
            }
            return;
        };
        let text = text.trim();
        if label == "Number of threads" {
            self.threads = Some(text.to_owned());
        }
        let Some(value) = number(text.trim_end_matches('s')) else { return };
        match label {
            "min" | "avg" | "max" if self.is_latency => {
                let name = match label {
                    "min" => "minimum",
                    "avg" => "mean",
                    _ => "maximum",
                };
                self.figures.push((name.to_owned(), value * 1e-3));
            }
            "total time" => self.seconds = Some(value),
            "total number of events" => self.events = Some(value),
            "events per second" => self.rate("events", "1/s", value),
            other if self.is_latency && other.ends_with("percentile") => {
                let digits: String =
                    other.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                self.figures.push((format!("p{digits}"), value * 1e-3));
            }
            // `reads/s`, and `read, MiB/s`.
            other if other.ends_with("/s") => match other.split_once(", ") {
                Some((name, unit)) => self.rate(name, unit, value),
                None => self.rate(other.trim_end_matches("/s"), "1/s", value),
            },
            _ => {}
        }
    }

    fn rate(&mut self, name: &str, written: &str, value: f64) {
        let (unit, factor) = match written {
            "1/s" => (Unit::Named("1/s".to_owned()), 1.0),
            other => scaled(other),
        };
        self.rates.push((name.to_owned(), unit, value * factor));
    }
}

fn end(imported: &mut Imported, run: Option<Run>) {
    let Some(mut run) = run else { return };
    if run.rates.is_empty()
        && let (Some(events), Some(seconds)) = (run.events, run.seconds)
        && seconds > 0.0
    {
        run.rate("events", "1/s", events / seconds);
    }
    if run.rates.is_empty() && run.figures.is_empty() {
        return;
    }
    let parameters = run.threads.map(|threads| ("threads".to_owned(), threads));
    let subject = imported.with_parameters("sysbench", parameters.into_iter().collect());
    let mut parts: Vec<Part> = Vec::new();
    for (name, unit, rate) in run.rates {
        let metric = imported.benchmark(&name, "", unit, Direction::Higher);
        if !parts.iter().any(|part| part.metric == metric) {
            parts.push(single(metric, rate));
        }
    }
    if let Some((_, mean)) = run.figures.iter().find(|(name, _)| name == "mean") {
        let metric = imported.benchmark("latency", "", Unit::Second, Direction::Lower);
        imported.stand_in(metric, "mean");
        parts.push(single(metric, *mean));
        let figures = run.figures.iter().map(|(name, value)| (name.clone(), Some(*value)));
        imported.summary(subject, metric, figures.collect::<Vec<_>>());
    }
    imported.parts(subject, parts);
}
