//! What was asked of the knobs.

use serde::{Deserialize, Serialize};

use super::Knob;

/// How far tuning goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Profile {
    /// What nobody else on the machine will miss.
    #[default]
    Safe,
    /// Also what others may notice, such as stopped services.
    Strict,
    /// Only when asked for by name.
    OnRequest,
}

/// The frequency that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Frequency {
    /// The limits stay as they are, unless turbo can only be avoided by a clamp.
    #[default]
    Keep,
    /// Fixed at the highest frequency without turbo.
    Base,
    /// Fixed at this share of the highest frequency without turbo, in (0, 1].
    Share(f64),
    /// Fixed at so many kilohertz.
    Kilohertz(u64),
}

/// What happens to the second threads of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Smt {
    /// They stay on, and idle: becalm places nothing on them.
    #[default]
    Idle,
    /// They are switched off.
    Off,
}

/// What happens to transparent huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Thp {
    /// No program gets them.
    #[default]
    Never,
    /// Every program gets them, at once.
    Always,
}

/// What was asked for, by flags or by a profile file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TuningRequest {
    /// How far to go.
    pub profile: Profile,
    /// Only these knobs, if any are named; they are turned whatever their profile.
    pub only: Vec<String>,
    /// None of these knobs.
    pub skip: Vec<String>,
    /// These too, whatever their profile.
    pub also: Vec<String>,
    /// Frequency limits.
    pub frequency: Frequency,
    /// SMT.
    pub smt: Smt,
    /// Transparent huge pages, where the knob `thp` is turned.
    #[serde(default)]
    pub thp: Thp,
    /// Units of systemd to stop, beside the known noisy ones where these are stopped.
    pub units: Vec<String>,
}

impl TuningRequest {
    /// Says whether a knob is among those asked for, by name or by profile.
    pub fn selects(&self, knob: &Knob) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == knob.name);
        if named(&self.skip) {
            return false;
        }
        if !self.only.is_empty() {
            return named(&self.only);
        }
        named(&self.also) || knob.profile <= self.profile
    }

    /// Says whether a knob has anything to do: units may be named beside any profile.
    pub(crate) fn wants(&self, knob: &Knob) -> bool {
        let has_units = knob.name == "services" && !self.units.is_empty();
        self.selects(knob) || (has_units && self.allows(knob.name))
    }

    /// Says whether nothing that was asked for excludes a knob.
    pub fn allows(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|one| one == name);
        !is_in(&self.skip) && (self.only.is_empty() || is_in(&self.only))
    }
}
