//! What a job of `becalm ci` came to: lines of base, base again and head, each judged.

use becalm_model::ci::{CiLine, CiNoise, CiResult, CiRule, Conclusion, Standing};
use becalm_model::{Comparison, Direction, RatioInterval, Record, Verdict};
use becalm_stats::{Sample, Summary};

use super::comparison::{Compared, Policy, judge};

/// The base, among the subjects of a job.
pub const BASE: usize = 0;

/// The base against itself.
const BASE_AGAIN: usize = 1;

/// The head.
pub const HEAD: usize = 2;

/// Returns what a session of base, base again and head came to, not judged yet. `name` is that of the whole program.
pub fn sides(record: &Record, name: &str) -> CiResult {
    CiResult::Measured { lines: lines(record, name).collect(), rounds: record.rounds() }
}

/// Returns what the comparisons of the head that decide mean under a rule, in their order.
pub fn standings(record: &Record, rule: &CiRule) -> impl Iterator<Item = Standing> {
    lines(record, "").map(|line| standing(&line, rule))
}

fn lines(record: &Record, name: &str) -> impl Iterator<Item = CiLine> {
    let of = |candidate: usize| {
        record.comparisons.iter().filter(move |one| one.primary && one.candidate == candidate)
    };
    of(HEAD).map(move |one| {
        let own = of(BASE_AGAIN).find(|other| other.metric == one.metric);
        line(record, one, own, name)
    })
}

fn line(record: &Record, one: &Comparison, own: Option<&Comparison>, name: &str) -> CiLine {
    let metric = &record.metrics[one.metric];
    let median = |subject| {
        let sample = Sample::new(record.values(subject, one.metric)).ok()?;
        Some(Summary::of(&sample, record.confidence).median)
    };
    CiLine {
        name: metric.benchmark.clone().unwrap_or_else(|| name.to_owned()),
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        direction: metric.direction,
        base: median(BASE),
        head: median(HEAD),
        ratio: one.ratio,
        verdict: one.verdict,
        standing: Standing::Inconclusive,
        noise: CiNoise {
            ratio: own.and_then(|own| own.ratio),
            verdict: own.map_or(Verdict::Inconclusive, |own| own.verdict),
        },
        rounds_needed: one.rounds_needed,
    }
}

/// Judges every line by the rule, puts the worst first, and says what the whole came to.
pub fn conclude(result: &mut CiResult, rule: &CiRule) -> Conclusion {
    let lines = match result {
        CiResult::Identical(_) => return Conclusion::Identical,
        CiResult::Failed(_) => return Conclusion::Failed,
        CiResult::Measured { lines, .. } => lines,
    };
    for line in lines.iter_mut() {
        line.standing = standing(line, rule);
    }
    put_worst_first(lines);
    let any = |of: &[Standing]| lines.iter().any(|line| of.contains(&line.standing));
    if any(&[Standing::Regression]) {
        Conclusion::Regressed
    } else if any(&[Standing::Improvement]) {
        Conclusion::Improved
    } else if lines.is_empty() || lines.iter().any(|line| line.standing.is_open()) {
        Conclusion::Undecided
    } else {
        Conclusion::Unchanged
    }
}

/// Says what the verdict of a line means under a rule.
fn standing(line: &CiLine, rule: &CiRule) -> Standing {
    let compared = Compared {
        ratio: line.ratio,
        direction: line.direction,
        verdict: line.verdict,
        noise: Some(line.noise),
        is_cut_off: false,
    };
    judge(&compared, &Policy::ci(rule.allow)).standing
}

/// Sorts lines by standing, then by how much worse.
fn put_worst_first(lines: &mut [CiLine]) {
    let size = |line: &CiLine| line.ratio.map_or(1.0, |ratio| towards_worse(ratio, line.direction));
    lines.sort_by(|a, b| {
        let by_size = if a.standing == Standing::Improvement {
            // Of what became better, the most first.
            size(a).total_cmp(&size(b))
        } else {
            size(b).total_cmp(&size(a))
        };
        a.standing.cmp(&b.standing).then(by_size).then_with(|| a.name.cmp(&b.name))
    });
}

