//! Which series have the words that somebody searches.

use becalm_model::history::{Series, full_name};

use super::Findings;

/// Words in small letters; none fit everything.
pub(super) struct Search(Vec<String>);

impl Search {
    pub(super) fn of(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Says whether name, metric, branch and processor of a series, and what else is `known` of it, have all words.
    pub(super) fn fits(&self, series: &Series, found: &Findings, known: &str) -> bool {
        // Without a search, nothing has to be written for thousands of series.
        self.0.is_empty() || {
            let key = &series.key;
            let parameters = key.parameters.iter().map(|(name, value)| (name, value));
            let name = full_name(&key.benchmark, parameters);
            let cpu = found.fact(&key.fingerprint, "cpu_model");
            let text = format!("{name}\n{}\n{}\n{cpu}\n{known}", key.metric, key.branch);
            let text = text.to_lowercase();
            self.0.iter().all(|word| text.contains(word))
        }
    }
}
