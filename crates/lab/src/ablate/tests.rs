//! The whole way from made runs to a recommendation.

use becalm_model::ablate::{AblateRun, MitigationVerdict, Stage, Timing};
use becalm_stats::{Rng, Sample};

use super::analysis::{Paired, Ratio, row};
use super::design::{self, Configuration, names};
use super::mitigation::find;
use super::{Chosen, Experiment, Names, StageRuns};

/// What a configuration truly does: factors of spread and of mean time.
type Truth<'a> = &'a dyn Fn(&Configuration) -> (f64, f64);

/// Noise of a shared machine: a block has its own loudness, a run its own shift, and now and then an
/// iteration is interrupted.
fn values(rng: &mut Rng, loudness: f64, (spread, mean): (f64, f64), timing: Timing) -> Vec<f64> {
    let n = if timing == Timing::Iterations { 60 } else { 1 };
    let shift = 0.002 * rng.normal();
    (0..n)
        .map(|_| {
            let mut noise = 0.03 * loudness * rng.normal();
            if rng.uniform() < 0.02 {
                noise += 0.3 * loudness * rng.uniform();
            }
            1e-3 * mean * (1.0 + shift + spread * noise)
        })
        .collect()
}

/// Adds a stage of so many blocks.
fn run(
    experiment: &mut Experiment,
    rng: &mut Rng,
    stage: Stage,
    configurations: Vec<Configuration>,
    blocks: u32,
    truth: Truth<'_>,
) {
    let timing = experiment.timing;
    let mut runs = Vec::new();
    for block in 0..blocks {
        let loudness = (0.5 * rng.normal()).exp();
        let order = design::order(experiment.seed, stage, block, configurations.len());
        for (place, configuration) in (0..).zip(order) {
            let values = values(rng, loudness, truth(&configurations[configuration]), timing);
            let counters = Vec::new();
            runs.push(AblateRun { configuration, block, place, started: 0.0, values, counters });
        }
    }
    experiment.stages.push(StageRuns { stage, configurations, runs });
}

/// An experiment with its first stage.
fn singly(
    rng: &mut Rng,
    mitigations: &[&str],
    blocks: u32,
    timing: Timing,
    truth: Truth<'_>,
) -> Experiment {
    let mut experiment = Experiment::new(timing, 0.95, 1);
    let configurations = design::singly(&indices(mitigations));
    run(&mut experiment, rng, Stage::Singly, configurations, blocks, truth);
    experiment
}

/// Verdicts on the single mitigations.
fn verdicts(experiment: &Experiment) -> Vec<MitigationVerdict> {
    let outcomes = experiment.outcomes();
    let tried = outcomes.iter().filter(|one| !one.configuration.members.is_empty());
    tried.filter_map(|one| one.spread.as_ref().map(Ratio::verdict)).collect()
}

fn indices(names: &[&str]) -> Vec<usize> {
    names.iter().map(|name| find(name).unwrap()).collect()
}

const TEN: [&str; 10] = [
    "pin",
    "isolation",
    "fifo",
    "interrupts",
    "thp",
    "aslr",
    "fixed-env",
    "moved-stack",
    "mlock",
    "warm-up",
];

#[test]
fn a_mitigation_that_halves_the_spread_is_recommended_alone() {
    let mut rng = Rng::new(11);
    let fifo = find("fifo").unwrap();
    let truth = |one: &Configuration| (if one.members.contains(&fifo) { 0.5 } else { 1.0 }, 1.0);
    let mut experiment = singly(&mut rng, &TEN, 20, Timing::Iterations, &truth);
    let found = verdicts(&experiment);
    assert_eq!(
        found.iter().filter(|&&one| one == MitigationVerdict::Helps).count(),
        1,
        "{found:?}"
    );
    let order = experiment.stack_order(&[]);
    assert_eq!(names(&order.best_first)[0], "fifo");
    let stacks = design::cumulatively(&order, TEN.len());
    run(&mut experiment, &mut rng, Stage::Cumulatively, stacks, 20, &truth);
    assert_eq!(names(&experiment.chosen().unwrap().stack), ["fifo"]);
}

