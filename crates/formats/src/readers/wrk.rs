//! wrk and wrk2: what they print about load on a server.
//!
//! - `Running 30s test @ URL` begins. `Latency` and `Req/Sec` have average, deviation and maximum; the
//!   latter is per thread. Times have the suffixes us, ms, s, m and h, numbers k and M.
//! - `--latency` adds percentiles; wrk2 a spectrum in milliseconds too. With `-U` wrk2 prints a second,
//!   uncorrected distribution, which is left out.
//! - `Requests/sec` is of all threads; `Transfer/sec` is in units of 1024.
//! - Errors are there only if there were any, so their absence is 0.
//!
//! The URL is the subject, with the numbers of threads and connections; one invocation is a process. wrk counts latencies from
//! sending and adds values that it did not measure (`stats_correct`); wrk2 counts from when a request should have been sent.

use becalm_model::{Direction, ImportFact, Part, Unit};

use crate::imported::{Imported, parameters_of, single};
use crate::lines::{self, lines, number, split_quantity, time};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "wrk",
    about: "output of wrk and wrk2 (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| url(line).is_some())),
    read: Takes::File(read),
};

/// One invocation while it is read.
#[derive(Default)]
struct Run {
    url: String,
    /// Threads and connections, as they are written.
    load: [String; 2],
    has_average: bool,
    latency: [Option<f64>; 3],
    per_thread: [Option<f64>; 3],
    /// By the index in [`PERCENTILES`].
    percentiles: [Option<f64>; PERCENTILES.len()],
    requests: Option<f64>,
    transfer: Option<f64>,
    /// Sockets that could not connect, read, write or that waited too long; other statuses.
    errors: [f64; 5],
    distributions: u32,
}

const PERCENTILES: [(f64, &str); 9] = [
    (50.0, "median"),
    (75.0, "p75"),
    (90.0, "p90"),
    (95.0, "p95"),
    (99.0, "p99"),
    (99.9, "p99.9"),
    (99.99, "p99.99"),
    (99.999, "p99.999"),
    (100.0, "maximum"),
];

const ERRORS: [&str; 5] = [
    "connect errors",
    "read errors",
    "write errors",
    "timeouts",
    "other statuses than 2xx and 3xx",
];

fn read(file: &File) -> Result<Imported, ImportError> {
    let is_second = lines(file)?.any(|(_, line)| {
        line.contains("HdrHistogram") || line.trim_start().starts_with("Thread calibration:")
    });
    let mut imported = Imported::of(if is_second { "wrk2" } else { "wrk" });
    imported.known(if is_second {
        ImportFact::LatencyFromDue
    } else {
        ImportFact::LatencyFilledIn
    });
    let mut run: Option<Run> = None;
    for (line_number, line) in lines(file)? {
        if let Some(url) = url(&line) {
            end(&mut imported, run.take());
            run = Some(Run { url: url.to_owned(), ..Run::default() });
        } else if let Some(run) = &mut run {
            run.line(line.trim()).map_err(|expected| {
                ImportError::at_line(file, line_number, expected, line.trim())
            })?;
        }
    }
    end(&mut imported, run);
    Ok(imported)
}

fn url(line: &str) -> Option<&str> {
    let (_, url) = line.trim_start().strip_prefix("Running ")?.split_once(" test @ ")?;
    Some(url.trim())
}

