//! The sentences about what could not be controlled or observed.

use super::{placement, session_limit, watching};
use becalm_model::{Calm, EvidenceLimit, Limit, Obstacle, Unseen};

/// Returns the sentence of a limit.
pub fn limit(limit: &Limit) -> String {
    match limit {
        Limit::Evidence(limit) => evidence(limit),
        Limit::Placement(limit) => placement::sentence(limit),
        Limit::Session(limit) => session_limit::sentence(limit),
        Limit::Trace(limit) => watching::trace(limit),
        Limit::Probe(limit) => watching::probe(limit),
        Limit::Topology(limit) => watching::topology(limit),
        Limit::Text(sentence) => sentence.text.clone(),
    }
}

fn evidence(limit: &EvidenceLimit) -> String {
    match limit {
        EvidenceLimit::NotSeen { what, because } => not_seen(unseen(*what), because),
        EvidenceLimit::Dear { path, micros } => {
            format!("each reading of {path} between runs takes {micros} us here")
        }
        EvidenceLimit::CpusNotWatched { cpus } => {
            format!("CPU {cpus} is not watched: /proc/stat has no line for it")
        }
        EvidenceLimit::NotWaitedFor { what, error } => {
            let (what, absent) = match what {
                Calm::Temperature => ("the temperature", "this machine has no sensor"),
                Calm::Load => ("the load", "it cannot be read"),
                Calm::Pressure => ("pressure", "the kernel keeps no totals (psi=1)"),
            };
            format!("{what} is not waited for: {}", error.as_deref().unwrap_or(absent))
        }
    }
}

fn unseen(what: Unseen) -> &'static str {
    match what {
        Unseen::OthersTime => "time used by others and taken by the hypervisor is not visible",
        Unseen::Siblings => "what runs on other threads of the subject's cores is not visible",
        Unseen::PressureOnCpu => "pressure on cpu is not visible",
        Unseen::PressureOnMemory => "pressure on memory is not visible",
        Unseen::PressureOnIo => "pressure on io is not visible",
        Unseen::Throttling => "throttling by a CPU quota is not visible",
        Unseen::Heat => "throttling because of heat is not visible",
        Unseen::Interrupts => "interrupts are not counted",
        Unseen::Softirqs => "softirqs are not counted",
        Unseen::Frequency => "the frequency is not visible",
        Unseen::MeanFrequency => "the mean frequency of a run is not visible",
        Unseen::MeanBesideFrequency => {
            "the mean frequency of a run is not visible, only that after it"
        }
    }
}

fn not_seen(what: &str, because: &Obstacle) -> String {
    match because {
        Obstacle::Error(error) => format!("{what}: {error}"),
        Obstacle::NoLine { path, cpus } => format!("{what}: {path} has no line for CPU {cpus}"),
        Obstacle::NoColumn { path, cpus } => format!("{what}: {path} has no column for CPU {cpus}"),
        Obstacle::NoTotal { path } => {
            format!("{what}: {path} has no total (the boot parameter psi=1 adds it)")
        }
        Obstacle::NoNumber { path } => format!("{what}: {path} contains no number"),
        Obstacle::NoGroupCounts => {
            format!("{what}: neither becalm's control group nor a visible one above it counts it")
        }
        Obstacle::OnlyIntel(error) => {
            format!("{what}: {error}; only Intel CPUs count it, and not inside a virtual machine")
        }
        Obstacle::NoDriver(error) => format!(
            "{what}: no frequency driver is loaded here, as in most virtual machines, and {error}"
        ),
        Obstacle::Dear { path, micros } => format!(
            "{what}: reading {path} takes {micros} us here, which would disturb the measurement"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dear_is_told_with_its_time() {
        let path = "/proc/interrupts".to_owned();
        let because = Obstacle::Dear { path, micros: 42 };
        assert_eq!(
            evidence(&EvidenceLimit::NotSeen { what: Unseen::Interrupts, because }),
            "interrupts are not counted: reading /proc/interrupts takes 42 us here, which would disturb the \
             measurement"
        );
    }
}