/// Returns how many times worse the head is; above 1 is worse.
fn towards_worse(ratio: RatioInterval, direction: Direction) -> f64 {
    match direction {
        Direction::Lower => ratio.estimate,
        Direction::Higher => 1.0 / ratio.estimate,
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::Unit;

    use super::*;

    const RULE: CiRule = CiRule { confidence: 0.95, margin: 0.01, allow: 0.0, strict: false };

    fn interval(low: f64, high: f64) -> RatioInterval {
        RatioInterval { estimate: (low * high).sqrt(), low, high }
    }

    fn line(verdict: Verdict, ratio: (f64, f64), own: (Verdict, (f64, f64))) -> CiLine {
        CiLine {
            name: "a".to_owned(),
            metric: "t".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            base: Some(1.0),
            head: Some(1.0),
            ratio: Some(interval(ratio.0, ratio.1)),
            verdict,
            standing: Standing::Inconclusive,
            noise: CiNoise { ratio: Some(interval(own.1.0, own.1.1)), verdict: own.0 },
            rounds_needed: None,
        }
    }

    const QUIET: (Verdict, (f64, f64)) = (Verdict::Equivalent, (0.998, 1.002));

    #[test]
    fn what_is_slower_fails_where_its_whole_interval_is_beyond_what_is_allowed() {
        let slower = line(Verdict::Slower, (1.03, 1.07), QUIET);
        assert_eq!(standing(&slower, &RULE), Standing::Regression);
        assert_eq!(standing(&slower, &CiRule { allow: 0.02, ..RULE }), Standing::Regression);
        assert_eq!(standing(&slower, &CiRule { allow: 0.03, ..RULE }), Standing::Tolerated);
        let faster = line(Verdict::Faster, (0.90, 0.95), QUIET);
        assert_eq!(standing(&faster, &RULE), Standing::Improvement);
    }

    #[test]
    fn less_throughput_is_worse() {
        let less =
            CiLine { direction: Direction::Higher, ..line(Verdict::Slower, (0.90, 0.95), QUIET) };
        assert_eq!(standing(&less, &RULE), Standing::Regression);
        assert_eq!(standing(&less, &CiRule { allow: 0.06, ..RULE }), Standing::Tolerated);
    }

    #[test]
    fn a_base_that_differs_from_itself_raises_what_a_difference_has_to_exceed() {
        let noisy = (Verdict::Faster, (0.94, 0.98));
        assert_eq!(
            standing(&line(Verdict::Slower, (1.03, 1.05), noisy), &RULE),
            Standing::Doubtful
        );
        assert_eq!(
            standing(&line(Verdict::Faster, (0.95, 0.97), noisy), &RULE),
            Standing::Doubtful
        );
        assert_eq!(
            standing(&line(Verdict::Slower, (1.08, 1.10), noisy), &RULE),
            Standing::Regression
        );
        assert_eq!(
            standing(&line(Verdict::Faster, (0.80, 0.90), noisy), &RULE),
            Standing::Improvement
        );
    }

    #[test]
    fn the_worst_comes_first_and_decides() {
        let lines = vec![
            line(Verdict::Equivalent, (0.999, 1.001), QUIET),
            line(Verdict::Faster, (0.80, 0.90), QUIET),
            line(Verdict::Slower, (1.02, 1.03), QUIET),
            line(Verdict::Inconclusive, (0.97, 1.03), QUIET),
            line(Verdict::Slower, (1.20, 1.30), QUIET),
        ];
        let mut result = CiResult::Measured { lines, rounds: 8 };
        assert_eq!(conclude(&mut result, &RULE), Conclusion::Regressed);
        let CiResult::Measured { lines, .. } = &result else { unreachable!("it was measured") };
        let standings: Vec<&str> = lines.iter().map(|line| line.standing.name()).collect();
        assert_eq!(
            standings,
            ["regression", "regression", "inconclusive", "improvement", "equivalent"]
        );
        assert!(lines[0].ratio.unwrap().low > 1.1);
        let mut nothing = CiResult::Measured { lines: Vec::new(), rounds: 0 };
        assert_eq!(conclude(&mut nothing, &RULE), Conclusion::Undecided);
    }
}
