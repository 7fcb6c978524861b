//! The sentences about what a trace, a probe or a topology cannot show.

use becalm_model::{ProbeLimit, TopologyLimit, TraceLimit};

/// Returns the sentence of a limit of a trace.
pub(super) fn trace(limit: &TraceLimit) -> String {
    use TraceLimit as L;
    match limit {
        L::EventsLost { lost, of } => {
            format!("{lost} of {of} events were lost: times around them are reported as unknown")
        }
        L::FaultCost => {
            "the cost of a page fault outside the kernel's two events could not be determined: \
             fault times are lower bounds"
                .to_owned()
        }
        L::OwnInterrupts => {
            "this kernel does not trace the CPU's own interrupts (timer, rescheduling): their \
             time counts as the interrupted task's, except for the timers that expire in them"
                .to_owned()
        }
        L::EventsMissing { names } => format!("this kernel does not have {}", names.join(", ")),
        L::NoTick { cpus } => format!(
            "CPUs {cpus} have no tick while one task runs (nohz_full), so gaps outside the kernel \
             are not reported"
        ),
        L::Stopped { after, of } => format!(
            "stopped by a signal after {after:.1} of {of:.1} s: this is what was seen until then"
        ),
    }
}

/// Returns the sentence of a limit of a probe.
pub(super) fn probe(limit: &ProbeLimit) -> String {
    use ProbeLimit as L;
    match limit {
        L::ProbeStopped => {
            "The probe was interrupted: this is what was seen until then.".to_owned()
        }
        L::CpusLeftOut { cpus } => {
            format!("CPU {cpus} was skipped: another becalm is measuring there.")
        }
        L::NotRealTime { error } => format!(
            "The reader could not become a real-time task: {error}. Time that other programs take \
             from it counts as interruption."
        ),
        L::ReaderSharesCpu => {
            "There is only one CPU for becalm, the reader and everything else: becalm sleeps \
             while the reader reads, but its wake-ups may be among the interruptions."
                .to_owned()
        }
        L::NoSiblings { cpus } => format!(
            "--busy-siblings changed nothing for CPU {cpus}: no other thread of the core that becalm may use is \
             online."
        ),
        L::NoTracer { error } => format!(
            "The kernel's osnoise tracer was not used: {error}. The probe sees that something \
             interrupted it, but not whether it was an interrupt or a thread."
        ),
        L::Overwritten { events, windows } => format!(
            "{events} events, {windows} whole windows among them, were overwritten before they \
             were read: in the other windows the time lost is complete, but the histogram is not"
        ),
    }
}

/// Returns the sentence of a limit of a topology.
pub(super) fn topology(limit: &TopologyLimit) -> String {
    use TopologyLimit as L;
    match limit {
        L::NoCaches => "the kernel does not say which caches there are".to_owned(),
        L::CpusBy { source } => {
            format!("/sys/devices/system/cpu cannot be read: the CPUs are those of {source}")
        }
        L::AllowedUnknown { error } => format!(
            "the CPUs that this process may use are unknown, so every online one is assumed: the \
             affinity in /proc/self/status {error}"
        ),
        L::Unreadable { path, error, others } => {
            let others = match others {
                0 => String::new(),
                1 => " (nor can another file)".to_owned(),
                others => format!(" (nor can {others} other files)"),
            };
            format!(
                "{path} {error}{others}: becalm takes that information from other files, or does not know it"
            )
        }
        L::NoneOnline => "none of the CPUs this process may use is online".to_owned(),
        L::CoresByCpuinfo { cpus } => format!("the cores of CPU {cpus} are those of /proc/cpuinfo"),
        L::CoresGuessed { cpus } => format!(
            "which of CPU {cpus} share a core is unknown: each is assumed to have its own core"
        ),
    }
}
