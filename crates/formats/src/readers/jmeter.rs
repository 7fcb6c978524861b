//! Of `JMeter`: result files, `.jtl`, as CSV and as XML.
//!
//! - CSV: `timeStamp,elapsed,label,responseCode,...,success,bytes,...,Latency,...`, one row for each request, times in
//!   milliseconds. A header is needed (`jmeter.save.saveservice.print_field_names`), as it is by default since 3. What
//!   stands between the cells is a setting (`default_delimiter`).
//! - XML: `<httpSample t="5" lt="4" ts="1447..." s="true" lb="label" ... by="4053"/>`, also `<sample>`; those that are
//!   inside others are parts of these.
//!
//! The requests of one label are the iterations of one process: they follow each other on one server. A failed
//! request has a time of its own and counts, and how many failed is a metric.

use std::collections::HashMap;

use becalm_model::{Direction, ImportFact, Part, Unit};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::imported::{Imported, part, single};
use crate::lines::{self, number};
use crate::readers::table::Table;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "jmeter",
    about: "JMeter result files (.jtl) as CSV",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| separator(text.lines().next().unwrap_or_default()).is_some())
    }),
    read: Takes::File(read_csv),
};

pub(crate) const XML: Entry = Entry {
    name: "jmeter-xml",
    about: "JMeter result files (.jtl) as XML",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| lines::beginning(text, 4096).contains("<testResults"))
    }),
    read: Takes::File(read_xml),
};

/// Returns what stands between the cells, if the line is the header of a table.
fn separator(line: &str) -> Option<u8> {
    [b',', b';', b'\t', b'|'].into_iter().find(|separator| {
        let names: Vec<&str> = line.split(char::from(*separator)).map(str::trim).collect();
        ["timeStamp", "elapsed", "label"].iter().all(|name| names.contains(name))
    })
}

/// The requests of each label, in the order of the file.
#[derive(Default)]
struct Requests {
    labels: Vec<(String, Label)>,
    places: HashMap<String, usize>,
    /// Milliseconds since the epoch of the first request and of the end of the last: in seconds they would lose digits.
    first: Option<f64>,
    last: f64,
}

#[derive(Default)]
struct Label {
    elapsed: Vec<f64>,
    waited: Vec<f64>,
    /// Of all together; `None` if the file does not say.
    bytes: Option<f64>,
    failures: f64,
}

/// One request, in milliseconds and bytes.
struct Request {
    started: Option<f64>,
    elapsed: f64,
    waited: Option<f64>,
    bytes: Option<f64>,
    is_success: bool,
}

impl Requests {
    fn add(&mut self, label: &str, one: &Request) {
        let place = *self.places.entry(label.to_owned()).or_insert_with(|| {
            self.labels.push((label.to_owned(), Label::default()));
            self.labels.len() - 1
        });
        let of = &mut self.labels[place].1;
        of.elapsed.push(one.elapsed * MILLISECOND);
        of.waited.extend(one.waited.map(|time| time * MILLISECOND));
        if let Some(bytes) = one.bytes {
            *of.bytes.get_or_insert(0.0) += bytes;
        }
        of.failures += f64::from(u8::from(!one.is_success));
        if let Some(started) = one.started {
            self.first = Some(self.first.map_or(started, |first| first.min(started)));
            self.last = self.last.max(started + one.elapsed);
        }
    }

