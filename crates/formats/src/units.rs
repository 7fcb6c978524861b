//! Units as tools write them, and the units in which becalm keeps values: seconds and bytes.

use becalm_model::{Direction, Unit};

/// In seconds.
pub(crate) const NANOSECOND: f64 = 1e-9;

/// Returns the unit that values are kept in and the factor that leads there: `("ns")` is seconds times
/// 1e-9. What is no unit of time or size stays as it is written.
pub(crate) fn unit(text: &str) -> (Unit, f64) {
    let text = text.trim();
    let second = |factor| (Unit::Second, factor);
    let byte = |factor| (Unit::Byte, factor);
    match text {
        "ps" | "picosecond" | "picoseconds" => second(1e-12),
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => second(1e-9),
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => second(1e-6),
        "ms" | "msec" | "millisecond" | "milliseconds" => second(1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => second(1.0),
        "m" | "min" | "minute" | "minutes" => second(60.0),
        "h" | "hour" | "hours" => second(3600.0),
        "B" | "byte" | "bytes" | "Bytes" => byte(1.0),
        "kB" | "KB" | "Kilobytes" | "kilobytes" => byte(1e3),
        "MB" | "MBytes" | "Megabytes" | "megabytes" => byte(1e6),
        "GB" | "GBytes" | "Gigabytes" | "gigabytes" => byte(1e9),
        "KiB" => byte(1024.0),
        "MiB" => byte(1024.0 * 1024.0),
        "GiB" => byte(1024.0 * 1024.0 * 1024.0),
        "" | "count" => (Unit::Count, 1.0),
        other => (Unit::Named(other.to_owned()), 1.0),
    }
}

/// Returns the same for a unit that may be per something: `ns/op` is seconds, `ops/ms` is `ops/s` times
/// a thousand. What is of one call needs no mention: that is what a benchmark's value is of.
pub(crate) fn unit_per(text: &str) -> (Unit, f64) {
    let text = text.trim();
    let Some((top, bottom)) = text.rsplit_once('/') else { return unit(text) };
    let (above, factor) = unit(top);
    let of_one = ["op", "iter", "iteration", "call", "run", "round", "loop", "exec", "invocation"];
    match (&above, unit(bottom)) {
        (Unit::Second | Unit::Byte, _) if of_one.contains(&bottom) => (above, factor),
        (Unit::Byte, (Unit::Second, seconds)) if bottom != "m" => {
            (Unit::Named("B/s".to_owned()), factor / seconds)
        }
        (Unit::Named(counted), (Unit::Second, seconds)) => {
            // "req/m" may be anything.
            if bottom == "m" {
                return (Unit::Named(text.to_owned()), 1.0);
            }
            (Unit::Named(format!("{counted}/s")), 1.0 / seconds)
        }
        _ => (Unit::Named(text.to_owned()), 1.0),
    }
}

/// Returns the direction that a unit has where the file does not tell: more of a rate is better, less of
/// everything else.
pub(crate) fn usual_direction(unit: &str) -> Direction {
    let per_second = ["/s", "/sec", "/second", "ps_per_second", " per second"];
    if per_second.iter().any(|ending| unit.ends_with(ending)) {
        Direction::Higher
    } else {
        Direction::Lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_call_and_rates_are_told_apart() {
        let named = |name: &str| Unit::Named(name.to_owned());
        assert_eq!(unit_per("ns/op"), (Unit::Second, 1e-9));
        assert_eq!(unit_per("us/iter"), (Unit::Second, 1e-6));
        assert_eq!(unit_per("B/op"), (Unit::Byte, 1.0));
        assert_eq!(unit_per("ops/ms"), (named("ops/s"), 1e3));
        assert_eq!(unit_per("iter/sec"), (named("iter/s"), 1.0));
        assert_eq!(unit_per("MB/s"), (named("B/s"), 1e6));
        assert_eq!(unit_per("km/h"), (named("km/s"), 1.0 / 3600.0));
        assert_eq!(unit_per("allocs/op"), (named("allocs/op"), 1.0));
    }
}
