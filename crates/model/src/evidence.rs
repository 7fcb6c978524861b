//! What happened on the machine during a run.

use crate::whole::whole;

/// What the kernel says happened during one run. `None` means that it could not be read here.
///
/// Times are in seconds. Machine-wide figures (steal, others, pressure, throttling, interrupts)
/// cover the window between two readings around the run; for runs much shorter than the reading
/// interval several runs share one window, whose length is [`Evidence::window`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Switches away from the subject because it waited for something or ended (`ru_nvcsw`). This and the next
    /// three count from the moment at which the subject was executed.
    pub voluntary_switches: u64,
    /// Switches away from the subject although it could have run on (`ru_nivcsw`).
    pub involuntary_switches: u64,
    /// Page faults without I/O (`ru_minflt`).
    pub minor_faults: u64,
    /// Page faults that needed I/O (`ru_majflt`).
    pub major_faults: u64,
    /// Moves from one CPU to another (software counter `cpu-migrations`).
    pub migrations: Option<u64>,
    /// Time the main thread was ready but waited for a CPU (`/proc/PID/schedstat`, field 2; 0 where it has one CPU
    /// and left it only at its end, `ru_nvcsw` and `ru_nivcsw`).
    pub run_delay: Option<f64>,
    /// CPU time of the main thread alone (`/proc/PID/schedstat`, field 1; that of the process where it has one CPU and
    /// left it only at its end).
    pub main_thread_time: Option<f64>,
    /// Time the main thread was off the CPU and not waiting for one: what `main_thread_time` and
    /// `run_delay` leave of the wall time. It labels nothing, because it is a part of what is measured.
    pub blocked: Option<f64>,
    /// Time that becalm waited before this run for the machine to come to rest (`--settle`); only
    /// the first run of a round has it.
    pub settle_wait: Option<f64>,
    /// Length of the window that the machine-wide figures below cover.
    pub window: Option<f64>,
    /// Time taken from the subject's CPUs by the hypervisor (`/proc/stat`, steal).
    pub steal: Option<f64>,
    /// CPU time that others used on the subject's CPUs (`/proc/stat` busy less the subject's own).
    pub others: Option<f64>,
    /// CPU time used on the SMT siblings of the subject's CPUs (`/proc/stat` busy): those that share a
    /// core with one of them and are none themselves. `None` also where there is no such sibling.
    pub siblings: Option<f64>,
    /// Time in which some task was stalled for lack of CPU (`/proc/pressure/cpu`, some).
    pub pressure_cpu: Option<f64>,
    /// Time in which some task was stalled for lack of memory (`/proc/pressure/memory`, some).
    pub pressure_memory: Option<f64>,
    /// Time in which some task was stalled on I/O (`/proc/pressure/io`, some).
    pub pressure_io: Option<f64>,
    /// Time for which the CPU quota of the control group held tasks back (`cpu.stat`).
    pub quota_throttled: Option<f64>,
    /// Thermal throttle events on the subject's CPUs (Intel only).
    pub thermal_throttles: Option<u64>,
    /// System management interrupts, in which firmware took all CPUs (`MSR_SMI_COUNT`, Intel only).
    pub smis: Option<u64>,
    /// Interrupts delivered to the subject's CPUs.
    pub interrupts: Option<u64>,
    /// Softirqs run on the subject's CPUs (`/proc/softirqs`).
    pub softirqs: Option<u64>,
    /// How long a step of a fixed piece of arithmetic took on the subject's CPU during the run, on average, in
    /// seconds: longer where the core was slower, or somebody used its other half.
    pub pace: Option<f64>,
    /// How often that was sampled, each time by taking the CPU from the subject for some microseconds.
    pub pace_samples: Option<u64>,
    /// Frequency of the subject's first CPU right after the run, in hertz, as the driver states it.
    pub frequency: Option<f64>,
    /// Mean frequency of the subject's CPUs while they ran something, in hertz: APERF over MPERF, times
    /// the rate of the time stamp counter (Intel SDM volume 3, "Hardware feedback").
    pub effective_frequency: Option<f64>,
}

/// Why a run is labelled as disturbed.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbance {
    /// What was out of bounds.
    pub source: DisturbanceSource,
    /// The value in this run, in the unit of the evidence field.
    pub value: f64,
    /// The limit it went past, from a robust comparison with the other runs.
    pub limit: f64,
}

