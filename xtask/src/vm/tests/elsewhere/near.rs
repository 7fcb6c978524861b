//! A machine with both ends of connections, and the session that goes on there from cut to cut.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::cut::{Cut, PHASES};
use super::logs::{ROUNDS, Runs, SUBJECTS, counted};
use crate::vm::becalm::SSH_AT;
use crate::vm::guest::Guest;
use crate::vm::state::State;
use crate::vm::tests::expect::{as_before, same};

const SCRIPT: &str = include_str!("../../guest/elsewhere.sh");

/// Begins every script of the tests.
const USE: &str = ". /lab/elsewhere\n";

/// A machine with both ends.
pub(super) struct NearEnd {
    guest: Guest,
    before: State,
    spans: Spans,
    /// The session that was cut and has not been completed.
    open: Option<Open>,
}

/// How long sessions take, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spans {
    phases: [f64; PHASES.len()],
    /// The first phase where becalm has to be copied, once that is known.
    copying: Option<f64>,
}

impl fmt::Display for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phases = PHASES.iter().zip(self.phases);
        let shown: Vec<String> =
            phases.map(|(phase, span)| format!("{phase} {:.1} s", span / 1e6)).collect();
        f.write_str(&shown.join(", "))
    }
}

/// A session that was cut.
#[derive(Default)]
struct Open {
    /// The finished rounds that a log has had.
    finished: Runs,
    /// What continues it; nothing where nothing has arrived.
    file: Option<String>,
}

/// What a cut has found.
#[derive(Debug)]
pub(super) struct Found {
    /// The session had ended, or goes on without what was cut.
    pub(super) is_harmless: bool,
    /// Rounds that were finished.
    finished: usize,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.is_harmless { "harmless" } else { "cut" };
        write!(f, "{how}, {} of {ROUNDS} rounds were finished", self.finished)
    }
}

/// What a script has shown of a session.
struct Shown {
    code: i32,
    said: String,
    /// Files by their names.
    logs: Vec<(String, String)>,
    left: String,
}

impl NearEnd {
    /// Makes the host, and measures the phases of a session that nobody cuts, unless another machine has shown that.
    pub(super) fn new(mut guest: Guest, spans: &mut Option<Spans>) -> Result<Self> {
        let write = format!("cat >/lab/elsewhere <<'END'\n{SCRIPT}\nEND\n{USE}make_host {SSH_AT}");
        guest.ok(&write)?;
        let before = guest.state()?;
        let mut near = Self { guest, before, spans: spans.unwrap_or_default(), open: None };
        if spans.is_none() {
            near.spans.phases = near.phases("yes")?;
            *spans = Some(near.spans);
            println!("    a session: {}", near.spans);
        }
        Ok(near)
    }

    /// Returns how long the phases of a session take that nobody cuts.
    fn phases(&mut self, installed: &str) -> Result<[f64; PHASES.len()]> {
        let runs = ROUNDS * SUBJECTS;
        let said = self.guest.ok(&format!(
            "{USE}forget; installed {installed}\nbegin {}\nphases {runs}\nended\ntidy\nshow",
            start()
        ))?;
        let shown = Shown::of(&said)?;
        let result = Self::check_record(&shown, &Runs::default());
        result.with_context(|| format!("code {}: {}", shown.code, shown.said))?;
        as_before(&mut self.guest, &self.before)?;
        let times =
            said.lines().filter_map(|line| line.strip_prefix("== at ")?.parse::<f64>().ok());
        let times: Vec<f64> = times.collect();
        ensure!(times.len() == PHASES.len() + 1, "{said}");
        let mut spans = [0.0; PHASES.len()];
        for (span, ends) in spans.iter_mut().zip(times.windows(2)) {
            *span = (ends[1] - ends[0]).max(0.05) * 1e6;
        }
        Ok(spans)
    }

    pub(super) fn guest(&self) -> &Guest {
        &self.guest
    }

    /// Says whether a session was cut and not yet completed.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Cuts a session, and checks what it leaves; returns that in words.
    pub(super) fn cut(&mut self, cut: &Cut) -> Result<Found> {
        let (mut open, begin) = self.begun();
        let installed = if cut.is_installed { "yes" } else { "no" };
        let forget = if begin.contains("--resume") { "" } else { "tidy; forget; " };
        let phase = PHASES[cut.phase];
        let span = match self.spans.copying {
            _ if cut.phase > 0 || cut.is_installed => self.spans.phases[cut.phase],
            Some(span) => span,
            None => {
                let span = self.phases("no")?[0];
                *self.spans.copying.insert(span)
            }
        };
        let delay = cut.part * span;
        let tidy = if cut.is_early { "" } else { "tidy\n" };
        let said = self.guest.ok(&format!(
            "{USE}{forget}installed {installed}\nbegin {begin}\n\
             wait_for {phase} {delay:.0} {}\ncut {}\n{tidy}show",
            ROUNDS * SUBJECTS,
            cut.words(),
        ))?;
        let shown = Shown::of(&said)?;
        let result = self.check_cut(cut, &shown, &mut open);
        let what = result.with_context(|| format!("code {}: {}", shown.code, shown.said.trim()))?;
        self.open = open;
        Ok(what)
    }

