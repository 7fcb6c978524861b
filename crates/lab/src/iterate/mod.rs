//! Workloads that time themselves: the same piece of work again and again, each timed from inside.
//!
//! Nothing is written and no memory is taken between two iterations, and all values are handed out after the
//! last one. Several tasks start together, and those that are done first go on working, untimed, until the last
//! one is: otherwise its last iterations would find a quieter machine than its first.

mod gate;
mod series;

use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

use becalm_kernel::memory;
use becalm_machine::{SysRoot, Topology};
use becalm_model::{CpuId, CpuSet};
use becalm_runner::pin_self;

pub use self::series::{Series, TaskSeries};

use self::gate::{Gate, Signal};
use crate::PlaceError;
use crate::places::{Places, place};
use crate::timer::{Timer, TimerChoice, TimerError};
use crate::workloads::{Prepared, Workload, WorkloadError};

/// Most times of all tasks together: 160 MB while they are measured and written out.
const MOST_TIMES: usize = 10_000_000;

/// Most threads: with several times as many a process has too many mappings (`vm.max_map_count`), and ends
/// while it starts one.
const MOST_THREADS: usize = 4096;

/// How a workload is to be iterated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Timed iterations.
    pub iterations: NonZeroUsize,
    /// Iterations before them that are not recorded.
    pub warmup: usize,
    /// Work of an iteration; `None` for the workload's own amount.
    pub amount: Option<u64>,
    /// CPUs of the tasks, in turns; `None` leaves them to the workload, or to the scheduler.
    pub pin: Option<CpuSet>,
    /// Whether all memory is kept from being paged out, and faulted in beforehand.
    pub lock_memory: bool,
    /// How many tasks at once; `None` for as many as the workload has.
    pub tasks: Option<NonZeroUsize>,
    /// What iterations are timed with.
    pub timer: TimerChoice,
}

impl Options {
    /// So many iterations, and nothing special.
    pub fn new(iterations: NonZeroUsize) -> Self {
        Self {
            iterations,
            warmup: 0,
            amount: None,
            pin: None,
            lock_memory: false,
            tasks: None,
            timer: TimerChoice::Auto,
        }
    }
}

/// Why a workload cannot be iterated.
#[derive(Debug, thiserror::Error)]
pub enum IterateError {
    /// No timer.
    #[error(transparent)]
    Timer(#[from] TimerError),
    /// No place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The workload itself.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// More times than are kept in memory.
    #[error(
        "{iterations} iterations of each of {tasks} are too many times to keep until the end; the \
         limit is {MOST_TIMES}"
    )]
    TooMany {
        /// Of each task.
        iterations: usize,
        /// How many tasks.
        tasks: usize,
    },
    /// More threads than can be relied on to start.
    #[error("{0} threads are too many; the limit is {MOST_THREADS} (--tasks)")]
    TooManyThreads(usize),
    /// Memory cannot be locked.
    #[error(
        "cannot lock memory (mlockall): {0}; users other than root may lock as much as `ulimit \
         -l` says"
    )]
    Lock(io::Error),
    /// A task cannot be put on its CPU.
    #[error("cannot run on CPU {cpus}: {source}")]
    Pin {
        /// Where.
        cpus: CpuSet,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// Iterates a workload. The calling thread stays on the CPU on which a single task was put, and memory that
/// was locked stays locked.
pub fn iterate(
    workload: Workload,
    options: &Options,
    root: &SysRoot,
) -> Result<Series, IterateError> {
    let timer = Timer::choose(options.timer, root)?;
    let topology = Topology::read(root).map_err(PlaceError::Unknown)?;
    let tasks = options.tasks.map(NonZeroUsize::get);
    let places = place(workload.shape(), tasks, options.pin.as_ref(), &topology)?;
    let (series, threads) = match &places {
        Places::Each(cpus) => (cpus.len(), cpus.len()),
        Places::Together { threads, .. } => (1, *threads),
    };
    if threads > MOST_THREADS {
        return Err(IterateError::TooManyThreads(threads));
    }
    let iterations = options.iterations.get();
    if iterations.checked_mul(series).is_none_or(|times| times > MOST_TIMES) {
        return Err(IterateError::TooMany { iterations, tasks: series });
    }
    if options.lock_memory {
        memory::lock_all().map_err(IterateError::Lock)?;
    }
    let amount = options.amount.unwrap_or_else(|| workload.iteration_amount());
    let plan = TaskPlan { workload, amount, timer, options };
    let start = timer.moment();
    let measured = match places {
        Places::Each(cpus) if cpus.len() == 1 => vec![plan.alone(cpus[0])?],
        Places::Each(cpus) => plan.side_by_side(&cpus)?,
        Places::Together { threads, cpus } => vec![plan.crew(threads, cpus.as_ref())?],
    };
    let ticks_per_second = timer.ticks_per_second(start);
    let backwards = measured.iter().map(|task| task.backwards).sum();
    if backwards > 0 {
        return Err(TimerError::Backwards(backwards).into());
    }
    let checksum = measured.iter().fold(0, |all, task| fold(all, task.checksum));
    let tasks = measured.into_iter().map(|task| TaskSeries {
        cpu: task.cpu,
        seconds: task.ticks.iter().map(|&ticks| ticks as f64 / ticks_per_second).collect(),
    });
    Ok(Series {
        workload,
        amount,
        warmup: options.warmup,
        is_locked: options.lock_memory,
        timer,
        ticks_per_second,
        tasks: tasks.collect(),
        checksum,
    })
}

/// What all tasks have in common.
#[derive(Clone, Copy)]
struct TaskPlan<'a> {
    workload: Workload,
    amount: u64,
    timer: Timer,
    options: &'a Options,
}

