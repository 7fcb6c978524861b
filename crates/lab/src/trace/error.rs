//! Why there can be no trace here, and what to do about it.

use std::io;

use becalm_machine::tracefs::NoTracefs;

/// Why there can be no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The files that describe tracepoints may not be read.
    #[error("cannot trace: {path} may not be read by this process")]
    TracefsRefused {
        /// Which file.
        path: String,
    },
    /// They are nowhere.
    #[error(
        "cannot trace: tracefs is mounted neither at /sys/kernel/tracing nor at \
         /sys/kernel/debug/tracing, and cannot be opened without a mount: {0}"
    )]
    NoTracefs(String),
    /// One of them cannot be read for another reason.
    #[error("cannot trace: {path} cannot be read: {reason}")]
    Unreadable {
        /// Which file.
        path: String,
        /// What the kernel answered.
        reason: String,
    },
    /// One of them is in a form that becalm does not know.
    #[error("cannot trace: {path} does not describe the fields that becalm knows")]
    Format {
        /// Which file.
        path: String,
    },
    /// The kernel lacks a tracepoint that nothing works without.
    #[error("cannot trace: this kernel has no tracepoint {name}")]
    Missing {
        /// Which one.
        name: String,
    },
    /// The kernel does not let this process trace.
    #[error(
        "cannot trace: the kernel does not let this process open {name} on CPU {cpu}: {source} \
         (kernel.perf_event_paranoid is {paranoid})"
    )]
    Refused {
        /// Which event.
        name: String,
        /// Where.
        cpu: u32,
        /// The value of the setting that decides about it.
        paranoid: String,
        /// What the kernel answered.
        source: io::Error,
    },
    /// The kernel cannot open an event.
    #[error("cannot trace: {name} cannot be opened on CPU {cpu}: {source}")]
    Open {
        /// Which event.
        name: String,
        /// Where.
        cpu: u32,
        /// What the kernel answered.
        source: io::Error,
    },
    /// There is no memory for events.
    #[error("cannot trace: no buffer of {kib} KiB for the events of CPU {cpu}: {source}")]
    Buffer {
        /// Size of the buffer.
        kib: usize,
        /// Of which CPU.
        cpu: u32,
        /// What the kernel answered.
        source: io::Error,
    },
    /// Process numbers in events are not those that becalm sees.
    #[error("cannot trace: becalm runs in a pid namespace of its own, as in a container")]
    Namespace,
    /// No thread that reads events.
    #[error("cannot trace: the thread that reads events cannot be started: {0}")]
    Thread(io::Error),
}

impl From<NoTracefs> for TraceError {
    fn from(error: NoTracefs) -> Self {
        match error {
            NoTracefs::Refused { path } => Self::TracefsRefused { path },
            NoTracefs::Nowhere { why } => Self::NoTracefs(why),
        }
    }
}

impl TraceError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TracefsRefused { .. } => {
                "run becalm as root; or let everybody read tracepoints (`mount -o \
                 remount,mode=755 /sys/kernel/tracing`) and allow becalm to use them (`setcap \
                 cap_perfmon,cap_syslog=ep` on the program)"
            }
            Self::NoTracefs(_) => {
                "run becalm as root, or mount it: `mount -t tracefs tracefs /sys/kernel/tracing`"
            }
            Self::Refused { .. } => {
                "run becalm as root; or `setcap cap_perfmon,cap_syslog=ep` on the program; or \
                 `sysctl kernel.perf_event_paranoid=-1`, which allows everybody to trace"
            }
            Self::Buffer { .. } => {
                "run becalm as root, or raise kernel.perf_event_mlock_kb: without the capability \
                 CAP_IPC_LOCK it limits the buffers of all CPUs together"
            }
            Self::Namespace => {
                "run becalm outside the container, or give the container the pid namespace of the \
                 machine (`--pid=host`)"
            }
            Self::Missing { .. } => {
                "the kernel needs CONFIG_EVENT_TRACING; without --trace, `becalm run` still \
                 reports what the kernel counts for each run"
            }
            Self::Unreadable { .. } | Self::Format { .. } | Self::Open { .. } | Self::Thread(_) => {
                "without --trace, `becalm run` still reports what the kernel counts for each run"
            }
        }
    }
}
