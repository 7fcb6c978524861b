//! Which rate to try next, and the answer.

use becalm_model::load::{FindAnswer, FindLimit, Objective, ObjectiveOf};
use becalm_stats::Rng;
use becalm_stats::threshold::{Posterior, Reading};

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sought {
    /// The share of the requests that may miss the limit, between 0 and 1.
    pub permitted: f64,
    /// The limit in seconds; without it a request misses if it has no expected answer.
    pub limit: Option<f64>,
    /// The lowest rate, in requests in a second.
    pub from: f64,
    /// The highest one.
    pub to: f64,
    /// Seconds that it may take.
    pub max_time: f64,
}

/// Why an objective cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No share of the requests may miss it.
    #[error(
        "`{0}` cannot be searched for: the largest response time grows with the number of requests"
    )]
    Largest(String),
    /// Either every rate keeps it or hardly any.
    #[error("`{0}` cannot be searched for: its share has to be between 0 and 1")]
    Share(String),
}

impl Sought {
    /// Returns which share may miss which limit.
    pub fn new(
        objective: &Objective,
        [from, to]: [f64; 2],
        max_time: f64,
    ) -> Result<Self, FindError> {
        let (permitted, limit) = match objective.of {
            ObjectiveOf::Response(q) if q >= 1.0 => {
                return Err(FindError::Largest(objective.text.clone()));
            }
            ObjectiveOf::Response(q) => (1.0 - q, Some(objective.limit)),
            ObjectiveOf::Errors => (objective.limit, None),
        };
        if permitted <= 0.0 || permitted >= 1.0 {
            return Err(FindError::Share(objective.text.clone()));
        }
        Ok(Self { permitted, limit, from, to, max_time })
    }

    /// Returns how long the queue of a server takes until it is about as long as it will be, if it was empty.
    ///
    /// Where a share `p` of the requests waits longer than `L`, the tail of the response time falls by `ln(1/p)` in
    /// `L`. For one queue in heavy traffic that is `2 (1 - rho) rate / (ca^2 + cs^2)`, and the time constant of the
    /// approach to it is `(ca^2 + cs^2) / (2.8 (1 - sqrt(rho))^2 rate)` (Odoni and Roth 1983, *An empirical investigation of
    /// the transient behavior of stationary queueing systems*, Operations Research 31), so that it follows from the
    /// objective: `2.86 rate (L / ln(1/p))^2` for exponential service times, half of that for fixed ones. After three of
    /// them 5 % are missing.
    fn settle(&self, rate: f64) -> f64 {
        (3.0 * self.constant(rate)).clamp(SETTLE, (self.max_time / 24.0).max(SETTLE))
    }

    fn constant(&self, rate: f64) -> f64 {
        let tail = self.limit.map_or(0.0, |limit| limit / -self.permitted.ln());
        2.86 * rate * tail.powi(2)
    }

    /// Returns how long a window is whose share of misses is known well enough: twenty of them, if they are as many as are
    /// permitted, and each batch as long as several time constants, so that the misses of one cluster are in one batch.
    fn seconds(&self, rate: f64) -> f64 {
        let enough = MISSES / self.permitted / rate;
        let long = CONSTANTS * f64::from(BATCHES) * self.constant(rate);
        enough.max(long).clamp(WINDOW, (self.max_time / 10.0).max(WINDOW))
    }

    fn are_missed(&self, [missed, requests]: [f64; 2]) -> bool {
        missed > self.permitted * requests
    }
}

/// The shortest time that a window settles for, in seconds: connections are opened, too.
const SETTLE: f64 = 0.3;

/// The shortest window.
const WINDOW: f64 = 2.0;

/// A window while the rate rises in large steps: it only shows on which side the answer is.
const RISING: f64 = 1.0;

/// By what the rate rises then.
const RISE: f64 = 4.0;

/// Time constants of the queue that a batch is long.
const CONSTANTS: f64 = 5.0;

/// Batches of a window, by which the error of its share is estimated.
pub(super) const BATCHES: u32 = 8;

/// Misses that a window is to have.
const MISSES: f64 = 20.0;

/// Where in the posterior rates are drawn, in a random order.
const DRAWN: [f64; 5] = [0.2, 0.35, 0.5, 0.65, 0.8];

