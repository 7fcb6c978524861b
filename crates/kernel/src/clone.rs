//! Starts a child that shares our memory until it executes the subject.
//!
//! `clone(CLONE_VM | CLONE_VFORK)` copies no page tables, so a start costs the same however large
//! becalm has grown, and the calling thread sleeps until the child has executed or failed: what the
//! child wrote into `Report` can then simply be read. Between `clone` and `execve` the child
//! makes nothing but system calls: no allocation, no lock, nothing that could panic.
//!
//! The child also shares our table of descriptors at first. The counters that it opens on itself
//! are therefore open in the parent as well, without being sent over a socket; then it takes a
//! table of its own, before it touches standard input and output. (Counters opened once in the
//! parent and inherited are no way out: with `CLONE_VFORK` the kernel stops adding them up after
//! two children.)

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

pub use crate::step::Step;

use crate::affinity::CpuMask;
use crate::huge_pages::{Before, HugePages};
use crate::numa::NodeMask;
use crate::perf::PerfAttr;
use crate::wait::{Pid, Usage};
use crate::{checked, clock, perf, personality, sched, signal, stack, wait};

/// Most counters that one child can open.
pub const MAX_COUNTERS: usize = 32;

/// A list of texts as the kernel takes it: their places, and a null pointer at the end.
pub struct Strings<'a> {
    pointers: Vec<*const c_char>,
    texts: PhantomData<&'a CStr>,
}

impl<'a> FromIterator<&'a CStr> for Strings<'a> {
    fn from_iter<I: IntoIterator<Item = &'a CStr>>(texts: I) -> Self {
        let places = texts.into_iter().map(CStr::as_ptr);
        Self { pointers: places.chain([std::ptr::null()]).collect(), texts: PhantomData }
    }
}

/// Everything the child needs, prepared before `clone` so that it only has to make system calls.
pub struct Child<'a> {
    /// The file to execute.
    pub program: &'a CStr,
    /// Its name first.
    pub arguments: &'a Strings<'a>,
    /// `NAME=value` each.
    pub environment: &'a Strings<'a>,
    /// The directory to start in.
    pub cwd: Option<&'a CStr>,
    /// The way into the control group to enter.
    pub control_group: Option<Entrance>,
    /// The CPUs that it may use.
    pub affinity: Option<&'a CpuMask>,
    /// Niceness.
    pub nice: Option<i32>,
    /// Priority of `SCHED_FIFO`.
    pub fifo: Option<u8>,
    /// Whether its addresses are fixed.
    pub aslr_off: bool,
    /// The NUMA nodes on which its memory has to lie.
    pub nodes: Option<&'a NodeMask>,
    /// Which transparent huge pages it gets; `None` leaves what becalm has.
    pub huge_pages: Option<HugePages>,
    /// What becomes standard input, output and error; `None` leaves what becalm has.
    pub stdio: [Option<RawFd>; 3],
    /// What to open on it.
    pub counters: &'a [PerfAttr],
}

/// The way into a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// `cgroup.procs` of it, open for writing.
    List(RawFd),
    /// A socket whose other end puts into it whoever sends a byte, and then answers with one. Where nobody is there
    /// any more, there is no group to enter either.
    Gate(RawFd),
}

/// What the child leaves behind in our memory.
struct Report {
    released: AtomicU64,
    /// All zero is valid too: nothing used.
    used: UnsafeCell<MaybeUninit<libc::rusage>>,
    failed: AtomicU8,
    errno: AtomicI32,
    counters: [AtomicI32; MAX_COUNTERS],
}

/// A child that has been released into the subject's program.
#[derive(Debug)]
pub struct Started {
    /// Its number, which is that of its process group too.
    pub pid: Pid,
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
    /// `CLOCK_MONOTONIC_RAW` right before `execve`, in nanoseconds.
    pub released: u64,
    /// What the child had used by then.
    pub used: Usage,
    /// One per counter asked for; `None` where the child could not open it.
    pub counters: Vec<Option<OwnedFd>>,
}

/// Why no child runs the subject's program.
pub enum StartError {
    /// There was no child at all.
    Clone(io::Error),
    /// The child could not do a step, and has been reaped.
    Step(Step, io::Error),
}

