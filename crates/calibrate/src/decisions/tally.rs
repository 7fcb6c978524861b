//! Counts of calls per rule, workload and true ratio, and their table.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::call::Call;
use super::table::Table;
use crate::rate::clopper_pearson;

/// True ratio in thousandths, so that it can be a key.
pub type PerMille = u32;

/// True ratios, the one without a difference first.
pub const RATIOS: [PerMille; 4] = [1000, 1010, 1020, 1050];

/// Name of the sum over workloads.
const POOLED: &str = "all";

/// Calls of one kind of trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    trials: u64,
    slower: u64,
    faster: u64,
}

impl Tally {
    fn count(&mut self, call: Call) {
        self.trials += 1;
        match call {
            Call::Slower => self.slower += 1,
            Call::Faster => self.faster += 1,
            Call::Neither => {}
        }
    }

    fn add(&mut self, other: Self) {
        self.trials += other.trials;
        self.slower += other.slower;
        self.faster += other.faster;
    }
}

/// Calls of several rules; rules and workloads keep the order in which they first came.
#[derive(Debug, Default)]
pub struct Tallies {
    rules: Vec<String>,
    workloads: Vec<String>,
    cells: BTreeMap<(String, String, PerMille), Tally>,
}

impl Tallies {
    /// Counts one call.
    pub fn count(&mut self, rule: &str, workload: &str, ratio: PerMille, call: Call) {
        remember(&mut self.rules, rule);
        remember(&mut self.workloads, workload);
        let key = (rule.to_owned(), workload.to_owned(), ratio);
        self.cells.entry(key).or_default().count(call);
    }

    /// Returns the Markdown table: a row per rule, pooled and by workload.
    pub fn table(&self) -> String {
        let mut table = Table::new(&[
            "rule",
            "workload",
            "false alarms",
            "power 1 %",
            "power 2 %",
            "power 5 %",
            "wrong direction",
        ]);
        for (rule, workload) in self.rows() {
            let mut row = vec![rule.to_owned(), workload.to_owned()];
            let mut wrong = Tally::default();
            for ratio in RATIOS {
                let tally = self.tally(rule, workload, ratio);
                if ratio == 1000 {
                    row.push(rate(tally.slower + tally.faster, tally.trials));
                } else {
                    row.push(rate(tally.slower, tally.trials));
                    wrong.add(tally);
                }
            }
            row.push(rate(wrong.faster, wrong.trials));
            table.rows.push(row);
        }
        table.markdown()
    }

    /// Returns the counts as JSON.
    pub fn json(&self) -> Value {
        let cells = self.rows().flat_map(|(rule, workload)| {
            RATIOS.map(|ratio| {
                let tally = self.tally(rule, workload, ratio);
                json!({"rule": rule, "workload": workload, "ratio": f64::from(ratio) / 1000.0,
                       "trials": tally.trials, "slower": tally.slower, "faster": tally.faster})
            })
        });
        Value::Array(cells.collect())
    }

    fn rows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rules.iter().flat_map(|rule| {
            std::iter::once(POOLED)
                .chain(self.workloads.iter().map(String::as_str))
                .map(|workload| (rule.as_str(), workload))
        })
    }

    fn tally(&self, rule: &str, workload: &str, ratio: PerMille) -> Tally {
        let mut sum = Tally::default();
        for ((its_rule, its_workload, its_ratio), tally) in &self.cells {
            let is_wanted = workload == POOLED || its_workload == workload;
            if its_rule == rule && is_wanted && *its_ratio == ratio {
                sum.add(*tally);
            }
        }
        sum
    }
}

fn remember(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// Returns a share of trials in percent with its 95 % interval.
pub fn rate(count: u64, trials: u64) -> String {
    if trials == 0 {
        return "-".to_owned();
    }
    let rate = clopper_pearson(count, trials, 0.95).map(|share| 100.0 * share);
    format!("{:.1} [{:.1}, {:.1}] {count}/{trials}", rate.estimate, rate.low, rate.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_pooled_over_workloads_and_judged_by_the_true_ratio() {
        let mut tallies = Tallies::default();
        for (workload, ratio, call) in [
            ("b", 1000, Call::Slower),
            ("a", 1000, Call::Neither),
            ("a", 1010, Call::Faster),
            ("a", 1050, Call::Slower),
        ] {
            tallies.count("rule", workload, ratio, call);
        }
        let table = tallies.table();
        let pooled: Vec<&str> = table.lines().nth(2).unwrap().split('|').map(str::trim).collect();
        assert_eq!(pooled[1..3], ["rule", "all"]);
        assert!(pooled[3].ends_with("1/2"), "{pooled:?}");
        assert!(pooled[4].ends_with("0/1"), "{pooled:?}");
        assert_eq!(pooled[5], "-");
        assert!(pooled[6].ends_with("1/1"), "{pooled:?}");
        assert!(pooled[7].ends_with("1/2"), "{pooled:?}");
        assert_eq!(table.lines().count(), 5);
        assert_eq!(tallies.json().as_array().unwrap().len(), 12);
    }

    #[test]
    fn a_rate_has_its_interval_and_its_counts() {
        assert_eq!(rate(6, 194), "3.1 [1.1, 6.6] 6/194");
        assert_eq!(rate(0, 0), "-");
    }
}
