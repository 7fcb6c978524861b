//! What the warm-up teaches about the subjects, and what follows for the runs after it.

use becalm_model::{Record, Run};

use super::executor::{Executor, Learnt};
use super::measure::{Rounds, Window};
use super::plan::Conditioning;
use crate::conclude;

impl<E: Executor> Rounds<'_, E> {
    /// Chooses the conditions by what the warm-up rounds of these subjects showed, if the plan leaves them to
    /// it.
    pub(super) fn adapt(&mut self, subjects: &[usize]) {
        if let (Conditioning::Learn { .. }, Some(learnt)) =
            (&self.plan.conditioning, learn(self.record, subjects))
        {
            self.take_evidence(Window::Close);
            self.executor.adapt(learnt);
        }
    }
}

/// What the warm-up rounds showed about these subjects; `None` where one of them has no warm-up runs.
fn learn(record: &Record, subjects: &[usize]) -> Option<Learnt> {
    if subjects.is_empty() {
        return None;
    }
    let mut learnt = Learnt {
        single_threaded: true,
        cpu_bound: true,
        shortest_run: f64::INFINITY,
        longest_run: 0.0,
        kept_waiting: 0.0,
    };
    for &subject in subjects {
        let runs: Vec<&Run> =
            record.runs.iter().filter(|run| run.warmup && run.subject == subject).collect();
        let character = conclude::character(record, &runs)?;
        learnt.single_threaded &= character.single_threaded;
        learnt.cpu_bound &= character.cpu_bound;
        learnt.shortest_run = learnt.shortest_run.min(character.wall);
        learnt.longest_run = learnt.longest_run.max(character.wall);
        learnt.kept_waiting = learnt.kept_waiting.max(character.kept_waiting.unwrap_or(0.0));
    }
    Some(learnt)
}
