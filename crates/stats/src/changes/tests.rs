//! What the detector promises, on series made here.

use proptest::prelude::*;

use super::*;
use crate::Rng;

fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| 100.0 + rng.normal()).collect()
}

fn indices(values: &[f64]) -> Vec<usize> {
    detect(values.iter().copied(), Rules::default()).confirmed.iter().map(|one| one.index).collect()
}

#[test]
fn too_little_is_no_change() {
    for n in 0..2 * SHORTEST {
        let values: Vec<f64> = (0..n).map(|i| if i < n / 2 { 1.0 } else { 9.0 }).collect();
        assert_eq!(detect(values, Rules::default()), Changes::default(), "{n} values");
    }
}

#[test]
fn a_step_of_five_deviations_is_confirmed_within_five_runs() {
    let mut late = 0;
    for seed in 0..200 {
        let mut values = noise(seed, 105);
        values[100..].iter_mut().for_each(|value| *value += 5.0);
        late += usize::from(indices(&values).is_empty());
    }
    assert!(late <= 15, "{late} of 200 are later");
}

#[test]
fn one_spike_is_never_a_change_wherever_it_is() {
    for seed in 0..40 {
        let quiet = noise(seed, 150);
        let usual = indices(&quiet);
        for place in [3, 20, 75, 120, 140, 147, 148, 149] {
            for spike in [0.8, 1.2, 10.0] {
                let mut values = quiet.clone();
                values[place] *= spike;
                let found = indices(&values);
                assert!(
                    found.len() <= usual.len(),
                    "seed {seed}: a spike at {place} gives {found:?} instead of {usual:?}"
                );
            }
        }
    }
}

#[test]
fn a_level_without_noise_changes_with_its_third_value_of_many() {
    let mut values = vec![1000.0; 60];
    values.extend([1001.0; 2]);
    assert_eq!(indices(&values), []);
    let pending =
        detect(values.iter().copied(), Rules::default()).pending.expect("something pending");
    assert_eq!((pending.index, pending.before, pending.after), (60, 1000.0, 1001.0));
    values.push(1001.0);
    let found = detect(values, Rules::default());
    let change = found.confirmed.first().expect("a change");
    assert_eq!((change.index, change.earliest, change.latest, change.seen), (60, 60, 60, 62));
}

#[test]
fn a_step_without_noise_is_found_whatever_is_before_it() {
    for before in 10..120 {
        let mut values = vec![5.0; before];
        values.extend([5.1; 40]);
        assert_eq!(indices(&values), [before]);
    }
}

#[test]
fn a_glaring_step_needs_no_long_history() {
    for (before, after, least) in [(10, 10, 30), (15, 10, 36), (20, 6, 30), (25, 6, 34)] {
        let found = (0..40).filter(|seed| {
            let mut values = noise(*seed, before + after);
            values[before..].iter_mut().for_each(|value| *value += 50.0);
            indices(&values) == [before]
        });
        let found = found.count();
        assert!(found >= least, "{found} of 40 with {before} before and {after} after");
    }
}

#[test]
fn a_step_within_the_margin_is_none() {
    let mut values = noise(5, 100);
    values[50..].iter_mut().for_each(|value| *value += 4.0);
    assert_eq!(indices(&values), [50]);
    let rules = Rules::new(DEFAULT_FALSE_ALARMS, 0.06);
    assert_eq!(detect(values, rules).confirmed, []);
}

#[test]
fn points_known_less_well_count_less() {
    let mut rng = Rng::new(8);
    let (mut plain, mut weighed) = (0, 0);
    for _ in 0..300 {
        // Ten runs after a long quiet time were measured badly: they scatter, and say so.
        let values: Vec<f64> = (0..110)
            .map(|i| {
                100.0
                    + rng.normal() * if i < 100 { 1.0 } else { 6.0 }
                    + if i < 100 { 0.0 } else { 2.5 }
            })
            .collect();
        let points = values
            .iter()
            .enumerate()
            .map(|(i, value)| Point { value: *value, error: if i < 100 { 0.3 } else { 6.0 } });
        plain += indices(&values).len();
        weighed += detect(points, Rules::default()).confirmed.len();
    }
    assert!(weighed < plain / 4, "{weighed} with errors, {plain} without");
}

