//! `ab` of Apache: what it prints.
//!
//! - `Server Hostname`, `Server Port` and `Document Path` are the URL, `Concurrency Level` is a parameter.
//! - `Time per request` stands there twice: that of one request is the first. Other times are in whole milliseconds.
//! - `Kbytes` are 1024 bytes. `Failed requests` are those that broke off or had another length; other statuses than 2xx are
//!   counted apart, and only if there are any.

use becalm_model::{Direction, ImportFact};

use crate::imported::Imported;
use crate::lines::{self, lines, number};
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "apache-bench",
    about: "output of ab (ApacheBench)",
    recognise: Takes::File(|file| lines::any(file, |line| line.starts_with(BEGIN))),
    read: Takes::File(read),
};

const BEGIN: &str = "This is ApacheBench, Version ";

/// What was read of one invocation.
#[derive(Default)]
struct Run {
    load: Load,
    address: [String; 3],
    is_tls: bool,
    failed: f64,
    other_statuses: f64,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("ab");
    imported.known(ImportFact::LatencyFromSending);
    let mut run: Option<Run> = None;
    for (at, line) in lines(file)? {
        if line.starts_with(BEGIN) {
            end(&mut imported, run.take());
            run = Some(Run::default());
        } else if let Some(run) = &mut run {
            run.line(&line)
                .ok_or_else(|| ImportError::at_line(file, at, "a number", line.trim()))?;
        }
    }
    end(&mut imported, run);
    Ok(imported)
}

impl Run {
    /// Reads a line; `None` if what should be a number is none.
    fn line(&mut self, line: &str) -> Option<()> {
        const MILLISECOND: f64 = 1e-3;
        let load = &mut self.load;
        if let Some((label, rest)) = line.split_once(':') {
            let rest = rest.trim();
            let first = || rest.split_whitespace().next().and_then(number);
            match label.trim() {
                "Server Hostname" => rest.clone_into(&mut self.address[0]),
                "Server Port" => rest.clone_into(&mut self.address[1]),
                "Document Path" => rest.clone_into(&mut self.address[2]),
                "SSL/TLS Protocol" => self.is_tls = true,
                "Concurrency Level" => load.parameters.push(("concurrency", rest.to_owned())),
                "Failed requests" => self.failed = first()?,
                "Non-2xx responses" => self.other_statuses = first()?,
                "Requests per second" => load.requests = Some(first()?),
                "Time per request" if load.latency.is_none() => {
                    let mean = first()? * MILLISECOND;
                    load.latency = Some(("mean", mean));
                    load.figure("mean", Some(mean));
                }
                "Transfer rate" => load.transfer = Some(first()? * 1024.0),
                "Total" => {
                    let words: Vec<f64> = rest.split_whitespace().filter_map(number).collect();
                    if let [least, _, deviation, median, most] = words[..] {
                        let all = [
                            ("minimum", least),
                            ("standard_deviation", deviation),
                            ("median", median),
                            ("maximum", most),
                        ];
                        for (name, value) in all {
                            load.figure(name, Some(value * MILLISECOND));
                        }
                    }
                }
                _ => {}
            }
        } else if let Some((share, rest)) = line.split_once('%')
            && let Some(share) = number(share).filter(|share| ![50.0, 100.0].contains(share))
            && let Some(value) = rest.split_whitespace().next().and_then(number)
        {
            load.figure(format!("p{share}"), Some(value * MILLISECOND));
        }
        Some(())
    }
}

fn end(imported: &mut Imported, run: Option<Run>) {
    let Some(mut run) = run else { return };
    let scheme = if run.is_tls { "https" } else { "http" };
    let [host, port, path] = &run.address;
    run.load.name = format!("{scheme}://{host}:{port}{path}");
    let counts = [("failed requests", run.failed), ("other statuses than 2xx", run.other_statuses)];
    run.load.counts = counts.map(|(name, count)| (name, Direction::Lower, count)).to_vec();
    run.load.add(imported);
}
