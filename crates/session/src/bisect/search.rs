//! The search: build, measure, update, until the answer is sure enough.

use std::collections::BTreeMap;
use std::time::Instant;

use becalm_model::terms::{Stop, Terms};
use becalm_model::wire::{
    BisectDocument, BisectState, BisectStepDocument, BuiltDocument, SkippedDocument,
};
use becalm_model::{BisectNote, Record, RecordKind, Subject, Verdict, metric};
use becalm_stats::bisect::{
    Posterior, found, most_rounds_of_commit, next_commit, posterior, rounds_of_step,
};

use super::error::BisectError;
use super::range::Range;
use super::state::SavedSearch;
use super::step::{self, EXACT_ROUNDS, Measured};
use super::{answer, known};
use crate::conduct::Request;
use crate::error::Error;
use crate::event::{Event, SearchEvent};
use crate::metrics::decide_exactly;
use crate::revisions::{Recipe, Revisions};

/// Builds that are kept; those that will hardly be measured again are removed.
const KEPT: usize = 8;

/// Share of the error that the comparison of the ends may use.
const SHARE_OF_ENDS: f64 = 0.2;

/// The smallest margin by which the ends are compared: without one, equal values would never end it.
const SMALLEST_MARGIN: f64 = 1e-6;

/// Confidence of the intervals in the records of the steps, which decide nothing.
const OF_RECORD: f64 = 0.95;

/// A search in progress.
pub(super) struct Search<'a, E> {
    pub(super) saved: SavedSearch,
    pub(super) revisions: Revisions,
    pub(super) recipe: Recipe<'a>,
    /// The terms of its steps.
    pub(super) terms: &'a Terms,
    pub(super) range: &'a Range,
    /// Carries out a step.
    pub(super) measure: &'a dyn Fn(Request) -> Result<Measured, E>,
    /// The builds that are there, by the numbers of their commits.
    pub(super) built: BTreeMap<usize, usize>,
    pub(super) started: Instant,
}

/// Whether a commit can be measured.
enum Tried {
    Usable,
    Skipped,
}

