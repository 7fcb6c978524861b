//! Whether planned comparisons find what they are planned for, on simulated sessions.

use becalm_calibrate::noise::{CORRELATED_6, HEAVY_TAILS, INDEPENDENT, SPIKES};
use becalm_calibrate::tally::own;
use becalm_calibrate::trial::observe;
use becalm_calibrate::{Looks, Noise, Order, Tally};
use becalm_stats::Rng;
use becalm_stats::decide::needed::{Wanted, needed};
use becalm_stats::decide::paired::{Spread, spread_of};

const NOISES: [Noise; 4] = [INDEPENDENT, CORRELATED_6, SPIKES, HEAVY_TAILS];

const WANTED: Wanted = Wanted { change: 0.01, power: 0.9, confidence: 0.95, margin: 0.005 };

/// Returns the spread that a pilot of so many rounds finds.
fn pilot(noise: &Noise, rounds: u32, rng: &mut Rng) -> Spread {
    let orders = Order::Schedule.rounds(rng, rounds, 2);
    spread_of(&observe(noise, &[1.0], &orders, rng).swap_remove(0)).unwrap()
}

/// Returns the deviation as many rounds know it.
fn truth(noise: &Noise) -> f64 {
    let mut rng = Rng::new(5);
    let variances: f64 = (0..40).map(|_| pilot(noise, 100, &mut rng).deviation.powi(2)).sum();
    (variances / 40.0).sqrt()
}

#[test]
fn planned_comparisons_find_the_change_with_their_power() {
    for noise in NOISES {
        let plan = needed(truth(&noise), &WANTED).unwrap();
        let looks = Looks::sequential(plan.rounds, WANTED.margin, 0.05, 1);
        let found = Tally::of(&own(looks), &noise, 1.0 + WANTED.change, 600, 81);
        // 540 +- 3 standard errors, and two points for what the model of the plan leaves out.
        assert!((505..=574).contains(&found.above), "{}: {} {plan:?}", noise.name, found.above);
    }
}

#[test]
fn limits_of_a_pilot_hold_the_spread() {
    for noise in NOISES {
        let truth = truth(&noise);
        let mut rng = Rng::new(82);
        let held = (0..200)
            .filter(|_| {
                let (low, high) = pilot(&noise, 40, &mut rng).limits(0.9);
                (low..=high).contains(&truth)
            })
            .count();
        assert!(held >= 170, "{}: {held} of 200", noise.name);
    }
}
