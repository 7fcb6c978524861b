//! The sentences about what a session could not count, keep or wait for.

use becalm_model::{Calm, CounterLimit, CounterObstacle, PaceObstacle, SessionLimit};

/// Returns the sentence of a limit of a session.
pub(super) fn sentence(limit: &SessionLimit) -> String {
    use SessionLimit as L;
    match limit {
        L::Counters(CounterLimit { counters, because }) => {
            let names = counters.join(", ");
            let colon = if names.is_empty() { "" } else { ": " };
            format!("{names}{colon}{}", counter_obstacle(because))
        }
        L::EnergyUnread { error } => {
            format!("no energy is recorded: {error} (since Linux 5.10 only root can read it)")
        }
        L::Simulated => {
            "instructions are counted by callgrind: those that the program executes in user mode, \
             and not those of the kernel. It sees neither waiting nor what makes an instruction \
             slow; its times are those of the simulation, and simulated_... are of a model and \
             not of this processor"
                .to_owned()
        }
        L::Suspended { seconds } => format!(
            "the machine was suspended for {seconds} s during the session: waking up resets \
             settings, such as the CPUs of interrupts, and the first runs after it are colder \
             than the others; measure again"
        ),
        L::NotTuned { error } => format!("the machine was not tuned: {error}"),
        L::PutBackEarly { seconds: Some(seconds) } => format!(
            "the service of this machine put it back after {seconds} s, the longest time that it \
             allows a user: the machine was not quiet during later runs"
        ),
        L::PutBackEarly { seconds: None } => {
            "the service lost the process that had tuned the machine, and put the machine back: \
             it was not quiet during later runs"
                .to_owned()
        }
        L::NotRecorded { metrics } => {
            format!("the suite asks for {}, which cannot be counted here", metrics.join(", "))
        }
        L::ResidentFloor { bytes } => format!(
            "max_rss below {:.1} MiB is not visible: the kernel counts becalm's own size for a \
             process that it has just started",
            *bytes as f64 / f64::from(1 << 20)
        ),
        L::PaceNotSampled { because } => {
            format!("the pace is not sampled: {}", pace_obstacle(because))
        }
        L::Unrest { maximum, above } => {
            let times = |n: u32| if n == 1 { "once".to_owned() } else { format!("{n} times") };
            let parts: Vec<String> = above
                .iter()
                .map(|(what, n)| format!("{} above that of the start ({})", calm(*what), times(*n)))
                .collect();
            format!(
                "the machine did not always come to rest within {maximum} s before a round: {}",
                parts.join(", ")
            )
        }
        L::NoLog { error } => format!("no log of the session is kept on disk: {error}"),
        L::NotBusy => {
            "not all of the processes that becalm started to keep the machine busy did so"
                .to_owned()
        }
        L::MitigationFailed { error } => error.clone(),
    }
}

/// Says why something cannot be counted.
fn counter_obstacle(because: &CounterObstacle) -> String {
    use CounterObstacle as O;
    let level = |paranoid: &Option<String>| {
        let level = paranoid.as_ref().map_or_else(
            || "perf_event_open is refused".to_owned(),
            |level| format!("kernel.perf_event_paranoid is {level}"),
        );
        format!("{level}; root, CAP_PERFMON or a lower level would allow it")
    };
    match because {
        O::NoDescriptors { error } => format!(
            "No counters: a child process cannot have its own table of file descriptors here \
             ({error})."
        ),
        O::Sandbox => {
            "not counted, because a sandbox blocks perf_event_open; CAP_PERFMON and a seccomp \
             profile with that call would allow it."
                .to_owned()
        }
        O::Denied { paranoid } => format!("not counted, because {}.", level(paranoid)),
        O::UserModeOnly { paranoid } => {
            format!("counted in user mode only, because {}.", level(paranoid))
        }
        O::NotOffered => {
            "not counted, because this processor or virtual machine does not offer it.".to_owned()
        }
        O::NoCall => {
            "not counted, because this kernel or sandbox has no perf_event_open.".to_owned()
        }
        O::Error { error } => format!("not counted: {error}."),
    }
}

fn pace_obstacle(because: &PaceObstacle) -> String {
    match because {
        PaceObstacle::NoWarmup => {
            "without a warm-up round, nothing is known about the subjects".to_owned()
        }
        PaceObstacle::Isolated => "the subjects' CPUs are isolated, from becalm too".to_owned(),
        PaceObstacle::SeveralCpus => "the subjects are not kept on one CPU".to_owned(),
        PaceObstacle::NoThread { cpu, error } => format!("a thread for CPU {cpu}: {error}"),
    }
}

fn calm(what: Calm) -> &'static str {
    match what {
        Calm::Temperature => "the temperature was",
        Calm::Load => "the number of tasks that want a CPU was",
        Calm::Pressure => "the share of time spent waiting for memory or I/O was",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kept_the_machine_from_coming_to_rest_is_counted() {
        let above = vec![(Calm::Temperature, 1), (Calm::Load, 3)];
        assert_eq!(
            sentence(&SessionLimit::Unrest { maximum: 2.5, above }),
            "the machine did not always come to rest within 2.5 s before a round: the temperature was above that of the start (once), the number of tasks that want a CPU was above that of the start (3 times)"
        );
    }

    #[test]
    fn what_is_not_counted_is_told_with_its_remedy() {
        let of = |names: &[&str], because| {
            let counters = names.iter().map(|name| (*name).to_owned()).collect();
            sentence(&SessionLimit::Counters(CounterLimit { counters, because }))
        };
        assert_eq!(
            of(
                &["cycles", "instructions"],
                CounterObstacle::Denied { paranoid: Some("3".to_owned()) }
            ),
            "cycles, instructions: not counted, because kernel.perf_event_paranoid is 3; root, CAP_PERFMON or a \
             lower level would allow it."
        );
        assert_eq!(
            of(&[], CounterObstacle::NoDescriptors { error: "no".to_owned() }),
            "No counters: a child process cannot have its own table of file descriptors here (no)."
        );
    }
}
