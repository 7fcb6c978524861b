//! What a build says of the search: its level, and how far that can be trusted.

use crate::decide::paired::Level;

/// What was read of a build. Commits whose programs are the same, byte for byte, are one build.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildReading {
    /// The commits that have this build, by their numbers, at least one.
    pub commits: Vec<usize>,
    /// Their log ratio to the good end.
    pub level: Level,
}

/// How often a build is at neither level, before anything is known.
pub(super) const STRAY: f64 = 0.1;

/// How often a build is anywhere, on the wrong side of the half too: its code is placed worse, or a change is taken
/// back. It bounds what one build can say, so that of two builds that contradict each other neither wins by being
/// further out.
pub(super) const MISPLACED: f64 = 0.01;

/// Standard deviation of what a build adds to its level, as a share of the change: unrelated commits and layouts
/// move it. Without it searches in builds that differ by 0.5 % are wrong a little more often than they say.
pub(super) const OF_BUILD: f64 = 0.1;

/// Levels further than this beyond either level, in units of the change, count as being there.
pub(super) const FAR: f64 = 1.4;

/// The slabs reach so far.
pub(super) const WIDEST: f64 = 1.5;