/// Probability of the interval.
const CONFIDENCE: f64 = 0.95;

/// What the posterior has beyond each end of it: less than half of the rest, because the curve is not known to be a line. In
/// simulation the interval of M/D/1 and M/M/1 has the answer 95 times of 100 and more with this.
const TAIL: f64 = 0.01;

/// The interval of an answer: the upper end is at most so many times the lower one.
const RESOLVED: f64 = 1.25;

/// One that is this narrow ends the search.
const NARROW: f64 = 1.08;

/// Windows after the rise before the search may end.
const FEWEST: usize = 8;

/// After as many windows that cannot be believed, and none at this rate or above that can, the generator goes no further.
const TRIES: usize = 3;

/// After as many without a single one that can, the search gives up.
const FIRST_TRIES: usize = 12;

/// Places of the posterior over all rates, and where the answer can be.
const COARSE: usize = 121;
const FINE: usize = 81;

/// A rate to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// Requests in a second.
    pub rate: f64,
    /// Seconds before requests count.
    pub settle: f64,
    /// Seconds in which they count.
    pub seconds: f64,
}

/// What a window showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried {
    /// The rate.
    pub rate: f64,
    /// How many missed the limit, of how many; nothing if the generator cannot be believed.
    pub missed: Option<[f64; 2]>,
}

/// A search that goes on.
#[derive(Debug, Clone)]
pub struct Search {
    sought: Sought,
    rng: Rng,
    deck: Vec<f64>,
    tried: Vec<Tried>,
    /// What the valid ones say.
    readings: Vec<Reading>,
    posterior: Posterior,
    /// Valid windows after the rise.
    searched: usize,
    /// The next rate of the rise; nothing after it.
    rising: Option<f64>,
}

impl Search {
    /// Begins.
    pub fn new(sought: Sought, seed: u64) -> Self {
        Self {
            sought,
            rng: Rng::new(seed),
            deck: Vec::new(),
            tried: Vec::new(),
            readings: Vec::new(),
            posterior: posterior(&sought, &[]),
            searched: 0,
            rising: Some(sought.from),
        }
    }

    /// Returns what to try next, if so many seconds are over; nothing if the search is.
    pub fn next(&mut self, elapsed: f64) -> Option<Wish> {
        let rate = match self.rising {
            Some(rate) => rate,
            None if self.readings.is_empty() || self.is_over() => return None,
            None => self.draw(),
        };
        let settle = self.sought.settle(rate);
        let seconds = if self.rising.is_some() {
            RISING.max(2.0 * settle)
        } else {
            self.sought.seconds(rate)
        };
        (elapsed + settle + seconds <= self.sought.max_time).then_some(Wish {
            rate,
            settle,
            seconds,
        })
    }

    /// Takes what a window showed.
    pub fn take(&mut self, tried: Tried) {
        self.tried.push(tried);
        if let Some([missed, requests]) = tried.missed {
            let at = tried.rate.ln();
            self.readings.push(Reading::new(at, missed, requests, self.sought.permitted));
            self.posterior = posterior(&self.sought, &self.readings);
        }
        let Some(rate) = self.rising else {
            self.searched += usize::from(tried.missed.is_some());
            return;
        };
        self.rising = match tried.missed {
            Some(missed) if self.sought.are_missed(missed) => None,
            Some(_) if rate >= self.sought.to => None,
            Some(_) => {
                let next = (rate * RISE).min(self.sought.to);
                Some(self.ceiling().map_or(next, |ceiling| next.min((rate * ceiling).sqrt())))
            }
            // The same once more, and then something lower.
            None if self.failures_from(rate) < TRIES => Some(rate),
            None => {
                let good = self.valid().map(|one| one.rate).fold(0.0, f64::max);
                let between = (good * rate).sqrt();
                if good > 0.0 {
                    (between > good * NARROW).then_some(between)
                } else {
                    // At the lowest rate it is not the rate: a busy machine may get quiet.
                    (self.tried.len() < FIRST_TRIES).then_some(rate)
                }
            }
        };
    }

