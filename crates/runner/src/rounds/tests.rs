//! The session loop against a scripted executor: no process is started and no time passes.

mod independent;

use std::time::Duration;

use becalm_model::conditions::{OnDisturbance, Pace, Padding};
use becalm_model::terms::{FailurePolicy, Goal, Primary, Stop};
use becalm_model::{
    Evidence, Interruption, Metric, Note, Outcome, Record, RecordKind, SessionNote, Subject,
};
use becalm_stats::Rng;

use super::*;
use crate::conclude::{Shape, comparisons};

/// What one run of the script is like.
#[derive(Debug, Clone, Copy)]
struct Step {
    wall: f64,
    outcome: Outcome,
}

fn takes(wall: f64) -> Step {
    Step { wall, outcome: Outcome::Exited(0) }
}

/// Plays a script: what the n-th run of a subject does, and when the user has had enough.
struct Scripted {
    step: fn(subject: usize, n: usize) -> Option<Step>,
    made: Vec<usize>,
    now: f64,
    /// Runs that share one window of evidence.
    window: usize,
    waiting: Vec<Evidence>,
    adapted: Vec<Learnt>,
    interrupt_after: usize,
    /// Whether it waits before each round; the time that it tells is the moment, so that it can be told
    /// apart.
    settles: bool,
    /// Major faults of the n-th run of all, which are evidence.
    faults: fn(n: usize) -> u64,
}

impl Scripted {
    fn new(step: fn(usize, usize) -> Option<Step>) -> Self {
        Self {
            step,
            made: vec![0; 8],
            now: 0.0,
            window: 1,
            waiting: Vec::new(),
            adapted: Vec::new(),
            interrupt_after: usize::MAX,
            settles: false,
            faults: |_| 0,
        }
    }

    fn total(&self) -> usize {
        self.made.iter().sum()
    }
}

impl Executor for Scripted {
    type Error = String;

    fn wait_until_settled(&mut self) -> Option<f64> {
        self.settles.then_some(self.now)
    }

    fn run(&mut self, request: RunRequest) -> Result<MeasuredRun, String> {
        let n = self.made[request.subject];
        if self.interrupted().is_some() {
            return Err("stopped".to_owned());
        }
        let step = (self.step)(request.subject, n).ok_or("it cannot be started")?;
        self.made[request.subject] += 1;
        let started = self.now;
        self.now += step.wall;
        let own = Evidence {
            major_faults: (self.faults)(self.total() - 1),
            voluntary_switches: 1,
            main_thread_time: Some(step.wall),
            run_delay: Some(0.0),
            ..Evidence::default()
        };
        // The mark by which a test recognises the evidence of a run.
        self.waiting.push(Evidence { window: Some(started), ..own.clone() });
        let mut values = Values::default();
        let of_run = [step.wall, step.wall, step.wall, 0.0, 1e6].map(Some);
        values.add_all(&Metric::always(), &of_run);
        Ok(MeasuredRun {
            started,
            outcome: step.outcome,
            values,
            iterations: vec![step.wall],
            benchmarks: vec![],
            load: None,
            evidence: own,
            said: vec![],
        })
    }

