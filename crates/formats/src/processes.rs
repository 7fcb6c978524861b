//! Processes whose results were printed one behind the other.

use std::collections::{BTreeMap, HashSet};

use becalm_model::Part;

use crate::imported::Imported;

/// Collects what tools printed: results of one subject belong to one process until a benchmark comes
/// again. So several outputs in one file are several processes.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    open: BTreeMap<usize, Open>,
}

#[derive(Debug, Default)]
struct Open {
    parts: Vec<Part>,
    metrics: HashSet<usize>,
}

impl Processes {
    /// Adds the results of one benchmark.
    pub(crate) fn add(&mut self, imported: &mut Imported, subject: usize, parts: Vec<Part>) {
        let open = self.open.entry(subject).or_default();
        if parts.iter().any(|part| open.metrics.contains(&part.metric)) {
            imported.parts(subject, std::mem::take(open).parts);
        }
        open.metrics.extend(parts.iter().map(|part| part.metric));
        open.parts.extend(parts);
    }

    /// Ends all processes.
    pub(crate) fn finish(self, imported: &mut Imported) {
        for (subject, open) in self.open {
            imported.parts(subject, open.parts);
        }
    }
}