/// One task in ticks.
#[derive(Default)]
struct TaskTicks {
    cpu: Option<CpuId>,
    ticks: Vec<u64>,
    checksum: u64,
    /// Iterations that ended before they began.
    backwards: usize,
}

impl TaskPlan<'_> {
    /// Runs the only task in this thread, so that what the kernel counts for the main thread is the work.
    fn alone(self, cpu: Option<CpuId>) -> Result<TaskTicks, IterateError> {
        let mut prepared = self.prepare(cpu)?;
        Ok(self.measure(&mut prepared, cpu).map_err(self.failed())?)
    }

    /// Runs threads that do one piece of work together.
    fn crew(self, threads: usize, cpus: Option<&CpuSet>) -> Result<TaskTicks, IterateError> {
        if let Some(cpus) = cpus {
            pin(cpus)?;
        }
        let mut prepared = self.workload.prepare(self.amount, threads)?;
        self.warm_up(&mut prepared).map_err(self.failed())?;
        Ok(self.measure(&mut prepared, None).map_err(self.failed())?)
    }

    /// Runs one task on each of these CPUs at the same time.
    fn side_by_side(self, cpus: &[Option<CpuId>]) -> Result<Vec<TaskTicks>, IterateError> {
        let gate = Gate::default();
        let at_work = AtomicUsize::new(cpus.len());
        std::thread::scope(|scope| {
            let mut handles = Vec::with_capacity(cpus.len());
            for (number, cpu) in (1..).zip(cpus) {
                match Builder::new().spawn_scoped(scope, || self.task(*cpu, &gate, &at_work)) {
                    Ok(handle) => handles.push(handle),
                    Err(source) => {
                        // Those that wait already must not wait for ever.
                        gate.set(Signal::GiveUp);
                        return Err(WorkloadError::Thread { number, of: cpus.len(), source }.into());
                    }
                }
            }
            gate.open_for(cpus.len());
            let join = |handle: ScopedJoinHandle<'_, _>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            handles.into_iter().map(join).collect()
        })
    }

    fn task(
        self,
        cpu: Option<CpuId>,
        gate: &Gate,
        at_work: &AtomicUsize,
    ) -> Result<TaskTicks, IterateError> {
        let prepared = self.prepare(cpu);
        let goes = gate.arrive(prepared.is_ok());
        let measured = prepared.and_then(|mut prepared| {
            if !goes {
                return Ok((prepared, TaskTicks { cpu, ..TaskTicks::default() }));
            }
            let measured = self.measure(&mut prepared, cpu).map_err(self.failed());
            measured.map(|measured| (prepared, measured)).map_err(IterateError::from)
        });
        at_work.fetch_sub(1, Ordering::Relaxed);
        let (mut prepared, measured) = measured?;
        while goes && at_work.load(Ordering::Relaxed) > 0 {
            prepared.rest().and_then(|()| prepared.work()).map_err(self.failed())?;
        }
        Ok(measured)
    }

    /// Goes to the CPU first, so that the memory is found near it, and warms up.
    fn prepare(self, cpu: Option<CpuId>) -> Result<Prepared, IterateError> {
        if let Some(cpu) = cpu {
            pin(&CpuSet::from_iter([cpu]))?;
        }
        let mut prepared = self.workload.prepare(self.amount, 1)?;
        self.warm_up(&mut prepared).map_err(self.failed())?;
        Ok(prepared)
    }

    fn warm_up(self, prepared: &mut Prepared) -> io::Result<()> {
        for _ in 0..self.options.warmup {
            prepared.rest()?;
            black_box(self.timer.now());
            black_box(prepared.work()?);
            black_box(self.timer.now());
        }
        Ok(())
    }

    fn measure(self, prepared: &mut Prepared, cpu: Option<CpuId>) -> io::Result<TaskTicks> {
        // Written to beforehand: memory that was only asked for would fault at the first value on each page.
        let mut ticks = vec![u64::MAX; self.options.iterations.get()];
        let (mut checksum, mut backwards) = (0, 0);
        for slot in &mut ticks {
            prepared.rest()?;
            let begin = self.timer.now();
            let value = black_box(prepared.work());
            let end = self.timer.now();
            checksum = fold(checksum, value?);
            backwards += usize::from(end < begin);
            *slot = end.saturating_sub(begin);
        }
        Ok(TaskTicks { cpu, ticks, checksum, backwards })
    }

    fn failed(self) -> impl FnOnce(io::Error) -> WorkloadError {
        move |source| WorkloadError::Failed { workload: self.workload.name(), source }
    }
}