/// The evidence that can label a run as disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DisturbanceSource {
    /// More switches away from the subject than usual.
    InvoluntarySwitches,
    /// More moves between CPUs than usual.
    Migrations,
    /// More faults that needed I/O than usual.
    MajorFaults,
    /// More faults without I/O than usual.
    MinorFaults,
    /// Waited longer for a CPU than usual.
    RunDelay,
    /// The hypervisor took the CPU away.
    Steal,
    /// Other programs used the subject's CPUs.
    Others,
    /// Somebody used the SMT siblings of the subject's CPUs, and with them half of its cores.
    Siblings,
    /// Tasks stalled for memory.
    MemoryPressure,
    /// Tasks stalled for I/O.
    IoPressure,
    /// The control group's CPU quota held the subject back.
    QuotaThrottled,
    /// The CPU slowed itself down because of heat.
    ThermalThrottle,
    /// Firmware took the CPUs.
    Firmware,
    /// The CPU ran at another frequency than usual.
    Frequency,
    /// More interrupts a second than usual.
    Interrupts,
    /// More softirqs a second than usual.
    Softirqs,
}

/// How one field of [`Evidence`] is read and set by its name.
struct Field {
    name: &'static str,
    get: fn(&Evidence) -> Option<f64>,
    set: fn(&mut Evidence, f64),
}

macro_rules! field {
    (optional $name:ident) => {
        Field { name: stringify!($name), get: |e| e.$name, set: |e, v| e.$name = Some(v) }
    };
    (count $name:ident) => {
        Field {
            name: stringify!($name),
            get: |e| Some(e.$name as f64),
            set: |e, v| e.$name = count(v),
        }
    };
    (optional count $name:ident) => {
        Field {
            name: stringify!($name),
            get: |e| e.$name.map(|n| n as f64),
            set: |e, v| e.$name = Some(count(v)),
        }
    };
}

const FIELDS: &[Field] = &[
    field!(count voluntary_switches),
    field!(count involuntary_switches),
    field!(count minor_faults),
    field!(count major_faults),
    field!(optional count migrations),
    field!(optional run_delay),
    field!(optional main_thread_time),
    field!(optional blocked),
    field!(optional settle_wait),
    field!(optional window),
    field!(optional steal),
    field!(optional others),
    field!(optional siblings),
    field!(optional pressure_cpu),
    field!(optional pressure_memory),
    field!(optional pressure_io),
    field!(optional quota_throttled),
    field!(optional count thermal_throttles),
    field!(optional count smis),
    field!(optional count interrupts),
    field!(optional count softirqs),
    field!(optional pace),
    field!(optional count pace_samples),
    field!(optional frequency),
    field!(optional effective_frequency),
];

fn count(value: f64) -> u64 {
    whole(value.round())
}

impl Evidence {
    /// Returns which share of the time of `cpus` CPUs in the window some seconds on them are, at
    /// most 1; `None` where either is unknown.
    pub fn share_of_cpus(&self, seconds: Option<f64>, cpus: usize) -> Option<f64> {
        let time = self.window.filter(|window| *window > 0.0)? * cpus as f64;
        (time > 0.0).then_some((seconds? / time).min(1.0))
    }

    /// Goes through what is known, by the names used in JSON.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        FIELDS.iter().filter_map(|field| Some((field.name, (field.get)(self)?)))
    }

    /// Sets the field called `name`; says whether there is one.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        match FIELDS.iter().find(|field| field.name == name) {
            Some(field) => {
                (field.set)(self, value);
                true
            }
            None => false,
        }
    }
}

/// One run that the evidence labels as disturbed. The label is worked out by the runner.
#[derive(Debug, Clone, PartialEq)]
pub struct DisturbedRun {
    /// Index into [`crate::Record::runs`].
    pub run: usize,
    /// What was out of bounds.
    pub causes: Vec<Disturbance>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_set_again() {
        let full = Evidence {
            voluntary_switches: 1,
            involuntary_switches: 2,
            minor_faults: 3,
            major_faults: 4,
            migrations: Some(5),
            run_delay: Some(0.25),
            main_thread_time: Some(0.5),
            blocked: Some(0.125),
            settle_wait: Some(0.75),
            window: Some(1.5),
            steal: Some(0.01),
            others: Some(0.02),
            siblings: Some(0.025),
            pressure_cpu: Some(0.03),
            pressure_memory: Some(0.04),
            pressure_io: Some(0.05),
            quota_throttled: Some(0.06),
            thermal_throttles: Some(7),
            smis: Some(2),
            interrupts: Some(8),
            softirqs: Some(9),
            pace: Some(7e-10),
            pace_samples: Some(150),
            frequency: Some(3.5e9),
            effective_frequency: Some(3.4e9),
        };
        let mut copy = Evidence::default();
        for (name, value) in full.entries() {
            assert!(copy.set(name, value), "{name}");
        }
        assert_eq!(copy, full);
        assert!(!copy.set("weather", 1.0));
    }
}
