//! How a short report shows notes and limits: a word for what could not be observed here, and which
//! notes it leaves to the whole report.

use becalm_model::{
    ComparisonNote, EvidenceLimit, Limit, Note, PlacementLimit, SessionLimit, SessionNote, Unseen,
};

/// Returns a word for what a limit prevents from being observed or controlled. A limit without such
/// a word says more about the results, and needs its sentence.
pub(crate) fn unseen(limit: &Limit) -> Option<String> {
    match limit {
        Limit::Evidence(limit) => evidence(limit).map(str::to_owned),
        Limit::Session(SessionLimit::Counters(counters)) => {
            let are_hardware = counters.counters.iter().any(|name| name == "instructions");
            Some(if are_hardware || counters.counters.is_empty() {
                "hardware counters".to_owned()
            } else {
                counters.counters.join(", ")
            })
        }
        Limit::Session(SessionLimit::ResidentFloor { .. }) => Some("small max_rss".to_owned()),
        Limit::Session(SessionLimit::EnergyUnread { .. }) => Some("energy".to_owned()),
        Limit::Session(SessionLimit::PaceNotSampled { .. }) => Some("pace of the core".to_owned()),
        Limit::Placement(PlacementLimit::OneCpu { .. } | PlacementLimit::Shared { .. }) => {
            Some("a CPU without becalm".to_owned())
        }
        _ => None,
    }
}

fn evidence(limit: &EvidenceLimit) -> Option<&'static str> {
    match limit {
        EvidenceLimit::NotSeen { what, .. } => Some(match what {
            Unseen::OthersTime => "time of other programs",
            Unseen::Siblings => "SMT siblings",
            Unseen::PressureOnCpu | Unseen::PressureOnMemory | Unseen::PressureOnIo => "pressure",
            Unseen::Throttling => "throttling by a quota",
            Unseen::Heat => "heat",
            Unseen::Interrupts => "interrupts",
            Unseen::Softirqs => "softirqs",
            Unseen::Frequency | Unseen::MeanFrequency | Unseen::MeanBesideFrequency => "frequency",
        }),
        EvidenceLimit::CpusNotWatched { .. } => Some("some CPUs"),
        EvidenceLimit::Dear { .. } | EvidenceLimit::NotWaitedFor { .. } => None,
    }
}

/// Reports whether a limit does not matter for the results: it only says what an observation costs.
pub(crate) fn is_aside(limit: &Limit) -> bool {
    matches!(limit, Limit::Evidence(EvidenceLimit::Dear { .. }))
}

/// Reports whether a note explains how the verdict was made, and does not put it in doubt.
pub(crate) fn explains(note: &Note) -> bool {
    match note {
        Note::Comparison(note) => matches!(
            note,
            ComparisonNote::DecidedOnWallTime { .. }
                | ComparisonNote::DecidedOnCpuTime
                | ComparisonNote::PaceAllowedFor { .. }
                | ComparisonNote::PaceUnknown { .. }
        ),
        // Lines of their own say that the machine was busy, and which requests failed.
        Note::Session(note) => matches!(
            note,
            SessionNote::BusyMachine { .. }
                | SessionNote::RequestsFailed { .. }
                | SessionNote::Revision { .. }
                | SessionNote::WorkingTreeUnchanged
                | SessionNote::Settled { .. }
                | SessionNote::Layouts { .. }
        ),
        _ => false,
    }
}
