//! Which events are wanted, and where this kernel has their data.

use std::collections::HashMap;

use becalm_machine::tracefs::{Descriptions, VECTORS};
use becalm_machine::{Reading, SysRoot, tracepoints};
use becalm_model::{Limit, TraceLimit};

use super::error::TraceError;
use super::event::{Comm, Function, Layer, Left, Tid, What};
use super::format::{Field, Format};

/// What `perf_event_open` opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Its name, for errors: `sched:sched_switch`.
    pub(super) name: String,
    /// `PERF_TYPE_SOFTWARE` or `PERF_TYPE_TRACEPOINT`.
    pub(super) kind: u32,
    /// Its number there.
    pub(super) config: u64,
    /// How its data are read.
    pub(super) meaning: Meaning,
}

/// `PERF_TYPE_SOFTWARE`.
pub(super) const SOFTWARE: u32 = 1;
/// `PERF_TYPE_TRACEPOINT`.
pub(super) const TRACEPOINT: u32 = 2;

/// `PERF_COUNT_SW_PAGE_FAULTS`: at the start of every fault, on every architecture.
const PAGE_FAULTS: u64 = 2;
/// `PERF_COUNT_SW_PAGE_FAULTS_MIN`: since Linux 5.9 when a fault has been settled without I/O
/// (`mm_account_fault` in `mm/memory.c`).
const PAGE_FAULTS_MIN: u64 = 5;
/// `PERF_COUNT_SW_PAGE_FAULTS_MAJ`: likewise, with I/O.
const PAGE_FAULTS_MAJ: u64 = 6;

/// How the data of an event become a [`What`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Switch { previous: Field, state: Field, next: Field, comm: Field },
    Wakeup { tid: Field, target: Field },
    Migrate { tid: Field, target: Field },
    InterruptEntry { line: Field, name: Field },
    InterruptExit { line: Field },
    SoftirqEntry { number: Field },
    SoftirqExit { number: Field },
    VectorEntry(u16),
    VectorExit(u16),
    TimerEntry { function: Field },
    TimerExit,
    WorkStart { function: Field },
    WorkEnd,
    NonMaskable { nanos: Field },
    FaultStart,
    FaultEnd { major: bool },
}

impl Meaning {
    /// Reads the data of one event; `None` if they are too short.
    pub(super) fn read(self, data: &[u8]) -> Option<What> {
        let u32_of = |field: Field| field.number(data).and_then(|n| u32::try_from(n).ok());
        let tid_of = |field: Field| u32_of(field).map(Tid);
        let function_of = |field: Field| field.number(data).map(Function);
        Some(match self {
            Self::Switch { previous, state, next, comm } => What::Switch {
                left: Left::from_bits(state.number(data)?),
                previous: tid_of(previous)?,
                next: tid_of(next)?,
                comm: Comm::new(comm.text(data)?),
            },
            Self::Wakeup { tid, target } => {
                What::Wakeup { tid: tid_of(tid)?, target: u32_of(target)? }
            }
            Self::Migrate { tid, target } => {
                What::Migrate { tid: tid_of(tid)?, target: u32_of(target)? }
            }
            Self::InterruptEntry { line, .. } => What::Enter(Layer::Interrupt(u32_of(line)?)),
            Self::InterruptExit { line } => What::Leave(Layer::Interrupt(u32_of(line)?)),
            Self::SoftirqEntry { number } => What::Enter(softirq(number, data)?),
            Self::SoftirqExit { number } => What::Leave(softirq(number, data)?),
            Self::VectorEntry(place) => What::Enter(Layer::Vector(place)),
            Self::VectorExit(place) => What::Leave(Layer::Vector(place)),
            Self::TimerEntry { function } => What::Enter(Layer::Timer(function_of(function)?)),
            Self::TimerExit => What::Leave(Layer::Timer(Function(0))),
            Self::WorkStart { function } => What::WorkStart(function_of(function)?),
            Self::WorkEnd => What::WorkEnd,
            Self::NonMaskable { nanos } => What::NonMaskable(nanos.number(data)?),
            Self::FaultStart => What::FaultStart,
            Self::FaultEnd { major } => What::FaultEnd { major },
        })
    }
}

