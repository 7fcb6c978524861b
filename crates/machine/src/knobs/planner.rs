//! What a knob comes to here, put together step by step.

use becalm_model::{Change, Target};
use serde::{Deserialize, Serialize};

use super::{Knob, Situation};
use crate::Reading;
use crate::tune::{chosen, read_target, same};

/// What a knob wants to do here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planned {
    /// Its changes, in the order in which the kernel wants them.
    pub changes: Vec<Change>,
    /// What it cannot do here or need not do, as sentences for people.
    pub notes: Vec<Note>,
    /// Every kernel file that it looked at, with its value.
    pub seen: Vec<(String, String)>,
}

/// A sentence about a knob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Name of the knob.
    pub knob: String,
    /// Whether it matters.
    pub kind: NoteKind,
    /// The sentence.
    pub text: String,
}

/// What a note says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoteKind {
    /// The machine does not have this setting: a VM without frequencies, another architecture.
    NotHere,
    /// It is there and cannot be changed in this way (locked by firmware, not readable).
    Refused,
    /// It is as it should be already.
    AlreadyQuiet,
}

impl NoteKind {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotHere => "not-here",
            Self::Refused => "refused",
            Self::AlreadyQuiet => "already-quiet",
        }
    }
}

/// Puts together what one knob wants to do.
#[derive(Debug)]
pub struct Planner<'a> {
    pub(super) situation: &'a Situation<'a>,
    pub(super) planned: Planned,
    pub(super) knob: &'static Knob,
}

impl Knob {
    /// Plans its changes here.
    pub fn planned(&'static self, situation: &Situation<'_>) -> Planned {
        let mut planner = Planner { situation, planned: Planned::default(), knob: self };
        (self.plan)(&mut planner);
        planner.planned
    }
}

impl Planner<'_> {
    /// Returns a change for the reason that the knob has.
    pub(super) fn change(&self, target: Target, old: &str, new: Option<&str>) -> Change {
        Change::new(self.knob.name, target, old, new, self.knob.reason)
    }

    /// Plans a change.
    pub(super) fn add(&mut self, change: Change) {
        self.planned.changes.push(change);
    }

    /// Plans to write `new` to a file, unless it holds that already. A file that does not exist or
    /// cannot be read becomes a note: without the old value there is no way back.
    pub(super) fn set(&mut self, path: impl Into<String>, new: &str) {
        self.set_because(path, new, self.knob.reason);
    }

    /// Does the same for another reason.
    pub(super) fn set_because(&mut self, path: impl Into<String>, new: &str, reason: &str) {
        let path = path.into();
        match self.see(&path) {
            Reading::Value(old) if same(&path, &old, new) => {
                self.is_quiet(format!("{path} is already {new}"));
            }
            Reading::Value(old) => {
                self.add(Change::file(self.knob.name, path, chosen(&old), new, reason));
            }
            missing => {
                let text = format!("{path} {}", missing.why_not().unwrap_or_default());
                match missing {
                    Reading::Absent => self.not_here(text),
                    _ => self.refuse(text),
                }
            }
        }
    }

    /// Plans to raise a number to `least`, unless it is so high already.
    pub(super) fn raise(&mut self, path: &str, least: u64) {
        match self.situation.root.parse(path).filter(|now: &u64| *now >= least) {
            Some(_) => self.already_quiet(path),
            None => self.set(path, &least.to_string()),
        }
    }

    /// Notes that a file needs no change, whatever it holds.
    pub(super) fn already_quiet(&mut self, path: &str) {
        let value = self.see(path).value().unwrap_or_default();
        self.is_quiet(format!("{path} is already {value}"));
    }

    /// Plans to save a file and put it back, because other changes may disturb it. Files that do
    /// not exist need no care.
    pub(super) fn guard(&mut self, path: impl Into<String>) {
        let path = path.into();
        if let Reading::Value(old) = self.see(&path) {
            let (target, reason) = (Target::File(path), "it is disturbed by other changes");
            self.add(Change::new(self.knob.name, target, chosen(&old), None, reason));
        }
    }

    /// Reads a file as it is read to be put back, and remembers its value.
    pub(super) fn see(&mut self, path: &str) -> Reading {
        let reading = read_target(self.situation.root, &Target::File(path.to_owned()));
        if let Reading::Value(value) = &reading {
            self.planned.seen.push((path.to_owned(), chosen(value).to_owned()));
        }
        reading
    }

    /// Says that the machine does not have the setting.
    pub(super) fn not_here(&mut self, text: impl Into<String>) {
        self.note(NoteKind::NotHere, text);
    }

    /// Says so where nothing else came of it.
    pub(super) fn or_not_here(&mut self, text: impl Into<String>) {
        if self.planned == Planned::default() {
            self.not_here(text);
        }
    }

    /// Says that something cannot be changed in this way.
    pub(super) fn refuse(&mut self, text: impl Into<String>) {
        self.note(NoteKind::Refused, text);
    }

    /// Says that something is as it should be already.
    pub(super) fn is_quiet(&mut self, text: impl Into<String>) {
        self.note(NoteKind::AlreadyQuiet, text);
    }

    fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        let (knob, text) = (self.knob.name.to_owned(), text.into());
        self.planned.notes.push(Note { knob, kind, text });
    }
}
