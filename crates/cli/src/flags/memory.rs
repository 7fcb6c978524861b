//! Flags about memory: where a command works, and what its allocator gives back.

use becalm_model::conditions::Malloc;

use super::choices::{MALLOC, one_of};

/// Flags about memory, of every command that starts others.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MemoryFlags {
    /// Start the command in an empty folder in memory (in `/dev/shm`), which is removed at the end;
    /// hooks run there as well, with `$OLDPWD` for the folder that becalm was started in
    #[arg(long)]
    pub(crate) in_memory: bool,

    /// Memory that the command frees: with `keep`, glibc's allocator never gives it back to the kernel
    /// [default: as-is]
    #[arg(long, value_parser = one_of(MALLOC, Malloc::name), value_name = "WHAT")]
    pub(crate) malloc: Option<Malloc>,
}

impl MemoryFlags {
    /// Says whether anything was asked for.
    pub(crate) fn is_any(&self) -> bool {
        self.in_memory || self.malloc == Some(Malloc::Keep)
    }
}
