//! What happens on this side of a job before the far end reports, and beside that.

/// What happens before the far end reports, and beside that.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// becalm is copied to the host.
    Installing {
        /// Bytes that are sent.
        sent: u64,
        /// Bytes of all.
        size: u64,
    },
    /// The job waits in Slurm's queue.
    Queued {
        /// Its number.
        number: &'a str,
        /// Why, in Slurm's word.
        reason: &'a str,
    },
    /// The files of the job are sent.
    Sending {
        /// Bytes that are sent.
        sent: u64,
        /// Bytes of all that the host lacks.
        size: u64,
    },
    /// The job asks for what root does, and becalm may not act as root there.
    NotRoot,
    /// The subjects, or `ssh` itself, wrote this to standard error.
    Output(&'a [u8]),
}
