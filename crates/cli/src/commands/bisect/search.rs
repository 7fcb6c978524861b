//! The search: build, measure, update, until the answer is sure enough.

use std::collections::BTreeMap;
use std::time::Instant;

use becalm_model::history::short_commit;
use becalm_model::wire::{
    BisectDocument, BisectRatioDocument, BisectRoundDocument, BisectStepDocument, BuiltDocument,
    CandidateDocument, FoundDocument, SkippedDocument,
};
use becalm_model::{Verdict, metric};
use becalm_runner::conclude::observations;
use becalm_runner::session::Stop;
use becalm_stats::bisect::{
    Group, Level, Posterior, Reading, State, found, groups, most_rounds_of_commit, next_commit,
    posterior, rounds_of_step,
};
use becalm_stats::decide::paired::level_of;
use becalm_stats::normal;

use super::measure::{self, EXACT_ROUNDS, Measured, measure};
use super::range::Range;
use super::state::Saved;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{BuildError, Making, Revisions, decide_exactly};

/// Builds that are kept; those that will hardly be measured again are removed.
const KEPT: usize = 8;

/// Share of the error that the comparison of the ends may use.
const SHARE_OF_ENDS: f64 = 0.2;

/// The smallest margin by which the ends are compared: without one, equal values would never end it.
const SMALLEST_MARGIN: f64 = 1e-6;

/// Steps in which the commits on both sides of the answer are measured at least, the last in another build.
const STEPS_OF_EDGE: usize = 2;

/// A level so many standard errors from that of the good end is another.
const CLEAR: f64 = 3.0;

/// Confidence of the intervals in the records of the steps, which decide nothing.
const OF_RECORD: f64 = 0.95;

/// Candidates below this probability are not listed.
const LISTED: f64 = 1e-3;

/// A search in progress.
pub(super) struct Search<'a> {
    saved: Saved,
    revisions: Revisions,
    /// The flags of the steps lie in it.
    making: Making<'a>,
    margin: f64,
    range: &'a Range,
    /// The builds that are there, by the numbers of their commits.
    built: BTreeMap<usize, usize>,
    started: Instant,
}

