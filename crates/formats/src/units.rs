//! Units as tools write them, and the units in which becalm keeps values: seconds and bytes.

use becalm_model::{Direction, Unit};

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
        "B" | "byte" | "bytes" => byte(1.0),
        "kB" | "KB" => byte(1e3),
        "MB" => byte(1e6),
        "GB" => byte(1e9),
        "KiB" => byte(1024.0),
        "MiB" => byte(1024.0 * 1024.0),
        "GiB" => byte(1024.0 * 1024.0 * 1024.0),
        "" | "count" => (Unit::Count, 1.0),
        other => (Unit::Named(other.to_owned()), 1.0),
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
