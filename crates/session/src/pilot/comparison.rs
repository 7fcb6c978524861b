//! A record as the pilot of a comparison: by how much the ratio of two runs of a round varies, looked at as `compare`
//! looks at it, on the metric by which it would decide.

use becalm_model::terms::Primary;
use becalm_model::{Note, Record, Run, Unit};
use becalm_runner::conclude::{observations, paired_rounds, primary_metrics};
use becalm_runner::rounds::Judgement;
use becalm_stats::decide::paired::{FEWEST_ROUNDS, Observation, Spread, spread_of};

use super::{Costs, PilotError, benchmark_of, metric_of, note_others, same_program};
use crate::error::Error;

/// What a record shows about a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonPilot {
    /// What is planned for: a program, or two.
    pub subject: String,
    /// The metric by which the comparison would decide.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Geometric mean of the values.
    pub typical: f64,
    /// By how much the log ratio of a round varies.
    pub spread: Spread,
    /// Rounds of two runs.
    pub rounds: usize,
    /// Seconds that a round of two runs takes.
    pub seconds: f64,
    /// What the reader has to know.
    pub notes: Vec<Note>,
}

impl ComparisonPilot {
    /// Looks through a record, by the metric `asked` for, or by what `compare` would choose.
    pub fn of(record: &Record, asked: Option<&str>) -> Result<Self, Error> {
        let metric = match asked {
            Some(name) => metric_of(record, name)?,
            None => usual_metric(record)?,
        };
        let pairing = Pairing::of(record, metric);
        let mut notes = Vec::new();
        let others = record.subjects.len() - pairing.subjects.len();
        let subject = pairing.name(record);
        note_others(&subject, others, &mut notes);
        let (spread, rounds) = pairing.spread()?;
        let costs = Costs::of(record, &pairing.subjects)?;
        let counted = |subject: &usize| record.measured(*subject);
        let runs: Vec<&Run> = pairing.subjects.iter().flat_map(counted).collect();
        let n = runs.len().max(1) as f64;
        let values = || runs.iter().filter_map(|run| run.value(metric)).filter(|one| *one > 0.0);
        let logs: f64 = values().map(f64::ln).sum();
        let metric = &record.metrics[metric];
        Ok(Self {
            subject,
            metric: metric.name.clone(),
            unit: metric.unit.clone(),
            typical: (logs / values().count().max(1) as f64).exp(),
            spread,
            rounds,
            seconds: 2.0 * runs.iter().map(|run| costs.of_run(run)).sum::<f64>() / n,
            notes,
        })
    }
}

/// Returns the metric by which `compare` would decide.
fn usual_metric(record: &Record) -> Result<usize, Error> {
    if let Some(one) = benchmark_of(record)? {
        return Ok(one);
    }
    let judgement = Judgement { confidence: 0.95, margin: 0.0, primary: Primary::Auto };
    Ok(*primary_metrics(record, &judgement).metrics.first().ok_or(PilotError::NoTime)?)
}

/// Which runs are compared with each other.
struct Pairing {
    subjects: Vec<usize>,
    /// Sequences of rounds of two runs, in time order.
    rounds: Vec<Vec<Observation>>,
    /// Of the degrees of freedom of all sequences together, how many are independent.
    independent: f64,
}

impl Pairing {
    /// Takes the copies of the first program in pairs; without copies the first two programs; of a single one the
    /// neighbours in time.
    fn of(record: &Record, metric: usize) -> Self {
        let same = same_program(record);
        let pair = |one, other| observations(&paired_rounds(record, one, other, metric));
        if same.len() > 1 {
            let seconds = same.iter().enumerate();
            let rounds = seconds
                .flat_map(|(k, &other)| same[..k].iter().map(move |&one| (one, other)))
                .map(|(one, other)| pair(one, other))
                .collect();
            // n copies have n (n - 1) / 2 pairs and n - 1 independent differences.
            let independent = 2.0 / same.len() as f64;
            return Self { subjects: same, rounds, independent };
        }
        if record.subjects.len() > 1 {
            return Self { subjects: vec![0, 1], rounds: vec![pair(0, 1)], independent: 1.0 };
        }
        let values: Vec<f64> =
            same.iter().flat_map(|&subject| record.values(subject, metric)).collect();
        let rounds = [0, 1].map(|from| neighbours(values.get(from..).unwrap_or_default()));
        // Von Neumann, "Distribution of the Ratio of the Mean Square Successive Difference to the Variance", Ann.
        // Math. Stat. 12 (1941): successive differences are worth two thirds of the values.
        Self { subjects: same, rounds: rounds.to_vec(), independent: 2.0 / 3.0 }
    }

    fn name(&self, record: &Record) -> String {
        let name = |&subject: &usize| record.subjects[subject].name.as_str();
        match &self.subjects[..] {
            [one, other] if name(one) != name(other) && same_program(record).len() < 2 => {
                format!("{} and {}", name(one), name(other))
            }
            subjects => subjects.first().map_or("", name).to_owned(),
        }
    }

    /// Returns the spread of a round, and how many rounds there were in a sequence.
    fn spread(&self) -> Result<(Spread, usize), PilotError> {
        let have = self.rounds.iter().map(Vec::len).max().unwrap_or(0);
        let spreads: Vec<Spread> =
            self.rounds.iter().filter_map(|rounds| spread_of(rounds)).collect();
        if spreads.is_empty() {
            return Err(PilotError::TooFewPairs { needed: FEWEST_ROUNDS, have });
        }
        let n = spreads.len() as f64;
        let variance = spreads.iter().map(|one| one.deviation.powi(2)).sum::<f64>() / n;
        let df = spreads.iter().map(|one| one.df * self.independent).sum();
        Ok((Spread { deviation: variance.sqrt(), df }, have))
    }
}

/// Returns values in time order as rounds of two, of which now one and now the other counts as the candidate.
fn neighbours(values: &[f64]) -> Vec<Observation> {
    let logs = |two: &[f64]| two.iter().all(|one| *one > 0.0).then(|| [two[0].ln(), two[1].ln()]);
    let rounds = values.chunks_exact(2).filter_map(logs).enumerate();
    rounds
        .map(|(round, [first, second])| {
            let candidate_first = round % 2 == 1;
            let (baseline, candidate) =
                if candidate_first { (second, first) } else { (first, second) };
            Observation { baseline, candidate, candidate_first, pace: [0.0; 2] }
        })
        .collect()
}
