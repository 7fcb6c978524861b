//! The system calls of a trace: events, the buffers they are written to, and tracefs without a mount.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use becalm_model::{CpuId, CpuSet, MAX_CPU};

use super::checked;

/// `PERF_SAMPLE_TID`.
const SAMPLE_TID: u64 = 1 << 1;
/// `PERF_SAMPLE_TIME`.
const SAMPLE_TIME: u64 = 1 << 2;
/// `PERF_SAMPLE_RAW`: the tracepoint's own data.
const SAMPLE_RAW: u64 = 1 << 10;
/// `PERF_SAMPLE_IDENTIFIER`: whose sample it is, at a fixed place.
const SAMPLE_IDENTIFIER: u64 = 1 << 16;

const DISABLED: u64 = 1;
const COMM: u64 = 1 << 9;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCKID: u64 = 1 << 25;

const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;
/// `PERF_COUNT_SW_DUMMY`: counts nothing, and has births and deaths of tasks written down.
const DUMMY: u64 = 9;

// `_IO('$', n)` and `_IOR('$', 7, u64)` of <linux/perf_event.h>, for the generic encoding of ioctls.
const IOC_ENABLE: libc::Ioctl = 0x2400;
const IOC_DISABLE: libc::Ioctl = 0x2401;
const IOC_SET_OUTPUT: libc::Ioctl = 0x2405;
#[expect(clippy::cast_possible_wrap, reason = "musl takes the same bits as a signed number")]
#[cfg(target_env = "musl")]
const IOC_ID: libc::Ioctl = 0x8008_2407_u32 as libc::Ioctl;
#[cfg(not(target_env = "musl"))]
const IOC_ID: libc::Ioctl = 0x8008_2407;

/// `struct perf_event_attr` up to Linux 4.1 (`PERF_ATTR_SIZE_VER4`), the first with a choice of clocks.
#[repr(C)]
#[derive(Debug, Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
}

impl Attr {
    fn new(kind: u32, config: u64, flags: u64) -> Self {
        let flags = flags | DISABLED | WATERMARK | SAMPLE_ID_ALL | USE_CLOCKID;
        Self {
            kind,
            size: u32::try_from(size_of::<Self>()).unwrap_or(0),
            config,
            sample_period: 1,
            sample_type: SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME,
            // The kernel declares these as bit fields, which big-endian compilers fill from the top.
            flags: if cfg!(target_endian = "big") { flags.reverse_bits() } else { flags },
            // Nobody is woken until the buffer is full: that is an interrupt on the measured CPU.
            wakeup_watermark: u32::MAX,
            clockid: libc::CLOCK_MONOTONIC_RAW,
            ..Self::default()
        }
    }
}

/// Opens an event for everything that happens on one CPU, not counting yet. The data of a tracepoint
/// come with it.
pub(crate) fn open(kind: u32, config: u64, cpu: u32) -> io::Result<OwnedFd> {
    let mut attr = Attr::new(kind, config, 0);
    if kind != SOFTWARE {
        attr.sample_type |= SAMPLE_RAW;
    }
    open_attr(&attr, cpu)
}

/// Opens what has the births, names and deaths of tasks on one CPU written down.
pub(crate) fn open_tasks(cpu: u32) -> io::Result<OwnedFd> {
    open_attr(&Attr::new(SOFTWARE, DUMMY, TASK | COMM), cpu)
}

fn open_attr(attr: &Attr, cpu: u32) -> io::Result<OwnedFd> {
    const EVERY_TASK: libc::pid_t = -1;
    const NO_GROUP: libc::c_int = -1;
    let cpu = libc::c_int::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `attr` is a valid perf_event_attr of the size that it states. The kernel reads it, and
    // writes `size` back where it knows less than that, which no kernel since 4.1 does.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attr),
            EVERY_TASK,
            cpu,
            NO_GROUP,
            FLAG_FD_CLOEXEC,
        )
    };
    owned(fd)
}

fn owned(fd: libc::c_long) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    let fd = libc::c_int::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has an event write to the buffer of another one of the same CPU.
pub(crate) fn redirect(event: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    // SAFETY: both descriptors are open, and this request takes a number.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_OUTPUT, to.as_raw_fd()) })
}

/// Starts or stops an event.
pub(crate) fn set_running(event: &OwnedFd, running: bool) -> io::Result<()> {
    let request = if running { IOC_ENABLE } else { IOC_DISABLE };
    // SAFETY: the descriptor is open, and these requests take a number, 0 for this event alone.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), request, 0) })
}

/// Returns the number that the samples of an event carry.
pub(crate) fn id(event: &OwnedFd) -> io::Result<u64> {
    let mut id = 0_u64;
    // SAFETY: the descriptor is open, and `id` is a valid place for the number that is written.
    checked(unsafe { libc::ioctl(event.as_raw_fd(), IOC_ID, &raw mut id) })?;
    Ok(id)
}

/// The buffer that the kernel writes the events of one CPU to.
#[derive(Debug)]
pub(crate) struct Ring {
    start: NonNull<u8>,
    page: usize,
    /// Size of the data, a power of two.
    size: usize,
}