    /// Returns the open session and the words that continue it, or those of a new one.
    fn begun(&mut self) -> (Option<Open>, String) {
        let words = match self.open.as_ref().and_then(|open| open.file.as_ref()) {
            Some(file) => format!("compare --resume {file}"),
            None => start(),
        };
        let open = self
            .open
            .as_ref()
            .map(|open| Open { finished: open.finished.clone(), file: open.file.clone() });
        (open, words)
    }

    fn check_cut(&mut self, cut: &Cut, shown: &Shown, open: &mut Option<Open>) -> Result<Found> {
        ensure!(cut.kind.explains(shown.code, &shown.said), "it ended otherwise");
        let mut all = Runs::default();
        for (name, text) in &shown.logs {
            all.join(&shown_runs(name, text)?).with_context(|| name.clone())?;
        }
        if !cut.is_early {
            as_before(&mut self.guest, &self.before)?;
            ensure!(shown.left.is_empty(), "left on the host: {}", shown.left);
        }
        let session = open.get_or_insert_default();
        all.has_all_of(&session.finished)?;
        session.finished = all;
        let file = |name: &str| shown.logs.iter().any(|(path, _)| path.ends_with(name));
        // The log is removed once everything is saved.
        session.file =
            ["r.json.partial", "r.json"].into_iter().find(|name| file(name)).map(str::to_owned);
        ensure!(
            session.file.is_some() || session.finished.is_empty(),
            "the host has finished {:?}, and nothing can continue it",
            session.finished.finished()
        );
        let finished = session.finished.finished().len();
        Ok(Found { is_harmless: matches!(shown.code, 0 | 3), finished })
    }

    /// Continues the session that was cut, to its end; its record has to have every round once, with the values that the logs
    /// had.
    pub(super) fn complete(&mut self, cut: &Cut) -> Result<()> {
        let (open, begin) = self.begun();
        let before = open.map(|open| open.finished).unwrap_or_default();
        let forget = if begin.contains("--resume") { "" } else { "tidy; forget; " };
        let said = self.guest.ok(&format!("{USE}{forget}begin {begin}\nended\ntidy\nshow"))?;
        let shown = Shown::of(&said)?;
        let state = self.guest.state()?;
        let result = same(&self.before, &state).and_then(|()| Self::check_record(&shown, &before));
        self.open = None;
        result.with_context(|| {
            format!("after {cut}, `{begin}` ended with {}: {}", shown.code, shown.said.trim())
        })
    }

    fn check_record(shown: &Shown, before: &Runs) -> Result<()> {
        ensure!(matches!(shown.code, 0 | 3), "it does not complete");
        ensure!(shown.left.is_empty(), "left on the host: {}", shown.left);
        let record = shown.logs.iter().find(|(name, _)| name.ends_with("/r.json"));
        let (_, text) = record.context("there is no record")?;
        let record: Value = serde_json::from_str(text)?;
        let runs = Runs::of_record(&record)?;
        let counted = counted(&record);
        ensure!(counted == ROUNDS * SUBJECTS, "{counted} runs count");
        ensure!(runs.finished().len() * SUBJECTS == runs.len(), "a round is not whole");
        runs.has_all_of(before).context("a finished round is lost")?;
        for (name, text) in &shown.logs {
            let mut finished = Runs::default();
            finished.join(&shown_runs(name, text)?)?;
            runs.has_all_of(&finished).with_context(|| format!("of {name} a round is lost"))?;
        }
        Ok(())
    }
}

/// Returns the words that begin a session.
fn start() -> String {
    format!("compare --on bench --tune strict --rounds {ROUNDS} --export-json r.json ./a ./b")
}

fn shown_runs(name: &str, text: &str) -> Result<Runs> {
    if name.ends_with("/r.json") {
        Runs::of_record(&serde_json::from_str(text)?)
    } else {
        Runs::of_log(text)
    }
}

impl Shown {
    fn of(said: &str) -> Result<Self> {
        ensure!(!said.contains("in vain: "), "an end does not come: {said}");
        let mut shown =
            Self { code: -1, said: String::new(), logs: Vec::new(), left: String::new() };
        let said = format!("\n{said}");
        for part in said.split("\n== ").skip(1) {
            let (head, text) = part.split_once('\n').unwrap_or((part, ""));
            match head.split_once(' ') {
                None if head == "code" => shown.code = text.trim().parse()?,
                None if head == "said" => text.clone_into(&mut shown.said),
                None if head == "left" => text.trim().clone_into(&mut shown.left),
                Some(("log", name)) => shown.logs.push((name.to_owned(), text.to_owned())),
                Some(("at", _)) => {}
                _ => bail!("the guest has shown {head}"),
            }
        }
        Ok(shown)
    }
}
