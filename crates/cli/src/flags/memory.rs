//! Flags about memory: which folder a command works in, and what its allocator returns.

use becalm_model::conditions::Malloc;

use super::choices::{MALLOC, one_of};

/// Flags about memory, of every command that starts others.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MemoryFlags {
    /// Start the command in an empty folder in memory (in `/dev/shm`), which becalm removes at the
    /// end; hooks run there too, with `$OLDPWD` set to the folder in which becalm was started
    #[arg(long)]
    pub(crate) in_memory: bool,

    /// Memory that the command frees: with `keep`, glibc's allocator never returns it to the kernel
    /// [default: as-is]
    #[arg(long, value_parser = one_of(MALLOC, Malloc::name), value_name = "WHAT")]
    pub(crate) malloc: Option<Malloc>,
}

impl MemoryFlags {
    /// Says whether any of them was given.
    pub(crate) fn is_any(&self) -> bool {
        self.in_memory || self.malloc == Some(Malloc::Keep)
    }
}
