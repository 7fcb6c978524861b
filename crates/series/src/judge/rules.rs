//! The rules of `becalm.toml` for one metric of one benchmark.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::history::full_name;
use becalm_model::wire::{SuiteGate, SuiteGateChanges};
use becalm_model::{QuantityError, Unit, parse_amount};

/// A limit that holds whatever was measured before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// At most so much, in the unit of the metric.
    Max(f64),
    /// At least so much.
    Min(f64),
}

/// What holds for one metric of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Largest share for the worse that is let through, if anybody said.
    pub margin: Option<f64>,
    /// Which changes of level are not let through.
    pub changes: SuiteGateChanges,
    /// Limits.
    pub limits: Vec<Limit>,
    /// Whether a rule names this metric, so that it is judged even if it is not what its benchmark is about.
    pub names_metric: bool,
}

/// A limit that suits none of the metrics that it was asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{source}, for the metric {metric} of {benchmark}; use [gate.rules.\"{benchmark}/METRIC\"] \
     for another metric"
)]
pub struct LimitError {
    /// The rule.
    pub rule: String,
    /// `max` or `min`.
    pub key: &'static str,
    /// A metric that it does not suit.
    pub metric: String,
    /// The benchmark of that.
    pub benchmark: String,
    /// Why.
    pub source: QuantityError,
}

/// The rules, and which of them were of use.
#[derive(Debug, Default)]
pub struct Rules {
    gate: SuiteGate,
    /// The margin of the command line, which goes before all others.
    margin: Option<f64>,
    used: BTreeSet<String>,
    /// Limits by rule and key, and what is wrong with them for every metric so far; nothing if they suit one.
    limits: BTreeMap<(String, &'static str), Option<LimitError>>,
}

impl Rules {
    /// Takes those of a file, and a margin that goes before all of theirs.
    pub fn new(gate: SuiteGate, margin: Option<f64>) -> Self {
        Self { gate, margin, ..Self::default() }
    }

    /// Returns what holds for a metric: what is said of the metric of this benchmark, then of the benchmark, each with
    /// its parameters and then without, then of the metric, then of everything. A limit of a benchmark holds for those metrics whose unit it suits.
    /// `main` says whether the metric is judged without being named.
    pub fn of(
        &mut self,
        (benchmark, parameters): (&str, &[(String, String)]),
        metric: &str,
        unit: &Unit,
        main: bool,
    ) -> Rule {
        let mut parameters: Vec<(&String, &String)> =
            parameters.iter().map(|(name, value)| (name, value)).collect();
        parameters.sort_unstable();
        let full = full_name(benchmark, parameters);
        let [of_full, both] = [full.as_str(), benchmark].map(|name| format!("{name}/{metric}"));
        let mut names = vec![of_full.as_str(), full.as_str(), both.as_str(), benchmark, metric];
        if full == benchmark {
            names.drain(..2);
        }
        let found: Vec<_> =
            names.iter().filter_map(|name| Some((*name, self.gate.rules.get(*name)?))).collect();
        let names_metric =
            found.iter().any(|(name, _)| [of_full.as_str(), both.as_str(), metric].contains(name));
        let mut limits = Vec::new();
        for (key, make) in [("max", Limit::Max as fn(f64) -> Limit), ("min", Limit::Min)] {
            // A limit that suits only what is not judged would never be looked at, and nobody would know.
            if !main && !names_metric {
                break;
            }
            for (name, rule) in &found {
                let text = if key == "max" { &rule.max } else { &rule.min };
                let Some(text) = text else { continue };
                let at = ((*name).to_owned(), key);
                match parse_amount(&text.0, unit) {
                    Ok(value) => {
                        self.limits.insert(at, None);
                        limits.push(make(value));
                        break;
                    }
                    // One of another unit leaves room for a less special one.
                    Err(source) => {
                        let wrong = LimitError {
                            rule: (*name).to_owned(),
                            key,
                            metric: metric.to_owned(),
                            benchmark: benchmark.to_owned(),
                            source,
                        };
                        // Once it suited a metric it is right, whatever else has its name.
                        if self.limits.get(&at).is_none_or(Option::is_some) {
                            self.limits.insert(at, Some(wrong));
                        }
                    }
                }
            }
        }
        let margin = found.iter().find_map(|(_, rule)| rule.margin).or(self.gate.margin);
        let changes = found.iter().find_map(|(_, rule)| rule.changes).or(self.gate.changes);
        self.used.extend(found.iter().map(|(name, _)| (*name).to_owned()));
        Rule {
            margin: self.margin.or(margin.map(|margin| margin.0)),
            changes: changes.unwrap_or(SuiteGateChanges::Confirmed),
            names_metric,
            limits,
        }
    }

