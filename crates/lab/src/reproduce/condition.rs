//! What is changed for a configuration: of the subject, or of the machine.

/// One change, for the subject or for the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Pinned to the first CPU that it may use, which the kernel likes too.
    FirstCpu,
    /// Pinned to the CPU that becalm chooses.
    ChosenCpu,
    /// Memory locked by the subject itself.
    LockedMemory,
    /// No address space layout randomisation.
    NoAslr,
    /// Real-time class, lowest priority: it already comes before everything that is not real-time.
    Fifo,
    /// Niceness -20.
    Nice,
    /// An environment of the few variables that programs need.
    FixedEnvironment,
    /// An environment of another size in every run, so that the stack starts elsewhere.
    ChangingEnvironment,
    /// CPUs that nothing else may use, by control groups.
    Isolated,
    /// Frequency governor `performance`.
    Governor,
    /// No turbo frequencies.
    NoTurbo,
    /// Second threads of cores switched off.
    SmtOff,
}

impl Condition {
    /// Returns it as a fragment: `pinned to the first CPU`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::FirstCpu => "only the first CPU",
            Self::ChosenCpu => "only one CPU",
            Self::LockedMemory => "locked memory",
            Self::NoAslr => "no ASLR",
            Self::Fifo => "SCHED_FIFO",
            Self::Nice => "niceness -20",
            Self::FixedEnvironment => "a fixed environment",
            Self::ChangingEnvironment => "an environment of changing size",
            Self::Isolated => "isolated CPUs",
            Self::Governor => "governor performance",
            Self::NoTurbo => "no turbo",
            Self::SmtOff => "SMT off",
        }
    }

    /// Returns the knobs that it turns, the decisive one first.
    pub(super) fn knobs(self) -> &'static [&'static str] {
        match self {
            Self::Governor => &["governor", "epp", "epb"],
            Self::NoTurbo => &["turbo"],
            Self::SmtOff => &["smt"],
            _ => &[],
        }
    }

    /// Says whether the machine is changed, and not only the subject.
    pub(super) fn is_of_the_machine(self) -> bool {
        self == Self::Isolated || !self.knobs().is_empty()
    }
}