/// Whether a commit can be measured.
enum Tried {
    Usable,
    Skipped,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        saved: Saved,
        revisions: Revisions,
        making: Making<'a>,
        margin: f64,
        range: &'a Range,
    ) -> Self {
        let built = BTreeMap::new();
        Self { saved, revisions, making, margin, range, built, started: Instant::now() }
    }

    /// Searches to the end; returns the state with the answer.
    pub(super) fn run(mut self) -> Result<BisectDocument, CommandError> {
        let state = self.saved.path.display().to_string();
        let resume = format!("`becalm bisect --resume {}` goes on", shell_words::quote(&state));
        self.search().map_err(|error| match error.exit {
            Exit::Signal(_) => error.hint(resume),
            Exit::CouldNotMeasure => {
                error.hint(format!("every step before that is saved: once it is mended, {resume}"))
            }
            _ => error,
        })?;
        self.saved.write()?;
        Ok(self.saved.document)
    }

    fn search(&mut self) -> Result<(), CommandError> {
        let bad = self.range.bad();
        self.making.ui.say(format!(
            "{} commits to search, saved in {}",
            bad,
            self.saved.path.display()
        ));
        if self.saved.document.metric.is_none() && !self.compare_ends()? {
            return Ok(());
        }
        let rounds = self.rounds_of_step();
        let mut told = 0;
        loop {
            let Some(posterior) = posterior(bad, &self.readings()) else {
                return Err(CommandError::measure(
                    "the ends have no positive values, and only exact ones are compared without a ratio",
                ));
            };
            let states = self.states(most_rounds_of_commit(rounds) as usize);
            let steps = self.saved.document.steps.len();
            if std::mem::replace(&mut told, steps) != steps {
                self.tell(&posterior);
            }
            let answer = found(&posterior, &states, self.saved.document.confidence);
            let unconfirmed = answer.and_then(|group| self.unconfirmed(group, &states));
            let next = match answer {
                Some(_) => unconfirmed,
                None => next_commit(&posterior, &states),
            };
            let Some(next) = next.filter(|_| !self.is_used_up()) else {
                self.end(&posterior, &states, answer.is_some() && unconfirmed.is_none());
                return Ok(());
            };
            self.saved.write()?;
            if unconfirmed.is_some() {
                self.say(next, "is measured in a new build before the answer is believed");
                self.forget(next);
            }
            self.forget_useless(&posterior, next);
            self.step(next, rounds)?;
        }
    }

    /// Returns a commit that has to be measured before an answer is believed: one at its edge that was measured in
    /// one build alone, or the next one with another program. What a file happens to have, such as its place in
    /// memory, is the same in all runs of a step, and that of another build is another; where the compiler has placed
    /// code worse for once, the next program is as fast as before.
    fn unconfirmed(&self, group: Group, states: &[State]) -> Option<usize> {
        let document = &self.saved.document;
        if document.exact.is_some() {
            return None;
        }
        let edge = |commit: &usize| *commit > 0 && *commit < self.range.bad();
        let is_skipped = |commit| document.skipped.iter().any(|one| one.commit == commit);
        let old = (0..group.from).rev().find(|&commit| !is_skipped(commit))?;
        let is_known = |commit| document.built.iter().any(|one| one.commit == commit);
        let at_edge = [old, group.to].into_iter().filter(edge).find(|&commit| {
            let steps =
                document.steps.iter().filter(|step| self.have_one_program(step.commit, commit));
            steps.count() < STEPS_OF_EDGE && !self.have_one_program(0, commit)
        });
        let next = || {
            (group.to + 1..self.range.bad())
                .filter(|&commit| !is_skipped(commit))
                .find(|&commit| !is_known(commit) || !self.have_one_program(group.to, commit))
                .filter(|&commit| states[commit] != State::Exhausted && !self.is_clear(commit))
        };
        at_edge.or_else(next)
    }

    /// Says whether the rounds of a commit alone show that it differs from the good end.
    fn is_clear(&self, commit: usize) -> bool {
        let readings = self.readings();
        let reading = readings.iter().find(|one| one.commits.contains(&commit));
        reading.is_some_and(|one| one.level.centre.abs() > CLEAR * one.level.error)
    }

    /// Says whether two commits that were built have the same program.
    fn have_one_program(&self, a: usize, b: usize) -> bool {
        let program = |commit| {
            let built = self.saved.document.built.iter().find(|one| one.commit == commit);
            built.and_then(|one| one.program.as_ref())
        };
        a == b || program(a).is_some() && program(a) == program(b)
    }

    /// Compares the ends; says whether there is something to search for.
    fn compare_ends(&mut self) -> Result<bool, CommandError> {
        let bad = self.range.bad();
        for end in [0, bad] {
            if matches!(self.build(end)?, Tried::Skipped) {
                let reason = self.saved.document.skipped.pop();
                let reason = reason.map_or(String::new(), |one| one.reason);
                return Err(CommandError::measure(format!("an end cannot be built: {reason}")));
            }
        }
        if self.is_same_as_another(bad) {
            return Ok(self.end_without_change(
                "identical binaries: the program of the ends is the same, byte for byte".to_owned(),
            ));
        }
        let are_exact = decide_exactly(self.making.flags)?;
        let stop = measure::stop_of_ends(self.making.flags, are_exact);
        let budget = match stop {
            Stop::Until { budget: Some(budget), .. } => {
                format!(", for at most {} s", budget.as_secs())
            }
            _ => String::new(),
        };
        self.making.ui.say(format!("comparing the ends{budget}"));
        let confidence = 1.0 - (1.0 - self.saved.document.confidence) * SHARE_OF_ENDS;
        let margin = if are_exact { self.margin } else { self.margin.max(SMALLEST_MARGIN) };
        let record = match self.measure(bad, stop, margin, confidence)? {
            Measured::Whole(record) => record,
            Measured::Unusable(reason) => {
                return Err(CommandError::measure(format!("the bad end cannot be run: {reason}")));
            }
            Measured::Until(signal, _) => return Err(stopped(signal)),
        };
        let Some((index, verdict)) = measure::clearest(&record) else {
            let verdicts: Vec<String> = record
                .comparisons
                .iter()
                .filter(|one| one.primary)
                .take(3)
                .map(|one| format!("{} on {}", one.verdict, record.metrics[one.metric].name))
                .collect();
            return Ok(self.end_without_change(format!(
                "the ends do not differ so that a search makes sense: {}; {} rounds, \
                 `becalm compare --rev` with more may tell them apart",
                verdicts.join(", "),
                record.rounds()
            )));
        };
        let followed = &record.metrics[index];
        let others: Vec<&str> = record
            .comparisons
            .iter()
            .filter(|one| one.primary && one.metric != index && one.verdict != Verdict::Equivalent)
            .filter(|one| one.verdict != Verdict::Inconclusive)
            .map(|one| record.metrics[one.metric].name.as_str())
            .collect();
        if !others.is_empty() {
            let all = others.join(", ");
            self.note(format!(
                "the ends also differ in {all}; followed is {}, in which they differ most surely",
                followed.name
            ));
        }
        let document = &mut self.saved.document;
        document.metric = Some(followed.name.clone());
        document.unit = Some(followed.unit.to_string());
        document.verdict = Some(verdict.word().to_owned());
        let rounds = measure::rounds(&record, &followed.name);
        self.making.ui.say(format!("the bad end is {verdict} on {}", followed.name));
        document.exact = exact_values(&rounds).filter(|_| followed.exact);
        document.steps.push(BisectStepDocument { commit: bad, rounds });
        if followed.name == metric::WALL_TIME || followed.name == metric::CPU_TIME {
            self.note(format!("decided on {}", followed.name));
        }
        self.saved.write()?;
        Ok(true)
    }

    fn end_without_change(&mut self, why: String) -> bool {
        "no_change".clone_into(&mut self.saved.document.state);
        self.note(why);
        false
    }

    /// Builds or measures a commit once more.
    fn step(&mut self, commit: usize, rounds: u32) -> Result<(), CommandError> {
        let is_new = !self.saved.document.built.iter().any(|one| one.commit == commit);
        if !self.built.contains_key(&0) && matches!(self.build(0)?, Tried::Skipped) {
            return Err(CommandError::measure("the good end can no longer be built"));
        }
        if !self.built.contains_key(&commit) && matches!(self.build(commit)?, Tried::Skipped) {
            return self.saved.write();
        }
        // The same program is not measured again: what is known of it is put together.
        if is_new && self.is_same_as_another(commit) {
            self.say(commit, "has the program of a commit that is known");
            return self.saved.write();
        }
        match self.measure(commit, Stop::Rounds(rounds), 0.0, OF_RECORD)? {
            Measured::Whole(record) => self.take(commit, &record)?,
            Measured::Until(signal, record) => {
                self.take(commit, &record)?;
                self.saved.write()?;
                return Err(stopped(signal));
            }
            Measured::Unusable(reason) => self.skip(commit, reason),
        }
        Ok(())
    }

    /// Takes the rounds of a step.
    fn take(&mut self, commit: usize, record: &becalm_model::Record) -> Result<(), CommandError> {
        let name = self.saved.document.metric.clone().unwrap_or_default();
        let rounds = measure::rounds(record, &name);
        let is_exact = self.saved.document.exact.is_some();
        let are_usable = rounds.iter().any(|one| is_exact || one.good > 0.0 && one.commit > 0.0);
        if record.interrupted.is_none() && !are_usable {
            self.skip(commit, format!("it has no positive value of {name}"));
        } else if !rounds.is_empty() {
            self.saved.document.steps.push(BisectStepDocument { commit, rounds });
        }
        self.saved.write()
    }

    /// Builds a commit, unless it is there.
    fn build(&mut self, commit: usize) -> Result<Tried, CommandError> {
        if self.built.contains_key(&commit) {
            return Ok(Tried::Usable);
        }
        let name = if commit == 0 { "good" } else { "commit" };
        let made = self.revisions.add(name, self.range.commits[commit].clone(), self.making);
        let is_known = self.saved.document.built.iter().any(|one| one.commit == commit);
        let index = match made {
            Ok(index) => index,
            // What was built before can be built: what is known of it is not thrown away.
            Err(BuildError::Failed(error)) if is_known => {
                return Err(
                    error.hint("it was built before, in this search: something else is wrong now")
                );
            }
            Err(BuildError::Failed(error)) => {
                self.skip(commit, error.message);
                return Ok(Tried::Skipped);
            }
            Err(BuildError::Prevented(error)) => return Err(error),
        };
        let program = self.revisions.program(index, self.making.words);
        self.built.insert(commit, index);
        let document = &mut self.saved.document;
        if !document.built.iter().any(|one| one.commit == commit) {
            document.built.push(BuiltDocument { commit, program });
        }
        Ok(Tried::Usable)
    }

    fn skip(&mut self, commit: usize, reason: String) {
        self.say(commit, "is skipped: it cannot be built or run");
        self.saved.document.skipped.push(SkippedDocument { commit, reason });
    }

    fn measure(
        &mut self,
        commit: usize,
        stop: Stop,
        margin: f64,
        confidence: f64,
    ) -> Result<Measured, CommandError> {
        let indices = [self.built[&0], self.built[&commit]];
        let mut subjects = Vec::new();
        for index in indices {
            match self.revisions.subject(index, self.making.words) {
                Ok(subject) => subjects.push(subject),
                // The build made no program.
                Err(error) if index != indices[0] => return Ok(Measured::Unusable(error.message)),
                Err(error) => return Err(error),
            }
        }
        let subjects = <[_; 2]>::try_from(subjects).expect("there are two builds");
        // A setup may make it.
        if self.making.flags.setup.is_none()
            && let Some(why) = self.revisions.wrong_with(indices[1], &subjects[1])
        {
            return Ok(Measured::Unusable(why));
        }
        let number = self.saved.document.steps.len() + 1;
        let path = self.saved.records().join(format!("step-{number:03}.json"));
        let flags = self.making.flags.of_step(number as u64, confidence, path);
        let builds = self.revisions.some(&indices);
        measure(&subjects, builds, stop, margin, &flags, self.making)
    }

    /// Says whether another commit that was built has the same program.
    fn is_same_as_another(&self, commit: usize) -> bool {
        let built = &self.saved.document.built;
        let program = built.iter().find(|one| one.commit == commit).map(|one| &one.program);
        let Some(Some(program)) = program else { return false };
        built.iter().any(|one| one.commit != commit && one.program.as_ref() == Some(program))
    }

    /// Returns what was read of every build; commits with the same program are one.
    fn readings(&self) -> Vec<Reading> {
        let document = &self.saved.document;
        let mut groups: Vec<(Option<&String>, Vec<usize>)> = Vec::new();
        for one in &document.built {
            let program = one.program.as_ref();
            match groups.iter_mut().find(|(known, _)| program.is_some() && *known == program) {
                Some((_, commits)) => commits.push(one.commit),
                None => groups.push((program, vec![one.commit])),
            }
        }
        let level = |commits: &[usize]| {
            if commits.contains(&0) {
                return Some(Level { centre: 0.0, error: 0.0, df: 10.0 });
            }
            let rounds: Vec<_> = document
                .steps
                .iter()
                .filter(|step| commits.contains(&step.commit))
                .flat_map(|step| step.rounds.iter().map(measure::paired))
                .collect();
            match (document.exact, rounds.last()) {
                // What is exact needs no ratio: a value is so far on the way from the one end to the other.
                (Some([good, bad]), Some(last)) => {
                    let centre = (last.candidate - good) / (bad - good);
                    Some(Level { centre, error: 0.0, df: 10.0 })
                }
                _ => level_of(&observations(&rounds)),
            }
        };
        groups
            .into_iter()
            .filter_map(|(_, commits)| Some(Reading { level: level(&commits)?, commits }))
            .collect()
    }

    fn states(&self, most: usize) -> Vec<State> {
        let document = &self.saved.document;
        let rounds_of = |commit: usize| -> usize {
            let of_commit = document.steps.iter().filter(|step| step.commit == commit);
            of_commit.map(|step| step.rounds.len()).sum()
        };
        let skipped = |commit| document.skipped.iter().any(|one| one.commit == commit);
        (0..=self.range.bad())
            .map(|commit| {
                if skipped(commit) {
                    State::Skipped
                } else if rounds_of(commit) >= most {
                    State::Exhausted
                } else if self.built.contains_key(&commit) {
                    State::Built
                } else {
                    State::Unknown
                }
            })
            .collect()
    }

    fn rounds_of_step(&self) -> u32 {
        let flags = self.making.flags;
        if let Some(rounds) = flags.rounds {
            return rounds;
        }
        let document = &self.saved.document;
        if document.exact.is_some() {
            return EXACT_ROUNDS;
        }
        let bad = self.range.bad();
        let readings = self.readings();
        let level = readings.iter().find(|one| one.commits.contains(&bad)).map(|one| one.level);
        let of_ends = document.steps.first().map_or(0, |step| step.rounds.len());
        let of_ends = u32::try_from(of_ends).unwrap_or(u32::MAX);
        level
            .map_or(EXACT_ROUNDS, |level| rounds_of_step(&level, of_ends))
            .max(flags.min_rounds.unwrap_or(0))
    }

    fn is_used_up(&self) -> bool {
        let flags = self.making.flags;
        let rounds: usize = self.saved.document.steps.iter().map(|step| step.rounds.len()).sum();
        flags.max_rounds.is_some_and(|most| rounds >= most as usize)
            || flags.max_time.is_some_and(|most| self.started.elapsed() >= most)
    }

    /// Removes builds of which little is left to learn, the surest first.
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

    /// Tells what the last step came to.
    fn tell(&self, posterior: &Posterior) {
        let document = &self.saved.document;
        let Some(last) = document.steps.last().filter(|last| last.commit < self.range.bad()) else {
            return;
        };
        let is_new = posterior.is_new(last.commit);
        let verdict = document.verdict.as_deref().unwrap_or_default();
        let best = likeliest(posterior);
        let commit = &self.range.commits[last.commit];
        self.making.ui.say(format!(
            "step {}: {} \"{}\" is {verdict} with {:.1} %; the likeliest first is {} with {:.1} %",
            document.steps.len(),
            short_commit(&commit.id),
            commit.title,
            100.0 * is_new,
            short_commit(&self.range.commits[best].id),
            100.0 * posterior.first[best - 1],
        ));
    }

    fn say(&self, commit: usize, what: &str) {
        let one = &self.range.commits[commit];
        self.making.ui.say(format!("{} \"{}\" {what}", short_commit(&one.id), one.title));
    }

    fn note(&mut self, note: String) {
        let notes = &mut self.saved.document.notes;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Writes the answer into the state.
    fn end(&mut self, posterior: &Posterior, states: &[State], is_found: bool) {
        let groups = groups(posterior, states);
        let best = groups.iter().copied().max_by(|a, b| a.probability.total_cmp(&b.probability));
        let exact = self.saved.document.exact;
        let strays: Vec<String> = self
            .readings()
            .iter()
            .filter(|one| one.is_at_neither(posterior))
            .map(|one| {
                let commit = &self.range.commits[one.commits[0]];
                let level = match exact {
                    Some([good, bad]) => (one.level.centre * (bad - good) + good).to_string(),
                    None => format!("{:+.2} %", 100.0 * one.level.centre.exp_m1()),
                };
                format!("{} ({level})", short_commit(&commit.id))
            })
            .collect();
        if !strays.is_empty() {
            self.note(format!(
                "more than one change: the level of {} is neither that of the good end nor the one beyond the \
                 change; searched for is the first commit beyond half of the whole change",
                strays.join(", ")
            ));
        }
        let document = &mut self.saved.document;
        document.candidates = posterior
            .first
            .iter()
            .enumerate()
            .filter(|(_, probability)| **probability >= LISTED)
            .map(|(index, &probability)| CandidateDocument { commit: index + 1, probability })
            .collect();
        let state = if is_found { "found" } else { "undecided" };
        state.clone_into(&mut document.state);
        let reach = normal::quantile(0.5 + document.confidence / 2.0) * posterior.deviation;
        document.found = best.filter(|_| is_found).map(|group| FoundDocument {
            from: group.from,
            to: group.to,
            probability: group.probability,
            ratio: exact.is_none().then(|| BisectRatioDocument {
                estimate: posterior.change.exp(),
                low: (posterior.change - reach).exp(),
                high: (posterior.change + reach).exp(),
            }),
        });
    }
}

/// Returns the values of the ends, if they are the same in all rounds.
#[expect(clippy::float_cmp, reason = "exact values are equal to the last bit or differ")]
fn exact_values(rounds: &[BisectRoundDocument]) -> Option<[f64; 2]> {
    let [good, bad] = rounds.first().map(|first| [first.good, first.commit])?;
    rounds.iter().all(|one| one.good == good && one.commit == bad).then_some([good, bad])
}

fn likeliest(posterior: &Posterior) -> usize {
    let all = posterior.first.iter().enumerate();
    all.max_by(|a, b| a.1.total_cmp(b.1)).map_or(1, |(index, _)| index + 1)
}

fn stopped(signal: i32) -> CommandError {
    CommandError {
        exit: Exit::Signal(signal),
        message: format!("stopped by signal {signal}; every step before that is saved"),
        hints: Vec::new(),
    }
}