#[test]
fn what_helps_only_together_is_found_and_thinned_to_what_is_needed() {
    let mut rng = Rng::new(16);
    let [pin, fifo] = ["pin", "fifo"].map(|name| find(name).unwrap());
    let truth = |one: &Configuration| {
        let has = |member| one.members.contains(&member);
        (if has(pin) && has(fifo) { 0.3 } else { 1.0 }, 1.0)
    };
    let mut experiment = singly(&mut rng, &TEN[..5], 20, Timing::Iterations, &truth);
    let stacks = design::cumulatively(&experiment.stack_order(&[]), TEN.len());
    run(&mut experiment, &mut rng, Stage::Cumulatively, stacks, 20, &truth);
    let stack = experiment.chosen().unwrap().stack;
    assert!(stack.contains(&pin) && stack.contains(&fifo), "{:?}", names(&stack));
    run(&mut experiment, &mut rng, Stage::Without, design::without(&stack), 16, &truth);
    let by_weight = experiment.by_weight(&stack);
    run(&mut experiment, &mut rng, Stage::Fewer, design::fewer(&stack, &by_weight), 16, &truth);
    let mut found = experiment.smallest_as_good(&stack);
    found.sort_unstable();
    assert_eq!(names(&found), ["pin", "fifo"]);
}

#[test]
fn of_what_does_the_same_one_is_enough() {
    let mut rng = Rng::new(18);
    let [isolation, fifo, warm_up] =
        ["isolation", "fifo", "warm-up"].map(|name| find(name).unwrap());
    // As on a machine with a hog on every CPU: what warms up shows only where nobody else is.
    let truth = |one: &Configuration| {
        let has = |member| one.members.contains(&member);
        let is_alone = has(isolation) || has(fifo);
        (
            if !is_alone {
                1.0
            } else if has(warm_up) {
                0.02
            } else {
                0.05
            },
            1.0,
        )
    };
    let mut experiment = singly(&mut rng, &TEN, 20, Timing::Iterations, &truth);
    let stacks = design::cumulatively(&experiment.stack_order(&[]), TEN.len());
    run(&mut experiment, &mut rng, Stage::Cumulatively, stacks, 20, &truth);
    let stack = experiment.chosen().unwrap().stack;
    assert!([isolation, fifo, warm_up].iter().all(|one| stack.contains(one)), "{stack:?}");
    run(&mut experiment, &mut rng, Stage::Without, design::without(&stack), 16, &truth);
    let by_weight = experiment.by_weight(&stack);
    run(&mut experiment, &mut rng, Stage::Fewer, design::fewer(&stack, &by_weight), 16, &truth);
    let found = experiment.smallest_as_good(&stack);
    assert!(found.len() == 2 && found.contains(&warm_up), "{:?}", names(&found));
}

#[test]
fn a_set_that_was_thinned_too_far_is_noticed_by_the_last_stage() {
    let mut rng = Rng::new(17);
    let (thin, whole) = (indices(&["pin"]), indices(&["pin", "fifo"]));
    let mut check = |spread_of_thin: f64, expected: bool| {
        let truth = |one: &Configuration| match one.members.len() {
            0 => (1.0, 1.0),
            1 => (spread_of_thin, 1.0),
            _ => (0.3, 1.0),
        };
        let mut experiment = Experiment::new(Timing::Iterations, 0.95, 1);
        let last = design::again(&thin, &whole);
        run(&mut experiment, &mut rng, Stage::Again, last, 20, &truth);
        let settled = experiment.settled(thin.clone(), &whole);
        assert_eq!(settled, if expected { whole.clone() } else { thin.clone() });
        let labels: Vec<String> =
            experiment.stages[0].configurations.iter().map(Configuration::label).collect();
        let last = if expected { ["fewer", "recommended"] } else { ["recommended", "all of them"] };
        assert_eq!(labels[1..], last);
    };
    check(0.6, true);
    check(0.3, false);
}

#[test]
fn ten_useless_mitigations_are_called_useful_or_harmful_no_more_often_than_stated() {
    let mut rng = Rng::new(12);
    for (timing, blocks, trials) in [(Timing::Iterations, 15, 300), (Timing::Runs, 25, 60)] {
        let wrong = (0..trials)
            .filter(|_| {
                let experiment = singly(&mut rng, &TEN, blocks, timing, &|_| (1.0, 1.0));
                let found = verdicts(&experiment);
                found
                    .iter()
                    .any(|one| matches!(one, MitigationVerdict::Helps | MitigationVerdict::Harms))
            })
            .count();
        let rate = wrong as f64 / f64::from(trials);
        // 5 % and three standard errors of the simulation.
        let limit = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(trials)).sqrt();
        assert!(rate <= limit, "{timing:?}: {rate} of {trials}");
    }
}