/// Starts `child`; returns once it executes the subject's program or has failed to.
pub fn start(child: &Child<'_>) -> Result<Started, StartError> {
    let mut pidfd: c_int = -1;
    let report = Report {
        released: AtomicU64::new(0),
        used: UnsafeCell::new(MaybeUninit::zeroed()),
        failed: AtomicU8::new(0),
        errno: AtomicI32::new(0),
        counters: [const { AtomicI32::new(-1) }; MAX_COUNTERS],
    };
    // Part of the memory, which the child shares until it executes: the program inherits it from there.
    let _own = pass_on_huge_pages(child)?;
    let order =
        Order { child, report: &report, parent: own_pid(), reset_signals: signal::not_default() };
    let mut flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    if !child.counters.is_empty() {
        flags |= libc::CLONE_FILES;
    }
    let top = stack::top().map_err(StartError::Clone)?;
    let pid = {
        // A handler must not run in the child while it shares our memory.
        let _blocked = signal::Blocked::all();
        // SAFETY: `top` is the end of a mapped, guarded stack that only this thread uses, and
        // CLONE_VFORK suspends this thread until the child has executed or exited, so that
        // `order`, all that it borrows and the stack outlive the child's use of them. `pidfd` is
        // a valid place for one descriptor number.
        checked(unsafe {
            libc::clone(
                run_child,
                top,
                flags,
                std::ptr::from_ref(&order).cast_mut().cast(),
                &raw mut pidfd,
            )
        })
    }
    .map_err(StartError::Clone)?;
    let counters: Vec<_> = report.counters[..child.counters.len().min(MAX_COUNTERS)]
        .iter()
        .map(|fd| owned(fd.load(Ordering::Relaxed)))
        .collect();
    let failed = Step::from_number(report.failed.load(Ordering::Relaxed));
    let error = match (failed, owned(pidfd)) {
        (None, Some(pidfd)) => {
            let released = report.released.load(Ordering::Relaxed);
            // SAFETY: the child is done with it, and what it did not fill in is all zero, which is valid.
            let used = unsafe { report.used.get().read().assume_init() }.into();
            return Ok(Started { pid, pidfd, released, used, counters });
        }
        (Some(step), _) => {
            let errno = report.errno.load(Ordering::Relaxed);
            StartError::Step(step, io::Error::from_raw_os_error(errno))
        }
        // Linux before 5.2 ignores CLONE_PIDFD.
        (None, None) => {
            let _ = wait::kill_group(pid, libc::SIGKILL);
            StartError::Clone(io::Error::from_raw_os_error(libc::ENOSYS))
        }
    };
    // The child is gone or going: no zombie may stay.
    let _ = wait::reap(pid);
    Err(error)
}

fn pass_on_huge_pages(child: &Child<'_>) -> Result<Option<Before>, StartError> {
    let passed = child.huge_pages.map(HugePages::pass_on).transpose();
    passed.map_err(|error| StartError::Step(Step::HugePages, error))
}

