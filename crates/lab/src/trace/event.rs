//! What can happen on a CPU, as far as a trace looks.

use std::fmt;

/// Number of a thread, as the kernel counts them in the first pid namespace. 0 is the idle task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Tid(pub u32);

impl Tid {
    /// The task that every CPU has when there is nothing to do.
    pub(super) const IDLE: Self = Self(0);
}

/// Name of a task: up to 15 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Comm([u8; 16]);

impl Comm {
    /// Takes the bytes up to the first zero byte, at most 15.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut comm = [0; 16];
        for (to, &from) in comm.iter_mut().take(15).zip(bytes.iter().take_while(|&&b| b != 0)) {
            *to = from;
        }
        Self(comm)
    }

    /// Returns the name as a text.
    pub(super) fn text(&self) -> String {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..length]).into_owned()
    }

    /// Says whether there is no name.
    pub(super) fn is_empty(&self) -> bool {
        self.0[0] == 0
    }
}

impl fmt::Debug for Comm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// How a task left the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It could have run on.
    Ready,
    /// It waits for something, and a signal can wake it.
    Asleep,
    /// It waits for something in the kernel, whatever signals come.
    Blocked,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It has ended.
    Dead,
}

impl Left {
    /// Reads `prev_state` of `sched:sched_switch`: the kernel shows the lowest of these bits, see
    /// `task_state_array` in `fs/proc/array.c`; others say that it was preempted.
    pub(super) fn from_bits(bits: u64) -> Self {
        match bits & 0xff {
            0 => Self::Ready,
            bits => match bits.trailing_zeros() {
                // Idle workers of the kernel and parked threads wait for work too.
                0 | 6 | 7 => Self::Asleep,
                1 => Self::Blocked,
                2 | 3 => Self::Stopped,
                _ => Self::Dead,
            },
        }
    }
}

/// An address of a function in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Function(pub u64);

/// Something that runs on top of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Layer {
    /// The handler of a device's interrupt, by number.
    Interrupt(u32),
    /// An interrupt of the CPU's own, by its place in the catalogue of names.
    Vector(u16),
    /// A softirq, by number.
    Softirq(u8),
    /// The function of a timer that has expired; part of the layer below.
    Timer(Function),
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceEvent {
    /// Nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub(super) at: u64,
    /// Where it happened.
    pub(super) cpu: u32,
    /// The task that was on that CPU.
    pub(super) tid: Tid,
    /// What happened.
    pub(super) what: What,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// One task left the CPU and another one came.
    Switch {
        /// How the former left it.
        left: Left,
        /// Who left.
        previous: Tid,
        /// Who came.
        next: Tid,
        /// Its name.
        comm: Comm,
    },
    /// A task became ready.
    Wakeup {
        /// Who.
        tid: Tid,
        /// The CPU on which it waits now.
        target: u32,
    },
    /// A task was moved to another CPU.
    Migrate {
        /// Who.
        tid: Tid,
        /// Where it waits now.
        target: u32,
    },
    /// A thread was born.
    Fork {
        /// Process that made it.
        parent: u32,
        /// The process that it belongs to.
        process: u32,
        /// Its own number.
        tid: Tid,
        /// The thread that made it.
        by: Tid,
    },
    /// A task executes a program.
    Exec {
        /// Who.
        tid: Tid,
    },
    /// A thread ended.
    Exit {
        /// Process that it belonged to.
        process: u32,
        /// Its number.
        tid: Tid,
    },
    /// A layer began.
    Enter(Layer),
    /// A layer ended.
    Leave(Layer),
    /// A worker of the kernel began to work on something.
    WorkStart(Function),
    /// It is done with that.
    WorkEnd,
    /// A page fault began.
    FaultStart,
    /// A page fault was settled.
    FaultEnd {
        /// Whether it had to wait for I/O.
        major: bool,
    },
    /// A non-maskable interrupt was handled and took so many nanoseconds.
    NonMaskable(u64),
    /// So many events were lost before this one.
    Lost(u64),
}

/// A [`Layer`] that time is charged to. Timers are charged as a part of the layer they run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LayerKey {
    /// The handler of a device's interrupt, by number.
    Interrupt(u32),
    /// An interrupt of the CPU's own, by its place in the catalogue.
    Vector(u16),
    /// A softirq, by number.
    Softirq(u8),
}

impl LayerKey {
    /// Returns the key of a layer; `None` for a timer.
    pub(super) fn of(layer: Layer) -> Option<Self> {
        match layer {
            Layer::Interrupt(line) => Some(Self::Interrupt(line)),
            Layer::Vector(place) => Some(Self::Vector(place)),
            Layer::Softirq(number) => Some(Self::Softirq(number)),
            Layer::Timer(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_first_zero_byte() {
        assert_eq!(Comm::new(b"kworker/1:2\0rest").text(), "kworker/1:2");
        assert_eq!(Comm::new(b"a name of many bytes").text(), "a name of many ");
        assert!(Comm::new(b"").is_empty());
    }

    #[test]
    fn the_state_of_a_task_is_its_lowest_bit() {
        let states = [0, 0x100, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x101].map(Left::from_bits);
        assert_eq!(
            states,
            [
                Left::Ready,
                Left::Ready,
                Left::Asleep,
                Left::Blocked,
                Left::Stopped,
                Left::Stopped,
                Left::Dead,
                Left::Dead,
                Left::Asleep,
                Left::Asleep,
                Left::Asleep,
            ]
        );
    }
}