/// Makes a whole experiment, with as many blocks of each stage as three minutes have; returns what is recommended.
fn recommended(rng: &mut Rng, timing: Timing, truth: Truth<'_>) -> Option<Vec<usize>> {
    let (singly_blocks, blocks) = match timing {
        Timing::Iterations => (8, 10),
        Timing::Runs => (13, 20),
    };
    let mut experiment = singly(rng, &TEN, singly_blocks, timing, truth);
    let stacks = design::cumulatively(&experiment.stack_order(&[]), TEN.len());
    run(&mut experiment, rng, Stage::Cumulatively, stacks, blocks, truth);
    let chosen = experiment.chosen()?;
    let last = design::again(&chosen.stack, &chosen.stack);
    let most = if chosen.is_demonstrated { 40 } else { design::MOST_TO_CONFIRM };
    run(&mut experiment, rng, Stage::Again, last, most, truth);
    experiment.holds(&chosen).then_some(chosen.stack)
}

#[test]
fn where_nothing_helps_something_is_recommended_no_more_often_than_stated() {
    let mut rng = Rng::new(18);
    for (timing, trials) in [(Timing::Iterations, 100), (Timing::Runs, 100)] {
        let wrong = (0..trials)
            .filter(|_| recommended(&mut rng, timing, &|_| (1.0, 1.0)).is_some())
            .count();
        let rate = wrong as f64 / f64::from(trials);
        // 5 % and three standard errors of the simulation.
        let limit = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(trials)).sqrt();
        assert!(rate <= limit, "{timing:?}: {rate} of {trials}");
    }
}

#[test]
fn what_halves_the_spread_between_runs_is_recommended_in_nearly_every_experiment() {
    let mut rng = Rng::new(20);
    let fifo = find("fifo").unwrap();
    let truth = |one: &Configuration| (if one.members.contains(&fifo) { 0.5 } else { 1.0 }, 1.0);
    let found = (0..50)
        .filter(|_| {
            let stack = recommended(&mut rng, Timing::Runs, &truth);
            stack.is_some_and(|stack| stack.contains(&fifo))
        })
        .count();
    assert!(found >= 40, "{found} of 50");
}

#[test]
fn what_only_seems_to_help_is_withdrawn_unless_it_helps_again() {
    let mut rng = Rng::new(21);
    let mut check = |spread: f64, is_demonstrated: bool, expected: bool| {
        let truth = |one: &Configuration| (if one.members.is_empty() { 1.0 } else { spread }, 1.0);
        let mut experiment = Experiment::new(Timing::Runs, 0.95, 1);
        let pin = indices(&["pin"]);
        let (stack, best) = (pin.clone(), pin.clone());
        let chosen = Chosen { stack, best, best_ratio: 0.5, is_demonstrated };
        let last = design::again(&pin, &pin);
        run(&mut experiment, &mut rng, Stage::Again, last, 40, &truth);
        assert_eq!(experiment.holds(&chosen), expected);
        experiment.withdraw();
        assert_eq!(experiment.stages[0].configurations[1].label(), "not confirmed");
    };
    check(0.2, false, true);
    check(1.0, false, false);
    check(0.2, true, true);
    check(1.2, true, false);
}

#[test]
fn harm_is_told_from_doing_nothing_and_from_not_knowing() {
    let mut rng = Rng::new(13);
    let thp = find("thp").unwrap();
    let truth = |one: &Configuration| (if one.members.contains(&thp) { 2.0 } else { 1.0 }, 1.0);
    let tried = ["pin", "thp"];
    let many = singly(&mut rng, &tried, 60, Timing::Iterations, &truth);
    assert_eq!(verdicts(&many), [MitigationVerdict::Nothing, MitigationVerdict::Harms]);
    let few = singly(&mut rng, &tried, 4, Timing::Iterations, &truth);
    assert_eq!(verdicts(&few)[0], MitigationVerdict::Undecided);
}