    fn evidence(&mut self, close: bool) -> Vec<Evidence> {
        if close || self.waiting.len() >= self.window {
            std::mem::take(&mut self.waiting)
        } else {
            Vec::new()
        }
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn adapt(&mut self, learnt: Learnt) {
        self.adapted.push(learnt);
    }

    fn interrupted(&self) -> Option<i32> {
        (self.total() >= self.interrupt_after).then_some(2)
    }
}

fn record(n_subjects: usize) -> Record {
    let subject = |index: usize| {
        let name = char::from(b'A' + u8::try_from(index).unwrap()).to_string();
        Subject::new(name.clone(), vec![name])
    };
    Record {
        seed: 42,
        margin: 0.01,
        metrics: Metric::always(),
        subjects: (0..n_subjects).map(subject).collect(),
        ..Record::empty(RecordKind::Comparison)
    }
}

fn plan(stop: Stop) -> Plan {
    Plan {
        warmup: 1,
        stop,
        failure: FailurePolicy::Stop,
        padding: Padding::Randomise,
        builds: vec![],
        on_disturbance: OnDisturbance::Keep,
        conditioning: Conditioning::Learn { affinity: true, scheduler: true, pace: Pace::Off },
        judgement: Judgement { confidence: 0.95, margin: 0.01, primary: Primary::Auto },
        independent: None,
    }
}

fn until(minimum: u32, maximum: Option<u32>, budget: Option<f64>, goal: Goal) -> Stop {
    let budget = budget.map(Duration::from_secs_f64);
    Stop::Until { minimum, maximum, budget, goal }
}

/// What a session told, in the form that tests look at.
#[derive(Debug, Default, PartialEq)]
struct Told {
    looks: Vec<u32>,
    discarded: Vec<u32>,
    undecidable: Vec<(u32, u32)>,
    rounds: Vec<u32>,
    warmups: usize,
    warmed_up: usize,
    runs: usize,
}

fn listen(
    plan: &Plan,
    record: &mut Record,
    executor: &mut Scripted,
) -> (Result<Vec<LeftOut<String>>, SessionError<String>>, Told) {
    let mut told = Told::default();
    let result = measure(plan, record, executor, &mut |event| match event {
        RoundEvent::RunFinished { .. } => told.runs += 1,
        RoundEvent::RoundFinished { warmup: true, .. } => told.warmups += 1,
        RoundEvent::RoundFinished { rounds, .. } => told.rounds.push(rounds),
        RoundEvent::WarmedUp { .. } => told.warmed_up += 1,
        RoundEvent::RoundDiscarded { round } => told.discarded.push(round),
        RoundEvent::Looked { rounds, .. } => told.looks.push(rounds),
        RoundEvent::Undecidable { possible, needed } => told.undecidable.push((possible, needed)),
    });
    (result, told)
}

/// What is left of the order in which things were run.
fn schedule_of(record: &Record) -> Vec<(bool, u32, u32, usize, u32)> {
    let runs = record.runs.iter();
    runs.map(|run| (run.warmup, run.round, run.order, run.subject, run.padding)).collect()
}

/// Noise of some per cent around one second, the same for every test.
#[expect(clippy::unnecessary_wraps, reason = "the form of every script, of which some end")]
fn noisy(subject: usize, n: usize) -> Option<Step> {
    Some(takes(1.0 + 0.05 * Rng::new((n * 8 + subject) as u64).normal().clamp(-2.0, 2.0)))
}

fn twice_as_slow(subject: usize, n: usize) -> Option<Step> {
    noisy(subject, n).map(|step| takes(step.wall * if subject == 1 { 2.0 } else { 1.0 }))
}

#[test]
fn a_fixed_number_of_rounds_is_made_whatever_they_show_and_looked_at_once() {
    let (mut record, mut executor) = (record(2), Scripted::new(twice_as_slow));
    let plan = plan(Stop::Rounds(20));
    let (result, told) = listen(&plan, &mut record, &mut executor);
    assert!(result.is_ok());
    assert_eq!((told.rounds.len(), told.warmups, told.runs), (20, 1, 42));
    assert_eq!(told.looks, [0; 0], "nobody looks before the end");
    assert_eq!(Shape::of_session(&plan, &record), Shape::of_session(&plan, &record).at_the_end());
    let comparison = &comparisons(&record, &plan.judgement, &Shape::of_session(&plan, &record))[0];
    assert!((comparison.confidence - 0.95).abs() < 1e-9, "one look spends the whole error");
}

#[test]
fn looks_are_far_apart_and_the_first_that_decides_ends_the_session() {
    let goal = |maximum| until(8, Some(maximum), None, Goal::Verdict);
    let (mut decided, mut executor) = (record(2), Scripted::new(twice_as_slow));
    let (_, told) = listen(&plan(goal(100)), &mut decided, &mut executor);
    assert_eq!((told.looks, told.rounds.len()), (vec![8], 8));

    let (mut open, mut executor) = (record(2), Scripted::new(noisy));
    let mut strict = plan(goal(30));
    strict.judgement.margin = 0.0;
    let (_, told) = listen(&strict, &mut open, &mut executor);
    assert_eq!((told.looks, told.rounds.len()), (vec![8, 10, 13, 16, 20, 25], 30));
    let shape = Shape::of_session(&strict, &open);
    let early = &comparisons(&open, &strict.judgement, &shape)[0];
    assert!(early.confidence > 0.95, "each of several looks is stricter than a single one");
}

#[test]
fn the_time_budget_ends_a_session_but_never_before_the_minimum() {
    let second = |_, _| Some(takes(1.0));
    let check = |minimum, budget, expected| {
        let (mut record, mut executor) = (record(2), Scripted::new(second));
        let stop = until(minimum, None, Some(budget), Goal::Budget);
        let (result, told) = listen(&plan(stop), &mut record, &mut executor);
        assert!(result.is_ok());
        assert_eq!(told.rounds.len(), expected, "minimum {minimum}, budget {budget}");
    };
    check(1, 10.0, 5);
    check(8, 10.0, 8);
    check(1, 0.1, 1);
}

#[test]
fn the_warm_up_is_marked_and_teaches_what_the_subjects_are_like() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    let mut plan = plan(Stop::Rounds(6));
    plan.warmup = 3;
    let (_, told) = listen(&plan, &mut record, &mut executor);
    assert_eq!((told.warmups, record.runs.iter().filter(|run| run.warmup).count()), (3, 6));
    assert!(record.runs[..6].iter().all(|run| run.warmup));
    let [learnt] = executor.adapted[..] else { panic!("{:?}", executor.adapted) };
    assert!(learnt.single_threaded && learnt.cpu_bound, "{learnt:?}");
    assert!((0.9..=1.1).contains(&learnt.longest_run), "{learnt:?}");

