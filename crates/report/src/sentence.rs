//! A comparison in one sentence that a tired engineer cannot misread.

use becalm_model::{Comparison, Direction, Metric, RatioInterval, Unit, Verdict, is_are, metric};

use crate::quantity::{self, confidence, percent, percent_decimals, times};

/// Below this ratio, "40 % faster" could mean two things, so the sentence says "takes 40 % less".
const AMBIGUOUS_BELOW: f64 = 0.9;

/// Everything that a sentence about one comparison needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) baseline: &'a str,
    pub(crate) candidate: &'a str,
    pub(crate) metric: &'a Metric,
    pub(crate) comparison: &'a Comparison,
    /// The unit that gives it one ratio: a round or a layout.
    pub(crate) unit: &'static str,
    /// Why it has no ratio, unless there are too few of the unit.
    pub(crate) reason: Option<&'a str>,
    /// The confidence asked for. The report names this one: the correction for several looks and
    /// comparisons makes it hold for all of them together.
    pub(crate) confidence: f64,
    pub(crate) margin: f64,
    /// Whether both subjects are the same program.
    pub(crate) aa: bool,
}

/// Says whether better and worse are called faster and slower.
pub(crate) fn is_time(metric: &Metric) -> bool {
    metric.direction == Direction::Lower
        && match &metric.unit {
            Unit::Second => true,
            Unit::Named(name) => ["ns", "us", "µs", "ms", "s", "min"].contains(&name.as_str()),
            Unit::Byte | Unit::Count => false,
        }
}

/// Returns the verdict's word for this metric. Only time is faster or slower; memory that is
/// "slower" would be misread.
pub(crate) fn verdict_word(metric: &Metric, verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster if !is_time(metric) => "better",
        Verdict::Slower if !is_time(metric) => "worse",
        verdict => verdict.name(),
    }
}

/// Writes a fragment as a sentence.
pub(crate) fn of_fragment(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    // Options and paths are not words.
    let first = if first.is_alphabetic() { first.to_uppercase().to_string() } else { first.into() };
    format!("{first}{}.", letters.as_str())
}

/// Says what the comparison found.
pub(crate) fn verdict(claim: &Claim) -> String {
    let Some(ratio) = claim.comparison.ratio else {
        let (metric, rounds, unit) = (&claim.metric.name, claim.comparison.rounds, claim.unit);
        let pair = format!("{} and {}", claim.baseline, claim.candidate);
        if let Some(reason) = claim.reason {
            return format!("Inconclusive on {metric} for {pair}: {reason}.");
        }
        return match rounds {
            0 => format!("Inconclusive: no {unit} gives a ratio of {metric} for {pair}."),
            n => format!(
                "Inconclusive: {} {} too few to compare {metric} of {pair}.",
                quantity::count(n as usize, unit),
                is_are(n as usize)
            ),
        };
    };
    if claim.aa {
        return same_program(claim, &ratio);
    }
    match claim.comparison.verdict {
        Verdict::Faster | Verdict::Slower => difference(claim, &ratio),
        Verdict::Equivalent => equivalent(claim, &ratio),
        Verdict::Inconclusive => inconclusive(claim, &ratio),
    }
}

fn difference(claim: &Claim, ratio: &RatioInterval) -> String {
    let Claim { baseline, candidate, metric, .. } = claim;
    let interval = interval(claim, ratio);
    let name = &metric.name;
    let (are, that) = if is_plural(name) { ("are", "those") } else { ("is", "that") };
    // The end that is open is the one beyond the estimate, as the verdict is on that side.
    let least = if is_half_open(ratio) { "at least " } else { "" };
    let effect = format!("{least}{}", size(ratio.estimate, percent_decimals(ratio)));
    let more = ratio.estimate > 1.0;
    let better = (metric.direction == Direction::Higher) == more;
    let judged = if better { "better" } else { "worse" };
    // Only exact values get here: to and from zero there is no factor.
    if ratio.estimate == 0.0 || ratio.estimate.is_infinite() {
        let (zero, other) = if more { (baseline, candidate) } else { (candidate, baseline) };
        return format!(
            "{candidate} is {judged}: the {name} of {zero} {are} zero, {that} of {other} {are} \
             not {interval}."
        );
    }
    if !is_time(metric) {
        let sentence = if quantity::is_large(ratio.estimate) {
            format!(
                "the {name} of {candidate} {are} {least}{} times {that} of {baseline}",
                times(ratio.estimate)
            )
        } else {
            let which = if more { "higher" } else { "lower" };
            format!("the {name} of {candidate} {are} {effect} {which} than {that} of {baseline}")
        };
        return format!("{candidate} is {judged}: {sentence} {interval}.");
    }
    let word = if more { "slower" } else { "faster" };
    let on = on_metric(metric);
    if !more && (1.0 / quantity::TIMES_FROM..AMBIGUOUS_BELOW).contains(&ratio.estimate) {
        return format!(
            "{candidate} is faster than {baseline}{on}: it takes {effect} less time {interval}."
        );
    }
    format!("{candidate} is {effect} {word} than {baseline}{on} {interval}.")
}

