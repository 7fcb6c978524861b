//! Loads that look like those of production, as shares of what a server can do.

use super::{Archetype, Arrivals, Stage};

impl Archetype {
    /// Returns the rate over time as shares of the capacity: from which, to which, and for which share of the time.
    pub fn shares(self) -> &'static [(f64, f64, f64)] {
        match self {
            Self::Idle => &[(0.01, 0.01, 1.0)],
            Self::Latency => &[(0.4, 0.4, 1.0)],
            Self::Throughput => &[(0.85, 0.85, 1.0)],
            // A morning, a day, a peak, an evening.
            Self::Enterprise => {
                &[(0.1, 0.4, 0.25), (0.4, 0.4, 0.35), (0.6, 0.6, 0.15), (0.4, 0.1, 0.25)]
            }
        }
    }

    /// Returns the rate over a time in seconds, for a capacity in requests in a second.
    pub fn stages(self, capacity: f64, duration: f64) -> Vec<Stage> {
        let stage = |&(from, to, time): &(f64, f64, f64)| Stage {
            seconds: time * duration,
            from: from * capacity,
            to: to * capacity,
        };
        self.shares().iter().map(stage).collect()
    }

    /// Returns how requests follow each other: users come as they like, and a queue hands out work evenly.
    pub fn arrivals(self) -> Arrivals {
        match self {
            Self::Throughput => Arrivals::Even,
            Self::Idle | Self::Latency | Self::Enterprise => Arrivals::Poisson,
        }
    }

    /// Says whether it is one of several kinds of requests.
    pub fn is_mixed(self) -> bool {
        self == Self::Enterprise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_of_every_archetype_fill_the_time_and_stay_below_the_capacity() {
        for archetype in
            [Archetype::Idle, Archetype::Latency, Archetype::Throughput, Archetype::Enterprise]
        {
            let stages = archetype.stages(1000.0, 20.0);
            let time: f64 = stages.iter().map(|stage| stage.seconds).sum();
            assert!((time - 20.0).abs() < 1e-9, "{archetype:?}");
            assert!(stages.iter().all(|stage| stage.from > 0.0 && stage.to < 1000.0));
            let joins = stages.windows(2).filter(|two| two[0].to > two[1].from);
            assert!(joins.count() <= 1, "{archetype:?}");
        }
    }
}
