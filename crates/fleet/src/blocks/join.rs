//! What blocks on several machines show together.
//!
//! A machine's estimate is the mean of the log ratios of its blocks, which have as many rounds; the half widths of their
//! intervals add up like independent errors. Over machines, each of which counts alike, the interval is Student's
//! (`stats/machines.rs`), and never narrower than the errors within the machines alone would make it: values that come in
//! steps may be the same on all machines without being known so well.

use becalm_model::wire::{FleetComparison, MachineRatio};
use becalm_model::{Metric, RatioInterval, Record, Verdict};
use becalm_runner::conclude::verdict;
use becalm_stats::decide::family;
use becalm_stats::machines::OverMachines;

/// The blocks of one machine that count.
#[derive(Debug)]
pub(crate) struct OfMachine<'a> {
    pub(crate) name: &'a str,
    pub(crate) blocks: Vec<&'a Record>,
}

/// What is compared: the names of baseline and candidate, and the metric.
#[derive(Debug, PartialEq)]
struct Question {
    baseline: String,
    candidate: String,
    metric: Metric,
    primary: bool,
}

/// The log ratio of one machine with the half width of its interval.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    centre: f64,
    half: f64,
    blocks: u32,
}

/// Joins the comparisons of all blocks, in the order of the first record.
pub(crate) fn join(
    machines: &[OfMachine<'_>],
    confidence: f64,
    margin: f64,
) -> Vec<FleetComparison> {
    let questions = questions(machines);
    let estimates: Vec<Vec<(&str, Estimate)>> = questions
        .iter()
        .map(|asked| {
            let of_machine = |one: &OfMachine<'_>| -> Option<Estimate> { estimate(one, asked) };
            machines.iter().filter_map(|one| Some((one.name, of_machine(one)?))).collect()
        })
        .collect();
    let over: Vec<Option<OverMachines>> = estimates
        .iter()
        .map(|of| OverMachines::of(&of.iter().map(|(_, one)| one.centre).collect::<Vec<_>>()))
        .collect();
    let levels = levels(&questions, &over, 1.0 - confidence);
    let all = questions.into_iter().zip(estimates).zip(over).zip(levels);
    all.map(|(((asked, of_machines), over), level)| {
        let confidence = 1.0 - level;
        let ratio = over.map(|over| over_all(&over, &of_machines, confidence));
        let answer = |ratio: &RatioInterval| verdict(ratio, margin, asked.metric.direction);
        let machines = of_machines.iter().map(|(name, one)| {
            let ratio = one.ratio();
            let (machine, blocks) = ((*name).to_owned(), one.blocks);
            MachineRatio { machine, blocks, verdict: answer(&ratio), ratio: Some(ratio).into() }
        });
        FleetComparison {
            machines: machines.collect(),
            verdict: ratio.as_ref().map_or(Verdict::Inconclusive, answer),
            ratio: ratio.into(),
            confidence,
            deviation: over.map(|over| over.deviation),
            baseline: asked.baseline,
            candidate: asked.candidate,
            metric: asked.metric,
            primary: asked.primary,
        }
    })
    .collect()
}

/// Returns the ratio over machines.
fn over_all(
    over: &OverMachines,
    of_machines: &[(&str, Estimate)],
    confidence: f64,
) -> RatioInterval {
    let squares: f64 = of_machines.iter().map(|(_, one)| one.half.powi(2)).sum();
    let within = squares.sqrt() / of_machines.len() as f64;
    let [low, high] = over.interval(confidence, within).map(f64::exp);
    RatioInterval { estimate: over.mean.exp(), low, high }
}

impl Estimate {
    fn ratio(&self) -> RatioInterval {
        let Self { centre, half, .. } = *self;
        let [low, high] = [centre - half, centre + half].map(f64::exp);
        RatioInterval { estimate: centre.exp(), low, high }
    }
}

fn questions(machines: &[OfMachine<'_>]) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    for record in machines.iter().flat_map(|one| &one.blocks) {
        for one in &record.comparisons {
            let name = |subject: usize| record.subjects[subject].name.clone();
            let (baseline, candidate) = (name(one.baseline), name(one.candidate));
            let metric = record.metrics[one.metric].clone();
            let known = questions.iter_mut().find(|asked| {
                asked.candidate == candidate && asked.baseline == baseline && asked.metric == metric
            });
            // What decides on one machine decides for all: which metric suits is learnt from the runs.
            if let Some(asked) = known {
                asked.primary |= one.primary;
            } else {
                let primary = one.primary;
                questions.push(Question { baseline, candidate, metric, primary });
            }
        }
    }
    questions
}

/// Returns what the blocks of a machine show; `None` if no block has a ratio with an interval.
fn estimate(machine: &OfMachine<'_>, asked: &Question) -> Option<Estimate> {
    let ratios = machine.blocks.iter().filter_map(|record| {
        let name = |subject: usize| record.subjects[subject].name.as_str();
        let found = record.comparisons.iter().find(|one| {
            name(one.baseline) == asked.baseline
                && name(one.candidate) == asked.candidate
                && record.metrics[one.metric] == asked.metric
        });
        found?.ratio.filter(|ratio| ratio.low > 0.0 && ratio.high.is_finite())
    });
    let ratios: Vec<RatioInterval> = ratios.collect();
    if ratios.is_empty() {
        return None;
    }
    let count = ratios.len() as f64;
    let centre = ratios.iter().map(|ratio| ratio.estimate.ln()).sum::<f64>() / count;
    let squares: f64 =
        ratios.iter().map(|ratio| ((ratio.high / ratio.low).ln() / 2.0).powi(2)).sum();
    let blocks = u32::try_from(ratios.len()).unwrap_or(u32::MAX);
    Some(Estimate { centre, half: squares.sqrt() / count, blocks })
}

/// Returns the level of each comparison: Holm's steps over those that decide; the others stand beside the decision.
fn levels(questions: &[Question], over: &[Option<OverMachines>], alpha: f64) -> Vec<f64> {
    let deciding = questions.iter().zip(over).filter(|(asked, _)| asked.primary);
    let p_values: Vec<f64> = deciding.map(|(_, over)| over.map_or(1.0, |over| over.p())).collect();
    let mut of_primary = family::levels(&p_values, |share| alpha / share as f64).into_iter();
    let level = |asked: &Question| {
        if asked.primary { of_primary.next().unwrap_or(alpha) } else { alpha }
    };
    questions.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use becalm_model::{Comparison, RecordKind, Subject};

    use super::*;

    /// A block with these ratios of each candidate to the baseline, each with an interval of 1 % to either side.
    fn block(ratios: &[f64]) -> Record {
        let command = |name: &str| Subject::new(name, vec![name.to_owned()]);
        let names = ["old", "new", "newer"];
        let comparison = |(index, &ratio): (usize, &f64)| Comparison {
            baseline: 0,
            candidate: index + 1,
            metric: 0,
            primary: true,
            ratio: Some(RatioInterval { estimate: ratio, low: ratio / 1.01, high: ratio * 1.01 }),
            verdict: Verdict::Inconclusive,
            confidence: 0.95,
            rounds: 10,
            discarded_rounds: 0,
            noise_floor: None,
            rounds_needed: None,
            notes: Vec::new(),
        };
        Record {
            subjects: names.map(command)[..=ratios.len()].to_vec(),
            metrics: Metric::always(),
            comparisons: ratios.iter().enumerate().map(comparison).collect(),
            ..Record::empty(RecordKind::Comparison)
        }
    }

    fn joined(of: &[(&str, &[Record])]) -> Vec<FleetComparison> {
        let machines: Vec<OfMachine<'_>> = of
            .iter()
            .map(|(name, blocks)| OfMachine { name, blocks: blocks.iter().collect() })
            .collect();
        join(&machines, 0.95, 0.01)
    }

    #[test]
    fn machines_that_agree_decide() {
        let blocks = [1.050, 1.051, 1.049].map(|ratio| [block(&[ratio])]);
        let joined = joined(&[("a", &blocks[0]), ("b", &blocks[1]), ("c", &blocks[2])]);
        let [one] = &joined[..] else { panic!("{joined:#?}") };
        assert_eq!(one.verdict, Verdict::Slower);
        assert!((one.ratio.ratio.unwrap() - 1.05).abs() < 1e-4, "{:?}", one.ratio);
        let verdicts: Vec<Verdict> = one.machines.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Slower; 3]);
    }

    #[test]
    fn machines_that_disagree_leave_it_open() {
        let blocks = [1.08, 1.07, 1.00].map(|ratio| [block(&[ratio])]);
        let joined = joined(&[("a", &blocks[0]), ("b", &blocks[1]), ("c", &blocks[2])]);
        assert_eq!(joined[0].verdict, Verdict::Inconclusive);
        let verdicts: Vec<Verdict> = joined[0].machines.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Slower, Verdict::Slower, Verdict::Equivalent]);
    }

    #[test]
    fn blocks_of_a_machine_are_one_estimate() {
        let joined = joined(&[("a", &[block(&[1.02]), block(&[1.04])])]);
        let one = &joined[0].machines[0];
        assert_eq!((one.blocks, one.verdict), (2, Verdict::Slower));
        let half = (one.ratio.ratio_high.unwrap() / one.ratio.ratio_low.unwrap()).ln() / 2.0;
        assert!((half - 1.01_f64.ln() / 2.0_f64.sqrt()).abs() < 1e-9, "{half}");
        // One machine says nothing about others.
        assert_eq!((joined[0].verdict, joined[0].ratio.ratio), (Verdict::Inconclusive, None));
    }

    #[test]
    fn machines_that_show_the_same_steps_are_not_known_better_than_each() {
        let blocks = [1.05, 1.05].map(|ratio| [block(&[ratio])]);
        let joined = joined(&[("a", &blocks[0]), ("b", &blocks[1])]);
        let ratio = &joined[0].ratio;
        let half = (ratio.ratio_high.unwrap() / ratio.ratio_low.unwrap()).ln() / 2.0;
        assert!((half - 1.01_f64.ln() / 2.0_f64.sqrt()).abs() < 1e-9, "{half}");
    }

    #[test]
    fn several_candidates_share_the_error() {
        let blocks = [[1.05, 1.00], [1.05, 1.01], [1.05, 0.99]].map(|ratios| [block(&ratios)]);
        let joined = joined(&[("a", &blocks[0]), ("b", &blocks[1]), ("c", &blocks[2])]);
        assert_eq!(joined[0].verdict, Verdict::Slower);
        assert!((joined[0].confidence - 0.975).abs() < 1e-12, "{}", joined[0].confidence);
        assert!((joined[1].confidence - 0.95).abs() < 1e-12, "{}", joined[1].confidence);
    }
}