fn pin(cpus: &CpuSet) -> Result<(), IterateError> {
    pin_self(cpus).map_err(|source| IterateError::Pin { cpus: cpus.clone(), source })
}

/// Joins two checksums so that their order matters.
fn fold(all: u64, one: u64) -> u64 {
    all.rotate_left(7).wrapping_mul(0x0000_0100_0000_01B3) ^ one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(iterations: usize) -> Options {
        let iterations = NonZeroUsize::new(iterations).unwrap();
        Options { amount: Some(1), timer: TimerChoice::Clock, ..Options::new(iterations) }
    }

    fn run(workload: Workload, options: &Options) -> Series {
        iterate(workload, options, &SysRoot::default()).unwrap()
    }

    #[test]
    fn every_iteration_has_a_value_and_the_checksum_is_the_same_each_time() {
        let options = Options { warmup: 3, ..options(20) };
        let first = run(Workload::ArraySum, &options);
        let again = run(Workload::ArraySum, &options);
        assert_eq!((first.tasks.len(), first.tasks[0].seconds.len()), (1, 20));
        assert!(first.tasks[0].seconds.iter().all(|value| *value > 0.0), "{first:?}");
        assert_eq!(first.checksum, again.checksum);
        assert_eq!(first.document().values, first.tasks[0].seconds);
    }

    #[test]
    fn tasks_side_by_side_have_a_series_each() {
        let tasks = NonZeroUsize::new(3);
        let series = run(Workload::Compute, &Options { tasks, ..options(5) });
        let lengths: Vec<usize> = series.tasks.iter().map(|task| task.seconds.len()).collect();
        assert_eq!(lengths, [5, 5, 5]);
    }

    #[test]
    fn more_times_than_memory_should_hold_are_refused() {
        let check = |iterations: usize, tasks: usize| {
            let tasks = NonZeroUsize::new(tasks);
            let options = Options { tasks, ..options(iterations) };
            let error = iterate(Workload::Compute, &options, &SysRoot::default()).unwrap_err();
            assert!(matches!(error, IterateError::TooMany { .. }), "{error}");
        };
        check(4_000_000_000, 1);
        check(MOST_TIMES / 2 + 1, 2);
        check(usize::MAX, 2);
    }

    #[test]
    fn a_crew_has_one_series() {
        let tasks = NonZeroUsize::new(4);
        let series = run(Workload::Oversubscribed, &Options { tasks, ..options(5) });
        assert_eq!((series.tasks.len(), series.tasks[0].seconds.len()), (1, 5));
    }

    #[test]
    fn a_task_that_cannot_be_prepared_stops_the_others() {
        let too_large =
            Options { amount: Some(u64::MAX), tasks: NonZeroUsize::new(3), ..options(1) };
        let error = iterate(Workload::FileWarm, &too_large, &SysRoot::default()).unwrap_err();
        assert!(error.to_string().contains("MiB is too large"), "{error}");
    }

    #[test]
    fn a_pinned_task_runs_where_it_was_put() {
        // In a thread of its own, because the affinity of a test thread would leak.
        std::thread::spawn(|| {
            let allowed = becalm_runner::own_affinity().unwrap();
            let cpu = allowed.first().unwrap();
            let pin = Some(CpuSet::from_iter([cpu]));
            let series = run(Workload::Compute, &Options { pin, ..options(2) });
            assert_eq!(series.tasks[0].cpu, Some(cpu));
        })
        .join()
        .unwrap();
    }
}
