//! Where a place of a connection waits for its next request.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

use super::stamped::Written;
use crate::pool::Taken;

/// The next request of a place, and the one that it is at.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    next: Cell<Option<Taken>>,
    waker: RefCell<Option<Waker>>,
    /// What it is at, for the case that the load ends before the answer.
    current: RefCell<Option<(Taken, Written)>>,
}

impl Mailbox {
    /// Gives it a request; it has none.
    pub(crate) fn give(&self, taken: Taken) {
        self.next.set(Some(taken));
        self.wake();
    }

    /// Wakes whoever waits for one.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Takes the request that was given.
    pub(crate) fn poll_next(&self, cx: &Context<'_>) -> Poll<Taken> {
        if let Some(taken) = self.next.take() {
            return Poll::Ready(taken);
        }
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Takes note of what it is at.
    pub(crate) fn begin(&self, taken: Taken, written: &Written) {
        *self.current.borrow_mut() = Some((taken, Written::clone(written)));
    }

    /// Takes note that it is at nothing.
    pub(crate) fn end(&self) {
        *self.current.borrow_mut() = None;
    }

    /// Returns what it has been given or is at, with the time of the first byte if one was written.
    pub(crate) fn abandon(&self) -> Option<(Taken, Option<u64>)> {
        let current = self.current.borrow_mut().take();
        current
            .map(|(taken, written)| (taken, written.get()))
            .or_else(|| self.next.take().map(|taken| (taken, None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Attempt;

    #[test]
    fn a_request_is_taken_once_and_can_be_abandoned_before_and_after() {
        let attempt = Attempt::First;
        let taken = Taken { number: 0, due: 1, taken: 2, starved: false, attempt };
        let mailbox = Mailbox::default();
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(mailbox.poll_next(&cx), Poll::Pending);
        mailbox.give(taken);
        assert_eq!(mailbox.poll_next(&cx), Poll::Ready(taken));
        assert_eq!(mailbox.abandon(), None);
        let written = Written::default();
        mailbox.begin(taken, &written);
        written.set(Some(7));
        assert_eq!(mailbox.abandon(), Some((taken, Some(7))));
        mailbox.give(taken);
        assert_eq!(mailbox.abandon(), Some((taken, None)));
    }
}