/// Says whether a metric has a plural as its name, as `instructions` has and `max_rss` has not.
fn is_plural(name: &str) -> bool {
    name.ends_with('s') && !name.ends_with("ss")
}

fn equivalent(claim: &Claim, ratio: &RatioInterval) -> String {
    let Claim { baseline, candidate, metric, margin, .. } = claim;
    let on = on_metric(metric);
    let interval = interval(claim, ratio);
    let margin = percent(*margin);
    if ratio.excludes_one() {
        format!(
            "{baseline} and {candidate} are equivalent{on}: {candidate} is {}, a real difference \
             but inside the margin of {margin} {interval}.",
            relation(metric, ratio.estimate, percent_decimals(ratio)),
        )
    } else {
        format!(
            "{baseline} and {candidate} are equivalent{on}: any difference is inside the margin \
             of {margin} {interval}."
        )
    }
}

fn inconclusive(claim: &Claim, ratio: &RatioInterval) -> String {
    let Claim { baseline, candidate, metric, unit, .. } = claim;
    let on = on_metric(metric);
    if is_half_open(ratio) {
        return format!(
            "Inconclusive: too many runs were cut off at the timeout to say anything about {baseline} and \
             {candidate}{on}."
        );
    }
    if !ratio.high.is_finite() || ratio.low <= 0.0 {
        return format!(
            "Inconclusive: too few {unit}s to say anything about {baseline} and {candidate}{on}."
        );
    }
    let decimals = percent_decimals(ratio);
    // An interval on one side of 1 is a verdict, unless runs that were cut off do not support it.
    if ratio.excludes_one() {
        return format!(
            "Inconclusive: {candidate} would be {} than {baseline}{on} {}, but runs were cut off at the timeout.",
            relation(metric, ratio.estimate, decimals),
            interval(claim, ratio),
        );
    }
    format!(
        "Inconclusive: {candidate} may be anything from {} to {} than {baseline}{on} {}.",
        relation(metric, ratio.low, decimals),
        relation(metric, ratio.high, decimals),
        interval(claim, ratio),
    )
}

/// Says whether the sentence warns: something favours one of two identical programs.
pub(crate) fn is_warning(claim: &Claim) -> bool {
    let is_other = matches!(claim.comparison.verdict, Verdict::Faster | Verdict::Slower);
    claim.aa && claim.comparison.ratio.is_some() && is_other
}

fn same_program(claim: &Claim, ratio: &RatioInterval) -> String {
    let interval = interval(claim, ratio);
    let on = on_metric(claim.metric);
    let margin = percent(claim.margin);
    let found = quantity::ratio(ratio).change;
    match claim.comparison.verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "Warning: two identical programs differ by {found}{on} {interval}. Something on this \
             machine favours one of them; do not trust a change of this size or less here."
        ),
        Verdict::Equivalent if ratio.excludes_one() => format!(
            "As it should be, two identical programs differ by no more than the margin of {margin}{on}: \
             by {found} {interval}."
        ),
        Verdict::Equivalent => format!(
            "As it should be, no difference between two identical programs was found{on}: any difference is inside \
             the margin of {margin} {interval}."
        ),
        Verdict::Inconclusive if ratio.high.is_finite() => format!(
            "No difference between two identical programs was found{on}, but a change as small as \
             the margin of {margin} is not detectable either {interval}."
        ),
        Verdict::Inconclusive => {
            format!("Too few rounds to show what this machine can resolve{on}.")
        }
    }
}

