//! How restless the machine is right now: heat, tasks that want a CPU, tasks that wait for memory or I/O.
//!
//! This is read between runs, while no subject runs, so that all of it is somebody else's.

use std::time::Duration;

use becalm_model::{Calm, EvidenceLimit, Limit};

use crate::activity::Held;
use crate::activity::parse;
use crate::sysroot::SysRoot;
use becalm_kernel::clock;

/// At most this many sensors are read.
const SENSORS: usize = 8;

/// A sensor that takes longer is left out: some make the firmware measure.
const SENSOR_BUDGET: Duration = Duration::from_millis(1);

/// Names of the drivers in `/sys/class/hwmon` whose sensors are inside of processors.
const PROCESSOR_DRIVERS: [&str; 5] =
    ["coretemp", "k10temp", "zenpower", "cpu_thermal", "scpi_sensors"];

/// How restless the machine is at one moment. `None` means that it cannot be read here.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unrest {
    /// `CLOCK_MONOTONIC` when the reading began.
    pub at: Duration,
    /// The hottest sensor of the processor, in degrees Celsius; of the machine where none is known to be
    /// the processor's.
    pub temperature: Option<f64>,
    /// Tasks of the whole machine that run or are ready to, this process left out.
    pub runnable: Option<u32>,
    /// Seconds since boot in which some task waited for memory, and in which some waited for I/O.
    pub stalled: Option<f64>,
}

/// Keeps the kernel's files open and reads them again and again.
#[derive(Debug)]
pub struct UnrestReader {
    buffer: Vec<u8>,
    sensors: Vec<Held>,
    load: Option<Held>,
    pressure: Vec<Held>,
    limits: Vec<Limit>,
}

fn not_waited_for(what: Calm, error: Option<String>) -> Limit {
    EvidenceLimit::NotWaitedFor { what, error }.into()
}

impl UnrestReader {
    /// Opens what can be opened and remembers why the rest cannot.
    pub fn open(root: &SysRoot) -> Self {
        let mut buffer = vec![0; 4096];
        let mut limits = Vec::new();
        let sensors = sensors(root, &mut buffer);
        if sensors.is_empty() {
            limits.push(not_waited_for(Calm::Temperature, None));
        }
        let load = Held::open(root, "/proc/loadavg");
        let load = load.map_err(|why| limits.push(not_waited_for(Calm::Load, Some(why)))).ok();
        let pressure =
            ["memory", "io"].map(|kind| Held::open(root, format!("/proc/pressure/{kind}")));
        let pressure = match pressure.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(files) if files.iter().all(|f| f.parse(&mut buffer, parse::pressure).is_some()) => {
                files
            }
            other => {
                limits.push(not_waited_for(Calm::Pressure, other.err()));
                Vec::new()
            }
        };
        Self { buffer, sensors, load, pressure, limits }
    }

    /// Returns what cannot be read here and why.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Reads everything once.
    pub fn read(&mut self) -> Unrest {
        let at = clock::monotonic_now();
        let Self { buffer, sensors, load, pressure, .. } = self;
        let degrees = sensors.iter().filter_map(|sensor| sensor.parse(buffer, millidegrees));
        let temperature = degrees.reduce(f64::max);
        let runnable = load.as_ref().and_then(|file| file.parse(buffer, parse::runnable));
        let stalled: Option<u64> =
            pressure.iter().map(|file| file.parse(buffer, parse::pressure)).sum();
        Unrest {
            at,
            temperature,
            // Whoever reads runs, too.
            runnable: runnable.map(|tasks| tasks.saturating_sub(1)),
            stalled: stalled.filter(|_| !pressure.is_empty()).map(|micros| micros as f64 * 1e-6),
        }
    }
}