    plan.conditioning = Conditioning::Given;
    let mut executor = Scripted::new(noisy);
    let _ = listen(&plan, &mut self::record(2), &mut executor);
    assert_eq!(executor.adapted, [], "what the user said stays");
}

#[test]
fn without_a_warm_up_nothing_is_learnt() {
    let mut plan = plan(Stop::Rounds(6));
    plan.warmup = 0;
    let mut executor = Scripted::new(noisy);
    let (_, told) = listen(&plan, &mut record(2), &mut executor);
    assert_eq!((told.warmups, executor.adapted.len()), (0, 0));
}

#[test]
fn every_round_has_every_subject_once_and_one_padding() {
    let (mut record, mut executor) = (record(3), Scripted::new(noisy));
    let _ = listen(&plan(Stop::Rounds(12)), &mut record, &mut executor);
    for round in 0..12 {
        let runs: Vec<_> = record.runs.iter().filter(|r| !r.warmup && r.round == round).collect();
        let mut subjects: Vec<usize> = runs.iter().map(|run| run.subject).collect();
        subjects.sort_unstable();
        assert_eq!(subjects, [0, 1, 2]);
        assert!(runs.iter().all(|run| run.padding == runs[0].padding));
    }
    let paddings: std::collections::BTreeSet<u32> = record.runs.iter().map(|r| r.padding).collect();
    assert!(paddings.len() > 8, "the layout changes from round to round: {paddings:?}");
}

#[test]
fn a_session_broken_off_anywhere_goes_on_as_if_it_had_not_been() {
    let plan = plan(Stop::Rounds(9));
    let mut unbroken = record(2);
    let _ = listen(&plan, &mut unbroken, &mut Scripted::new(noisy));
    assert_eq!(unbroken.runs.len(), 20);
    for kept in 0..=unbroken.runs.len() {
        let mut resumed = record(2);
        resumed.runs = unbroken.runs[..kept].to_vec().into();
        let mut executor = Scripted::new(noisy);
        let (result, _) = listen(&plan, &mut resumed, &mut executor);
        assert!(result.is_ok());
        assert_eq!(schedule_of(&resumed), schedule_of(&unbroken), "{kept} runs were kept");
        // Whole rounds are not repeated.
        assert_eq!(executor.total(), 20 - kept / 2 * 2, "{kept} runs were kept");
    }
}

#[test]
fn a_decided_session_that_lost_only_its_end_makes_no_further_round() {
    let plan = plan(until(8, Some(100), None, Goal::Verdict));
    let mut record = record(2);
    let _ = listen(&plan, &mut record, &mut Scripted::new(twice_as_slow));
    let before = schedule_of(&record);
    let mut executor = Scripted::new(twice_as_slow);
    let (_, told) = listen(&plan, &mut record, &mut executor);
    assert_eq!((schedule_of(&record), executor.total(), told.looks), (before, 0, vec![8]));
}