/// Says whether only one end is unknown: runs were cut off there.
fn is_half_open(ratio: &RatioInterval) -> bool {
    let is_known = ratio.estimate > 0.0 && ratio.estimate.is_finite();
    is_known && (ratio.low <= 0.0) != ratio.high.is_infinite()
}

/// Writes `2.1 % slower`, `3.10 times slower`, `2.1 % higher`.
fn relation(metric: &Metric, ratio: f64, decimals: usize) -> String {
    let word = match (is_time(metric), ratio > 1.0) {
        (true, true) => "slower",
        (true, false) => "faster",
        (false, true) => "higher",
        (false, false) => "lower",
    };
    format!("{} {word}", size(ratio, decimals))
}

/// Writes the size of an effect without its direction.
fn size(ratio: f64, decimals: usize) -> String {
    if quantity::is_large(ratio) {
        let factor = if ratio < 1.0 { 1.0 / ratio } else { ratio };
        format!("{} times", times(factor))
    } else {
        quantity::signed_percent((ratio - 1.0).abs(), decimals).trim_start_matches('+').to_owned()
    }
}

/// Wall time is assumed unless another metric is named.
fn on_metric(metric: &Metric) -> String {
    if metric.name == metric::WALL_TIME { String::new() } else { format!(" on {}", metric.name) }
}

fn interval(claim: &Claim, ratio: &RatioInterval) -> String {
    if is_exact(claim.metric, ratio) {
        return "(exact)".to_owned();
    }
    let interval = if ratio.estimate <= 1.0 / quantity::TIMES_FROM && is_time(claim.metric) {
        // "3.1 times faster" needs an interval that says times faster too.
        let speedup = |ratio: f64| if ratio > 0.0 { 1.0 / ratio } else { f64::INFINITY };
        let turned = RatioInterval {
            estimate: speedup(ratio.estimate),
            low: speedup(ratio.high),
            high: speedup(ratio.low),
        };
        quantity::ratio(&turned).interval
    } else {
        quantity::ratio(ratio).interval
    };
    format!("({} interval {interval})", confidence(claim.confidence))
}