#[test]
fn the_cost_in_mean_time_stands_beside_the_spread() {
    let mut rng = Rng::new(14);
    let truth = |one: &Configuration| if one.members.is_empty() { (1.0, 1.0) } else { (0.5, 1.05) };
    let experiment = singly(&mut rng, &["thp"], 30, Timing::Iterations, &truth);
    let outcome = experiment.outcomes().pop().unwrap();
    let (time, spread) = (outcome.time.unwrap(), outcome.spread.unwrap());
    assert!(time.is_other_than_one && time.ratio.contains(1.05), "{time:?}");
    assert!(spread.ratio.contains(0.5), "{spread:?}");
}

#[test]
fn a_fifth_of_the_spread_between_runs_is_found_in_subjects_that_are_timed_as_a_whole() {
    let mut rng = Rng::new(15);
    let truth = |one: &Configuration| (if one.members.is_empty() { 1.0 } else { 0.2 }, 1.0);
    let experiment = singly(&mut rng, &["fifo"], 40, Timing::Runs, &truth);
    assert_eq!(verdicts(&experiment), [MitigationVerdict::Helps]);
}

#[test]
fn a_row_has_the_figures_of_a_typical_run_and_the_extremes_of_all() {
    let run = |block, values: &[f64], faults| AblateRun {
        configuration: 0,
        block,
        place: 0,
        started: 0.0,
        values: values.to_vec(),
        counters: vec![Some(faults), None],
    };
    let runs = [
        run(0, &[1.0, 2.0, 3.0], 10.0),
        run(1, &[2.0, 2.0, 5.0], 10.0),
        run(2, &[1.0, 3.0, 5.0], 13.0),
    ];
    let all: Vec<&AblateRun> = runs.iter().collect();
    let one = row(&all, Timing::Iterations).unwrap();
    assert_eq!((one.runs, one.minimum, one.maximum), (3, 1.0, 5.0));
    assert!((one.mean - 3.0).abs() < 1e-12, "{one:?}");
    assert!((one.standard_deviation.unwrap() - 3.0_f64.sqrt()).abs() < 1e-12, "{one:?}");
    let minimums = Sample::new(vec![1.0, 2.0, 1.0]).unwrap();
    let expected = becalm_stats::spread::coefficient_of_variation(&minimums);
    assert_eq!(one.cv_of_minimums, expected);
    assert!((one.counters[0].unwrap().0 - 11.0).abs() < 1e-12);
    assert_eq!(one.counters[1], None);
    let whole = row(&all, Timing::Runs).unwrap();
    assert_eq!(whole.cv_of_minimums, None);
    assert!((whole.mean - 24.0 / 9.0).abs() < 1e-12, "{whole:?}");
    assert_eq!(row(&[], Timing::Runs), None);
}

#[test]
fn blocks_that_lack_a_partner_are_left_out() {
    let run = |configuration, block| AblateRun {
        configuration,
        block,
        place: 0,
        started: 0.0,
        values: vec![1.0, 2.0, 3.0],
        counters: Vec::new(),
    };
    let runs = [run(0, 0), run(1, 0), run(1, 1), run(0, 2)];
    assert_eq!(Paired::of(&runs, 0, 1, Timing::Iterations).reference.len(), 1);
}

#[test]
fn the_baseline_that_is_run_twice_has_a_ratio_and_no_verdict() {
    let mut rng = Rng::new(19);
    // So far apart as chance never makes them.
    let truth =
        |one: &Configuration| (if one.kind == design::Kind::Control { 0.2 } else { 1.0 }, 1.0);
    let experiment = singly(&mut rng, &["pin"], 20, Timing::Iterations, &truth);
    let names = Names { subject: "s", counters: &[], profile: "p" };
    let here = super::here::Here {
        is_root: false,
        allowed: becalm_model::CpuSet::new(),
        chosen: becalm_model::CpuSet::new(),
        single_threaded: true,
        timing: Timing::Iterations,
        run_time: 0.1,
        rt_runtime: None,
        isolation: Ok(()),
        huge_pages: None,
        knobs: std::collections::BTreeMap::new(),
        is_strict: false,
        only: Vec::new(),
        skip: Vec::new(),
    };
    let document = super::document(&experiment, &here, &[], &names);
    let [_, control, pin] = document.configurations.as_slice() else { panic!("{document:?}") };
    assert!(control.spread_ratio.as_ref().is_some_and(|ratio| ratio.high < 1.0), "{control:?}");
    assert_eq!((control.name.as_str(), &control.verdict), ("baseline again", &None));
    assert!(pin.verdict.is_some());
}
