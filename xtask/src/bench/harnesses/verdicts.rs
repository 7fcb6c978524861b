//! What a comparison of ten benchmarks came to.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// How many benchmarks every project has.
const BENCHMARKS: usize = 10;

/// One comparison.
#[derive(Debug)]
pub(super) struct Verdicts {
    rounds: u64,
    seconds: f64,
    /// What was said of the fourth.
    planted: Planted,
    /// How many of the other nine were called different.
    others: usize,
}

#[derive(Debug)]
struct Planted {
    verdict: String,
    ratio: String,
}

impl Verdicts {
    /// Reads them from a record; the fourth benchmark is the one whose name contains `fourth`.
    pub(super) fn read(record: &Value, fourth: &str, seconds: f64) -> Result<Self> {
        let comparisons = record["comparisons"].as_array().context("no comparisons")?;
        let deciding: Vec<&Value> =
            comparisons.iter().filter(|one| one["primary"] == true).collect();
        ensure!(deciding.len() == BENCHMARKS, "{} benchmarks were compared", deciding.len());
        let is_fourth =
            |one: &&&Value| one["metric"].as_str().is_some_and(|it| it.contains(fourth));
        let planted: Vec<&&Value> = deciding.iter().filter(is_fourth).collect();
        let [planted] = planted[..] else { anyhow::bail!("{} are called {fourth}", planted.len()) };
        let percent = |key: &str| 100.0 * (planted[key].as_f64().unwrap_or(f64::NAN) - 1.0);
        let is_called = |one: &Value| matches!(one["verdict"].as_str(), Some("faster" | "slower"));
        let all = deciding.iter().filter(|one| is_called(one)).count();
        Ok(Self {
            rounds: planted["rounds"].as_u64().context("no rounds")?,
            seconds,
            planted: Planted {
                verdict: planted["verdict"].as_str().context("no verdict")?.to_owned(),
                ratio: format!(
                    "{:+.1} % [{:+.1}, {:+.1}]",
                    percent("ratio"),
                    percent("ratio_low"),
                    percent("ratio_high")
                ),
            },
            others: all - usize::from(is_called(planted)),
        })
    }
}

/// Several comparisons of the same two.
#[derive(Debug, Default)]
pub(super) struct Count {
    repetitions: u32,
    fewest: Option<u64>,
    most: u64,
    /// Rounds of all, with a warm-up in each.
    pub(super) all_rounds: f64,
    /// How long they took.
    pub(super) seconds: f64,
    /// How often the fourth was called slower.
    pub(super) found: u32,
    /// How often it was called slower or faster.
    called_fourth: u32,
    /// How many of the other nine were called different, in all.
    pub(super) others: usize,
    /// Ratios of the fourth with their intervals.
    pub(super) ratios: Vec<String>,
}

impl Count {
    /// Adds one.
    pub(super) fn add(&mut self, one: &Verdicts) {
        self.repetitions += 1;
        self.fewest = Some(self.fewest.map_or(one.rounds, |fewest| fewest.min(one.rounds)));
        self.most = self.most.max(one.rounds);
        self.all_rounds += one.rounds as f64 + 1.0;
        self.seconds += one.seconds;
        self.found += u32::from(one.planted.verdict == "slower");
        self.called_fourth +=
            u32::from(matches!(one.planted.verdict.as_str(), "slower" | "faster"));
        self.others += one.others;
        self.ratios.push(one.planted.ratio.clone());
    }

    /// Returns how many rounds the comparisons had.
    pub(super) fn rounds(&self) -> String {
        match self.fewest {
            Some(fewest) if fewest < self.most => format!("{fewest} to {}", self.most),
            _ => self.most.to_string(),
        }
    }

    /// Returns how many of all benchmarks were called different, of how many.
    pub(super) fn called(&self) -> String {
        let all = self.others + self.called_fourth as usize;
        format!("{all}/{}", self.repetitions as usize * BENCHMARKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_is_told_from_the_others() {
        let comparisons: Vec<Value> = (1..=10)
            .map(|number| {
                let verdict = if matches!(number, 4 | 7) { "slower" } else { "equivalent" };
                serde_json::json!({"metric": format!("work_{number:02}"), "primary": true,
                    "verdict": verdict, "rounds": 12, "ratio": 1.05, "ratio_low": 1.04, "ratio_high": 1.06})
            })
            .collect();
        let record = serde_json::json!({ "comparisons": comparisons });
        let mut count = Count::default();
        count.add(&Verdicts::read(&record, "04", 1.0).unwrap());
        assert_eq!((count.found, count.others), (1, 1));
        assert_eq!(count.called(), "2/10");
        assert_eq!(count.ratios, ["+5.0 % [+4.0, +6.0]"]);
    }
}