#[test]
fn the_time_before_a_break_counts_and_the_break_does_not() {
    let plan = plan(until(1, None, Some(10.0), Goal::Budget));
    let second = |_, _| Some(takes(1.0));
    let mut record = record(2);
    let mut first = Scripted::new(second);
    first.interrupt_after = 2 + 6;
    let _ = listen(&plan, &mut record, &mut first);
    assert_eq!(record.interrupted.take(), Some(Interruption::Signal { signal: 2 }));
    let mut second = Scripted::new(second);
    second.now = first.now + 1000.0;
    let (_, told) = listen(&plan, &mut record, &mut second);
    assert_eq!(told.rounds, [4, 5]);
}

#[test]
fn an_interruption_keeps_whole_rounds_and_is_no_failure() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    executor.interrupt_after = 2 + 7;
    let (result, _) = listen(&plan(Stop::Rounds(50)), &mut record, &mut executor);
    assert!(result.is_ok());
    assert_eq!(record.interrupted, Some(Interruption::Signal { signal: 2 }));
    assert_eq!(record.runs.len(), 2 + 6);

    let (mut early, mut executor) = (self::record(2), Scripted::new(noisy));
    executor.interrupt_after = 1;
    let (result, told) = listen(&plan(Stop::Rounds(50)), &mut early, &mut executor);
    assert!(result.is_ok() && early.runs.is_empty() && early.interrupted.is_some());
    assert_eq!(told.warmups, 0, "a part of a round is none");
}

#[test]
fn a_round_that_has_one_subject_twice_is_no_whole_round() {
    let mut record = record(2);
    let mut executor = Scripted::new(noisy);
    listen(&plan(Stop::Rounds(3)), &mut record, &mut executor).0.unwrap();
    let last = record.runs.pop().unwrap();
    let twice = record.runs.last().unwrap().clone();
    assert_ne!(last.subject, twice.subject);
    record.runs.push(twice);
    drop_unfinished_round(&mut record);
    assert_eq!(record.rounds(), 2);
}

#[test]
fn a_failing_subject_is_named_and_the_rounds_before_it_are_kept() {
    let fails = |subject, n| {
        let outcome = Outcome::Exited(if subject == 1 && n == 5 { 3 } else { 0 });
        noisy(subject, n).map(|step| Step { outcome, ..step })
    };
    let (mut record, mut executor) = (record(2), Scripted::new(fails));
    let (result, _) = listen(&plan(Stop::Rounds(50)), &mut record, &mut executor);
    let error = result.unwrap_err().to_string();
    assert_eq!(error, "`B` failed in round 5: exited with code 3");
    assert_eq!(record.runs.len(), 2 + 2 * 4);
    assert!(record.runs.iter().all(|run| run.outcome.is_success()));
}

#[test]
fn a_subject_that_cannot_be_started_ends_the_session_with_the_rounds_before_it() {
    let vanishes = |subject, n| noisy(subject, n).filter(|_| (subject, n) != (0, 4));
    let (mut record, mut executor) = (record(2), Scripted::new(vanishes));
    let (result, _) = listen(&plan(Stop::Rounds(50)), &mut record, &mut executor);
    assert_eq!(result.unwrap_err().to_string(), "it cannot be started");
    assert_eq!(record.runs.len(), 2 + 2 * 3);
    assert_eq!(record.interrupted, None);
}

#[test]
fn failures_that_the_user_accepts_are_measured_like_others() {
    let fails = |subject, n| noisy(subject, n).map(|s| Step { outcome: Outcome::Exited(7), ..s });
    let mut plan = plan(Stop::Rounds(6));
    plan.failure = FailurePolicy::IgnoreCodes(vec![7]);
    let mut record = record(2);
    let (result, _) = listen(&plan, &mut record, &mut Scripted::new(fails));
    assert!(result.is_ok());
    assert_eq!(record.measured(0).count(), 6);
}

#[test]
fn late_evidence_lands_in_the_runs_that_it_is_about() {
    for window in [1, 2, 3, 5, 100] {
        for interrupt_after in [usize::MAX, 5, 8] {
            let (mut record, mut executor) = (record(2), Scripted::new(noisy));
            (executor.window, executor.interrupt_after) = (window, interrupt_after);
            let _ = listen(&plan(Stop::Rounds(7)), &mut record, &mut executor);
            assert!(!record.runs.is_empty());
            for run in &record.runs {
                assert_eq!(run.evidence().window, Some(run.started), "window of {window} runs");
            }
        }
    }
}

