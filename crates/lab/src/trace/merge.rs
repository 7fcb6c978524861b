//! One order of time for events of all CPUs.

use super::event::TraceEvent;

/// Events that wait until nothing older can come any more.
#[derive(Debug, Default)]
pub(super) struct Merge {
    waiting: Vec<TraceEvent>,
}

impl Merge {
    /// Returns where new events go, those of one CPU in their order.
    pub(super) fn inlet(&mut self) -> &mut Vec<TraceEvent> {
        &mut self.waiting
    }

    /// Returns the events up to the time `until`, in order. Everything that happened before has to be
    /// in the inlet already.
    pub(super) fn until(&mut self, until: u64) -> Vec<TraceEvent> {
        // Stable: what one CPU wrote down at the same nanosecond stays in its order.
        self.waiting.sort_by_key(|event| event.at);
        let n_ready = self.waiting.partition_point(|event| event.at < until);
        let later = self.waiting.split_off(n_ready);
        std::mem::replace(&mut self.waiting, later)
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Tid, What};
    use super::*;

    #[test]
    fn events_come_in_the_order_of_time_and_not_too_early() {
        let mut merge = Merge::default();
        let event = |at, cpu| TraceEvent { at, cpu, tid: Tid(1), what: What::FaultStart };
        merge.inlet().extend([event(10, 0), event(30, 0), event(20, 1), event(30, 1)]);
        let order = |events: Vec<TraceEvent>| -> Vec<(u64, u32)> {
            events.iter().map(|event| (event.at, event.cpu)).collect()
        };
        assert_eq!(order(merge.until(30)), [(10, 0), (20, 1)]);
        merge.inlet().push(event(25, 1));
        assert_eq!(order(merge.until(u64::MAX)), [(25, 1), (30, 0), (30, 1)]);
    }
}
