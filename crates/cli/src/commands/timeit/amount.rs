//! How much is measured: processes, values, loops.

use std::time::Duration;

use becalm_model::parse_duration;
use becalm_runner::timeit::Usual;

/// Most loops of a value, as in pyperf.
const MOST_LOOPS: u64 = 1 << 32;

/// Flags about how much is measured, with the names that pyperf gave them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Amount")]
pub(crate) struct AmountFlags {
    /// Processes; without it 20 (12 where a JIT compiler works), and with --compare-to until the answer is known, at
    /// most twice as many
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) processes: Option<u32>,

    /// Values of each process [default: 3]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) values: Option<u32>,

    /// Values of each process before these, which are not used [default: 1; 4 where a JIT compiler works]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) warmups: Option<u32>,

    /// Loops of each value, also as 2^20; 0 finds out how many take --min-time
    #[arg(short, long, value_name = "N", value_parser = power, default_value = "0")]
    pub(crate) loops: u64,

    /// How long a value has to take where the loops are to be found out, in seconds or with a unit
    #[arg(long, value_name = "DURATION", value_parser = seconds, default_value = "100ms")]
    pub(crate) min_time: Duration,

    /// Half as many processes, and two values of each: a rough answer soon
    #[arg(long, conflicts_with = "rigorous")]
    pub(crate) fast: bool,

    /// Twice as many processes
    #[arg(long)]
    pub(crate) rigorous: bool,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Processes of each interpreter.
    pub(crate) processes: u32,
    /// Whether so many are made whatever they show.
    pub(crate) is_exact: bool,
    /// Values of each process.
    pub(crate) values: u32,
    /// Values before them.
    pub(crate) warmups: u32,
}

impl Amount {
    /// Returns what the flags ask for. A comparison may go on for twice as many processes as one statement
    /// has, and ends before where the answer is known.
    pub(crate) fn of(flags: &AmountFlags, usual: Usual, is_comparison: bool) -> Self {
        let factor = if is_comparison { 2 } else { 1 };
        let processes = match (flags.fast, flags.rigorous) {
            // At least three, as in pyperf: Python's hash function is another one in each.
            (true, _) => (usual.processes / 2).max(3),
            (_, true) => usual.processes * 2,
            _ => usual.processes,
        };
        let values = if flags.fast { (usual.values * 2 / 3).max(2) } else { usual.values };
        Self {
            processes: flags.processes.unwrap_or(processes * factor),
            is_exact: flags.processes.is_some(),
            values: flags.values.unwrap_or(values),
            warmups: flags.warmups.unwrap_or(usual.warmups),
        }
    }

    /// Returns how many values a process times, those that are not used among them.
    pub(crate) fn per_process(&self) -> f64 {
        f64::from(self.values) + f64::from(self.warmups)
    }
}

/// Returns the loops that the user asked for; 0 leaves them to the calibration, as in pyperf.
pub(crate) fn loops(given: u64) -> Option<u64> {
    (given > 0).then_some(given)
}

/// Reads a number, or a power such as `2^20`.
pub(crate) fn power(text: &str) -> Result<u64, String> {
    let number = match text.split_once('^') {
        None => text.trim().parse().ok(),
        Some((base, exponent)) => {
            let base: Option<u64> = base.trim().parse().ok();
            let exponent: Option<u32> = exponent.trim().parse().ok();
            base.zip(exponent).and_then(|(base, exponent)| base.checked_pow(exponent))
        }
    };
    match number {
        Some(number) if number <= MOST_LOOPS => Ok(number),
        Some(_) => Err("at most 2^32 loops".to_owned()),
        None => Err("expected a number, or a power such as 2^20".to_owned()),
    }
}

/// Reads a duration; a number alone is in seconds, as in pyperf.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let duration = match text.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => parse_duration(text).map_err(|error| error.to_string()),
    }?;
    if duration.is_zero() { Err("a value takes some time".to_owned()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: AmountFlags,
    }

    const USUAL: Usual = Usual { processes: 20, values: 3, warmups: 1 };

    #[track_caller]
    fn check(line: &[&str], is_comparison: bool, expected: (u32, u32, u32)) {
        let line = Line::parse_from(std::iter::once(&"timeit").chain(line));
        let amount = Amount::of(&line.flags, USUAL, is_comparison);
        assert_eq!((amount.processes, amount.values, amount.warmups), expected);
    }

    #[test]
    fn the_amounts_are_those_of_pyperf() {
        check(&[], false, (20, 3, 1));
        check(&["--fast"], false, (10, 2, 1));
        check(&["--rigorous"], false, (40, 3, 1));
        check(&["-p", "5", "-n", "7", "-w", "0"], false, (5, 7, 0));
        check(&["--fast", "-p", "5"], false, (5, 2, 1));
    }

    #[test]
    fn a_comparison_may_go_on_for_twice_as_long_unless_told_otherwise() {
        check(&[], true, (40, 3, 1));
        check(&["--fast"], true, (20, 2, 1));
        check(&["-p", "12"], true, (12, 3, 1));
    }

    #[test]
    fn loops_are_numbers_or_powers_and_none_means_as_many_as_it_takes() {
        assert_eq!(power("2^20").map(loops), Ok(Some(1 << 20)));
        assert_eq!(power("1000").map(loops), Ok(Some(1000)));
        assert_eq!(power("0").map(loops), Ok(None));
        assert!(power("2^33").is_err() && power("2^99").is_err() && power("-1").is_err());
    }

    #[test]
    fn a_time_without_a_unit_is_in_seconds() {
        assert_eq!(seconds("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(seconds("50ms"), Ok(Duration::from_millis(50)));
        assert!(seconds("0").is_err() && seconds("-1").is_err() && seconds("soon").is_err());
    }
}