fn softirq(number: Field, data: &[u8]) -> Option<Layer> {
    Some(Layer::Softirq(u8::try_from(number.number(data)?).ok()?))
}

/// Everything to be opened on every CPU.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalogue {
    pub(super) sources: Vec<Source>,
    /// Names of the CPU's own interrupts, by their places.
    pub(super) vectors: Vec<String>,
    /// What this kernel does not have, as sentences.
    pub(super) limits: Vec<Limit>,
}

/// Whether a trace makes sense without an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Welcome,
}

type Make = fn(&Format) -> Option<Meaning>;

/// The tracepoints that every architecture has.
const TRACEPOINTS: &[(&str, Need, Make)] = &[
    ("sched/sched_switch", Need::Required, |format| {
        Some(Meaning::Switch {
            previous: format.field("prev_pid")?,
            state: format.field("prev_state")?,
            next: format.field("next_pid")?,
            comm: format.field("next_comm")?,
        })
    }),
    ("sched/sched_wakeup", Need::Required, wakeup),
    ("sched/sched_wakeup_new", Need::Required, wakeup),
    ("sched/sched_migrate_task", Need::Required, |format| {
        Some(Meaning::Migrate { tid: format.field("pid")?, target: format.field("dest_cpu")? })
    }),
    ("irq/irq_handler_entry", Need::Welcome, |format| {
        let (line, name) = (format.field("irq")?, format.field("name")?);
        Some(Meaning::InterruptEntry { line, name })
    }),
    ("irq/irq_handler_exit", Need::Welcome, |format| {
        Some(Meaning::InterruptExit { line: format.field("irq")? })
    }),
    ("irq/softirq_entry", Need::Welcome, |format| {
        Some(Meaning::SoftirqEntry { number: format.field("vec")? })
    }),
    ("irq/softirq_exit", Need::Welcome, |format| {
        Some(Meaning::SoftirqExit { number: format.field("vec")? })
    }),
    ("timer/hrtimer_expire_entry", Need::Welcome, timer),
    ("timer/hrtimer_expire_exit", Need::Welcome, |_| Some(Meaning::TimerExit)),
    ("timer/timer_expire_entry", Need::Welcome, timer),
    ("timer/timer_expire_exit", Need::Welcome, |_| Some(Meaning::TimerExit)),
    ("workqueue/workqueue_execute_start", Need::Welcome, |format| {
        Some(Meaning::WorkStart { function: format.field("function")? })
    }),
    ("workqueue/workqueue_execute_end", Need::Welcome, |_| Some(Meaning::WorkEnd)),
    ("nmi/nmi_handler", Need::Welcome, |format| {
        Some(Meaning::NonMaskable { nanos: format.field("delta_ns")? })
    }),
];

fn wakeup(format: &Format) -> Option<Meaning> {
    Some(Meaning::Wakeup { tid: format.field("pid")?, target: format.field("target_cpu")? })
}

fn timer(format: &Format) -> Option<Meaning> {
    Some(Meaning::TimerEntry { function: format.field("function")? })
}

/// The one of them whose end may not be recorded, because recording makes such interrupts itself
/// (`TRACE_EVENT_PERF_PERM(irq_work_exit, ...)` in `arch/x86/include/asm/trace/irq_vectors.h`).
const UNTRACEABLE: &str = "irq_work";