impl Run {
    /// Reads a line; an error says what was expected.
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        if line.starts_with("Latency Distribution") {
            self.distributions += 1;
        } else if let Some(cells) = line.strip_prefix("Latency ") {
            self.has_average = true;
            self.latency = cells_of(cells, time).ok_or("three durations after `Latency`")?;
        } else if let Some(cells) = line.strip_prefix("Req/Sec ") {
            self.per_thread = cells_of(cells, decimal).ok_or("three numbers after `Req/Sec`")?;
        } else if let Some(rate) = line.strip_prefix("Requests/sec:") {
            self.requests = Some(number(rate).ok_or("a number after `Requests/sec:`")?);
        } else if let Some(rate) = line.strip_prefix("Transfer/sec:") {
            self.transfer = Some(bytes(rate).ok_or("a size after `Transfer/sec:`")?);
        } else if let Some(errors) = line.strip_prefix("Socket errors:") {
            for (error, part) in self.errors.iter_mut().zip(errors.split(',')) {
                let count = part.split_whitespace().last().and_then(number);
                *error = count.ok_or("numbers of connect, read, write and timeout errors")?;
            }
        } else if let Some(count) = line.strip_prefix("Non-2xx or 3xx responses:") {
            self.errors[4] = number(count).ok_or("a number of responses")?;
        } else if let Some((threads, rest)) = line.split_once(" threads and ")
            && let Some(connections) = rest.strip_suffix(" connections")
        {
            self.load = [threads, connections].map(str::to_owned);
        } else if self.distributions <= 1 {
            self.percentile(line);
        }
        Ok(())
    }

    /// Reads `99.000%   11.18ms`, or a row of the spectrum: `11.135  0.990000  39070  91.43`.
    fn percentile(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (percentile, value) = match words.as_slice() {
            [share, value] => (share.strip_suffix('%').and_then(number), time(value)),
            [value, share, _, _] => {
                (number(share).map(|s| s * 100.0), number(value).map(|v| v * 1e-3))
            }
            _ => return,
        };
        let (Some(percentile), Some(value)) = (percentile, value) else { return };
        let known = PERCENTILES.iter().position(|(known, _)| (known - percentile).abs() < 1e-7);
        if let Some(at) = known {
            self.percentiles[at].get_or_insert(value);
        }
    }
}

/// Reads the average, the deviation and the maximum; a value that is no number is none.
fn cells_of(text: &str, read: fn(&str) -> Option<f64>) -> Option<[Option<f64>; 3]> {
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    let [average, deviation, maximum] = words.as_slice() else { return None };
    let cell = |word: &str| match read(word) {
        None if word.contains("nan") => Some(None),
        None => None,
        value => Some(value),
    };
    Some([cell(average)?, cell(deviation)?, cell(maximum)?])
}

fn decimal(text: &str) -> Option<f64> {
    let (value, suffix) = split_quantity(text)?;
    let factor = match suffix {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(value * factor)
}

fn bytes(text: &str) -> Option<f64> {
    let (value, suffix) = split_quantity(text)?;
    let factor: f64 = match suffix {
        "B" => 1.0,
        "KB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(value * factor)
}

fn end(imported: &mut Imported, run: Option<Run>) {
    let Some(run) = run else { return };
    // A run that was cut off before its summary gave nothing.
    if !run.has_average && run.requests.is_none() {
        return;
    }
    let [threads, connections] = &run.load;
    let parameters =
        parameters_of([("url", &run.url), ("threads", threads), ("connections", connections)]);
    let subject = imported.with_parameters(&run.url, parameters);
    let named = |name: &str| Unit::Named(name.to_owned());
    let mut parts: Vec<Part> = Vec::new();
    let [mean, deviation, maximum] = run.latency;
    if let Some(mean) = mean {
        let metric = imported.benchmark("latency", "", Unit::Second, Direction::Lower);
        imported.mark(metric, "mean");
        let mut figures = vec![("mean", Some(mean)), ("standard_deviation", deviation)];
        for ((_, name), value) in PERCENTILES.iter().zip(run.percentiles) {
            let value = if *name == "maximum" { maximum.or(value) } else { value };
            figures.push((name, value));
        }
        imported.summary(subject, metric, figures);
        parts.push(single(metric, mean));
    }
    let [mean, deviation, maximum] = run.per_thread;
    if let Some(mean) = mean {
        let unit = named("requests/s");
        let metric = imported.benchmark("requests per thread", "", unit, Direction::Higher);
        imported.mark(metric, "mean");
        let figures =
            [("mean", Some(mean)), ("standard_deviation", deviation), ("maximum", maximum)];
        imported.summary(subject, metric, figures);
        parts.push(single(metric, mean));
    }
    if let Some(requests) = run.requests {
        let metric = imported.benchmark("requests", "", named("requests/s"), Direction::Higher);
        parts.push(single(metric, requests));
    }
    if let Some(transfer) = run.transfer {
        let metric = imported.benchmark("transfer", "", named("B/s"), Direction::Higher);
        parts.push(single(metric, transfer));
    }
    for (name, count) in ERRORS.iter().zip(run.errors) {
        let metric = imported.benchmark(name, "", Unit::Count, Direction::Lower);
        parts.push(single(metric, count));
    }
    parts.retain(|part| part.value.is_finite());
    imported.parts(subject, parts);
}