/// Says whether the ratio comes from values that repeat exactly.
pub(crate) fn is_exact(metric: &Metric, ratio: &RatioInterval) -> bool {
    #[expect(clippy::float_cmp, reason = "an interval without width is written by copying")]
    let no_width = ratio.low == ratio.high;
    metric.exact && no_width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::NBSP;

    fn say(metric: &Metric, verdict: Verdict, ratio: (f64, f64, f64), aa: bool) -> String {
        let (low, estimate, high) = ratio;
        let comparison = Comparison {
            baseline: 0,
            candidate: 1,
            metric: 0,
            primary: true,
            ratio: Some(RatioInterval { estimate, low, high }),
            verdict,
            confidence: 0.95,
            rounds: 30,
            discarded_rounds: 0,
            noise_floor: None,
            rounds_needed: None,
            notes: vec![],
        };
        super::verdict(&Claim {
            baseline: "A",
            candidate: "B",
            metric,
            comparison: &comparison,
            unit: "round",
            reason: None,
            confidence: 0.95,
            margin: 0.01,
            aa,
        })
        .replace(NBSP, " ")
    }

    fn wall() -> Metric {
        Metric::lower("wall_time", Unit::Second)
    }

    #[test]
    fn what_was_cut_off_is_told_as_the_least_that_it_can_be() {
        let open = f64::INFINITY;
        assert_eq!(
            say(&wall(), Verdict::Slower, (4.3, 4.36, open), false),
            "B is at least 4.36 times slower than A (95 % interval 4.30 times or more)."
        );
        assert_eq!(
            say(&wall(), Verdict::Slower, (1.1, 1.2, open), false),
            "B is at least 20.0 % slower than A (95 % interval +10.0 % or more)."
        );
        assert_eq!(
            say(&wall(), Verdict::Faster, (0.0, 0.2, 0.25), false),
            "B is at least 5.00 times faster than A (95 % interval 4.00 times or more)."
        );
        let unknown = say(&wall(), Verdict::Inconclusive, (0.8, 1.2, open), false);
        assert!(unknown.contains("too many runs were cut off"), "{unknown}");
    }

    #[test]
    fn differences_say_which_and_how_much() {
        assert_eq!(
            say(&wall(), Verdict::Slower, (1.016, 1.021, 1.026), false),
            "B is 2.1 % slower than A (95 % interval +1.6 % .. +2.6 %)."
        );
        assert_eq!(
            say(&wall(), Verdict::Faster, (0.974, 0.979, 0.984), false),
            "B is 2.1 % faster than A (95 % interval -2.6 % .. -1.6 %)."
        );
        assert_eq!(
            say(&wall(), Verdict::Slower, (2.9, 3.1, 3.3), false),
            "B is 3.10 times slower than A (95 % interval 2.90 .. 3.30 times)."
        );
        assert_eq!(
            say(&wall(), Verdict::Faster, (0.3, 0.32, 0.34), false),
            "B is 3.12 times faster than A (95 % interval 2.94 .. 3.33 times)."
        );
    }

    #[test]
    fn what_cut_off_runs_do_not_support_is_no_verdict() {
        assert_eq!(
            say(&wall(), Verdict::Inconclusive, (0.974, 0.979, 0.984), false),
            "Inconclusive: B would be 2.1 % faster than A (95 % interval -2.6 % .. -1.6 %), but runs were cut off at the \
             timeout."
        );
    }

    #[test]
    fn a_large_gain_is_told_as_less_time() {
        assert_eq!(
            say(&wall(), Verdict::Faster, (0.58, 0.6, 0.62), false),
            "B is faster than A: it takes 40.0 % less time (95 % interval -42.0 % .. -38.0 %)."
        );
    }

    #[test]
    fn other_metrics_are_higher_or_lower_and_judged_by_their_direction() {
        let rate = Metric { direction: Direction::Higher, ..Metric::lower("rate", Unit::Count) };
        assert_eq!(
            say(&rate, Verdict::Faster, (1.016, 1.021, 1.026), false),
            "B is better: the rate of B is 2.1 % higher than that of A (95 % interval +1.6 % .. +2.6 %)."
        );
        let memory = Metric::lower("max_rss", Unit::Byte);
        assert_eq!(
            say(&memory, Verdict::Slower, (3.9, 4.0, 4.1), false),
            "B is worse: the max_rss of B is 4.00 times that of A (95 % interval 3.90 .. 4.10 times)."
        );
    }

    #[test]
    fn from_and_to_zero_there_is_no_factor() {
        let exact = Metric { exact: true, ..Metric::lower("allocations", Unit::Count) };
        let infinity = f64::INFINITY;
        assert_eq!(
            say(&exact, Verdict::Slower, (infinity, infinity, infinity), false),
            "B is worse: the allocations of A are zero, those of B are not (exact)."
        );
        assert_eq!(
            say(&exact, Verdict::Faster, (0.0, 0.0, 0.0), false),
            "B is better: the allocations of B are zero, those of A are not (exact)."
        );
    }

    #[test]
    fn no_difference_is_told_apart_from_not_knowing() {
        assert_eq!(
            say(&wall(), Verdict::Equivalent, (0.998, 1.001, 1.004), false),
            "A and B are equivalent: any difference is inside the margin of 1 % (95 % interval -0.20 % .. +0.40 %)."
        );
        assert_eq!(
            say(&wall(), Verdict::Equivalent, (1.001, 1.003, 1.005), false),
            "A and B are equivalent: B is 0.30 % slower, a real difference but inside the margin of 1 % (95 % interval +0.10 % .. +0.50 %)."
        );
        assert_eq!(
            say(&wall(), Verdict::Inconclusive, (0.994, 1.006, 1.018), false),
            "Inconclusive: B may be anything from 0.6 % faster to 1.8 % slower than A (95 % interval -0.6 % .. +1.8 %)."
        );
    }

    #[test]
    fn a_difference_of_a_program_with_itself_is_a_warning() {
        let text = say(&wall(), Verdict::Slower, (1.016, 1.021, 1.026), true);
        assert!(text.starts_with("Warning: two identical programs differ by +2.1 %"), "{text}");
        let text = say(&wall(), Verdict::Equivalent, (0.998, 1.001, 1.004), true);
        assert!(text.starts_with("As it should be, no difference between two identical"), "{text}");
        // One in twenty shows by chance, and it does not matter.
        assert_eq!(
            say(&wall(), Verdict::Equivalent, (1.001, 1.003, 1.005), true),
            "As it should be, two identical programs differ by no more than the margin of 1 %: by +0.30 % (95 % interval +0.10 % .. +0.50 %)."
        );
    }
}