impl Catalogue {
    /// Reads what this kernel has.
    pub(super) fn read(root: &SysRoot) -> Result<Self, TraceError> {
        let descriptions = &tracepoints(root)?;
        let mut catalogue = Self::default();
        let mut missing = Vec::new();
        for (name, need, make) in TRACEPOINTS {
            match (source(descriptions, name, *make)?, need) {
                (Some(source), _) => catalogue.sources.push(source),
                (None, Need::Required) => {
                    return Err(TraceError::Missing { name: (*name).to_owned() });
                }
                (None, Need::Welcome) => missing.push(name.replace('/', ":")),
            }
        }
        catalogue.vectors(descriptions)?;
        if catalogue.vectors.is_empty() {
            catalogue.limits.push(TraceLimit::OwnInterrupts.into());
        }
        if !missing.is_empty() {
            catalogue.limits.push(TraceLimit::EventsMissing { names: missing }.into());
        }
        for (name, config, meaning) in [
            ("page-faults", PAGE_FAULTS, Meaning::FaultStart),
            ("minor-faults", PAGE_FAULTS_MIN, Meaning::FaultEnd { major: false }),
            ("major-faults", PAGE_FAULTS_MAJ, Meaning::FaultEnd { major: true }),
        ] {
            let name = name.to_owned();
            catalogue.sources.push(Source { name, kind: SOFTWARE, config, meaning });
        }
        Ok(catalogue)
    }

    /// Adds every interrupt of the CPU's own that has both a beginning and an end.
    fn vectors(&mut self, descriptions: &Descriptions) -> Result<(), TraceError> {
        let names = descriptions
            .formats
            .keys()
            .filter_map(|name| name.strip_prefix(VECTORS)?.strip_prefix('/'));
        for name in names.filter_map(|name| name.strip_suffix("_entry")) {
            let exit = format!("{VECTORS}/{name}_exit");
            let is_pair = name != UNTRACEABLE && descriptions.formats.contains_key(&exit);
            let (Ok(place), true) = (u16::try_from(self.vectors.len()), is_pair) else { continue };
            let point = |end: &str| format!("{VECTORS}/{name}_{end}");
            let entry = source(descriptions, &point("entry"), |_| Some(Meaning::FaultStart))?;
            let exit = source(descriptions, &point("exit"), |_| Some(Meaning::FaultStart))?;
            if let (Some(entry), Some(exit)) = (entry, exit) {
                self.sources.push(Source { meaning: Meaning::VectorEntry(place), ..entry });
                self.sources.push(Source { meaning: Meaning::VectorExit(place), ..exit });
                self.vectors.push(name.to_owned());
            }
        }
        Ok(())
    }
}

/// Reads one tracepoint; `None` if this kernel does not have it.
fn source(
    descriptions: &Descriptions,
    name: &str,
    make: impl Fn(&Format) -> Option<Meaning>,
) -> Result<Option<Source>, TraceError> {
    let path = format!("{}/events/{name}/format", descriptions.place);
    let text = match descriptions.formats.get(name) {
        Some(Reading::Value(text)) => text,
        None | Some(Reading::Absent) => return Ok(None),
        Some(Reading::NoPermission) => return Err(TraceError::TracefsRefused { path }),
        Some(Reading::Unreadable { reason }) => {
            return Err(TraceError::Unreadable { path, reason: reason.clone() });
        }
    };
    let unknown = || TraceError::Format { path: path.clone() };
    let format = Format::parse(text).ok_or_else(unknown)?;
    let meaning = make(&format).ok_or_else(unknown)?;
    let name = name.replace('/', ":");
    Ok(Some(Source { name, kind: TRACEPOINT, config: format.id, meaning }))
}

/// Reads events, and keeps the names of devices that come with them.
#[derive(Debug, Default)]
pub(super) struct Meanings {
    by_id: HashMap<u64, Meaning>,
    /// Names of the devices that interrupts belong to, by number.
    pub(super) devices: HashMap<u32, String>,
}

impl Meanings {
    /// Adds an open event by the number that its samples carry.
    pub(super) fn add(&mut self, id: u64, meaning: Meaning) {
        self.by_id.insert(id, meaning);
    }

