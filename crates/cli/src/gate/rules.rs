//! The rules of `becalm.toml` for one metric of one benchmark.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::history::full_name;
use becalm_model::wire::{SuiteGate, SuiteGateChanges};
use becalm_model::{Unit, parse_amount};

use crate::error::CommandError;
use crate::suite::SuiteFile;

/// A limit that holds whatever was measured before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// At most so much, in the unit of the metric.
    Max(f64),
    /// At least so much.
    Min(f64),
}

/// What holds for one metric of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    /// Largest share for the worse that is let through, if anybody said.
    pub(crate) margin: Option<f64>,
    /// Which changes of level are not let through.
    pub(crate) changes: SuiteGateChanges,
    /// Limits.
    pub(crate) limits: Vec<Limit>,
    /// Whether a rule names this metric, so that it is judged even if it is not what its benchmark is about.
    pub(crate) names_metric: bool,
}

/// The rules, and which of them were of use.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    gate: SuiteGate,
    file: Option<SuiteFile>,
    /// The margin of the command line, which goes before all others.
    margin: Option<f64>,
    used: BTreeSet<String>,
    /// Limits by rule and key, and what is wrong with them for every metric so far; nothing if they suit one.
    limits: BTreeMap<(String, &'static str), Option<String>>,
}

impl Rules {
    /// Reads them from the nearest `becalm.toml`, if there is one.
    pub(crate) fn read(margin: Option<f64>) -> Result<Self, CommandError> {
        let file = SuiteFile::read_if_there()?;
        let gate = file.as_ref().map(|file| file.document.gate.clone()).unwrap_or_default();
        Ok(Self { gate, file, margin, ..Self::default() })
    }

    /// Returns what holds for a metric: what is said of the metric of this benchmark, then of the benchmark, each with
    /// its parameters and then without, then of the metric, then of everything. A limit of a benchmark holds for those metrics whose unit it suits.
    /// `main` says whether the metric is judged without being named.
    pub(crate) fn of(
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
                let known = self.limits.entry(at).or_insert_with(|| Some(String::new()));
                match parse_amount(&text.0, unit) {
                    Ok(value) => {
                        *known = None;
                        limits.push(make(value));
                        break;
                    }
                    // One of another unit leaves room for a less special one.
                    Err(error) if known.is_some() => {
                        *known = Some(format!(
                            "{error}, for the metric {metric} of {benchmark}; [gate.rules.\"{benchmark}/METRIC\"] \
                             names another metric"
                        ));
                    }
                    Err(_) => {}
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

    /// Fails where a limit suits none of the metrics that it was asked for.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        let wrong = self.limits.iter().find_map(|(at, wrong)| Some((at, wrong.as_ref()?)));
        let (Some(((name, key), what)), Some(file)) = (wrong, &self.file) else { return Ok(()) };
        Err(file.error_at(&["gate", "rules", name, key], what))
    }

    /// Returns the names of rules that nothing was judged by.
    pub(crate) fn unused(&self) -> Vec<&str> {
        let names = self.gate.rules.keys().map(String::as_str);
        names.filter(|name| !self.used.contains(*name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        let file = SuiteFile::parse("b.toml".into(), format!("version = 1\n{text}")).unwrap();
        Rules { gate: file.document.gate.clone(), file: Some(file), ..Rules::default() }
    }

    #[test]
    fn what_is_more_special_comes_first() {
        let mut rules = rules(
            "[gate]\nmargin = '5%'\n[gate.rules.sort]\nmargin = '2%'\nmax = '250ms'\n\
             [gate.rules.'sort/B/op']\nmax = '1kB'\n[gate.rules.instructions]\nchanges = 'pending'\n",
        );
        let rule = rules.of(("sort", &[]), "time", &Unit::Second, true);
        assert_eq!((rule.margin, rule.limits), (Some(0.02), vec![Limit::Max(0.25)]));
        let rule = rules.of(("sort", &[]), "B/op", &Unit::Byte, false);
        assert_eq!((rule.margin, rule.limits), (Some(0.02), vec![Limit::Max(1000.0)]));
        assert!(rule.names_metric);
        assert_eq!(rules.unused(), ["instructions"]);
        let rule = rules.of(("find", &[]), "instructions", &Unit::Count, false);
        assert_eq!((rule.margin, rule.changes), (Some(0.05), SuiteGateChanges::Pending));
        assert!(rules.check().is_ok() && rules.unused().is_empty());
    }

    #[test]
    fn a_limit_of_another_unit_leaves_room_for_that_of_the_metric() {
        let mut rules =
            rules("[gate.rules.sort]\nmax = '250ms'\n[gate.rules.max_rss]\nmax = '12MiB'\n");
        assert_eq!(rules.of(("sort", &[]), "time", &Unit::Second, true).limits, [Limit::Max(0.25)]);
        let of_memory = rules.of(("sort", &[]), "max_rss", &Unit::Byte, false).limits;
        assert_eq!(of_memory, [Limit::Max(12.0 * 1_048_576.0)]);
        assert!(rules.check().is_ok());
    }

    #[test]
    fn a_limit_that_suits_no_metric_is_told_with_its_line() {
        let mut rules = rules("[gate.rules.sort]\nmax = 250\n");
        assert_eq!(rules.of(("sort", &[]), "time", &Unit::Second, true).limits, []);
        let told = rules.check().unwrap_err().message;
        assert!(told.starts_with("b.toml:3: `250` is not a duration"), "{told}");
        // What is not judged does not make it one.
        let _ = rules.of(("sort", &[]), "page_faults", &Unit::Count, false);
        assert!(rules.check().is_err());
        // It is one of counts, and has nothing to say of times.
        let _ = rules.of(("sort", &[]), "allocations", &Unit::Count, true);
        assert!(rules.check().is_ok());
    }
}
