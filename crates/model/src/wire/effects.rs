//! How much mitigations help on one machine, as `becalm noise ablate` keeps it for `becalm check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What mending sources of noise did on one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MitigationEffectsDocument {
    /// `becalm/mitigation-effects/1`.
    pub schema: String,
    /// The kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The model of the CPU; empty where the kernel names none.
    pub cpu_model: String,
    /// The effects, the newest first.
    pub effects: Vec<MitigationEffect>,
}

/// What one mitigation, tried alone, did to the scatter of one subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MitigationEffect {
    /// Its name, as `becalm noise ablate --list` has it.
    pub mitigation: String,
    /// The findings of `becalm check` that it mends, all together.
    pub mends: Vec<String>,
    /// What was run.
    pub subject: String,
    /// Busy processes that becalm kept running meanwhile.
    pub hogs: u32,
    /// Whose spread it is: `iterations` (inside of runs) or `runs` (between them).
    pub spread_of: String,
    /// Spread with the mitigation / spread without.
    pub ratio: f64,
    /// Lower end of the interval of the ratio.
    pub low: f64,
    /// Upper end of the interval of the ratio.
    pub high: f64,
    /// Confidence of the interval, corrected for the number of mitigations that were tried.
    pub confidence: f64,
    /// `helps`, `harms`, `nothing` (less than a factor of 1.25) or `undecided`.
    pub verdict: String,
    /// When it was measured, in seconds since 1970.
    pub measured_at: u64,
}

impl MitigationEffect {
    /// Says whether both are the same mitigation with the same subject, so that the newer one counts.
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        (&self.mitigation, &self.subject, self.hogs)
            == (&other.mitigation, &other.subject, other.hogs)
    }
}
