//! The tables of a session of `bench decide`.

use std::collections::{BTreeMap, BTreeSet};

use becalm_stats::Sample;
use becalm_stats::center::median;
use serde_json::{Value, json};

use super::Row;
use super::call::Call;
use super::table::Table;
use super::tally::{RATIOS, Tallies};

/// Everything that is printed or saved.
pub struct Summary<'a> {
    rows: &'a [Row],
    tallies: Tallies,
    /// In the order of the first trial.
    rules: Vec<&'a str>,
}

impl<'a> Summary<'a> {
    /// Counts the rows.
    pub fn of(rows: &'a [Row]) -> Self {
        let mut tallies = Tallies::default();
        let mut rules: Vec<&str> = Vec::new();
        // What gave no answer was neither right nor wrong.
        for row in rows.iter().filter(|row| row.verdict != "error") {
            let call = Call::from_word(&row.call);
            tallies.count(&row.rule, &row.workload, row.ratio, call);
            if !rules.contains(&row.rule.as_str()) {
                rules.push(&row.rule);
            }
        }
        Self { rows, tallies, rules }
    }

    /// Returns the tables as Markdown.
    pub fn text(&self) -> String {
        let texts = |of: fn(&Row) -> String| -> String {
            self.rows
                .iter()
                .map(of)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join("; ")
        };
        let loads: Vec<f64> = self.rows.iter().map(|row| row.load).collect();
        let load = Sample::new(loads).map_or_else(
            |_| "-".to_owned(),
            |load| {
                format!(
                    "{:.1} to {:.1}, median {:.1}",
                    load.minimum(),
                    load.maximum(),
                    median(&load)
                )
            },
        );
        format!(
            "Machine: {}. Load: {load}. Seed: {}. Trials: {}.\n\n\
             ## Calls\n\n\
             Rates in percent with their 95 % interval (Clopper and Pearson); power is a call in \
             the right direction.\n\n{}\n\
             ## Verdicts\n\n{}\n\
             ## Wall time of a comparison and estimated ratios, medians\n\n\
             Fixed costs of a process dilute the true ratio, so that estimates lie a little below \
             it.\n\n{}",
            texts(|row| row.machine.clone()),
            texts(|row| row.seed.to_string()),
            self.n_trials(),
            self.tallies.table(),
            self.verdicts().markdown(),
            self.times().markdown(),
        )
    }

    /// Returns the same as JSON.
    pub fn json(&self) -> Value {
        let machines: BTreeSet<&str> = self.rows.iter().map(|row| row.machine.as_str()).collect();
        let seeds: BTreeSet<u64> = self.rows.iter().map(|row| row.seed).collect();
        let tools = self.rules.iter().map(|rule| {
            let seconds = self.median(rule, None, |row| Some(row.seconds));
            let ratios = RATIOS.map(|ratio| self.median(rule, Some(ratio), |row| row.estimate));
            json!({"rule": rule, "median_seconds": seconds, "median_estimates": ratios})
        });
        json!({
            "machines": machines,
            "seeds": seeds,
            "trials": self.n_trials(),
            "calls": self.tallies.json(),
            "tools": tools.collect::<Vec<_>>(),
        })
    }

    fn n_trials(&self) -> usize {
        self.rows.iter().map(|row| (row.seed, row.trial)).collect::<BTreeSet<_>>().len()
    }

    /// How often each rule gave each verdict.
    fn verdicts(&self) -> Table {
        let mut table = Table::new(&["rule", "1.00", "1.01", "1.02", "1.05"]);
        for rule in &self.rules {
            let mut row = vec![(*rule).to_owned()];
            for ratio in RATIOS {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for it in self.rows.iter().filter(|it| it.rule == *rule && it.ratio == ratio) {
                    *counts.entry(&it.verdict).or_default() += 1;
                }
                let texts: Vec<String> =
                    counts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
                row.push(texts.join(", "));
            }
            table.rows.push(row);
        }
        table
    }

    fn times(&self) -> Table {
        let mut table =
            Table::new(&["rule", "metric", "rounds", "wall s", "1.00", "1.01", "1.02", "1.05"]);
        for rule in &self.rules {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
            };
            let mut metrics: BTreeMap<&str, usize> = BTreeMap::new();
            for row in self.rows.iter().filter(|row| row.rule == *rule && !row.metric.is_empty()) {
                *metrics.entry(&row.metric).or_default() += 1;
            }
            let metrics: Vec<String> =
                metrics.iter().map(|(metric, n)| format!("{n} {metric}")).collect();
            let mut cells = vec![
                (*rule).to_owned(),
                metrics.join(", "),
                number(self.median(rule, None, |row| Some(row.rounds as f64)), 0),
                number(self.median(rule, None, |row| Some(row.seconds)), 2),
            ];
            for ratio in RATIOS {
                cells.push(number(self.median(rule, Some(ratio), |row| row.estimate), 4));
            }
            table.rows.push(cells);
        }
        table
    }

    fn median(
        &self,
        rule: &str,
        ratio: Option<u32>,
        value: fn(&Row) -> Option<f64>,
    ) -> Option<f64> {
        let rows = self
            .rows
            .iter()
            .filter(|row| row.verdict != "error")
            .filter(|row| row.rule == rule && ratio.is_none_or(|ratio| row.ratio == ratio));
        Sample::new(rows.filter_map(value).collect()).ok().map(|values| median(&values))
    }
}
