//! Logs of histograms: what `HdrHistogram`'s writers of several languages, wrk2's scripts and `becalm load --export-hdr` write.
//!
//! - Lines are `Tag=NAME,start,length,largest,histogram`, the tag if there is one; comments begin with `#`, and a header with
//!   names stands in quotes. The histogram is in the encoding V2, deflated, in base 64.
//! - The log has no unit. By convention the largest value is written in milliseconds, so the ratio of the largest value
//!   of a histogram to it says whether values are nanoseconds, microseconds or milliseconds.
//! - A tag is a subject, and all its intervals are one process. Logs of becalm have the tags `response` (from when a request was
//!   due), `service` (from when it was sent) and `lag`; other logs do not say from when their values count.

use std::collections::BTreeMap;

use becalm_model::ImportFact;
use becalm_model::load::LOG_OF_INVALID_LOAD;
use hdrhistogram::Histogram;

use crate::histograms;
use crate::imported::Imported;
use crate::lines::{self, lines};
use crate::readers::load::Load;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "hdr-log",
    about: "logs of HdrHistogram, with the encoding V2",
    recognise: Takes::File(|file| lines::any(file, |line| interval(line).is_some())),
    read: Takes::File(read),
};

/// Quantiles that are figures.
const FIGURES: [(f64, &str); 8] = [
    (0.5, "median"),
    (0.75, "p75"),
    (0.9, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (0.9999, "p99.99"),
    (1.0, "maximum"),
];

/// What histograms begin with, in base 64: the cookie of V2, deflated (`0x1c849304`).
const COOKIE: &str = "HISTF";

/// Splits a line into its tag, the largest value and the histogram.
fn interval(line: &str) -> Option<(&str, f64, &str)> {
    let line = line.trim();
    let (tag, rest) = match line.strip_prefix("Tag=") {
        Some(rest) => rest.split_once(',')?,
        None => ("", line),
    };
    let mut cells = rest.split(',');
    let numbers: [&str; 3] = [cells.next()?, cells.next()?, cells.next()?];
    let histogram = cells.next().filter(|text| text.starts_with(COOKIE))?;
    let largest = numbers.map(|text| text.parse::<f64>().ok());
    let [Some(_), Some(_), Some(largest)] = largest else { return None };
    Some((tag, largest, histogram))
}

/// The intervals of a tag.
struct Tagged {
    all: Histogram<u64>,
    /// Seconds of a unit, if an interval shows it.
    unit: Option<f64>,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("HdrHistogram");
    let mut tags: BTreeMap<String, Tagged> = BTreeMap::new();
    let mut is_ours = false;
    for (number, line) in lines(file)? {
        is_ours |= line.starts_with("#[Logged with becalm");
        if let Some(rest) = line.strip_prefix(LOG_OF_INVALID_LOAD) {
            let why = rest.strip_suffix(']').unwrap_or(rest);
            return Err(ImportError::nothing(
                file,
                &format!("it is the log of an invalid load: {why}"),
            ));
        }
        let Some((tag, largest, text)) = interval(&line) else { continue };
        let wrong = || ImportError::at_line(file, number, "a histogram in the encoding V2", text);
        let one = histograms::decoded(text).ok_or_else(wrong)?;
        let tagged = tags.entry(tag.to_owned()).or_insert_with(|| {
            let mut all = Histogram::new(3).expect("three digits are permitted");
            all.auto(true);
            Tagged { all, unit: None }
        });
        tagged.unit = tagged.unit.or_else(|| unit(one.max(), largest));
        tagged.all.add(&one).map_err(|_| wrong())?;
    }
    if tags.is_empty() {
        return Err(ImportError::at_line(file, 1, "a line with a histogram", ""));
    }
    imported.known(if is_ours {
        ImportFact::LatencyByTag
    } else {
        ImportFact::LatencyStartUnknown
    });
    for (tag, Tagged { all, unit }) in tags.into_iter().filter(|(_, tagged)| !tagged.all.is_empty())
    {
        let unit = unit.unwrap_or_else(|| {
            imported.known(ImportFact::NoUnits);
            1e-9
        });
        let name = if tag.is_empty() { "latency".to_owned() } else { tag };
        let mut load = Load { name, ..Load::default() };
        let seconds = |value: u64| value as f64 * unit;
        load.figure("minimum", Some(seconds(all.min())));
        load.figure("mean", Some(all.mean() * unit));
        for (q, name) in FIGURES {
            load.figure(name, Some(seconds(all.value_at_quantile(q))));
        }
        load.latency = Some(("median", seconds(all.value_at_quantile(0.5))));
        load.add(&mut imported);
    }
    Ok(imported)
}

/// Returns the unit of values in seconds, if the largest of them is written in milliseconds; some writers cut these to
/// whole ones.
fn unit(largest: u64, written: f64) -> Option<f64> {
    let power = (largest as f64 / written).log10();
    [(6.0, 1e-9), (3.0, 1e-6), (0.0, 1e-3)]
        .into_iter()
        .find(|(expected, _)| (power - expected).abs() < 0.5)
        .map(|(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_tag_or_none() {
        assert_eq!(interval("Tag=a b,0.1,1.0,2.5,HISTFAAA"), Some(("a b", 2.5, "HISTFAAA")));
        assert_eq!(interval("0.1,1.0,2.5,HISTFAAA"), Some(("", 2.5, "HISTFAAA")));
        for text in [
            "#[Tag=a,0,1,2,HISTF]",
            "\"StartTimestamp\",\"Interval_Length\"",
            "1,2,3",
            "a,b,c,HISTF",
        ] {
            assert_eq!(interval(text), None, "{text}");
        }
    }

    #[test]
    fn the_log_of_an_invalid_load_is_refused_with_the_reason() {
        let text =
            "#[Logged with becalm load]\n#[becalm: invalid: it was late]\n0.1,1.0,2.5,HISTFAAA\n";
        let error = read(&File::of_text("a.hlog", text)).unwrap_err().to_string();
        assert!(error.ends_with("it is the log of an invalid load: it was late"), "{error}");
    }

    #[test]
    fn the_unit_is_seen_from_the_largest_value() {
        assert_eq!(unit(2_500_000, 2.5), Some(1e-9));
        assert_eq!(unit(2_500, 2.5), Some(1e-6));
        assert_eq!(unit(25, 25.0), Some(1e-3));
        assert_eq!(unit(2_999_999, 2.0), Some(1e-9), "cut to whole milliseconds");
        assert_eq!((unit(0, 0.0), unit(25, 0.0), unit(25, 1e9)), (None, None, None));
    }
}