// SAFETY: the mapping belongs to this value alone, and the memory that it shares with the kernel is
// read and written as the kernel's protocol for one reader says, whichever thread that is.
unsafe impl Send for Ring {}

/// Where `struct perf_event_mmap_page` keeps up to where the kernel has written.
const DATA_HEAD: usize = 1024;
/// Where it keeps up to where the reader has read.
const DATA_TAIL: usize = 1032;

impl Ring {
    /// Maps a buffer of at least `bytes` bytes for an event.
    pub(crate) fn map(event: &OwnedFd, bytes: usize) -> io::Result<Self> {
        // SAFETY: sysconf takes a plain number and touches no memory of ours.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
            .map_err(io::Error::other)?;
        let size = bytes.max(page).next_power_of_two();
        // SAFETY: a shared mapping of an open descriptor, at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page + size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, page, size })
    }

    /// Appends to `out` what the kernel has written since the last call, and gives the room back.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) {
        // Acquire: what was written before the head moved has to be seen. `man perf_event_open` asks
        // for a read barrier here.
        let head = self.word(DATA_HEAD).load(Ordering::Acquire);
        let tail = self.word(DATA_TAIL).load(Ordering::Relaxed);
        let mask = self.size as u64 - 1;
        #[expect(clippy::cast_possible_truncation, reason = "masked by a size that is a usize")]
        let (from, length) =
            ((tail & mask) as usize, head.wrapping_sub(tail).min(self.size as u64) as usize);
        let first = length.min(self.size - from);
        for (from, length) in [(from, first), (0, length - first)] {
            // SAFETY: `from + length` is at most the size of the data, which lie behind the first page
            // and live as long as `self`. The kernel does not write between tail and head, so nobody
            // changes these bytes while they are copied.
            let bytes = unsafe {
                std::slice::from_raw_parts(self.start.as_ptr().add(self.page + from), length)
            };
            out.extend_from_slice(bytes);
        }
        // Release: the bytes have been copied before the kernel may write over them.
        self.word(DATA_TAIL).store(head, Ordering::Release);
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets lie in the first page, which is mapped as long as `self` lives and
        // aligned, and the kernel too reads and writes these words whole.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing refers to it any more.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.page + self.size);
        }
    }
}

/// Opens tracefs without mounting it anywhere: what is below the returned folder is gone when it is
/// closed. Needs Linux 5.2 and `CAP_SYS_ADMIN`.
pub(crate) fn open_tracefs() -> io::Result<OwnedFd> {
    const FSOPEN_CLOEXEC: libc::c_uint = 1;
    const FSMOUNT_CLOEXEC: libc::c_uint = 1;
    const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
    const NO_ATTRIBUTES: libc::c_uint = 0;
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: the name is a text with its zero byte, which the kernel only reads.
    let context =
        owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), FSOPEN_CLOEXEC) })?;
    // SAFETY: this command takes neither key nor value.
    let created = unsafe {
        libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, null, null, 0)
    };
    if created < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: plain numbers.
    owned(unsafe {
        libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, NO_ATTRIBUTES)
    })
}

/// Returns the number of the calling thread.
pub(crate) fn own_tid() -> u32 {
    // SAFETY: takes and touches nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(tid).unwrap_or(0)
}

/// Returns the CPUs that a thread may use.
pub(crate) fn affinity(tid: u32) -> io::Result<CpuSet> {
    const WORDS: usize = (MAX_CPU as usize + 1) / 64;
    let mut words = [0_u64; WORDS];
    // SAFETY: pointer and length describe `words`, which the kernel fills.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, tid, size_of_val(&words), words.as_mut_ptr())
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let is_in = |cpu: &u32| words[*cpu as usize / 64] & 1 << (cpu % 64) != 0;
    Ok((0..=MAX_CPU).filter(is_in).map(CpuId).collect())
}

/// Returns the nanoseconds between two ticks: the resolution of the clock that only ticks advance.
pub(crate) fn tick_nanos() -> u64 {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `resolution` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) };
    if result == 0 && resolution.tv_sec == 0 {
        u64::try_from(resolution.tv_nsec).unwrap_or(0)
    } else {
        0
    }
}

/// Returns how many files this process may have open.
pub(crate) fn file_limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for one rlimit; the call touches nothing else.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    Ok(limit)
}

/// Sets how many files this process may have open.
pub(crate) fn set_file_limit(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: `limit` is a valid rlimit, which is only read.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) })
}

/// Gives a file a descriptor of this number or above.
pub(crate) fn moved_above(file: &OwnedFd, least: libc::rlim_t) -> io::Result<OwnedFd> {
    let least = libc::c_int::try_from(least).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open, and this request takes a number.
    let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) };
    owned(libc::c_long::from(fd))
}

/// Returns the CPU time that the calling thread has used, in seconds.
pub(crate) fn own_cpu_time() -> f64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    if result == 0 { used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9 } else { 0.0 }
}

/// Lets the calling thread go before all others of the normal class.
pub(crate) fn go_first() -> io::Result<()> {
    const THIS_THREAD: libc::id_t = 0;
    // SAFETY: plain numbers.
    checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, THIS_THREAD, -20) })
}
