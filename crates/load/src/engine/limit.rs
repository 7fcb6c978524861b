//! How long an exchange may take.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// The time limit of one exchange after the other.
///
/// Its timer is set to the limit of an exchange only when that of an earlier one is over: nearly all end long before, and to
/// set a timer for each would cost more than the rest of the limit.
pub(super) struct Limit {
    timer: Pin<Box<Sleep>>,
    until: Instant,
}

impl Limit {
    pub(super) fn new() -> Self {
        let until = Instant::now();
        Self { timer: Box::pin(sleep_until(until)), until }
    }

    /// Waits for an exchange that may take so long; `None` once that is over.
    pub(super) async fn within<T>(
        &mut self,
        time: Duration,
        exchange: impl Future<Output = T>,
    ) -> Option<T> {
        self.until = Instant::now() + time;
        if self.until < self.timer.deadline() {
            self.timer.as_mut().reset(self.until);
        }
        let mut exchange = pin!(exchange);
        poll_fn(|cx| match exchange.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => self.poll_over(cx).map(|()| None),
        })
        .await
    }

    /// An exchange whose bytes come faster than they are read uses up what a task may do in one turn, and the timer is asked
    /// all the same.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while pin!(unconstrained(self.timer.as_mut())).poll(cx).is_ready() {
            if self.timer.deadline() >= self.until {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.until);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_always_has_something_to_do_ends_too() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let busy = async {
            loop {
                tokio::task::consume_budget().await;
            }
        };
        let ended: Option<()> =
            runtime.block_on(async { Limit::new().within(Duration::from_millis(1), busy).await });
        assert_eq!(ended, None);
    }

    #[test]
    fn each_exchange_has_its_own_limit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (short, long) = (Duration::from_millis(1), Duration::from_secs(3600));
            let never = std::future::pending::<()>;
            let mut limit = Limit::new();
            assert_eq!(limit.within(long, async { 1 }).await, Some(1));
            // Shorter than the one before, and after one that is over.
            assert_eq!(limit.within(short, never()).await, None);
            assert_eq!(limit.within(short, never()).await, None);
            let two = async {
                tokio::task::yield_now().await;
                2
            };
            assert_eq!(limit.within(long, two).await, Some(2));
        });
    }
}
