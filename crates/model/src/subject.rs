//! One thing to be measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::revision::Revision;

/// What importers and becalm itself say of a commit among the parameters, by which no series is split.
const ABOUT_COMMIT: [&str; 8] =
    ["commit", "branch", "dirty", "message", "date", "tool", "project", "revision"];

/// A command to be measured, with the name that reports use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name in reports and JSON; unique within a record.
    pub name: String,
    /// Program and arguments, after parameters were filled in. Never empty.
    pub command: Vec<String>,
    /// Values of `--parameter-list` and `--parameter-scan` for this subject, in order.
    pub parameters: Vec<(String, String)>,
    /// Which build of a repository it is; `None` where it is none.
    pub revision: Option<Revision>,
}

impl Subject {
    /// Returns a command of this name, without parameters, that is no revision.
    pub fn new(name: impl Into<String>, command: Vec<String>) -> Self {
        Self { name: name.into(), command, parameters: Vec::new(), revision: None }
    }

    /// Returns the command as it was asked for, which is the same for all revisions.
    pub fn asked_command(&self) -> Vec<String> {
        let mut command = self.command.clone();
        let asked = self.revision.as_ref().and_then(|revision| revision.program.as_ref());
        if let (Some(first), Some(program)) = (command.first_mut(), asked) {
            first.clone_from(program);
        }
        command
    }

    /// Returns the parameters by which series are split: of what is imported, those of the commit are left out.
    pub fn series_parameters(&self, is_imported: bool) -> impl Iterator<Item = &(String, String)> {
        let of_commit = move |name: &str| is_imported && ABOUT_COMMIT.contains(&name);
        self.parameters.iter().filter(move |(name, _)| !of_commit(name))
    }

    /// Returns what tells the subject from others of its command, by name: its parameters, and which revision it is.
    /// Histories know records by these texts, which never change.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let parameters =
            self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let revision = self.revision.iter().flat_map(|one| {
            [
                ("revision", Some(&one.built)),
                ("changes_of", one.changes_of.as_ref()),
                ("program", one.program.as_ref()),
            ]
        });
        parameters.chain(revision.filter_map(|(name, value)| Some((name, value?.as_str()))))
    }
}

/// What a suite says of a subject, for those who judge what was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SubjectTerms {
    /// Name of the benchmark; several subjects share it where it has parameters.
    pub benchmark: String,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Smallest relative change that matters; absent if nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// What it is about, the most important first; empty if nobody said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricTerms>,
}

/// What a suite says of one metric of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricTerms {
    /// Its name, or that of a measure of benchmarks such as `B/op`.
    pub name: String,
    /// Smallest relative change that matters, if it differs from that of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

impl SubjectTerms {
    /// Returns the smallest relative change of a metric that matters.
    pub fn margin_of(&self, metric: &Metric) -> Option<f64> {
        let named = |one: &&MetricTerms| metric.is_called(&one.name);
        self.metrics.iter().find(named).and_then(|one| one.margin).or(self.margin)
    }
}

/// How long a suite takes, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteOutlook {
    /// How many benchmarks there are.
    pub benchmarks: usize,
    /// How many of them are known to end in time, by their budget or by their pace.
    pub limited: usize,
    /// Seconds that those take at most.
    pub at_most: f64,
    /// Seconds that they are likely to take; `None` before anything was run.
    pub about: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_known_by_its_commit_and_what_was_asked_for() {
        let of = |changes_of: Option<&str>, program: Option<&str>| Subject {
            name: "x".to_owned(),
            command: ["out/app-1f", "-v"].map(str::to_owned).to_vec(),
            parameters: Vec::new(),
            revision: Some(Revision {
                built: "abc".to_owned(),
                changes_of: changes_of.map(str::to_owned),
                program: program.map(str::to_owned),
            }),
        };
        let of_commit = of(None, None);
        let revision = of_commit.revision.as_ref().unwrap();
        assert_eq!((revision.commit(), revision.is_dirty()), ("abc", false));
        assert_eq!(of_commit.asked_command(), ["out/app-1f", "-v"]);
        let of_tree = of(Some("head"), Some("out/app-*"));
        let revision = of_tree.revision.as_ref().unwrap();
        assert_eq!((revision.commit(), revision.is_dirty()), ("head", true));
        assert_eq!(of_tree.asked_command(), ["out/app-*", "-v"]);
        let labels: Vec<_> = of_tree.labels().collect();
        assert_eq!(labels, [("revision", "abc"), ("changes_of", "head"), ("program", "out/app-*")]);
    }
}
