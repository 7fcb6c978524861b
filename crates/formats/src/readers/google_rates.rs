//! Which counters of google-benchmark are rates.
//!
//! A program says of each counter whether it is a rate, and the JSON and CSV files do not: they hold the quotient. But
//! a rate of so many events per iteration gives that whole number again, multiplied with the time of an
//! iteration. Other rates are recognised by their names. The console writes `/s` behind the number.

use std::collections::{HashMap, HashSet};

use becalm_model::{Direction, Unit};

use crate::objects::{Objects, Shape};
use crate::units;

/// Fields of the format; all other numbers are counters.
pub(super) const FIELDS: [&str; 13] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "real_coefficient",
    "cpu_coefficient",
    "rms",
    "error_occurred",
    "skipped",
];

/// The counters that are taken for rates.
#[derive(Debug, Default)]
pub(super) struct Rates {
    names: HashSet<String>,
    /// Whether there are counters of which nobody tells the direction.
    are_guessed: bool,
}

impl Rates {
    /// Looks at all rows of the shapes that were measured.
    pub(super) fn of(objects: &Objects, is_measured: &[bool]) -> Self {
        let places: Vec<Option<Places<'_>>> = (objects.shapes.iter().zip(is_measured))
            .map(|(shape, is_measured)| is_measured.then(|| Places::of(shape)))
            .collect();
        let mut counters: HashMap<&str, bool> = HashMap::new();
        for row in objects.rows() {
            let Some(places) = &places[row.shape] else { continue };
            for &(name, place) in &places.counters {
                let is_rate = places.gives_whole(row.numbers, row.numbers[place]);
                *counters.entry(name).or_insert(true) &= is_rate;
            }
        }
        let are_guessed = !counters.is_empty();
        let rates = counters.into_iter().filter(|(_, is_rate)| *is_rate);
        Self { names: rates.map(|(name, _)| name.to_owned()).collect(), are_guessed }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn are_guessed(&self) -> bool {
        self.are_guessed
    }
}

/// Where in a row the times of an iteration and the user's counters stand.
struct Places<'a> {
    times: Vec<usize>,
    threads: Option<usize>,
    /// Seconds of the unit of the times.
    factor: f64,
    counters: Vec<(&'a str, usize)>,
}

impl<'a> Places<'a> {
    fn of(shape: &'a Shape) -> Self {
        let unit = shape.text("time_unit");
        let of_user = |name: &str| !FIELDS.contains(&name) && known(name).is_none();
        Self {
            times: ["cpu_time", "real_time"]
                .into_iter()
                .filter_map(|field| shape.number(field))
                .collect(),
            threads: shape.number("threads"),
            factor: if unit.is_empty() { units::NANOSECOND } else { units::unit(unit).1 },
            counters: shape.numbers().filter(|(name, _)| of_user(name)).collect(),
        }
    }

    /// Says whether a number of events per second is a whole number of events per iteration.
    fn gives_whole(&self, row: &[f64], rate: f64) -> bool {
        let threads = self.threads.map_or(1.0, |place| row[place]);
        self.times.iter().any(|&place| {
            let time = row[place];
            // Of a round time many products are whole numbers.
            let is_round = (time * 1e4).fract() == 0.0;
            let events = rate * time * self.factor;
            !is_round && [events, events * threads].into_iter().any(is_whole)
        })
    }
}

/// Says whether numbers of six digits each have a product that is a small whole number.
pub(super) fn is_of_whole(number: f64) -> bool {
    (0.5..100.0).contains(&number) && (number - number.round()).abs() < 2e-5 * number.max(1.0)
}

/// Says whether this is a whole number but for the rounding of a quotient, and none so large that many are near one.
fn is_whole(number: f64) -> bool {
    (0.5..1e6).contains(&number) && (number - number.round()).abs() < 1e-9 * number.max(1.0)
}

/// Words in the names of rates, and of rates that are shares of failures.
const RATES: [&str; 8] =
    ["throughput", "bandwidth", "flops", "qps", "rps", "iops", "_rate", " rate"];
const FAILURES: [&str; 5] = ["miss", "err", "fail", "fault", "drop"];

/// Returns unit and direction of a counter; of a rate, as far as is known, more is better.
pub(super) fn counter(name: &str, is_rate: bool) -> (Unit, Direction) {
    if let Some(known) = known(name) {
        return known;
    }
    let lower = name.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is_rate || name.ends_with("_per_second") || units::usual_direction(name) == Direction::Higher
    {
        (Unit::Named("1/s".to_owned()), Direction::Higher)
    } else if (speaks_of(&RATES) || lower == "rate") && !speaks_of(&FAILURES) {
        (Unit::Count, Direction::Higher)
    } else {
        (Unit::Count, Direction::Lower)
    }
}

/// Returns unit and direction of what the library itself counts.
pub(super) fn known(name: &str) -> Option<(Unit, Direction)> {
    let rate = |unit: &str| (Unit::Named(unit.to_owned()), Direction::Higher);
    Some(match name {
        "bytes_per_second" => rate("B/s"),
        "items_per_second" => rate("items/s"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => {
            (Unit::Byte, Direction::Lower)
        }
        "allocs_per_iter" => (Unit::Count, Direction::Lower),
        _ => return None,
    })
}
