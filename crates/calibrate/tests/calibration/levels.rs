//! Whether plans reach what they promise, on simulated experiments.

use becalm_stats::levels::{Level, Pilot, PilotRun, Precision, cheapest, pilot, repetitions};
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
    let goal = Precision { share: 0.01, confidence: 0.95 };
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
fn plans_from_pilots_scatter_around_the_plan_from_the_truth() {
    let goal = Precision { share: 0.01, confidence: 0.95 };
    let truth = cheapest(&LEVELS, goal).unwrap();
    let mut rng = Rng::new(73);
    let mut seconds: Vec<f64> = (0..60)
        .map(|_| {
            let found = simulated_pilot(&mut rng, &LEVELS);
            cheapest(&found.levels(), goal).unwrap().seconds
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[30] / truth.seconds;
    assert!((0.7..1.3).contains(&median), "{median}");
    let (low, high) = (seconds[3] / truth.seconds, seconds[56] / truth.seconds);
    assert!(low > 0.3 && high < 3.0, "{low} {high}");
}

/// Where the variance is: in all levels, nearly all in the runs and iterations, nearly all in the rounds.
const WHERE: [[f64; 3]; 3] = [[0.01, 0.02, 0.05], [0.004, 0.02, 0.05], [0.02, 0.002, 0.05]];

/// Ranges of 90 % hold what is needed in so many of 100 pilots, and plans are at most so often much too short.
#[test]
fn ranges_of_plans_hold_what_is_needed() {
    let goal = Precision { share: 0.01, confidence: 0.95 };
    for deviations in WHERE {
        let mut levels = LEVELS;
        for (level, deviation) in levels.iter_mut().zip(deviations) {
            level.variance = deviation * deviation;
        }
        let (mut held, mut negative, mut short) = (0, 0, 0);
        let mut rng = Rng::new(74);
        for _ in 0..400 {
            let found = simulated_pilot(&mut rng, &levels);
            let plan = cheapest(&found.levels(), goal).unwrap();
            let needed = repetitions(&levels, goal, &plan.counts).unwrap();
            let (low, high) = found.range(goal, &plan).unwrap();
            held += u32::from((low..=high).contains(&needed));
            negative += u32::from(found.levels.iter().any(|one| one.component.variance < 0.0));
            short += u32::from(2 * plan.counts[0] < needed);
        }
        assert!(
            held >= 340,
            "{deviations:?}: {held} of 400 held, {negative} with a negative estimate"
        );
        assert!(
            short <= 40,
            "{deviations:?}: {short} of 400 were less than half of what is needed"
        );
    }
}

/// Ten rounds of three runs of thirty iterations.
fn simulated_pilot(rng: &mut Rng, levels: &[Level; 3]) -> Pilot {
    let [of_rounds, of_runs, of_iterations] = levels.map(|level| level.variance.sqrt());
    let mut runs = Vec::new();
    for round in 0..10 {
        let of_round = of_rounds * rng.normal();
        for _ in 0..3 {
            let of_run = of_round + of_runs * rng.normal();
            let one = |rng: &mut Rng| (of_run + of_iterations * rng.normal()).exp();
            runs.push(PilotRun {
                round,
                values: (0..30).map(|_| one(rng)).collect(),
                seconds: levels[1].cost + 30.0 * levels[2].cost,
                seconds_per_value: levels[2].cost,
            });
        }
    }
    pilot(&runs, levels[0].cost).unwrap()
}
