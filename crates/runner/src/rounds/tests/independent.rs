//! Subjects that share a session and nothing else.

use super::*;

fn rounds(warmup: u32, rounds: u32) -> OwnTerms {
    OwnTerms { warmup, stop: Stop::Rounds(rounds) }
}

fn seconds(budget: f64) -> OwnTerms {
    OwnTerms { warmup: 1, stop: until(1, None, Some(budget), Goal::Budget) }
}

fn each(terms: Vec<OwnTerms>) -> Plan {
    let independent = Some(Independent { terms, on_failure: OnFailure::LeaveOut });
    Plan { independent, ..plan(until(0, None, None, Goal::Budget)) }
}

/// How many measured runs each subject has.
fn counts(record: &Record) -> Vec<usize> {
    (0..record.subjects.len()).map(|subject| record.measured(subject).count()).collect()
}

#[test]
fn each_subject_takes_part_until_its_own_end() {
    let (mut record, mut executor) = (record(3), Scripted::new(|_, _| Some(takes(1.0))));
    let plan = each(vec![rounds(1, 4), rounds(3, 2), seconds(6.5)]);
    let (result, told) = listen(&plan, &mut record, &mut executor);
    assert!(result.unwrap().is_empty());
    assert_eq!(counts(&record), [4, 2, 7], "budgets count runs and not what others take meanwhile");
    let warmups = |subject| record.runs.iter().filter(|r| r.warmup && r.subject == subject).count();
    assert_eq!([0, 1, 2].map(warmups), [1, 3, 1]);
    assert_eq!((told.warmups, told.warmed_up, told.rounds.len()), (3, 1, 7));
    // Interleaved: the first two rounds have everybody, the last ones have one.
    let of_round = |round| record.runs.iter().filter(|r| !r.warmup && r.round == round).count();
    assert_eq!((0..7).map(of_round).collect::<Vec<_>>(), [3, 3, 2, 2, 1, 1, 1]);
    assert_eq!(executor.adapted.len(), 1);
}

#[test]
fn broken_off_anywhere_it_goes_on_as_if_it_had_not_been() {
    let plan = each(vec![rounds(1, 4), rounds(2, 2), seconds(6.5)]);
    let make = |record: &mut Record, after| {
        let mut executor = Scripted::new(|_, _| Some(takes(1.0)));
        executor.interrupt_after = after;
        executor.now = record.runs.last().map_or(0.0, |run| run.started + 1.0);
        let (result, _) = listen(&plan, record, &mut executor);
        assert!(result.unwrap().is_empty());
        record.interrupted.take()
    };
    let mut unbroken = record(3);
    assert_eq!(make(&mut unbroken, usize::MAX), None);
    for after in 1..unbroken.runs.len() {
        let mut broken = record(3);
        assert!(make(&mut broken, after).is_some());
        assert_eq!(broken.runs.len(), after, "no finished run is dropped");
        make(&mut broken, usize::MAX);
        assert_eq!(schedule_of(&broken), schedule_of(&unbroken), "after {after} runs");
        make(&mut broken, usize::MAX);
        assert_eq!(broken.runs.len(), unbroken.runs.len(), "what is over stays so");
    }
}

#[test]
fn a_subject_that_fails_is_left_out_and_the_others_go_on() {
    let breaks = |subject, n| {
        let outcome = Outcome::Exited(if subject == 1 && n == 2 { 3 } else { 0 });
        noisy(subject, n).filter(|_| subject != 2).map(|step| Step { outcome, ..step })
    };
    let plan = each(vec![rounds(1, 5); 3]);
    let (mut record, mut executor) = (record(3), Scripted::new(breaks));
    executor.window = 100;
    let (result, _) = listen(&plan, &mut record, &mut executor);
    let left_out = result.unwrap();
    let told: Vec<String> =
        left_out.iter().map(|one| format!("{} {}", one.subject, one.error)).collect();
    assert_eq!(told, ["2 it cannot be started", "1 `B` failed in round 2: exited with code 3"]);
    assert_eq!(counts(&record), [5, 1, 0]);
    assert!(record.runs.iter().all(|run| run.evidence().window == Some(run.started)));
    assert_eq!(executor.adapted.len(), 1, "the others have taught what they are like");

    // Repaired, they catch up.
    let (result, _) = listen(&plan, &mut record, &mut Scripted::new(noisy));
    assert!(result.unwrap().is_empty());
    assert_eq!(counts(&record), [5, 5, 5]);
}

#[test]
fn the_session_ends_with_the_first_failure_where_that_is_wanted() {
    let breaks = |subject, n| noisy(subject, n).filter(|_| (subject, n) != (1, 3));
    let mut plan = each(vec![rounds(1, 5); 2]);
    plan.independent.as_mut().unwrap().on_failure = OnFailure::End;
    let mut record = record(2);
    let (result, _) = listen(&plan, &mut record, &mut Scripted::new(breaks));
    assert_eq!(result.unwrap_err().to_string(), "it cannot be started");
    assert_eq!(counts(&record)[1], 2);
}

#[test]
fn the_end_of_the_whole_session_ends_everybody() {
    let mut plan = each(vec![rounds(1, 50); 2]);
    plan.stop = until(0, None, Some(10.0), Goal::Budget);
    let (mut record, mut executor) = (record(2), Scripted::new(|_, _| Some(takes(1.0))));
    let (result, told) = listen(&plan, &mut record, &mut executor);
    assert!(result.is_ok());
    assert_eq!((counts(&record), told.rounds.len()), (vec![5, 5], 5));
}

#[test]
fn what_was_waited_for_a_calm_machine_is_nobodys_own() {
    let mut record = record(2);
    let _ =
        listen(&plan(Stop::Rounds(3)), &mut record, &mut Scripted::new(|_, _| Some(takes(1.0))));
    record.runs[4].evidence.as_mut().unwrap().settle_wait = Some(2.0);
    for run in &mut record.runs[4..] {
        run.started += 2.5;
    }
    let spent = spent(&record, |run| !run.warmup);
    assert_eq!(spent.iter().map(|one| one.runs).collect::<Vec<_>>(), [3, 3]);
    let seconds: f64 = spent.iter().map(|one| one.seconds).sum();
    assert!((seconds - 6.5).abs() < 1e-9, "{seconds}");
}
