//! Why a history cannot be read or written.

/// What went wrong. Unless it says otherwise, the history is as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no history at this place yet.
    #[error("there is no history at {place} yet")]
    Absent {
        /// The place, without a password.
        place: String,
    },
    /// The place cannot be understood.
    #[error("{place} cannot contain a history: {problem}")]
    HistoryLocation {
        /// The place, without a password.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The history was made by a newer becalm.
    #[error(
        "the history at {place} has version {found} and was made by a newer becalm; this one \
         knows versions up to {known}, and did not change it"
    )]
    TooNew {
        /// The place, without a password.
        place: String,
        /// Its version.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The history was made by an older becalm and can only be read here.
    #[error(
        "the history at {place} has version {found} and needs an upgrade to version {known}, but \
         it cannot be written here"
    )]
    TooOld {
        /// The place, without a password.
        place: String,
        /// Its version.
        found: i64,
        /// The version that is needed.
        known: i64,
    },
    /// The disk is full.
    #[error(
        "the disk of the history at {place} is full: nothing was changed, and the existing data \
         are intact"
    )]
    Full {
        /// The place, without a password.
        place: String,
    },
    /// Somebody else wrote for too long.
    #[error(
        "another program has been writing to the history at {place} for {seconds} s: nothing was \
         changed"
    )]
    Busy {
        /// The place, without a password.
        place: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The connection broke while it was not known whether the last change is kept.
    #[error(
        "the connection to {place} broke while a change was being saved, so it is unknown whether \
         the change was saved ({problem}). It is safe to do it again"
    )]
    Unknown {
        /// The place, without a password.
        place: String,
        /// What the database or the system says.
        problem: String,
    },
    /// A name has a character that not every database keeps.
    #[error("{name:?} contains a NUL character, which a history cannot keep: nothing was changed")]
    Nul {
        /// The name: of a commit, a branch, a benchmark, a metric or a unit.
        name: String,
    },
    /// The database refused something.
    #[error("the history at {place}: {problem}")]
    Database {
        /// The place, without a password.
        place: String,
        /// What the database says.
        problem: String,
    },
    /// Something in the history is not what becalm writes.
    #[error("the history at {place} is damaged: {problem}")]
    Damaged {
        /// The place, without a password.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing of this kind.
    #[error("the history at {place} has no {what}")]
    Missing {
        /// The place, without a password.
        place: String,
        /// What was looked for: `entry 7`.
        what: String,
    },
}