    /// Reads the data of a sample.
    pub(super) fn read(&mut self, id: u64, data: &[u8]) -> Option<What> {
        let meaning = self.by_id.get(&id)?;
        let what = meaning.read(data)?;
        if let (Meaning::InterruptEntry { name, .. }, What::Enter(Layer::Interrupt(line))) =
            (meaning, what)
        {
            self.devices.entry(line).or_insert_with(|| {
                let name = name.text(data).unwrap_or_default();
                String::from_utf8_lossy(name).into_owned()
            });
        }
        Some(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    /// A tracefs with the tracepoints that nothing works without, in the layout of Linux 6.18.
    fn tracefs() -> FakeTree {
        let put = |tree: FakeTree, name: &str, fields: &str| {
            let id = name.len();
            let text = format!("name: x\nID: {id}\nformat:\n{fields}\nprint fmt: \"\"\n");
            tree.file(format!("/sys/kernel/tracing/events/{name}/format"), text)
        };
        let wakeup = "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
                      \tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";
        let tree = put(
            FakeTree::new().file("/sys/kernel/tracing/events/header_page", ""),
            "sched/sched_switch",
            "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
             \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
             \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n",
        );
        let tree = put(tree, "sched/sched_wakeup", wakeup);
        let tree = put(tree, "sched/sched_wakeup_new", wakeup);
        let tree = put(
            tree,
            "sched/sched_migrate_task",
            "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\
             \tfield:int dest_cpu;\toffset:24;\tsize:4;\tsigned:1;\n",
        );
        let tree = put(tree, "irq_vectors/local_timer_entry", "");
        let tree = put(tree, "irq_vectors/local_timer_exit", "");
        let tree = put(tree, "irq_vectors/irq_work_entry", "");
        let tree = put(tree, "irq_vectors/irq_work_exit", "");
        put(tree, "irq_vectors/vector_alloc", "")
    }

    #[test]
    fn what_a_kernel_lacks_is_said() {
        let tree = tracefs();
        let catalogue = Catalogue::read(&SysRoot::new(tree.path())).unwrap();
        let names: Vec<&str> = catalogue.sources.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "sched:sched_switch",
                "sched:sched_wakeup",
                "sched:sched_wakeup_new",
                "sched:sched_migrate_task",
                "irq_vectors:local_timer_entry",
                "irq_vectors:local_timer_exit",
                "page-faults",
                "minor-faults",
                "major-faults",
            ]
        );
        assert_eq!(catalogue.vectors, ["local_timer"]);
        assert!(format!("{:?}", catalogue.limits[0]).contains("irq:softirq_entry"));
    }

    #[test]
    fn without_the_scheduler_there_is_no_trace() {
        let tree = tracefs().without("/sys/kernel/tracing/events/sched/sched_switch");
        let root = SysRoot::new(tree.path());
        let error = Catalogue::read(&root).unwrap_err();
        assert!(matches!(error, TraceError::Missing { .. }), "{error}");
        let root = root.denying("/sys/kernel/tracing");
        let error = Catalogue::read(&root).unwrap_err();
        assert!(matches!(error, TraceError::TracefsRefused { .. }), "{error}");
    }

    #[test]
    fn a_switch_is_read_by_its_format() {
        let tree = tracefs();
        let catalogue = Catalogue::read(&SysRoot::new(tree.path())).unwrap();
        let mut data = [0; 60];
        data[24..28].copy_from_slice(&7_u32.to_ne_bytes());
        data[32..40].copy_from_slice(&1_u64.to_ne_bytes());
        data[40..43].copy_from_slice(b"hog");
        data[56..60].copy_from_slice(&9_u32.to_ne_bytes());
        let expected = What::Switch {
            left: Left::Asleep,
            previous: Tid(7),
            next: Tid(9),
            comm: Comm::new(b"hog"),
        };
        assert_eq!(catalogue.sources[0].meaning.read(&data), Some(expected));
        assert_eq!(catalogue.sources[0].meaning.read(&data[..50]), None);
    }
}