    /// Returns a limit that suits none of the metrics that it was asked for.
    pub fn unsuited(&self) -> Option<&LimitError> {
        self.limits.values().flatten().next()
    }

    /// Returns the names of rules that nothing was judged by.
    pub fn unused(&self) -> Vec<&str> {
        let names = self.gate.rules.keys().map(String::as_str);
        names.filter(|name| !self.used.contains(*name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(gate: &serde_json::Value) -> Rules {
        Rules::new(serde_json::from_value(gate.clone()).unwrap(), None)
    }

    #[test]
    fn what_is_more_special_comes_first() {
        let mut rules = rules(&json!({"margin": "5%", "rules": {
            "sort": {"margin": "2%", "max": "250ms"},
            "sort/B/op": {"max": "1kB"},
            "instructions": {"changes": "pending"},
        }}));
        let rule = rules.of(("sort", &[]), "time", &Unit::Second, true);
        assert_eq!((rule.margin, rule.limits), (Some(0.02), vec![Limit::Max(0.25)]));
        let rule = rules.of(("sort", &[]), "B/op", &Unit::Byte, false);
        assert_eq!((rule.margin, rule.limits), (Some(0.02), vec![Limit::Max(1000.0)]));
        assert!(rule.names_metric);
        assert_eq!(rules.unused(), ["instructions"]);
        let rule = rules.of(("find", &[]), "instructions", &Unit::Count, false);
        assert_eq!((rule.margin, rule.changes), (Some(0.05), SuiteGateChanges::Pending));
        assert!(rules.unsuited().is_none() && rules.unused().is_empty());
    }

    #[test]
    fn a_limit_of_another_unit_leaves_room_for_that_of_the_metric() {
        let mut rules =
            rules(&json!({"rules": {"sort": {"max": "250ms"}, "max_rss": {"max": "12MiB"}}}));
        assert_eq!(rules.of(("sort", &[]), "time", &Unit::Second, true).limits, [Limit::Max(0.25)]);
        let of_memory = rules.of(("sort", &[]), "max_rss", &Unit::Byte, false).limits;
        assert_eq!(of_memory, [Limit::Max(12.0 * 1_048_576.0)]);
        assert!(rules.unsuited().is_none());
    }

    #[test]
    fn a_limit_that_suits_no_metric_is_an_error() {
        let mut rules = rules(&json!({"rules": {"sort": {"max": 250}}}));
        assert_eq!(rules.of(("sort", &[]), "time", &Unit::Second, true).limits, []);
        let wrong = rules.unsuited().unwrap();
        assert_eq!((wrong.rule.as_str(), wrong.key), ("sort", "max"));
        let message = wrong.to_string();
        assert!(message.starts_with("`250` is not a duration"), "{message}");
        // What is not judged does not make it one.
        let _ = rules.of(("sort", &[]), "page_faults", &Unit::Count, false);
        assert!(rules.unsuited().is_some());
        // It is one of counts, and has nothing to say of times.
        let _ = rules.of(("sort", &[]), "allocations", &Unit::Count, true);
        assert!(rules.unsuited().is_none());
    }
}
