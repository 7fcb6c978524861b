//! All comparisons of a record, with the correction for their number.

use becalm_model::load;
use becalm_model::terms::Primary;
use becalm_model::{
    Comparison, ComparisonNote, CutOffWorth, Metric, Note, Observation, RatioInterval, Record,
    RecordKind, Unit, Verdict, metric,
};
use becalm_stats::decide::family;
use becalm_stats::decide::pace::{self, Allowance};
use becalm_stats::decide::paired::{self, Estimate};

use super::pairs::{FEWEST_EXACT, Pairs, number_of_observations, pairs, same_in_all};
use super::primary::primary_metrics;
use super::resolution;
use super::shape::Shape;
use super::verdict::{exact_verdict, ratio_of_exact, rounds_needed, verdict};
use crate::rounds::Judgement;

/// Returns the comparisons of every candidate with the baseline: the primary metrics first, then
/// wall time, CPU time and what else the user named, at the confidence that `judgement` and
/// `shape` leave for each.
pub fn comparisons(record: &Record, judgement: &Judgement, shape: &Shape) -> Vec<Comparison> {
    let choice = primary_metrics(record, judgement);
    let candidates = 1..record.subjects.len();
    let prepare = |metrics: &[usize], primary: bool| -> Vec<Prepared> {
        metrics
            .iter()
            .flat_map(|&metric| candidates.clone().map(move |candidate| (metric, candidate)))
            // What only one side has cannot be compared, and takes nothing from the others.
            .filter(|&(metric, candidate)| is_shared(record, candidate, metric))
            .map(|(metric, candidate)| Prepared {
                metric,
                candidate,
                primary,
                pairs: pairs(record, 0, candidate, metric),
            })
            .collect()
    };
    let alpha = 1.0 - judgement.confidence;
    let primaries = prepare(&choice.metrics, true);
    let levels = holm_levels(&primaries, record, shape, alpha);
    let mut comparisons: Vec<Comparison> = primaries
        .iter()
        .zip(&levels)
        .map(|(one, &level)| conclude(record, judgement, one, level))
        .collect();
    // Others stand beside the decision and are not part of its family.
    let level = shape.level(alpha);
    let others = secondary_metrics(record, &judgement.primary, &choice.metrics);
    comparisons
        .extend(prepare(&others, false).iter().map(|one| conclude(record, judgement, one, level)));
    note_disagreement(record, &mut comparisons);
    if let Some(reason) = choice.reason {
        for comparison in comparisons.iter_mut().filter(|one| one.primary) {
            comparison.notes.push(reason.clone().into());
        }
    }
    comparisons
}

/// Draws a comparison again, by another level or margin.
pub(super) fn conclude_at(
    record: &Record,
    judgement: &Judgement,
    one: &Comparison,
    level: f64,
) -> Comparison {
    let &Comparison { baseline, candidate, metric, primary, .. } = one;
    let pairs = pairs(record, baseline, candidate, metric);
    conclude(record, judgement, &Prepared { metric, candidate, primary, pairs }, level)
}

/// One comparison before its level is known.
struct Prepared {
    metric: usize,
    candidate: usize,
    primary: bool,
    pairs: Pairs,
}

/// Says whether the subjects have shown benchmarks, each of them, and no candidate one that the baseline has too:
/// further rounds would show the same.
pub(crate) fn have_nothing_in_common(record: &Record, judgement: &Judgement) -> bool {
    let metrics = primary_metrics(record, judgement).metrics;
    let shows_some = |subject| metrics.iter().any(|&metric| has(record, subject, metric));
    record.kind == RecordKind::Comparison
        && record.subjects.len() > 1
        && (0..record.subjects.len()).all(shows_some)
        && !metrics.iter().any(|&metric| {
            (1..record.subjects.len()).any(|candidate| is_shared(record, candidate, metric))
        })
}

fn is_shared(record: &Record, candidate: usize, metric: usize) -> bool {
    record.metrics[metric].benchmark.is_none()
        || has(record, 0, metric) && has(record, candidate, metric)
}

fn has(record: &Record, subject: usize, metric: usize) -> bool {
    record.measured(subject).any(|run| run.value(metric).is_some())
}

fn secondary_metrics(record: &Record, by: &Primary, primary: &[usize]) -> Vec<usize> {
    if matches!(by, Primary::Benchmarks(_)) {
        // How long a harness runs is its own choice and says nothing.
        let inside = record.metrics.iter().enumerate().filter(|(_, one)| one.benchmark.is_some());
        return inside.map(|(index, _)| index).filter(|index| !primary.contains(index)).collect();
    }
    if record.is_simulated() {
        // Times are those of the simulation.
        let counted = record.metrics.iter().enumerate().filter(|(_, metric)| metric.exact);
        return counted.map(|(index, _)| index).filter(|index| !primary.contains(index)).collect();
    }
    // A server runs as long as its load.
    let is_of_servers = record.metrics.iter().any(|metric| load::is_metric(&metric.name));
    [metric::WALL_TIME, metric::CPU_TIME, metric::MAX_RSS]
        .into_iter()
        .filter(|name| !(is_of_servers && *name == metric::WALL_TIME))
        .filter_map(|name| record.metric_index(name))
        .chain(Metric::always().len()..record.metrics.len())
        .filter(|index| !primary.contains(index))
        .collect()
}

