//! One line of a report as texts.

use becalm_model::ci::{CiLine, Standing};
use becalm_model::{Direction, Metric, RatioInterval, Verdict};

use crate::quantity::{self, NBSP, Scale};
use crate::sentence;
use crate::width::{printable, shorten};

/// Longest name that is shown whole.
const WIDEST_NAME: usize = 80;

/// What a reader sees of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Verdict: `slower`, `worse`, `undecided` ...
    pub(super) verdict: &'static str,
    /// The benchmark, and its metric if `with_metric` was asked for.
    pub(super) name: String,
    /// Median of the base with its unit.
    pub(super) base: String,
    /// Median of the head with its unit.
    pub(super) head: String,
    /// Relative change.
    pub(super) change: String,
    /// Its interval.
    pub(super) interval: String,
    /// How far the base differs from itself.
    pub(super) noise: String,
}

pub(super) fn row(line: &CiLine, with_metric: bool) -> Row {
    let values = [line.base, line.head];
    let scale = Scale::of(&line.unit, values.into_iter().flatten(), true);
    let value = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| spaced(&scale.with_unit(value)))
    };
    let (change, interval) = match &line.ratio {
        Some(ratio) => told(ratio),
        None => ("-".to_owned(), "-".to_owned()),
    };
    Row {
        verdict: verdict(line),
        name: name(line, with_metric),
        base: value(line.base),
        head: value(line.head),
        change,
        interval,
        noise: noise(line),
    }
}

/// Returns the name of a line.
pub(super) fn name(line: &CiLine, with_metric: bool) -> String {
    let name = if with_metric && line.metric != line.name {
        format!("{} {}", line.name, line.metric)
    } else {
        line.name.clone()
    };
    shorten(printable(&name).trim(), WIDEST_NAME, true)
}

/// Returns the word for a line. Only time is faster or slower.
pub(super) fn verdict(line: &CiLine) -> &'static str {
    let metric =
        Metric { direction: line.direction, ..Metric::lower(&line.metric, line.unit.clone()) };
    match line.standing {
        Standing::Regression => sentence::verdict_word(&metric, Verdict::Slower),
        Standing::Improvement => sentence::verdict_word(&metric, Verdict::Faster),
        Standing::Tolerated => "within what is allowed",
        Standing::Doubtful => "no more than the noise",
        Standing::Inconclusive => "undecided",
        Standing::Equivalent => "equivalent",
    }
}

/// Returns change and interval.
pub(super) fn told(ratio: &RatioInterval) -> (String, String) {
    let text = quantity::ratio(ratio);
    #[expect(clippy::float_cmp, reason = "exact values have ends that are equal to the last bit")]
    let interval =
        if ratio.low == ratio.high { "exact".to_owned() } else { spaced(&text.interval) };
    (spaced(&text.change), interval)
}

fn noise(line: &CiLine) -> String {
    let Some(ratio) = line.noise.ratio else { return "-".to_owned() };
    #[expect(clippy::float_cmp, reason = "exact values are equal to the last bit")]
    if ratio.low == 1.0 && ratio.high == 1.0 {
        return "none".to_owned();
    }
    told(&ratio).1
}

/// Says which way a metric gets better, for the readers of a change.
pub(super) fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => "less is better",
        Direction::Higher => "more is better",
    }
}

pub(super) fn spaced(text: &str) -> String {
    text.replace(NBSP, " ")
}
