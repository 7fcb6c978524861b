//! When a server of known truth answers: a queue with workers, without clock or I/O.

use becalm_model::{parse_duration, parse_share};
use becalm_stats::Rng;

/// How long a request takes once a worker has it, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceTime {
    /// Always the same.
    Fixed(f64),
    /// At random, exponential with this mean.
    Exponential(f64),
    /// One of two: `slow` for a share of the requests.
    Bimodal {
        /// The usual one.
        fast: f64,
        /// The other one.
        slow: f64,
        /// Share of the requests that are slow.
        share: f64,
    },
}

/// Why a text is not a service time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{0}` is not a service time such as 1ms, exponential:1ms or bimodal:1ms,50ms,1%")]
pub struct ServiceTimeError(String);

impl std::str::FromStr for ServiceTime {
    type Err = ServiceTimeError;

    fn from_str(text: &str) -> Result<Self, ServiceTimeError> {
        let error = || ServiceTimeError(text.to_owned());
        let time =
            |text: &str| parse_duration(text).map(|time| time.as_secs_f64()).map_err(|_| error());
        Ok(match text.split_once(':') {
            None => Self::Fixed(time(text)?),
            Some(("fixed", rest)) => Self::Fixed(time(rest)?),
            Some(("exponential", rest)) => Self::Exponential(time(rest)?),
            Some(("bimodal", rest)) => {
                let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
                let [fast, slow, share] = parts[..] else { return Err(error()) };
                let share = parse_share(share).ok().filter(|share| *share <= 1.0);
                Self::Bimodal {
                    fast: time(fast)?,
                    slow: time(slow)?,
                    share: share.ok_or_else(error)?,
                }
            }
            Some(_) => return Err(error()),
        })
    }
}

impl ServiceTime {
    /// Draws one, in nanoseconds.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        crate::schedule::nanos(match *self {
            Self::Fixed(seconds) => seconds,
            Self::Exponential(mean) => mean * rng.exponential(),
            Self::Bimodal { fast, slow, share } => {
                if rng.uniform() < share {
                    slow
                } else {
                    fast
                }
            }
        })
    }
}

/// Times in which nobody works, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// When the first one begins.
    pub first: u64,
    /// How long each is.
    pub length: u64,
    /// From the beginning of one to that of the next; longer than they are. Without it there is one.
    pub every: Option<u64>,
}

impl Stalls {
    /// Returns the stall that is going on at `time`, or else the next one, as its two ends.
    fn from(&self, time: u64) -> Option<(u64, u64)> {
        let Self { first, length, every } = *self;
        let number = match every {
            _ if time < first + length => 0,
            None => return None,
            // The one that began last is over, or not.
            Some(every) => (time - first - length) / every + 1,
        };
        let begins = first + number * every.unwrap_or(0);
        Some((begins, begins + length))
    }

    /// Returns when work of this length ends that somebody begins at `time` and that rests in the stalls.
    pub(super) fn end_of_work(&self, mut time: u64, mut work: u64) -> u64 {
        while let Some((begins, ends)) = self.from(time) {
            if time < begins {
                let until = begins - time;
                if work <= until {
                    break;
                }
                work -= until;
            }
            time = ends;
        }
        time + work
    }
}

/// Workers that take requests in the order in which they come.
#[derive(Debug, Clone)]
pub struct Queue {
    service: ServiceTime,
    stalls: Option<Stalls>,
    rng: Rng,
    /// When each worker has done all that it has been given.
    free_at: Vec<u64>,
}

impl Queue {
    /// Makes one with so many workers, at least one.
    pub fn new(service: ServiceTime, workers: usize, stalls: Option<Stalls>, seed: u64) -> Self {
        Self { service, stalls, rng: Rng::new(seed), free_at: vec![0; workers.max(1)] }
    }

    /// Takes a request that comes at `time`, and returns when it is answered. Times do not go back.
    pub fn answer_at(&mut self, time: u64) -> u64 {
        let work = self.service.draw(&mut self.rng);
        let worker = self.free_at.iter_mut().min().expect("there is a worker");
        let begins = time.max(*worker);
        *worker = self.stalls.map_or(begins + work, |stalls| stalls.end_of_work(begins, work));
        *worker
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn requests_wait_for_a_worker_in_order() {
        let mut one = Queue::new(ServiceTime::Fixed(0.01), 1, None, 1);
        assert_eq!(
            [0, 0, 5 * MS, 100 * MS].map(|time| one.answer_at(time)),
            [10 * MS, 20 * MS, 30 * MS, 110 * MS]
        );
        let mut two = Queue::new(ServiceTime::Fixed(0.01), 2, None, 1);
        assert_eq!([0, 0, 5 * MS].map(|time| two.answer_at(time)), [10 * MS, 10 * MS, 20 * MS]);
    }

    #[test]
    fn work_rests_in_a_stall() {
        let stalls = Stalls { first: 100 * MS, length: 50 * MS, every: Some(1000 * MS) };
        let check = |time: u64, work: u64, end: u64| {
            assert_eq!(stalls.end_of_work(time * MS, work * MS), end * MS, "{time} {work}");
        };
        check(0, 10, 10);
        check(95, 10, 155);
        check(120, 10, 160);
        check(150, 10, 160);
        check(1120, 10, 1160);
        check(1095, 1000, 2195);
        let once = Stalls { every: None, ..stalls };
        assert_eq!(once.end_of_work(1120 * MS, 10 * MS), 1130 * MS);
    }

    #[test]
    fn one_worker_with_exponential_times_has_the_queue_of_the_formula() {
        // M/M/1 at a load of 1/2: the response time is exponential with mean service / (1 - load).
        let mut queue = Queue::new(ServiceTime::Exponential(0.001), 1, None, 3);
        let mut rng = Rng::new(4);
        let (mut time, mut all, n) = (0.0, 0.0, 400_000);
        for _ in 0..n {
            time += 0.002 * rng.exponential();
            let arrival = crate::schedule::nanos(time);
            all += (queue.answer_at(arrival) - arrival) as f64 * 1e-9;
        }
        let mean = all / f64::from(n);
        assert!((mean / 0.002 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn service_times_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<ServiceTime>();
        assert_eq!(read("1ms"), Ok(ServiceTime::Fixed(0.001)));
        assert_eq!(read("fixed:0"), Ok(ServiceTime::Fixed(0.0)));
        assert_eq!(read("exponential:2ms"), Ok(ServiceTime::Exponential(0.002)));
        let bimodal = ServiceTime::Bimodal { fast: 0.001, slow: 0.05, share: 0.01 };
        assert_eq!(read("bimodal:1ms, 50ms, 1%"), Ok(bimodal));
        for text in
            ["fast", "normal:1ms", "bimodal:1ms,2ms", "exponential:", "bimodal:1ms,2ms,200%"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_of_the_requests_is_slow() {
        let service = ServiceTime::Bimodal { fast: 0.001, slow: 0.1, share: 0.1 };
        let mut rng = Rng::new(5);
        let slow = (0..10_000).filter(|_| service.draw(&mut rng) > MS).count();
        assert!((900..1100).contains(&slow), "{slow}");
    }
}