/// Returns the level of each primary comparison: Holm's steps at this look.
fn holm_levels(primaries: &[Prepared], record: &Record, shape: &Shape, alpha: f64) -> Vec<f64> {
    // What is compared exactly cannot err and takes nothing from the others.
    let erring = |one: &&Prepared| exact_ratio(&record.metrics[one.metric], &one.pairs).is_none();
    let p_values: Vec<f64> = primaries
        .iter()
        .filter(erring)
        .map(|one| estimate(record, one, 0.5).map_or(1.0, |found| found.p))
        .collect();
    let mut levels =
        family::levels(&p_values, |share| shape.level(alpha / share as f64)).into_iter();
    primaries
        .iter()
        .map(|one| if erring(&one) { levels.next().unwrap_or(0.0) } else { 0.0 })
        .collect()
}

fn estimate(record: &Record, one: &Prepared, level: f64) -> Option<Estimate> {
    if exact_ratio(&record.metrics[one.metric], &one.pairs).is_some() {
        return None;
    }
    let estimate = paired::estimate(&one.pairs.observations, level)?;
    Some(match resolution::hidden(&one.pairs.rounds) {
        Some(hidden) => estimate.no_finer_than(hidden),
        None => estimate,
    })
}

/// Returns the values of a metric that the user called exact, if they bear that out: one round does not.
fn exact_values(metric: &Metric, pairs: &Pairs) -> Option<(f64, f64)> {
    let is_shown = metric.exact && pairs.rounds.len() >= FEWEST_EXACT as usize;
    same_in_all(&pairs.rounds).filter(|_| is_shown)
}

/// Returns the ratio of exact values, if they have one.
fn exact_ratio(metric: &Metric, pairs: &Pairs) -> Option<f64> {
    exact_values(metric, pairs)
        .and_then(|(baseline, candidate)| ratio_of_exact(baseline, candidate))
}

fn conclude(record: &Record, judgement: &Judgement, one: &Prepared, level: f64) -> Comparison {
    let metric = &record.metrics[one.metric];
    let exact = exact_ratio(metric, &one.pairs);
    // Without a logarithm a round has no part in an estimate, but an exact value needs none.
    let (used, without_ratio) = match exact {
        Some(_) => (number_of_observations(&one.pairs.rounds), 0),
        None => (one.pairs.observations.len(), one.pairs.not_positive),
    };
    let rounds = u32::try_from(used).expect("fewer than 2^32 rounds");
    // More rounds of the same layouts would tell no more.
    let has_layouts = one.pairs.rounds.iter().any(|round| round.layout.is_some());
    let mut comparison = Comparison {
        baseline: 0,
        candidate: one.candidate,
        metric: one.metric,
        primary: one.primary,
        ratio: None,
        verdict: Verdict::Inconclusive,
        confidence: 1.0 - level,
        rounds,
        discarded_rounds: one.pairs.discarded + without_ratio,
        noise_floor: None,
        rounds_needed: None,
        notes: notes(metric, &one.pairs),
    };
    if let Some(ratio) = exact {
        comparison.ratio = Some(RatioInterval { estimate: ratio, low: ratio, high: ratio });
        let verdict = exact_verdict(ratio, judgement.margin, metric.direction);
        comparison.verdict = one.pairs.supported(verdict);
        comparison.notes.extend(cut_off_notes(record, one, verdict));
        comparison.confidence = 1.0;
        comparison.noise_floor = Some(0.0);
        return comparison;
    }
    let Some(estimate) = estimate(record, one, level) else {
        if level <= 0.0 {
            comparison.notes.push(ComparisonNote::NoErrorLeft.into());
            return comparison;
        }
        let needed = if metric.exact && rounds < FEWEST_EXACT {
            FEWEST_EXACT
        } else {
            paired::fewest_rounds(level)
        };
        let of = if has_layouts { Observation::Layout } else { Observation::Round };
        comparison.notes.push(ComparisonNote::TooFew { of, usable: rounds, needed }.into());
        // Where every round is lost, more of the same would be too.
        comparison.rounds_needed = (rounds > 0 || comparison.discarded_rounds == 0)
            .then(|| u64::from(needed.saturating_sub(rounds).max(1)))
            .filter(|_| !has_layouts);
        return comparison;
    };
    let mut ratio = RatioInterval {
        estimate: estimate.centre.exp(),
        low: estimate.low.exp(),
        high: estimate.high.exp(),
    };
    // What else was counted is left out where runs were cut off.
    if metric.name == metric::WALL_TIME {
        ratio = open_where_cut_off(ratio, &one.pairs);
    }
    comparison.ratio = Some(ratio);
    let verdict = verdict(&ratio, judgement.margin, metric.direction);
    comparison.verdict = one.pairs.supported(verdict);
    comparison.notes.extend(cut_off_notes(record, one, verdict));
    comparison.notes.extend(pace_note(&one.pairs, estimate.pace, level));
    comparison.noise_floor = Some(((estimate.high - estimate.low) / 2.0).exp_m1())
        .filter(|_| ratio.low > 0.0 && ratio.high.is_finite());
    if comparison.verdict == Verdict::Inconclusive && estimate.is_coarse {
        comparison.notes.push(ComparisonNote::Steps.into());
    } else if comparison.verdict == Verdict::Inconclusive
        && !has_layouts
        && one.pairs.cut_off == [0, 0]
    {
        let missing = paired::fewest_rounds(level).saturating_sub(rounds);
        comparison.rounds_needed = if missing > 0 {
            Some(u64::from(missing))
        } else {
            rounds_needed(&ratio, rounds, judgement.margin)
        };
    }
    comparison
}

