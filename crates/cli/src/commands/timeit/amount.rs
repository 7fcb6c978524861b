//! How much is measured: processes, values, loops.

use std::time::Duration;

use becalm_model::parse_duration;
use becalm_session::timeit::{AmountWish, Effort};

/// Most loops of a value, as in pyperf.
const MOST_LOOPS: u64 = 1 << 32;

/// Flags about how much is measured, with the names that pyperf gave them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Amount")]
pub(crate) struct AmountFlags {
    /// Number of processes [default: 20; 12 with a JIT compiler; with --compare-to until the answer
    /// is known, at most twice as many]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) processes: Option<u32>,

    /// Values of each process [default: 3]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) values: Option<u32>,

    /// Values of each process before these, which are not used [default: 1; 4 with a JIT compiler]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) warmups: Option<u32>,

    /// Loops of each value, such as 1000 or 2^20; 0 finds out how many take --min-time
    #[arg(short, long, value_name = "N", value_parser = power, default_value = "0")]
    pub(crate) loops: u64,

    /// How long a value should take when becalm chooses the loops, in seconds or with a unit
    #[arg(long, value_name = "DURATION", value_parser = seconds, default_value = "100ms")]
    pub(crate) min_time: Duration,

    /// Half as many processes, and two values of each: a rough answer soon
    #[arg(long, conflicts_with = "rigorous")]
    pub(crate) fast: bool,

    /// Twice as many processes
    #[arg(long)]
    pub(crate) rigorous: bool,
}

impl AmountFlags {
    /// Returns what they ask for.
    pub(crate) fn wish(&self) -> AmountWish {
        AmountWish {
            processes: self.processes,
            values: self.values,
            warmups: self.warmups,
            // 0 leaves them to the calibration, as in pyperf.
            loops: Some(self.loops).filter(|&loops| loops > 0),
            min_time: self.min_time,
            effort: match (self.fast, self.rigorous) {
                (true, _) => Effort::Fast,
                (_, true) => Effort::Rigorous,
                _ => Effort::Usual,
            },
        }
    }
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
    if duration.is_zero() {
        Err("the time of a value must be above zero".to_owned())
    } else {
        Ok(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn loops_are_numbers_or_powers() {
        assert_eq!((power("2^20"), power("1000"), power("0")), (Ok(1 << 20), Ok(1000), Ok(0)));
        assert!(power("2^33").is_err() && power("2^99").is_err() && power("-1").is_err());
    }

    #[test]
    fn a_time_without_a_unit_is_in_seconds() {
        assert_eq!(seconds("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(seconds("50ms"), Ok(Duration::from_millis(50)));
        assert!(seconds("0").is_err() && seconds("-1").is_err() && seconds("soon").is_err());
    }
}