#[test]
fn a_failed_run_takes_its_evidence_with_it() {
    let fails = |subject, n| {
        let outcome = Outcome::Signalled(if (subject, n) == (0, 3) { 11 } else { 0 });
        let ends = if (subject, n) == (0, 3) { outcome } else { Outcome::Exited(0) };
        noisy(subject, n).map(|step| Step { outcome: ends, ..step })
    };
    let (mut record, mut executor) = (record(2), Scripted::new(fails));
    executor.window = 100;
    let (result, _) = listen(&plan(Stop::Rounds(7)), &mut record, &mut executor);
    assert!(result.unwrap_err().to_string().contains("signal 11 (SIGSEGV)"));
    for run in &record.runs {
        assert_eq!(run.evidence().window, Some(run.started));
    }
}

#[test]
fn a_plan_that_cannot_decide_says_so_before_the_first_measured_round() {
    let check = |stop, subjects, expected: &[(u32, u32)]| {
        let (_, told) = listen(&plan(stop), &mut record(subjects), &mut Scripted::new(noisy));
        assert_eq!(told.undecidable, expected);
    };
    check(Stop::Rounds(3), 2, &[(3, 6)]);
    check(Stop::Rounds(3), 1, &[]);
    check(Stop::Rounds(20), 2, &[]);
    // A round takes about two seconds, and half of that once the first, cold one is over.
    check(until(1, None, Some(3.5), Goal::Verdict), 2, &[(4, 6)]);
    check(until(1, None, Some(30.0), Goal::Verdict), 2, &[]);
}

#[test]
fn a_precision_is_reached_for_the_widest_of_all_subjects() {
    // B scatters much more than A, so that A alone would stop earlier.
    let wide = |subject, n| {
        let deviation = noisy(subject, n)?.wall - 1.0;
        Some(takes(1.0 + deviation * if subject == 1 { 4.0 } else { 1.0 }))
    };
    let rounds = |subjects: usize, target| {
        let stop = until(8, Some(400), None, Goal::Precision(target));
        let mut record = record(subjects);
        let (_, told) = listen(&plan(stop), &mut record, &mut Scripted::new(wide));
        told.rounds.len()
    };
    let (alone, both) = (rounds(1, 0.05), rounds(2, 0.05));
    assert!(alone < both && both <= 400, "{alone} {both}");
    assert!(rounds(1, 0.5) < 20);
}

#[test]
fn values_that_never_differ_are_precise_at_the_first_look() {
    let stop = until(8, Some(400), None, Goal::Precision(0.001));
    let mut record = record(1);
    let (_, told) = listen(&plan(stop), &mut record, &mut Scripted::new(|_, _| Some(takes(0.5))));
    assert_eq!(told.rounds.len(), 8);
}

/// Rounds of two runs; the runs with these numbers, warm-up counted, were disturbed.
fn disturbed_at(n: usize) -> u64 {
    u64::from(matches!(n, 5 | 15 | 20 | 21 | 24)) * 50
}

fn redo(stop: Stop) -> Plan {
    Plan { on_disturbance: OnDisturbance::Redo, ..plan(stop) }
}

/// The measured rounds of a record: order of the subjects, padding, and whether it was discarded.
fn rounds_of(record: &Record) -> Vec<(Vec<usize>, u32, bool)> {
    let measured: Vec<_> = record.runs.iter().filter(|run| !run.warmup).collect();
    let round = |runs: &[&becalm_model::Run]| {
        assert!(runs.iter().all(|run| run.discarded == runs[0].discarded));
        let order = runs.iter().map(|run| run.subject).collect();
        (order, runs[0].padding, runs[0].discarded)
    };
    measured.chunks(record.subjects.len()).map(round).collect()
}