    /// Returns what is known.
    pub fn answer(&self) -> FindAnswer {
        if self.valid().next().is_none() {
            return FindAnswer::Nothing;
        }
        let posterior = &self.posterior;
        let [low, rate, high] = [TAIL, 0.5, 1.0 - TAIL].map(|p| posterior.quantile(p).exp());
        let confidence = CONFIDENCE;
        let (lowest, highest) = (self.sought.from, self.highest());
        if posterior.is_below(lowest.ln()) > CONFIDENCE {
            return FindAnswer::Below { rate: lowest };
        }
        // Of rates that could not be tried the posterior only has a line through those that were: where the interval reaches
        // them, only its other end is an answer.
        let (is_open_below, is_open_above) = (low < lowest, high > highest);
        if is_open_above && !is_open_below && self.valid().any(|one| one.rate * NARROW >= highest) {
            let rate = posterior.quantile(1.0 - CONFIDENCE).exp().clamp(lowest, highest);
            let is_range = self.ceiling().is_none();
            let limit = if is_range { FindLimit::Range } else { FindLimit::Generator };
            return FindAnswer::AtLeast { rate, confidence, limit };
        }
        if is_open_below && !is_open_above && self.valid().any(|one| one.rate <= lowest * NARROW) {
            let rate = posterior.quantile(CONFIDENCE).exp().clamp(lowest, highest);
            return FindAnswer::AtMost { rate, lowest, confidence };
        }
        if high <= low * RESOLVED && !is_open_below && !is_open_above {
            FindAnswer::Found { rate, low, high, confidence }
        } else {
            let rate = rate.clamp(lowest, highest);
            FindAnswer::Unresolved { rate, low, high, confidence }
        }
    }

    /// Returns from which rate on the generator could not be believed.
    pub fn ceiling(&self) -> Option<f64> {
        let highest_valid = self.valid().map(|one| one.rate).fold(0.0, f64::max);
        let above =
            self.tried.iter().filter(|one| one.missed.is_none() && one.rate > highest_valid);
        let rates: Vec<f64> = above.map(|one| one.rate).collect();
        (rates.len() >= TRIES).then(|| rates.iter().copied().fold(f64::INFINITY, f64::min))
    }

    /// Returns the highest rate that could be tried.
    fn highest(&self) -> f64 {
        match self.ceiling() {
            Some(_) => self.valid().map(|one| one.rate).fold(0.0, f64::max),
            None => self.sought.to,
        }
    }

    fn valid(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|one| one.missed.is_some())
    }

    fn failures_from(&self, rate: f64) -> usize {
        self.tried.iter().filter(|one| one.missed.is_none() && one.rate >= rate).count()
    }

    fn is_over(&self) -> bool {
        if self.searched < FEWEST {
            return false;
        }
        match self.answer() {
            FindAnswer::Found { low, high, .. } => high <= low * NARROW,
            FindAnswer::AtLeast { rate, .. } => rate * NARROW >= self.highest(),
            FindAnswer::AtMost { rate, lowest, .. } => rate <= lowest * NARROW,
            FindAnswer::Below { .. } => true,
            FindAnswer::Unresolved { .. } | FindAnswer::Nothing => false,
        }
    }

    /// Draws a rate from where the answer probably lies, rather where a window shows much.
    fn draw(&mut self) -> f64 {
        if self.deck.is_empty() {
            self.deck = DRAWN.to_vec();
            self.rng.shuffle(&mut self.deck);
        }
        let p = self.deck.pop().unwrap_or(0.5);
        // A second at a low rate shows less. One at a rate that is too high shows no more: the server has to finish.
        let middle = self.posterior.quantile(0.5);
        let shows = |place: f64| (place - middle).min(0.0).exp();
        let rate = self.posterior.weighted(shows).quantile(p).exp();
        rate.clamp(self.sought.from, self.highest())
    }
}

/// Returns what readings say of the rate: coarsely over everything, and finely where the answer can be.
fn posterior(sought: &Sought, readings: &[Reading]) -> Posterior {
    let (from, to) = ((sought.from / RISE).ln(), (sought.to * RISE).ln());
    let coarse = Posterior::of(from, to, COARSE, readings);
    let step = (to - from) / COARSE as f64;
    let [low, high] = [0.001, 0.999].map(|p| coarse.quantile(p));
    Posterior::of((low - 2.0 * step).max(from), (high + 2.0 * step).min(to), FINE, readings)
}
