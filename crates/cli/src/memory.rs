//! What memory has to do with a command: where it works, and what its allocator gives back.

use becalm_model::conditions::Malloc;
use becalm_runner::{User, WorkFolder};

use crate::error::CommandError;

/// Flags about memory, of every command that starts others.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MemoryFlags {
    /// Start the command in an empty folder in memory (in `/dev/shm`), which is removed at the end;
    /// hooks run there as well, with `$OLDPWD` for the folder that becalm was started in
    #[arg(long)]
    pub(crate) in_memory: bool,

    /// Memory that the command frees: with `keep`, glibc's allocator never gives it back to the kernel
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = MallocFlag::AsIs)]
    pub(crate) malloc: MallocFlag,
}

/// What becomes of freed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MallocFlag {
    /// Whatever its allocator does
    AsIs,
    /// It is kept, by `GLIBC_TUNABLES`
    Keep,
}

impl From<MallocFlag> for Malloc {
    fn from(flag: MallocFlag) -> Self {
        match flag {
            MallocFlag::AsIs => Self::Left,
            MallocFlag::Keep => Self::Keep,
        }
    }
}

impl MemoryFlags {
    /// Says whether anything was asked for.
    pub(crate) fn is_any(&self) -> bool {
        self.in_memory || self.malloc == MallocFlag::Keep
    }

    /// Makes the folder that was asked for.
    pub(crate) fn work_folder(
        &self,
        user: Option<&User>,
    ) -> Result<Option<WorkFolder>, CommandError> {
        if !self.in_memory {
            return Ok(None);
        }
        WorkFolder::create(user).map(Some).map_err(|error| {
            CommandError::measure(format!("--in-memory: no folder can be made in {error}"))
                .hint("leave --in-memory out, and start becalm in a folder on another tmpfs")
        })
    }
}
