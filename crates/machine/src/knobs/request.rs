//! What was asked of the knobs.

/// How far tuning goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Profile {
    /// What nobody else on the machine will miss.
    #[default]
    Safe,
    /// Also what others may notice: stopped services, a machine without its desktop.
    Strict,
    /// Only when asked for by name.
    OnRequest,
}

/// The frequency that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Smt {
    /// They stay on, and idle: becalm places nothing on them.
    #[default]
    Idle,
    /// They are switched off.
    Off,
}

/// What was asked for, by flags or by a profile file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
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
    /// Units of systemd to stop, beside the known noisy ones.
    pub units: Vec<String>,
}
