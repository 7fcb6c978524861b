//! Whether plans reach what they promise, on simulated experiments.

use becalm_calibrate::peers::welch;
use becalm_stats::levels::{Goal, Level, Pilot, PilotRun, cheapest, pilot};
use becalm_stats::{Rng, Sample, mean_interval::mean_interval};

/// Rounds, runs and iterations: deviations of the logarithms, and costs.
const LEVELS: [Level; 3] = [
    Level { variance: 0.01 * 0.01, cost: 2.0 },
    Level { variance: 0.02 * 0.02, cost: 0.3 },
    Level { variance: 0.05 * 0.05, cost: 0.02 },
];

/// Draws the logarithm of one value of every level below `depth`, around `level`.
fn below(rng: &mut Rng, counts: &[u32], depth: usize, level: f64, means: &mut Vec<f64>) -> f64 {
    if depth == LEVELS.len() {
        return level;
    }
    let mut total = 0.0;
    for _ in 0..counts[depth] {
        let here = level + LEVELS[depth].variance.sqrt() * rng.normal();
        let mean = below(rng, counts, depth + 1, here, means);
        if depth == 0 {
            means.push(mean);
        }
        total += mean;
    }
    total / f64::from(counts[depth])
}

/// Returns the mean of every round of one program.
fn experiment(rng: &mut Rng, counts: &[u32], level: f64) -> Sample {
    let mut means = Vec::new();
    below(rng, counts, 0, level, &mut means);
    Sample::new(means).unwrap()
}

#[test]
fn a_planned_precision_is_reached_and_its_interval_holds_the_truth() {
    let goal = Goal::Precision { share: 0.01, confidence: 0.95 };
    let plan = cheapest(&LEVELS, goal).unwrap();
    let mut rng = Rng::new(71);
    let (mut held, mut half_widths) = (0, Vec::new());
    for _ in 0..1000 {
        let interval = mean_interval(&experiment(&mut rng, &plan.counts, 0.0), 0.95).unwrap();
        held += u32::from(interval.contains(0.0));
        half_widths.push(interval.width() / 2.0);
    }
    // 950 +- 3 standard errors.
    assert!((929..=971).contains(&held), "{held}");
    half_widths.sort_by(f64::total_cmp);
    // A deviation of few values is below its mean more often than above.
    assert!((0.0085..0.0102).contains(&half_widths[500]), "{plan:?}, {}", half_widths[500]);
}

#[test]
fn a_planned_change_is_found_with_its_power() {
    let goal = Goal::Detect { change: 0.02, power: 0.9, confidence: 0.95 };
    let plan = cheapest(&LEVELS, goal).unwrap();
    let mut rng = Rng::new(72);
    let mut found = 0;
    for _ in 0..1000 {
        let one = experiment(&mut rng, &plan.counts, 0.0);
        let other = experiment(&mut rng, &plan.counts, 1.02_f64.ln());
        found += u32::from(welch(&other, &one, 0.95).is_ok_and(|test| test.p < 0.05));
    }
    // 900 +- 3 standard errors, and one point for whole numbers.
    assert!((872..=938).contains(&found), "{plan:?}: {found}");
}

#[test]
fn plans_from_pilots_scatter_around_the_plan_from_the_truth() {
    let goal = Goal::Precision { share: 0.01, confidence: 0.95 };
    let truth = cheapest(&LEVELS, goal).unwrap();
    let mut rng = Rng::new(73);
    let mut seconds: Vec<f64> = (0..60)
        .map(|_| {
            let found = simulated_pilot(&mut rng);
            let levels: Vec<Level> =
                found.levels.iter().map(becalm_stats::levels::PilotLevel::level).collect();
            cheapest(&levels, goal).unwrap().seconds
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[30] / truth.seconds;
    assert!((0.7..1.3).contains(&median), "{median}");
    let (low, high) = (seconds[3] / truth.seconds, seconds[56] / truth.seconds);
    assert!(low > 0.3 && high < 3.0, "{low} {high}");
}

/// Ten rounds of three runs of thirty iterations.
fn simulated_pilot(rng: &mut Rng) -> Pilot {
    let mut runs = Vec::new();
    for round in 0..10 {
        let of_round = LEVELS[0].variance.sqrt() * rng.normal();
        for _ in 0..3 {
            let of_run = of_round + LEVELS[1].variance.sqrt() * rng.normal();
            let one = |rng: &mut Rng| (of_run + LEVELS[2].variance.sqrt() * rng.normal()).exp();
            runs.push(PilotRun {
                round,
                values: (0..30).map(|_| one(rng)).collect(),
                seconds: LEVELS[1].cost + 30.0 * LEVELS[2].cost,
                seconds_per_value: LEVELS[2].cost,
            });
        }
    }
    pilot(&runs, LEVELS[0].cost).unwrap()
}