#[test]
fn a_disturbed_round_is_made_again_as_it_was_whichever_subject_was_hit() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    executor.faults = disturbed_at;
    let (result, told) = listen(&redo(Stop::Rounds(20)), &mut record, &mut executor);
    assert!(result.is_ok());
    // Runs 0 and 1 are the warm-up. Run 5 is of round 1, when nothing could say what is usual.
    assert_eq!(told.discarded, [6, 9, 11]);
    assert_eq!((record.rounds(), record.discarded_rounds()), (20, 3));
    assert_eq!(told.rounds.last(), Some(&20));

    let mut undisturbed = self::record(2);
    let _ = listen(&plan(Stop::Rounds(20)), &mut undisturbed, &mut Scripted::new(noisy));
    let made = rounds_of(&record);
    let expected = rounds_of(&undisturbed);
    // The second attempt has the order and the padding of the first; all others are as planned.
    for (again, first) in [(7, 6), (10, 9), (12, 11)] {
        assert_eq!((&made[again].0, made[again].1), (&made[first].0, made[first].1));
    }
    let kept: Vec<_> = made.into_iter().filter(|round| !round.2).collect();
    assert_eq!(kept, expected);
    let comparison = &comparisons(&record, &plan(Stop::Rounds(20)).judgement, &Shape::single())[0];
    assert_eq!((comparison.rounds, comparison.discarded_rounds), (20, 3));
    let causes = causes(&record);
    let disturbed: Vec<usize> = (0..causes.len()).filter(|&run| !causes[run].is_empty()).collect();
    assert_eq!(disturbed, [5, 15, 20, 21, 24]);
}

#[test]
fn where_disturbed_rounds_are_kept_nothing_is_made_again() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    executor.faults = disturbed_at;
    let (_, told) = listen(&plan(Stop::Rounds(20)), &mut record, &mut executor);
    assert_eq!((told.discarded.len(), record.rounds(), record.discarded_rounds()), (0, 20, 0));
}

#[test]
fn at_most_a_third_more_rounds_are_made() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    // Two of five runs, each far above the others.
    executor.faults = |n| if n % 5 < 2 { 100 * n as u64 + 100 } else { 0 };
    let _ = listen(&redo(Stop::Rounds(20)), &mut record, &mut executor);
    assert_eq!((record.rounds(), record.discarded_rounds()), (20, 6));
}

#[test]
fn a_session_with_discarded_rounds_broken_off_anywhere_goes_on_as_if_it_had_not_been() {
    let plan = redo(Stop::Rounds(12));
    let make = |record: &mut Record, made: usize| {
        let mut executor = Scripted::new(noisy);
        executor.faults = disturbed_at;
        // The script goes on where the record ends.
        executor.made[7] = made;
        let (result, told) = listen(&plan, record, &mut executor);
        assert!(result.is_ok());
        told
    };
    let mut unbroken = record(2);
    make(&mut unbroken, 0);
    assert_eq!((unbroken.rounds(), unbroken.discarded_rounds()), (12, 3));
    for kept in 0..=unbroken.runs.len() {
        let mut resumed = record(2);
        resumed.runs = unbroken.runs[..kept].to_vec().into();
        // At that moment only the rounds before had been judged.
        let made = (kept / 2).saturating_sub(1);
        for run in resumed.runs.iter_mut().filter(|run| !run.warmup) {
            run.discarded &= (run.round as usize + 1) < made;
        }
        make(&mut resumed, kept / 2 * 2);
        assert_eq!(schedule_of(&resumed), schedule_of(&unbroken), "{kept} runs were kept");
        assert_eq!(rounds_of(&resumed), rounds_of(&unbroken), "{kept} runs were kept");
    }
}

#[test]
fn looks_count_the_rounds_that_were_kept_and_are_not_taken_twice() {
    let goal = until(8, Some(30), None, Goal::Verdict);
    let mut strict = redo(goal);
    strict.judgement.margin = 0.0;
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    executor.faults = disturbed_at;
    let (_, told) = listen(&strict, &mut record, &mut executor);
    assert_eq!((told.discarded.len(), record.rounds()), (3, 30));
    assert_eq!(told.looks, [8, 10, 13, 16, 20, 25]);
}

#[test]
fn how_long_was_waited_stands_at_the_first_run_of_each_round() {
    let (mut record, mut executor) = (record(2), Scripted::new(noisy));
    (executor.settles, executor.window) = (true, 5);
    let _ = listen(&plan(Stop::Rounds(7)), &mut record, &mut executor);
    for run in &record.runs {
        let expected = (run.order == 0).then_some(run.started);
        assert_eq!(run.evidence().settle_wait, expected);
    }
    settle_note(&mut record);
    settle_note(&mut record);
    let [Note::Session(SessionNote::Settled { rounds, waited, .. })] = record.notes[..] else {
        panic!("{:?}", record.notes);
    };
    assert_eq!((rounds, waited), (8, 7));
}