/// Opens the sensors of the processor, else all thermal zones.
fn sensors(root: &SysRoot, buffer: &mut Vec<u8>) -> Vec<Held> {
    let mut of_processor = Vec::new();
    for monitor in root.list_dir("/sys/class/hwmon").value().unwrap_or_default() {
        let folder = format!("/sys/class/hwmon/{monitor}");
        let driver = root.read(format!("{folder}/name")).value().unwrap_or_default();
        if PROCESSOR_DRIVERS.contains(&driver.as_str()) {
            let files = root.list_dir(&folder).value().unwrap_or_default();
            let inputs = files.iter().filter(|n| n.starts_with("temp") && n.ends_with("_input"));
            of_processor.extend(inputs.map(|name| format!("{folder}/{name}")));
        }
    }
    let mut zones = Vec::new();
    if of_processor.is_empty() {
        let names = root.list_dir("/sys/class/thermal").value().unwrap_or_default();
        for zone in names.iter().filter(|name| name.starts_with("thermal_zone")) {
            let folder = format!("/sys/class/thermal/{zone}");
            let kind = root.read(format!("{folder}/type")).value().unwrap_or_default();
            let is_processor =
                ["x86_pkg_temp", "cpu", "soc"].iter().any(|word| kind.starts_with(word));
            let list = if is_processor { &mut of_processor } else { &mut zones };
            list.push(format!("{folder}/temp"));
        }
    }
    let paths = if of_processor.is_empty() { zones } else { of_processor };
    let opened = paths.iter().filter_map(|path| Held::open(root, path).ok());
    let readable = opened.filter(|sensor| {
        sensor.parse(buffer, millidegrees).is_some() && sensor.cost(buffer).usual <= SENSOR_BUDGET
    });
    readable.take(SENSORS).collect()
}

/// Reads thousandths of a degree; sensors without anything attached tell values that no chip has.
fn millidegrees(text: &str) -> Option<f64> {
    let degrees = text.trim().parse::<i32>().ok().map(|millis| f64::from(millis) / 1000.0)?;
    (-40.0..150.0).contains(&degrees).then_some(degrees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn machine() -> FakeTree {
        FakeTree::new()
            .file("/proc/loadavg", "0.10 0.20 0.30 4/210 999\n")
            .file("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n")
            .file("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n")
            .file("/sys/class/hwmon/hwmon0/name", "nvme\n")
            .file("/sys/class/hwmon/hwmon0/temp1_input", "71000\n")
            .file("/sys/class/hwmon/hwmon1/name", "coretemp\n")
            .file("/sys/class/hwmon/hwmon1/temp1_input", "51000\n")
            .file("/sys/class/hwmon/hwmon1/temp2_input", "52500\n")
            .file("/sys/class/hwmon/hwmon1/temp2_max", "100000\n")
    }

    fn read(tree: &FakeTree) -> (Unrest, Vec<Limit>) {
        let mut reader = UnrestReader::open(&SysRoot::new(tree.path()));
        (reader.read(), reader.limits().to_vec())
    }

    #[test]
    fn heat_load_and_pressure_are_read() {
        let (unrest, limits) = read(&machine());
        assert_eq!(limits, []);
        assert_eq!(unrest.temperature, Some(52.5), "the disk is no processor");
        assert_eq!(unrest.runnable, Some(3), "the reader itself does not count");
        assert_eq!(unrest.stalled, Some(0.75));
    }

    #[test]
    fn a_thermal_zone_of_the_processor_comes_before_others() {
        let tree = machine()
            .without("/sys/class/hwmon/hwmon1/name")
            .file("/sys/class/thermal/thermal_zone0/type", "acpitz\n")
            .file("/sys/class/thermal/thermal_zone0/temp", "80000\n");
        assert_eq!(read(&tree).0.temperature, Some(80.0));
        let tree = tree
            .file("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n")
            .file("/sys/class/thermal/thermal_zone1/temp", "60000\n");
        assert_eq!(read(&tree).0.temperature, Some(60.0));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let (unrest, limits) = read(&FakeTree::new());
        assert_eq!(unrest, Unrest { at: unrest.at, ..Unrest::default() });
        let is_of = |limit: &Limit, calm: Calm| matches!(limit, Limit::Evidence(EvidenceLimit::NotWaitedFor { what, .. }) if *what == calm);
        let all = [Calm::Temperature, Calm::Load, Calm::Pressure];
        assert_eq!(limits.len(), all.len());
        assert!(limits.iter().zip(all).all(|(limit, calm)| is_of(limit, calm)), "{limits:?}");
    }

    #[test]
    fn a_sensor_that_is_not_connected_is_no_sensor() {
        let tree = machine()
            .file("/sys/class/hwmon/hwmon1/temp1_input", "-128000\n")
            .file("/sys/class/hwmon/hwmon1/temp2_input", "nothing\n");
        assert_eq!(read(&tree).0.temperature, None);
    }
}