impl<E: From<Error>> Search<'_, E> {
    /// Searches to the end; returns the state with the answer.
    pub(super) fn run(mut self) -> Result<BisectDocument, E> {
        self.search()?;
        self.write()?;
        Ok(self.saved.document)
    }

    fn write(&self) -> Result<(), Error> {
        Ok(self.saved.write()?)
    }

    fn search(&mut self) -> Result<(), E> {
        let bad = self.range.bad();
        self.tell(SearchEvent::Begins { commits: bad, place: &self.saved.path });
        if self.saved.document.metric.is_none() && !self.compare_ends()? {
            return Ok(());
        }
        let rounds = self.rounds_of_step();
        let mut told = 0;
        loop {
            let document = &self.saved.document;
            let Some(posterior) = posterior(bad, &known::readings(document)) else {
                return Err(failed(BisectError::NotPositive));
            };
            let most = most_rounds_of_commit(rounds) as usize;
            let states = known::states(document, most, |commit| self.built.contains_key(&commit));
            let steps = document.steps.len();
            if std::mem::replace(&mut told, steps) != steps {
                self.tell_step(&posterior);
            }
            let answer = found(&posterior, &states, document.confidence);
            let unconfirmed = answer.and_then(|group| known::unconfirmed(document, group, &states));
            let next = match answer {
                Some(_) => unconfirmed,
                None => next_commit(&posterior, &states),
            };
            let Some(next) = next.filter(|_| !self.is_used_up()) else {
                let is_found = answer.is_some() && unconfirmed.is_none();
                answer::write(&mut self.saved, &posterior, &states, is_found);
                return Ok(());
            };
            self.write()?;
            if unconfirmed.is_some() {
                self.tell(SearchEvent::BuiltAnew(&self.range.commits[next]));
                self.forget(next);
            }
            self.forget_useless(&posterior, next);
            self.step(next, rounds)?;
        }
    }

    /// Compares the ends; says whether there is something to search for.
    fn compare_ends(&mut self) -> Result<bool, E> {
        let bad = self.range.bad();
        for end in [0, bad] {
            if matches!(self.build(end)?, Tried::Skipped) {
                let reason = self.saved.document.skipped.pop();
                let reason = reason.map_or(String::new(), |one| one.reason);
                return Err(failed(BisectError::EndNotBuilt(reason)));
            }
        }
        if known::is_same_as_another(&self.saved.document, bad) {
            return Ok(self.end_without_change(BisectNote::SameEnds));
        }
        let are_exact = decide_exactly(self.terms).map_err(Error::from)?;
        let stop = step::stop_of_ends(&self.terms.limits, are_exact);
        let budget = match stop {
            Stop::Until { budget, .. } => budget,
            Stop::Rounds(_) => None,
        };
        self.tell(SearchEvent::ComparesEnds { budget });
        let confidence = 1.0 - (1.0 - self.saved.document.confidence) * SHARE_OF_ENDS;
        let margin =
            if are_exact { self.terms.margin } else { self.terms.margin.max(SMALLEST_MARGIN) };
        let record = match self.measure(bad, stop, margin, confidence)? {
            Measured::Whole(record) => record,
            Measured::Unusable(reason) => {
                return Err(failed(BisectError::BadEndNotRun(reason)));
            }
            Measured::Until(signal, _) => return Err(failed(BisectError::Stopped(signal))),
        };
        let Some((index, verdict)) = step::clearest(&record) else {
            let primary = record.comparisons.iter().filter(|one| one.primary).take(3);
            let verdicts =
                primary.map(|one| (one.verdict, record.metrics[one.metric].name.clone())).collect();
            let rounds = record.rounds();
            return Ok(self.end_without_change(BisectNote::EndsAlike { verdicts, rounds }));
        };
        let followed = &record.metrics[index];
        let metrics: Vec<String> = record
            .comparisons
            .iter()
            .filter(|one| one.primary && one.metric != index && one.verdict != Verdict::Equivalent)
            .filter(|one| one.verdict != Verdict::Inconclusive)
            .map(|one| record.metrics[one.metric].name.clone())
            .collect();
        if !metrics.is_empty() {
            let followed = followed.name.clone();
            self.saved.note(BisectNote::EndsAlsoDiffer { metrics, followed });
        }
        self.tell(SearchEvent::EndsDiffer { verdict, metric: &followed.name });
        let document = &mut self.saved.document;
        document.metric = Some(followed.name.clone());
        document.unit = Some(followed.unit.to_string());
        document.verdict = Some(verdict.name().to_owned());
        let rounds = step::rounds(&record, &followed.name);
        document.exact = known::exact_values(&rounds).filter(|_| followed.exact);
        document.steps.push(BisectStepDocument { commit: bad, rounds });
        if followed.name == metric::WALL_TIME || followed.name == metric::CPU_TIME {
            self.saved.note(BisectNote::Follows { metric: followed.name.clone() });
        }
        self.write()?;
        Ok(true)
    }

    fn end_without_change(&mut self, why: BisectNote) -> bool {
        self.saved.document.state = BisectState::NoChange;
        self.saved.note(why);
        false
    }

    /// Builds or measures a commit once more.
    fn step(&mut self, commit: usize, rounds: u32) -> Result<(), E> {
        let is_new = !self.saved.document.built.iter().any(|one| one.commit == commit);
        if !self.built.contains_key(&0) && matches!(self.build(0)?, Tried::Skipped) {
            return Err(failed(BisectError::GoodEndGone));
        }
        if !self.built.contains_key(&commit) && matches!(self.build(commit)?, Tried::Skipped) {
            return Ok(self.write()?);
        }
        // The same program is not measured again: what is known of it is put together.
        if is_new && known::is_same_as_another(&self.saved.document, commit) {
            self.tell(SearchEvent::SameProgram(&self.range.commits[commit]));
            return Ok(self.write()?);
        }
        match self.measure(commit, Stop::Rounds(rounds), 0.0, OF_RECORD)? {
            Measured::Whole(record) => self.take(commit, &record)?,
            Measured::Until(signal, record) => {
                self.take(commit, &record)?;
                return Err(failed(BisectError::Stopped(signal)));
            }
            Measured::Unusable(reason) => self.skip(commit, reason),
        }
        Ok(())
    }

    /// Takes the rounds of a step.
    fn take(&mut self, commit: usize, record: &Record) -> Result<(), Error> {
        let name = self.saved.document.metric.clone().unwrap_or_default();
        let rounds = step::rounds(record, &name);
        let is_exact = self.saved.document.exact.is_some();
        let are_usable = rounds.iter().any(|one| is_exact || one.good > 0.0 && one.commit > 0.0);
        if record.interrupted.is_none() && !are_usable {
            self.skip(commit, format!("it has no positive value of {name}"));
        } else if !rounds.is_empty() {
            self.saved.document.steps.push(BisectStepDocument { commit, rounds });
        }
        self.write()
    }

    /// Builds a commit, unless it is there.
    fn build(&mut self, commit: usize) -> Result<Tried, Error> {
        if self.built.contains_key(&commit) {
            return Ok(Tried::Usable);
        }
        let name = if commit == 0 { "good" } else { "commit" };
        let made = self.revisions.add(name, self.range.commits[commit].clone(), self.recipe);
        let is_known = self.saved.document.built.iter().any(|one| one.commit == commit);
        let index = match made {
            Ok(index) => index,
            // What was built before can be built: what is known of it is not thrown away.
            Err(error) if error.is_of_program() && is_known => {
                return Err(BisectError::NoLongerBuilt(error).into());
            }
            Err(error) if error.is_of_program() => {
                self.skip(commit, error.to_string());
                return Ok(Tried::Skipped);
            }
            Err(error) => return Err(error.into()),
        };
        let program = self.revisions.program(index, self.recipe.words);
        self.built.insert(commit, index);
        let document = &mut self.saved.document;
        if !document.built.iter().any(|one| one.commit == commit) {
            document.built.push(BuiltDocument { commit, program });
        }
        Ok(Tried::Usable)
    }

    fn skip(&mut self, commit: usize, reason: String) {
        self.tell(SearchEvent::Skipped(&self.range.commits[commit]));
        self.saved.document.skipped.push(SkippedDocument { commit, reason });
    }

    fn measure(
        &mut self,
        commit: usize,
        stop: Stop,
        margin: f64,
        confidence: f64,
    ) -> Result<Measured, E> {
        let indices = [self.built[&0], self.built[&commit]];
        let mut subjects: Vec<Subject> = Vec::new();
        for index in indices {
            match self.revisions.subject(index, self.recipe.words) {
                Ok(subject) => subjects.push(subject),
                // The build made no program.
                Err(error) if index != indices[0] => {
                    return Ok(Measured::Unusable(error.to_string()));
                }
                Err(error) => return Err(failed(error)),
            }
        }
        // A setup may make it.
        if self.terms.runs.setup.is_none()
            && let Some(why) = self.revisions.wrong_with(indices[1], &subjects[1])
        {
            return Ok(Measured::Unusable(why));
        }
        let number = self.saved.document.steps.len() + 1;
        let path = self.saved.records().join(format!("step-{number:03}.json"));
        let judged = (confidence, margin);
        let terms = step::of_step(self.terms, number as u64, stop, judged, path);
        let arguments = vec!["compare".to_owned(), "--".to_owned()];
        let kind = RecordKind::Comparison;
        let builds = Some(self.revisions.some(&indices));
        (self.measure)(Request {
            builds,
            ..Request::new("bisect", kind, terms, subjects, arguments)
        })
    }

    fn rounds_of_step(&self) -> u32 {
        let limits = &self.terms.limits;
        if let Some(rounds) = limits.rounds {
            return rounds;
        }
        let document = &self.saved.document;
        if document.exact.is_some() {
            return EXACT_ROUNDS;
        }
        let bad = self.range.bad();
        let readings = known::readings(document);
        let level = readings.iter().find(|one| one.commits.contains(&bad)).map(|one| one.level);
        let of_ends = document.steps.first().map_or(0, |step| step.rounds.len());
        let of_ends = u32::try_from(of_ends).unwrap_or(u32::MAX);
        level
            .map_or(EXACT_ROUNDS, |level| rounds_of_step(&level, of_ends))
            .max(limits.min_rounds.unwrap_or(0))
    }

    fn is_used_up(&self) -> bool {
        let limits = &self.terms.limits;
        let rounds: usize = self.saved.document.steps.iter().map(|step| step.rounds.len()).sum();
        limits.max_rounds.is_some_and(|most| rounds >= most as usize)
            || limits.max_time.is_some_and(|most| self.started.elapsed() >= most)
    }

    /// Removes builds from which little is left to learn, the surest first.
    fn forget_useless(&mut self, posterior: &Posterior, next: usize) {
        while self.built.len() >= KEPT {
            let doubt = |commit: usize| (posterior.is_new(commit) - 0.5).abs();
            let others = self.built.keys().copied().filter(|&one| one != 0 && one != next);
            let Some(surest) = others.max_by(|&a, &b| doubt(a).total_cmp(&doubt(b))) else {
                return;
            };
            self.forget(surest);
        }
    }

    /// Removes a build.
    fn forget(&mut self, commit: usize) {
        if let Some(index) = self.built.remove(&commit) {
            self.revisions.forget(index);
        }
    }

    /// Reports the result of the last step.
    fn tell_step(&self, posterior: &Posterior) {
        let document = &self.saved.document;
        let Some(last) = document.steps.last().filter(|last| last.commit < self.range.bad()) else {
            return;
        };
        let best = likeliest(posterior);
        self.tell(SearchEvent::Step {
            number: document.steps.len(),
            commit: &self.range.commits[last.commit],
            verdict: document.verdict.as_deref().unwrap_or_default(),
            probability: posterior.is_new(last.commit),
            likeliest: &self.range.commits[best],
            of_likeliest: posterior.first[best - 1],
        });
    }

    fn tell(&self, event: SearchEvent<'_>) {
        self.recipe.listener.hears(Event::Search(event));
    }
}

fn failed<E: From<Error>>(error: impl Into<Error>) -> E {
    error.into().into()
}

/// Returns the number of the likeliest first commit of the new level.
fn likeliest(posterior: &Posterior) -> usize {
    let all = posterior.first.iter().enumerate();
    all.max_by(|a, b| a.1.total_cmp(b.1)).map_or(1, |(index, _)| index + 1)
}
