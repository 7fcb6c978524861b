//! Who ran when on which CPU, in slots: the longer it lasts, the wider they are, so that it never needs much memory.

use std::collections::BTreeMap;

use super::event::{Comm, LayerKey, Tid};

/// Slots at most: as many as a picture can show.
const SLOTS: u64 = 512;

/// Nanoseconds of the first slots.
const NARROWEST: u64 = 1 << 10;

/// What was on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ran {
    /// The subject whose timeline it is.
    Subject,
    /// Another task.
    Task(Tid),
    /// An interrupt or softirq.
    Layer(LayerKey),
    /// A non-maskable interrupt.
    NonMaskable,
    /// Nothing that the kernel knows of.
    Gap,
    /// Events are missing.
    Unknown,
}

/// What ran, slot by slot. Slots without any are not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Timeline {
    /// When it begins, in nanoseconds of `CLOCK_MONOTONIC_RAW`; 0 before that.
    pub(super) from: u64,
    /// Nanoseconds of each slot.
    pub(super) width: u64,
    /// Nanoseconds in each slot, by CPU and by who ran there.
    pub(super) lanes: BTreeMap<(u32, Ran), BTreeMap<u64, u64>>,
    /// What the tasks were called.
    pub(super) names: BTreeMap<Tid, Comm>,
}

impl Timeline {
    /// Starts one at this moment.
    pub(super) fn starting(from: u64) -> Self {
        Self { from, width: NARROWEST, ..Self::default() }
    }

    /// Writes down that something ran on a CPU.
    pub(super) fn add(&mut self, cpu: u32, ran: Ran, (from, to): (u64, u64)) {
        let (from, to) = (from.saturating_sub(self.from), to.saturating_sub(self.from));
        if self.width == 0 || from >= to {
            return;
        }
        while to > self.width * SLOTS {
            self.widen();
        }
        let lane = self.lanes.entry((cpu, ran)).or_default();
        for slot in from / self.width..=(to - 1) / self.width {
            let (start, end) = (slot * self.width, (slot + 1) * self.width);
            *lane.entry(slot).or_default() += to.min(end) - from.max(start);
        }
    }

    /// Makes every two slots one.
    fn widen(&mut self) {
        self.width *= 2;
        for lane in self.lanes.values_mut() {
            let narrow = std::mem::take(lane);
            for (slot, nanos) in narrow {
                *lane.entry(slot / 2).or_default() += nanos;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_spread_over_the_slots_that_it_covers() {
        let mut timeline = Timeline::starting(1000);
        timeline.add(0, Ran::Subject, (500, 1000 + 1024 + 10));
        timeline.add(1, Ran::Gap, (0, 900));
        let lane = &timeline.lanes[&(0, Ran::Subject)];
        assert_eq!(
            lane.iter().map(|(slot, nanos)| (*slot, *nanos)).collect::<Vec<_>>(),
            [(0, 1024), (1, 10)]
        );
        assert_eq!(timeline.lanes.len(), 1, "what came before it is no part of it");
    }

    #[test]
    fn a_long_one_has_wide_slots_and_loses_nothing() {
        let mut timeline = Timeline::starting(0);
        for at in 0..10_000_u64 {
            timeline.add(0, Ran::Task(Tid(7)), (at * 10_000, at * 10_000 + 3_000));
        }
        let lane = &timeline.lanes[&(0, Ran::Task(Tid(7)))];
        assert!(lane.len() as u64 <= SLOTS, "{}", lane.len());
        assert_eq!(lane.values().sum::<u64>(), 30_000_000);
        assert!(lane.values().all(|nanos| *nanos <= timeline.width));
    }
}
