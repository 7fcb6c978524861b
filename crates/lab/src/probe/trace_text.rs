//! What the osnoise tracer writes.
//!
//! Two kinds of lines matter: one for each gap, by the event `osnoise:sample_threshold`, and one at
//! the end of each window, with its sums (`trace_osnoise_print` in `kernel/trace/trace_output.c`):
//!
//! ```text
//! osnoise/2-91  [002] .....  12.345678: sample_threshold: start 12.345670001 duration 7812 ns interference 1
//! osnoise/2-91  [002] .....  12.500001: 250000   190  99.92400   9   18   0   251   18   1
//! ```

use becalm_model::wire::TracerCounters;

use super::gaps::Gaps;

/// A window that the tracer finished.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TracedWindow {
    /// When it ended, in seconds of the trace clock.
    pub(super) end: f64,
    /// What was seen.
    pub(super) gaps: Gaps,
    /// What came between.
    pub(super) counters: TracerCounters,
}

/// A line of a trace that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} does not have the format of the osnoise tracer: `{text}`")]
pub struct TraceError {
    /// Which line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// Reads the finished windows of one CPU. What follows the last of them belongs to a window that was
/// cut off, and is dropped.
pub(super) fn parse(trace: &str) -> Result<Vec<TracedWindow>, TraceError> {
    let mut windows = Vec::new();
    let mut gaps = Gaps::default();
    for (index, line) in trace.lines().enumerate() {
        // Headers, and the note that older events were overwritten.
        if line.starts_with('#') || line.starts_with("CPU:") || line.trim().is_empty() {
            continue;
        }
        let error = || TraceError { line: index + 1, text: line.trim().to_owned() };
        let (at, what) = event(line).ok_or_else(error)?;
        if let Some(rest) = what.strip_prefix("sample_threshold:") {
            gaps.add(duration(rest).ok_or_else(error)?);
        } else if what.starts_with(|c: char| c.is_ascii_digit()) {
            let window = window(at, what, std::mem::take(&mut gaps)).ok_or_else(error)?;
            windows.push(window);
        }
    }
    Ok(windows)
}

/// Splits a line behind its time, which stands behind the number of the CPU in brackets. A task may
/// have any name before that.
fn event(line: &str) -> Option<(f64, &str)> {
    let (_, rest) = line.split_once("] ")?;
    let (before, what) = rest.split_once(": ")?;
    Some((before.split_whitespace().last()?.parse().ok()?, what.trim()))
}

/// Reads ` start 12.345670001 duration 7812 ns interference 1`.
fn duration(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("duration ")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Reads `250000 190 99.92400 9 18 0 251 18 1`: runtime, noise, share left, longest, and counters;
/// times in microseconds.
fn window(end: f64, text: &str, mut gaps: Gaps) -> Option<TracedWindow> {
    const NANOS: u64 = 1_000;
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [runtime, noise, _, longest, hardware, nmi, irq, softirq, thread] = *fields.as_slice()
    else {
        return None;
    };
    let number = |text: &str| text.parse::<u64>().ok();
    gaps.watched = number(runtime)?.checked_mul(NANOS)?;
    // The sums are whole microseconds. Gaps add up to more than that, or some were overwritten.
    gaps.lost = gaps.lost.max(number(noise)?.checked_mul(NANOS)?);
    gaps.longest = gaps.longest.max(number(longest)?.checked_mul(NANOS)?);
    let counters = TracerCounters {
        hardware: number(hardware)?,
        nmi: number(nmi)?,
        irq: number(irq)?,
        softirq: number(softirq)?,
        thread: number(thread)?,
    };
    Some(TracedWindow { end, gaps, counters })
}

/// Reads what the hwlat tracer writes (`trace_hwlat_print` in `kernel/trace/trace_output.c`): the longest gap of each
/// stretch within and between two readings, in microseconds; since Linux 5.9 how many there were.
///
/// ```text
/// <...>-1729  [001] d...   678.473449: #1  inner/outer(us):   11/12    ts:1581527483.343962693 count:6 nmi-total:4 nmi-count:1
/// ```
pub(super) fn parse_latencies(trace: &str) -> Result<(Gaps, TracerCounters), TraceError> {
    let (mut gaps, mut counters) = (Gaps::default(), TracerCounters::default());
    for (index, line) in trace.lines().enumerate() {
        if line.starts_with('#') || line.starts_with("CPU:") || line.trim().is_empty() {
            continue;
        }
        let error = || TraceError { line: index + 1, text: line.trim().to_owned() };
        let (_, what) = event(line).ok_or_else(error)?;
        let Some((_, rest)) = what.split_once("inner/outer(us):") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |name: &str| -> Option<u64> {
            words.iter().find_map(|word| word.strip_prefix(name)?.parse().ok())
        };
        let longest = || {
            let (inner, outer) = words.first()?.split_once('/')?;
            let (inner, outer): (u64, u64) = (inner.parse().ok()?, outer.parse().ok()?);
            inner.max(outer).checked_mul(1000)
        };
        gaps.add(longest().ok_or_else(error)?);
        counters.hardware += number("count:").unwrap_or(1);
        counters.nmi += number("nmi-count:").unwrap_or(0);
    }
    Ok((gaps, counters))
}

/// Returns how many events were overwritten before anybody read them, from the file `stats` of a CPU.
pub(super) fn overwritten(stats: &str) -> u64 {
    let value = |name: &str| -> Option<u64> {
        stats.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    value("overrun:").unwrap_or(0) + value("dropped events:").unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
# tracer: osnoise
#
#           TASK-PID      CPU# |||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US
CPU:2 [LOST 3 EVENTS]
       osnoise/2-91      [002] d..1.    81.400000: sample_threshold: start 81.399990001 duration 9500 ns interference 2
       osnoise/2-91      [002] d....    81.500000: sample_threshold: start 81.499900001 duration 90700 ns interference 0
           <...>-91      [002] .....    81.637220: 250000        100  99.96000      90     18      0   1007     18      1
       osnoise/2-91      [002] .....    81.967220: 250001          0  100.00000       0      0      0    251      0      0
       osnoise/2-91      [002] d....    81.999999: sample_threshold: start 81.99 duration 5000 ns interference 1
";

    #[test]
    fn latencies_are_the_longest_of_each_stretch() {
        let trace = "# tracer: hwlat\n\
            <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/12    ts:1581.34 count:6\n\
            <...>-1729  [001] d...   689.556542: #2     inner/outer(us):   16/9     ts:1594.84 count:1 nmi-total:4 nmi-count:2\n\
            <...>-1729  [001] d...   714.756290: #3     inner/outer(us):   14/16    ts:1619.06\n";
        let (gaps, counters) = parse_latencies(trace).unwrap();
        assert_eq!((gaps.count, gaps.longest, gaps.lost), (3, 16_000, 44_000));
        assert_eq!((counters.hardware, counters.nmi), (8, 2));
        let damaged = "<...>-1 [001] d... 6.4: #1 inner/outer(us): 11 ts:1\n";
        assert_eq!(parse_latencies(damaged).unwrap_err().line, 1);
    }

    #[test]
    fn finished_windows_have_their_gaps_and_counters() {
        let windows = parse(TRACE).unwrap();
        let sums: Vec<_> = windows
            .iter()
            .map(|window| (window.gaps.watched, window.gaps.count, window.gaps.lost))
            .collect();
        assert_eq!(sums, [(250_000_000, 2, 100_200), (250_001_000, 0, 0)]);
        assert_eq!(windows[0].gaps.longest, 90_700);
        assert!((windows[1].end - 81.96722).abs() < 1e-9);
        let counters = TracerCounters { hardware: 18, nmi: 0, irq: 1007, softirq: 18, thread: 1 };
        assert_eq!(windows[0].counters, counters);
    }

    #[test]
    fn gaps_that_were_overwritten_still_count_in_the_sum() {
        let line = " osnoise/0-9 [000] .... 1.5: 1000000 5000 99.5 70 1 0 1 1 1\n";
        let window = &parse(line).unwrap()[0];
        assert_eq!((window.gaps.lost, window.gaps.longest), (5_000_000, 70_000));
        assert_eq!(window.gaps.count, 0);
    }

    #[test]
    fn other_events_are_passed_over_and_what_is_no_event_is_an_error() {
        let other = "  cat-7 [000] d..2. 1.5: sched_switch: prev_comm=x: y\n";
        assert_eq!(parse(other), Ok(Vec::new()));
        let error = parse("#\n what is this\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 does not have the format of the osnoise tracer: `what is this`"
        );
        assert!(parse(" osnoise/0-9 [000] .... 1.5: 1000000 5000\n").is_err());
        assert!(parse(" osnoise/0-9 [000] .... 1.5: sample_threshold: start\n").is_err());
    }

    #[test]
    fn overwritten_events_are_counted() {
        let stats =
            "entries: 129\noverrun: 12\ncommit overrun: 0\ndropped events: 3\nread events: 0\n";
        assert_eq!(overwritten(stats), 15);
        assert_eq!(overwritten(""), 0);
    }
}
