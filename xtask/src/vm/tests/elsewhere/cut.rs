//! How and when a connection is cut.

use std::fmt;

/// What is done to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The near becalm is killed.
    Near,
    /// All processes of ssh are killed.
    Ssh,
    /// The ssh that keeps the connection is killed.
    Master,
    /// The ssh of the session is killed.
    Client,
    /// The server's processes for the connection are killed.
    Server,
    /// The interface is taken down, so that both ends hear nothing any more.
    Link,
    /// The server's processes are stopped.
    Stopped,
    /// The near becalm and its ssh are stopped, as when a laptop is closed.
    Suspended,
}

impl Kind {
    pub(super) const KILLS: &[Self] = &[
        Self::Near,
        Self::Ssh,
        Self::Server,
        Self::Near,
        Self::Master,
        Self::Server,
        Self::Near,
        Self::Client,
        Self::Server,
    ];
    pub(super) const FREEZES: &[Self] = &[Self::Link, Self::Stopped, Self::Suspended];

    /// Says whether a near end may end so, whose session has or has not ended before.
    pub(super) fn explains(self, code: i32, said: &str) -> bool {
        match code {
            0 | 3 => true,
            137 => self == Self::Near,
            // The far end has noticed that its near end was gone.
            129 => self == Self::Suspended,
            4 => {
                said.contains("the connection to bench was lost")
                    || said.contains("cannot connect to bench")
            }
            _ => false,
        }
    }

    /// Returns what the guest's script calls it.
    fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Ssh => "ssh",
            Self::Master => "master",
            Self::Client => "client",
            Self::Server => "sshd",
            Self::Link => "link",
            Self::Stopped => "stopped",
            Self::Suspended => "suspended",
        }
    }
}

/// The phases of a session, as the guest's script calls them.
pub(super) const PHASES: [&str; 4] = ["connecting", "tuning", "measuring", "restoring"];

/// One cut.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) kind: Kind,
    /// A place in [`PHASES`].
    pub(super) phase: usize,
    /// Which part of the phase has passed.
    pub(super) part: f64,
    /// Whether becalm is on the host; otherwise it is copied there first.
    pub(super) is_installed: bool,
    /// Whether the session continues before the far end has noticed.
    pub(super) is_early: bool,
    /// Whether the next session completes what was cut. Otherwise it is cut too.
    pub(super) is_completed: bool,
}

impl Cut {
    /// Chooses one; one that continues a session finds becalm installed.
    pub(super) fn draw(kind: Kind, chance: &mut Chance, is_continued: bool) -> Self {
        let [phase, part, installed, early, completed] = [(); 5].map(|()| chance.next());
        Self {
            kind,
            phase: (1..PHASES.len()).filter(|&next| phase * 4.0 >= next as f64).count(),
            part,
            is_installed: is_continued || installed < 0.95,
            is_early: kind != Kind::Suspended && early < 0.3,
            is_completed: completed < 0.7,
        }
    }

    /// Returns the words for the guest's script.
    pub(super) fn words(&self) -> String {
        format!("{} {}", self.kind.name(), if self.is_early { "early" } else { "late" })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, phase, part, .. } = self;
        write!(f, "{} {:.0}% of {}", kind.name(), part * 100.0, PHASES[*phase])?;
        if !self.is_installed {
            f.write_str(", copied first")?;
        }
        if self.is_early {
            f.write_str(", continued at once")?;
        }
        Ok(())
    }
}

/// Numbers that look random and follow from a seed (`SplitMix64`).
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number from 0 to below 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
