//! Several tasks that start together, or not at all.

use std::sync::{Condvar, Mutex, PoisonError};

/// Where tasks wait until all are ready.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<(Signal, usize)>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Signal {
    #[default]
    Wait,
    Go,
    GiveUp,
}

impl Gate {
    /// Says that a task is ready, or that it cannot be; waits and returns whether all go.
    pub(super) fn arrive(&self, is_ready: bool) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        if !is_ready {
            state.0 = Signal::GiveUp;
        }
        self.changed.notify_all();
        let waiting = |state: &mut (Signal, usize)| state.0 == Signal::Wait;
        let state = self.changed.wait_while(state, waiting);
        state.unwrap_or_else(PoisonError::into_inner).0 == Signal::Go
    }

    /// Waits for this many tasks and lets them go, unless one has given up.
    pub(super) fn open_for(&self, tasks: usize) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = |state: &mut (Signal, usize)| state.0 == Signal::Wait && state.1 < tasks;
        let state = self.changed.wait_while(state, missing);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.0 == Signal::Wait {
            state.0 = Signal::Go;
        }
        self.changed.notify_all();
    }

    pub(super) fn set(&self, signal: Signal) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = signal;
        self.changed.notify_all();
    }
}