/// Fewer rounds have an interval that covers each of them.
const FEW: usize = 8;

/// Opens the end of an interval that lower bounds reach: those of more than a fifth of the rounds, and of few rounds
/// any.
fn open_where_cut_off(ratio: RatioInterval, pairs: &Pairs) -> RatioInterval {
    let all = pairs.rounds.len();
    let [of_baseline, of_candidate] =
        pairs.cut_off.map(|times| 5 * times as usize > all || times > 0 && all < FEW);
    RatioInterval {
        low: if of_baseline { 0.0 } else { ratio.low },
        high: if of_candidate { f64::INFINITY } else { ratio.high },
        ..ratio
    }
}

/// Says what was made of the pace of the core, and what the answer is without it.
fn pace_note(pairs: &Pairs, share: f64, level: f64) -> Option<Note> {
    if pairs.without_pace > 0 {
        return Some(ComparisonNote::PaceUnknown { rounds: pairs.without_pace }.into());
    }
    match pace::allowance(&pairs.observations) {
        Allowance::Made { varied } if share > 0.0 => {
            let plain = paired::estimate(&pace::without(&pairs.observations), level)?;
            let allowed = ComparisonNote::PaceAllowedFor {
                varied: varied.exp_m1(),
                felt: share,
                ratio: plain.centre.exp(),
                ratio_low: plain.low.exp(),
                ratio_high: plain.high.exp(),
            };
            Some(allowed.into())
        }
        Allowance::None | Allowance::Made { .. } => None,
        Allowance::Refused { differed } => {
            Some(ComparisonNote::PaceDiffered { by: differed.abs().exp_m1() }.into())
        }
    }
}

/// Says which subject was cut off at the timeout, and what `verdict`, that of the values alone, is then worth.
fn cut_off_notes(record: &Record, one: &Prepared, verdict: Verdict) -> Vec<Note> {
    let is_wall_time = record.metrics[one.metric].name == metric::WALL_TIME;
    let supported = one.pairs.supported(verdict);
    [(0, Verdict::Faster), (one.candidate, Verdict::Slower)]
        .into_iter()
        .zip(one.pairs.cut_off)
        .filter(|(_, times)| *times > 0)
        .map(|((subject, against_it), times)| {
            let worth = if supported != verdict {
                CutOffWorth::Nothing(verdict)
            } else if !is_wall_time {
                CutOffWorth::LeftOut
            } else if verdict == against_it {
                CutOffWorth::AtLeast
            } else {
                CutOffWorth::LowerBound
            };
            let subject = record.subjects[subject].name.clone();
            ComparisonNote::CutOff { subject, rounds: times, worth }.into()
        })
        .collect()
}

fn notes(metric: &Metric, pairs: &Pairs) -> Vec<Note> {
    let mut notes = Vec::new();
    if pairs.not_positive > 0 && exact_ratio(metric, pairs).is_none() {
        let (rounds, metric) = (pairs.not_positive, metric.name.clone());
        notes.push(ComparisonNote::RoundsWithoutRatio { rounds, metric }.into());
    }
    if metric.exact && exact_values(metric, pairs).is_none() && !pairs.rounds.is_empty() {
        notes.push(ComparisonNote::NotExact { metric: metric.name.clone() }.into());
    }
    notes
}

/// Where the deciding metric and wall time say different things, both say so.
fn note_disagreement(record: &Record, comparisons: &mut [Comparison]) {
    let contradicts = |a: &Comparison, b: &Comparison| {
        a.candidate == b.candidate
            && a.verdict != b.verdict
            && a.verdict != Verdict::Inconclusive
            && b.verdict != Verdict::Inconclusive
    };
    let time = |index: usize| record.metrics[index].unit == Unit::Second;
    for index in 0..comparisons.len() {
        let this = &comparisons[index];
        if !this.primary || !time(this.metric) {
            continue;
        }
        let other = comparisons.iter().find(|other| {
            record.metrics[other.metric].name == metric::WALL_TIME && contradicts(this, other)
        });
        if let Some(other) = other {
            let note = ComparisonNote::MetricsDisagree {
                metric: record.metrics[this.metric].name.clone(),
                verdict: this.verdict,
                wall_time: other.verdict,
            };
            comparisons[index].notes.push(note.into());
        }
    }
}