fn own_pid() -> Pid {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

fn owned(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: a number that is not -1 was written by the kernel, or by the child right after the
    // kernel returned it in the table that we share; nobody else knows it.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

struct Order<'a> {
    child: &'a Child<'a>,
    report: &'a Report,
    parent: Pid,
    reset_signals: u64,
}

/// Runs in the child, on its own small stack.
extern "C" fn run_child(order: *mut c_void) -> c_int {
    // SAFETY: `start` passes a pointer to a live `Order` and sleeps until we execute or exit.
    let order = unsafe { &*order.cast::<Order<'_>>() };
    let step = prepare_and_execute(order);
    // SAFETY: errno is set by the call that failed; `_exit` runs no handlers of the parent.
    unsafe {
        order.report.errno.store(*libc::__errno_location(), Ordering::Relaxed);
        order.report.failed.store(step as u8, Ordering::Relaxed);
        libc::_exit(127)
    }
}

/// Does one step after the other; returns the one that failed, with `errno` set.
fn prepare_and_execute(order: &Order<'_>) -> Step {
    let child = order.child;
    match prepare(order) {
        Ok(()) => {}
        Err(step) => return step,
    }
    // SAFETY: a place in the memory of the parent, which sleeps meanwhile, for what the call writes.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, order.report.used.get().cast());
    }
    order.report.released.store(clock::monotonic_raw_nanos(), Ordering::Relaxed);
    execute(child);
    Step::Execute
}

/// Executes the program; returns only if that failed, with `errno` set.
fn execute(child: &Child<'_>) {
    let [arguments, environment] = [child.arguments, child.environment];
    // SAFETY: the path is a C string, both arrays end with a null pointer.
    unsafe {
        libc::execve(
            child.program.as_ptr(),
            arguments.pointers.as_ptr(),
            environment.pointers.as_ptr(),
        );
    }
}

/// Makes this process itself the subject: it goes where `child` says and executes its program. Returns why
/// it could not; what was done until then stays done.
pub fn replace(child: &Child<'_>) -> StartError {
    let failed = |step| StartError::Step(step, io::Error::last_os_error());
    let _before = match pass_on_huge_pages(child) {
        Ok(before) => before,
        Err(error) => return error,
    };
    let placed = place(child);
    // What the caller ignores stays ignored, but for the one signal that every Rust program ignores.
    let pipe = 1 << (libc::SIGPIPE - 1);
    if let Err(step) = placed.and_then(|()| step(Step::Signals, signal::reset(pipe))) {
        return failed(step);
    }
    execute(child);
    failed(Step::Execute)
}

/// Goes to the control group, the CPUs and the scheduling class of a subject, turns its ASLR off and binds its memory.
fn place(child: &Child<'_>) -> Result<(), Step> {
    // Before the CPUs: from outside of a partition its CPUs cannot be asked for. Before the user: it
    // takes root.
    match child.control_group {
        None => {}
        Some(Entrance::List(procs)) => step(Step::ControlGroup, write_itself(procs))?,
        Some(Entrance::Gate(socket)) => pass(socket)?,
    }
    if let Some(mask) = child.affinity {
        step(Step::Affinity, mask.apply_raw())?;
    }
    if let Some(nice) = child.nice {
        step(Step::Nice, sched::set_nice_raw(nice))?;
    }
    if let Some(priority) = child.fifo {
        const ITSELF: Pid = 0;
        step(Step::Scheduler, sched::set_class_raw(ITSELF, libc::SCHED_FIFO, priority))?;
    }
    if child.aslr_off {
        step(Step::Aslr, personality::disable_aslr_raw())?;
    }
    if let Some(nodes) = child.nodes {
        step(Step::MemoryNodes, nodes.bind_raw())?;
    }
    Ok(())
}

/// Writes what means the writing process where the kernel takes numbers of processes.
fn write_itself(to: RawFd) -> i64 {
    const ITSELF: &[u8] = b"0";
    // SAFETY: pointer and length describe a constant, which the kernel only reads.
    (unsafe { libc::write(to, ITSELF.as_ptr().cast(), ITSELF.len()) }) as i64
}

/// Goes through a gate, where there is still somebody: the answer is a byte 0, or the number of the error.
fn pass(gate: RawFd) -> Result<(), Step> {
    if write_itself(gate) < 0 {
        return Ok(());
    }
    let mut answer = 0u8;
    // SAFETY: a place for one byte, and the place of this thread's own `errno`.
    unsafe {
        let got = libc::read(gate, (&raw mut answer).cast(), 1);
        if got > 0 && answer != 0 {
            *libc::__errno_location() = libc::c_int::from(answer);
            return Err(Step::ControlGroup);
        }
    }
    Ok(())
}

fn prepare(order: &Order<'_>) -> Result<(), Step> {
    let child = order.child;
    // SAFETY: takes plain numbers, as all calls below that are not commented on.
    step(Step::ProcessGroup, unsafe { libc::setpgid(0, 0) })?;
    place(child)?;
    // A counter that cannot be opened now is a missing value, never a failed run.
    for (attr, slot) in child.counters.iter().zip(&order.report.counters) {
        slot.store(perf::counter::open_on_itself_raw(attr), Ordering::Relaxed);
    }
    if !child.counters.is_empty() {
        step(Step::OwnDescriptors, unshare_files_raw())?;
    }
    for ((source, target), name) in
        child.stdio.iter().zip(0..).zip([Step::Stdin, Step::Stdout, Step::Stderr])
    {
        if let Some(source) = *source {
            // SAFETY: plain numbers. The table of descriptors is our own by now.
            step(name, unsafe { libc::dup2(source, target) })?;
        }
    }
    // SAFETY: plain numbers.
    step(Step::ParentDeath, unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: takes nothing. Whoever else the parent is now, becalm died before the line above.
    if unsafe { libc::getppid() } != order.parent {
        return Err(Step::ParentDeath);
    }
    if let Some(cwd) = child.cwd {
        // SAFETY: a C string.
        step(Step::WorkingDirectory, unsafe { libc::chdir(cwd.as_ptr()) })?;
    }
    step(Step::Signals, signal::reset(order.reset_signals))?;
    step(Step::Signals, signal::unblock_all())
}

fn step(step: Step, result: impl Into<i64>) -> Result<(), Step> {
    if result.into() < 0 { Err(step) } else { Ok(()) }
}

/// Gives the calling task a table of descriptors of its own; 0, or -1 with `errno` set.
///
/// `close_range` over no descriptor is tried first, because the default seccomp profile of
/// containers allows it but not `unshare`; kernels before 5.9 have only the latter.
fn unshare_files_raw() -> libc::c_long {
    const CLOSE_RANGE_UNSHARE: libc::c_uint = 2;
    const NONE: libc::c_uint = libc::c_uint::MAX;
    // SAFETY: plain numbers; no open descriptor is in the range.
    unsafe {
        let result = libc::syscall(libc::SYS_close_range, NONE, NONE, CLOSE_RANGE_UNSHARE);
        if result == 0 { 0 } else { libc::c_long::from(libc::unshare(libc::CLONE_FILES)) }
    }
}

/// Says whether a child could take a table of descriptors of its own, by doing it in a thread.
pub fn can_unshare_files() -> io::Result<()> {
    let tried = std::thread::spawn(|| {
        if unshare_files_raw() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    });
    tried.join().unwrap_or_else(|_| Err(io::Error::other("the probing thread panicked")))
}