#[test]
fn points_of_a_single_run_raise_no_alarm() {
    let mut rng = Rng::new(12);
    let (mut plain, mut weighed) = (0, 0);
    for _ in 0..300 {
        // Commits measured in thirty runs each, and then some measured once.
        let (values, told): (Vec<f64>, Vec<_>) = (0..120)
            .map(|i| match i {
                0..100 => (100.0 + 0.23 * rng.normal(), (Some(0.23), 30)),
                _ => (100.0 + rng.normal(), (None, 1)),
            })
            .unzip();
        let points = values.iter().zip(errors(&told));
        let points = points.map(|(value, error)| Point { value: *value, error });
        plain += indices(&values).len();
        weighed += detect(points, Rules::default()).confirmed.len();
    }
    assert!(plain >= 6 && weighed <= plain / 3, "{weighed} with errors, {plain} without");
}

#[test]
fn the_boundary_follows_the_rate() {
    let boundaries: Vec<f64> = [0.5, 0.2, 0.07, 0.05, 0.02, 0.001, 0.0]
        .iter()
        .map(|rate| Rules::new(*rate, 0.0).boundary())
        .collect();
    assert!(boundaries.is_sorted(), "{boundaries:?}");
    assert_eq!(Rules::new(DEFAULT_FALSE_ALARMS, 0.0).boundary(), Rules::default().boundary());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A series read in pieces gives what the whole gives.
    #[test]
    fn a_checkpoint_goes_on_as_if_nothing_had_been(
        seed in 0u64..1000,
        cuts in prop::collection::vec(1usize..700, 1..6),
        steps in prop::collection::vec((0usize..700, -6.0..6.0f64), 0..5),
        errors in any::<bool>(),
    ) {
        let mut rng = Rng::new(seed);
        let mut points: Vec<Point> = (0..700).map(|_| Point {
            value: (100.0 + rng.normal() * 8.0).round() / 8.0,
            error: if errors { rng.uniform() } else { 0.0 },
        }).collect();
        for (at, step) in steps {
            points[at..].iter_mut().for_each(|point| point.value += step);
        }
        let whole = detect(points.iter().copied(), Rules::default());
        let mut found = Changes::default();
        let mut detector = Detector::new(Rules::default());
        for (i, point) in points.iter().enumerate() {
            if cuts.contains(&i) {
                let at = detector.checkpoint();
                let newest = &points[i - at.needed()..i];
                detector = Detector::resume(Rules::default(), at, newest);
            }
            found.take(detector.push(*point));
        }
        found.pending = detector.pending();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        found.states = states(&values, &found.confirmed, 0, &[]);
        prop_assert_eq!(found, whole);
    }

    /// Whatever the values, there is an answer, and it is in order.
    #[test]
    fn any_finite_values_have_an_answer(
        values in prop::collection::vec(
            prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), Just(0.0), Just(1.0)], 0..300)
    ) {
        let found = detect(values.iter().copied(), Rules::default());
        prop_assert!(found.confirmed.is_sorted_by_key(|one| one.index));
        for one in found.confirmed.iter().chain(&found.pending) {
            prop_assert!(one.earliest <= one.index && one.index <= one.latest);
            prop_assert!(one.index <= one.seen && one.seen < values.len());
        }
    }
}

#[test]
fn eight_and_eight_values_without_noise_are_a_change() {
    let mut values = vec![5.0; 8];
    values.extend([5.1; 8]);
    assert_eq!(indices(&values), [8]);
}

#[test]
fn a_noisier_host_is_a_change_of_spread_and_not_of_level() {
    let (mut noisier, mut quieter, mut levels) = (0, 0, 0);
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let wide: Vec<bool> = (0..240).map(|i| (80..160).contains(&i)).collect();
        let values = wide.iter().map(|wide| 100.0 + rng.normal() * if *wide { 4.0 } else { 1.0 });
        let found = detect(values, Rules::default());
        let near = |one: &&SpreadChange, place| one.index.abs_diff(place) <= 8;
        noisier += usize::from(found.spreads.iter().any(|one| near(&one, 80) && one.is_noisier()));
        quieter +=
            usize::from(found.spreads.iter().any(|one| near(&one, 160) && !one.is_noisier()));
        levels += usize::from(!found.confirmed.is_empty());
    }
    assert!(noisier >= 85 && quieter >= 80, "{noisier}, {quieter} of 100");
    assert!(levels <= 12, "{levels} of 100 have a change of level");
}

#[test]
fn a_rare_value_that_gets_frequent_is_a_change() {
    let mut found = 0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let share = |i: usize| if i < 150 { 0.02 } else { 0.42 };
        let values: Vec<f64> =
            (0..300).map(|i| if rng.uniform() < share(i) { 11.0 } else { 10.0 }).collect();
        found += usize::from(!indices(&values).is_empty());
    }
    assert!(found == 20, "{found} of 20");
}

