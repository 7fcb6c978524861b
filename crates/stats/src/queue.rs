//! How long requests take in a queue with one worker to which they come at random, exactly.
//!
//! With service time `D`, rate `r` and load `rho = r D`:
//! - exponential service times (M/M/1): `P(response > t) = exp(-(1/D - r) t)`;
//! - a fixed service time (M/D/1; Erlang 1909): with waiting time `w = t - D`,
//!   `P(wait <= w) = (1 - rho) sum_{k <= w / D} (r (k D - w))^k / k! exp(-r (k D - w))`;
//! - both have the mean response `D + r E(S^2) / (2 (1 - rho))` of Pollaczek and Khinchine, with `E(S^2)` of the service
//!   times.
//!
//! It is the truth for what measures servers: for tests and benchmarks of loads.

/// How the service times of a worker are distributed, with their mean in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Always the same.
    Fixed(f64),
    /// Exponentially.
    Exponential(f64),
}

impl Service {
    /// Returns the mean, in seconds.
    pub fn mean(self) -> f64 {
        let (Self::Fixed(mean) | Self::Exponential(mean)) = self;
        mean
    }

    /// Returns the share of the requests that take longer than `limit` seconds at a rate in requests a second; 1 if the
    /// worker cannot keep up.
    pub fn share_above(self, rate: f64, limit: f64) -> f64 {
        match self {
            Self::Exponential(mean) => (-(1.0 / mean - rate).max(0.0) * limit).exp(),
            Self::Fixed(time) => fixed(time, rate, limit),
        }
    }

    /// Returns the mean time that a request takes at a rate in requests a second, in seconds; infinite if the worker cannot
    /// keep up.
    pub fn mean_response(self, rate: f64) -> f64 {
        let mean = self.mean();
        let square = match self {
            Self::Fixed(_) => mean * mean,
            Self::Exponential(_) => 2.0 * mean * mean,
        };
        let idle = 1.0 - rate * mean;
        if idle > 0.0 { mean + rate * square / (2.0 * idle) } else { f64::INFINITY }
    }

    /// Returns the highest rate at which at most a share of `permitted` takes longer than `limit` seconds.
    pub fn highest_rate(self, limit: f64, permitted: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0 / self.mean());
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.share_above(middle, limit) > permitted { high = middle } else { low = middle }
        }
        low
    }
}

fn fixed(service: f64, rate: f64, limit: f64) -> f64 {
    let wait = limit - service;
    let rho = rate * service;
    if rho >= 1.0 || wait < 0.0 {
        return 1.0;
    }
    let mut sum = 0.0;
    let mut k = 0.0_f64;
    let mut factorial = 1.0;
    while k * service <= wait {
        let x = rate * (k * service - wait);
        sum += x.powf(k) / factorial * (-x).exp();
        k += 1.0;
        factorial *= k;
    }
    1.0 - (1.0 - rho) * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_request_waits_for_an_idle_worker_and_all_do_for_one_that_cannot_keep_up() {
        for service in [Service::Fixed(0.001), Service::Exponential(0.001)] {
            assert!(service.share_above(1e-6, 0.1) < 1e-9);
            assert!((service.share_above(1000.0, 0.1) - 1.0).abs() < 1e-12);
        }
        // No wait at all with the probability that the worker is idle.
        assert!((Service::Fixed(0.001).share_above(300.0, 0.001) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn the_mean_is_the_area_under_the_share_that_takes_longer() {
        for service in [Service::Fixed(0.002), Service::Exponential(0.002)] {
            let step = 1e-5;
            // Beyond 30 ms hardly anything is left, and of longer waits the sum of the fixed law loses its digits.
            let above = |i: u32| service.share_above(250.0, (f64::from(i) + 0.5) * step);
            let area: f64 = (0..3_000).map(above).sum::<f64>() * step;
            let mean = service.mean_response(250.0);
            assert!((area / mean - 1.0).abs() < 0.01, "{service:?}: {area} is not {mean}");
        }
        assert_eq!(Service::Fixed(0.002).mean_response(500.0), f64::INFINITY);
    }

    #[test]
    fn the_highest_rate_is_where_the_share_is_the_one_permitted() {
        for (service, rate) in
            [(Service::Fixed(0.001), 773.0), (Service::Exponential(0.001), 539.5)]
        {
            let found = service.highest_rate(0.01, 0.01);
            assert!((found - rate).abs() < 1.0, "{service:?}: {found}");
            assert!((service.share_above(found, 0.01) - 0.01).abs() < 1e-6);
        }
    }
}