    fn import(self) -> Imported {
        let mut imported = Imported::of("JMeter");
        imported.known(ImportFact::LatencyFromSending);
        imported.started_at(self.first.unwrap_or(0.0) * MILLISECOND);
        let subject = imported.subject("JMeter");
        let seconds = self.first.map(|first| (self.last - first) * MILLISECOND);
        let seconds = seconds.filter(|seconds| *seconds > 0.0);
        let mut parts: Vec<Part> = Vec::new();
        for (label, of) in self.labels {
            let name = if label.is_empty() { "request" } else { &label };
            let count = of.elapsed.len() as f64;
            let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
            parts.extend(part(metric, of.elapsed));
            let metric = imported.benchmark(name, "latency", Unit::Second, Direction::Lower);
            parts.extend(part(metric, of.waited));
            let metric = imported.benchmark(name, "failures", Unit::Count, Direction::Lower);
            parts.push(single(metric, of.failures));
            if let Some(seconds) = seconds {
                let sums = [("requests", "requests/s", Some(count)), ("transfer", "B/s", of.bytes)];
                for (measure, unit, sum) in sums {
                    let Some(sum) = sum else { continue };
                    let unit = Unit::Named(unit.to_owned());
                    let metric = imported.benchmark(name, measure, unit, Direction::Higher);
                    parts.push(single(metric, sum / seconds));
                }
            }
        }
        imported.parts(subject, parts);
        imported
    }
}

const MILLISECOND: f64 = 1e-3;

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let separator = file.text()?.lines().next().and_then(separator).unwrap_or(b',');
    let mut table = Table::separated(file, separator, |_| true)?;
    for column in ["elapsed", "label"] {
        table.require(column)?;
    }
    let mut requests = Requests::default();
    while let Some(row) = table.next()? {
        let value = |column: &str| match row.text(column) {
            "" => Ok(None),
            text => number(text)
                .map(Some)
                .ok_or_else(|| row.wrong(&format!("a number as {column}"), text)),
        };
        let Some(elapsed) = value("elapsed")? else {
            return Err(row.wrong("a number as elapsed", ""));
        };
        // Times may also be written as dates, of which the format is a setting.
        let started = number(row.text("timeStamp"));
        let one = Request {
            started,
            elapsed,
            waited: value("Latency")?,
            bytes: value("bytes")?,
            is_success: row.text("success") != "false",
        };
        requests.add(row.text("label"), &one);
    }
    Ok(requests.import())
}

fn read_xml(file: &File) -> Result<Imported, ImportError> {
    let mut reader = Reader::from_str(file.text()?);
    let mut requests = Requests::default();
    let mut depth = 0_usize;
    loop {
        let line = |reader: &Reader<&[u8]>| {
            let at = usize::try_from(reader.buffer_position()).unwrap_or(0).min(file.bytes().len());
            memchr::memchr_iter(b'\n', &file.bytes()[..at]).count() + 1
        };
        match reader.read_event() {
            Ok(Event::Eof) => return Ok(requests.import()),
            Ok(Event::Start(tag)) if is_sample(&tag) => {
                if depth == 0 {
                    add_sample(&mut requests, &tag);
                }
                depth += 1;
            }
            Ok(Event::Empty(tag)) if is_sample(&tag) && depth == 0 => {
                add_sample(&mut requests, &tag);
            }
            Ok(Event::End(tag)) if ["httpSample", "sample"].contains(&tag.name().as_ref()) => {
                depth = depth.saturating_sub(1);
            }
            Ok(_) => {}
            Err(error) => {
                return Err(ImportError::at_line(file, line(&reader), "XML", &error.to_string()));
            }
        }
    }
}

fn is_sample(tag: &BytesStart<'_>) -> bool {
    ["httpSample", "sample"].contains(&tag.name().as_ref())
}

fn add_sample(requests: &mut Requests, tag: &BytesStart<'_>) {
    let text = |wanted: &str| -> Option<String> {
        let found = tag.attributes().flatten().find(|one| one.key.as_ref() == wanted)?;
        Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    };
    let value = |wanted: &str| text(wanted).as_deref().and_then(number);
    let Some(elapsed) = value("t") else { return };
    let one = Request {
        started: value("ts"),
        elapsed,
        waited: value("lt"),
        bytes: value("by"),
        is_success: text("s").as_deref() != Some("false"),
    };
    requests.add(&text("lb").unwrap_or_default(), &one);
}