/// Series of every kind that does not stay: moods, walks, slopes, and steps back and forth.
fn restless(seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let mut level = 0.0;
    let kind = seed % 4;
    (0..420)
        .map(|i| {
            level = match kind {
                0 if rng.uniform() < 1.0 / 15.0 => 3.0 - level,
                1 => level + 0.15 * rng.normal(),
                2 => ((f64::from(i) - 100.0) / 25.0).clamp(0.0, 10.0),
                3 if i >= 100 && i % 25 == 0 => 5.0 - level,
                _ => level,
            };
            100.0 + level + rng.normal()
        })
        .collect()
}

#[test]
fn nothing_that_was_confirmed_is_withdrawn_and_states_only_get_longer() {
    let (mut unstable, mut trends) = (0, 0);
    for seed in 0..12 {
        let values = restless(seed);
        let whole = detect(values.iter().copied(), Rules::default());
        let mut known: Vec<State> = Vec::new();
        let mut earlier = 0;
        for end in (20..=values.len()).step_by(16) {
            let found = detect(values[..end].iter().copied(), Rules::default());
            let of_whole = whole.confirmed.iter().filter(|one| one.seen < end);
            assert!(found.confirmed.iter().eq(of_whole), "seed {seed}, {end} values");
            // Read on from what was known before.
            let again = states(&values[..end], &found.confirmed, earlier, &known);
            assert_eq!(again, found.states, "seed {seed}, {end} values");
            for (before, now) in known.iter().zip(&found.states) {
                assert_eq!(
                    (before.kind, before.start, before.first),
                    (now.kind, now.start, now.first)
                );
                assert!(before.seen == now.seen && before.end <= now.end, "{before:?}, {now:?}");
                assert!(before.count <= now.count, "{before:?}, {now:?}");
            }
            assert!(known.len() <= found.states.len(), "seed {seed}, {end} values");
            (known, earlier) = (found.states, end);
        }
        unstable += known.iter().filter(|one| one.kind == StateKind::Unstable).count();
        trends += known.iter().filter(|one| one.kind == StateKind::Trend).count();
    }
    assert!(unstable >= 4 && trends >= 2, "{unstable} unstable, {trends} trends");
}

#[test]
fn a_second_return_to_a_level_makes_a_series_unstable() {
    let mut rng = Rng::new(21);
    let level =
        |i: usize| if i >= 100 && ((i - 100) / 25).is_multiple_of(2) { 106.0 } else { 100.0 };
    let values: Vec<f64> = (0..260).map(|i| level(i) + rng.normal()).collect();
    // Up and down again is a regression and its repair.
    let found = detect(values[..145].iter().copied(), Rules::default());
    assert_eq!((found.confirmed.len(), found.states.len()), (2, 0), "{found:?}");
    let found = detect(values[..170].iter().copied(), Rules::default());
    let [state] = &found.states[..] else { panic!("{found:?}") };
    assert_eq!((state.kind, state.start, state.parts()), (StateKind::Unstable, 100, 0..3));
    assert!((state.from - 100.0).abs() < 0.7 && (state.to - 106.0).abs() < 0.7, "{state:?}");
    // What follows between the same levels is more of the same; a level beyond both is a change.
    let found = detect(values.iter().copied(), Rules::default());
    assert_eq!(found.states.len(), 1, "{found:?}");
    assert_eq!(found.states[0].count, found.confirmed.len());
    let mut beyond = values.clone();
    beyond.extend((0..30).map(|_| 125.0 + rng.normal()));
    let found = detect(beyond, Rules::default());
    let last = found.confirmed.len() - 1;
    assert!(found.confirmed[last].index == 260 && found.state_of(last).is_none(), "{found:?}");
}

#[test]
fn a_slow_move_is_one_trend_and_two_steps_are_two() {
    let (mut trends, mut sized, mut wrong) = (0, 0.0, 0);
    for seed in 0..40 {
        let noise = noise(seed, 400);
        let slope = |i: usize| ((i as f64 - 100.0) / 150.0).clamp(0.0, 1.0) * 12.0;
        let moved = noise.iter().enumerate().map(|(i, value)| value + slope(i));
        let found = detect(moved, Rules::default());
        if let Some(state) = found.states.iter().find(|one| one.kind == StateKind::Trend) {
            trends += 1;
            sized += (state.to - state.from) / 12.0;
        }
        let steps = |i: usize| f64::from(u8::from(i >= 100) + u8::from(i >= 150)) * 4.0;
        let stepped = noise.iter().enumerate().map(|(i, value)| value + steps(i));
        wrong += detect(stepped, Rules::default()).states.len();
    }
    let size = sized / f64::from(trends);
    assert!(trends >= 24 && wrong <= 1, "{trends} trends, {wrong} of steps");
    assert!((0.8..1.15).contains(&size), "{size} of the size");
}
