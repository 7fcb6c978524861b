//! The seconds of a load as files: the log of histograms that other tools read, and a table.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use becalm_model::load::{LOG_OF_INVALID_LOAD, LoadSecond};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::seconds::ClosedSecond;

/// Writes an `HdrHistogram` log: the known times of each second in nanoseconds, tagged `response`, `service` and `lag`, and
/// why the load is invalid, if it is.
pub fn write_log(
    out: &mut impl Write,
    started: SystemTime,
    seconds: &[ClosedSecond],
    reasons: &[String],
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new();
    log.add_comment(
        "[Logged with becalm load; times in ns, by the second in which requests were due]",
    );
    for reason in reasons {
        let line = format!("{LOG_OF_INVALID_LOAD}{reason}]");
        // The writer begins a comment itself.
        log.add_comment(line.strip_prefix('#').unwrap_or(&line));
    }
    let mut log = log
        .with_start_time(started)
        .with_base_time(started)
        .with_max_value_divisor(1e6)
        .begin_log_with(out, &mut serializer)?;
    for second in seconds {
        for (name, histogram) in ["response", "service", "lag"].into_iter().zip(second.histograms())
        {
            let start = Duration::from_secs(second.figures.second);
            let written =
                log.write_histogram(&histogram, start, Duration::from_secs(1), Tag::new(name));
            written.map_err(|error| io::Error::other(error.to_string()))?;
        }
    }
    Ok(())
}

/// Writes the figures of each second as CSV: its columns are the fields of the document, and a time that is not known is
/// empty.
pub fn seconds_csv(seconds: &[ClosedSecond]) -> String {
    let rows = seconds.iter().map(|second| second.figures.cells().join(","));
    std::iter::once(LoadSecond::COLUMNS.join(",")).chain(rows).map(|row| row + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seconds::{Book, Collector, SECOND};
    use crate::tally::{Done, Fate};
    use base64::Engine as _;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn a_table_has_a_line_for_a_second_and_a_cell_for_each_title() {
        let mut book = Book::new(SECOND);
        book.begin(0);
        book.count(Done {
            due: 0,
            taken: 0,
            starved: true,
            given_back: false,
            fate: Fate::Unsent { end: 5 },
        });
        book.begin(1_000_000_000);
        let fate = Fate::Answered { written: 1_000_000_000, last: 1_002_000_000 };
        book.count(Done {
            due: 1_000_000_000,
            taken: 1_000_000_000,
            starved: false,
            given_back: false,
            fate,
        });
        let mut collector = Collector::new(1);
        collector.take(0, &book.tell());
        let text = seconds_csv(&collector.finish().1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "0,1,0,0,1,1,,,,,,");
        assert!(lines[2].starts_with("1,1,1,0,0,0,0.00200"), "{text}");
        let cells = |line: &str| line.split(',').count();
        assert!(lines.iter().all(|line| cells(line) == cells(lines[0])));
    }

    #[test]
    fn a_log_has_three_lines_for_a_second_and_can_be_read_back() {
        let mut book = Book::new(SECOND);
        for n in 0..10 {
            let due = n * 300_000_000;
            book.begin(due);
            let fate = Fate::Answered { written: due + 1000, last: due + 2_000_000 };
            book.count(Done { due, taken: due, starved: false, given_back: false, fate });
        }
        let mut collector = Collector::new(1);
        collector.take(0, &book.tell());
        let mut log = Vec::new();
        let reasons = ["late".to_owned()];
        write_log(&mut log, SystemTime::UNIX_EPOCH, &collector.finish().1, &reasons).unwrap();
        let text = String::from_utf8_lossy(&log);
        assert!(text.lines().any(|line| line == "#[becalm: invalid: late]"), "{text}");
        let mut found = Vec::new();
        for entry in IntervalLogIterator::new(&log) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(interval.encoded_histogram())
                    .unwrap();
                let histogram: hdrhistogram::Histogram<u64> =
                    hdrhistogram::serialization::Deserializer::new()
                        .deserialize(&mut bytes.as_slice())
                        .unwrap();
                let tag = interval.tag().unwrap().as_str().to_owned();
                found.push((tag, interval.start_timestamp().as_secs(), histogram.len()));
            }
        }
        assert_eq!(found.len(), 9);
        assert_eq!(found[0], ("response".to_owned(), 0, 4));
        assert_eq!(found[8], ("lag".to_owned(), 2, 3));
    }
}
