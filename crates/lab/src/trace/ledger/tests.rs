//! The state machine on made sequences of events.

use super::{Ledger, Mode, Rules};
use crate::trace::account::{Account, Who};
use crate::trace::event::{Comm, Function, Layer, LayerKey, Left, Tid, TraceEvent, What};
use crate::trace::timeline::Ran;

const OWNER: u32 = 10;
const SUBJECT: Tid = Tid(100);
const HOG: Tid = Tid(200);
const WORKER: Tid = Tid(300);
const DISK: Layer = Layer::Interrupt(36);
const TIMER: Layer = Layer::Vector(0);
const RCU: Layer = Layer::Softirq(9);
const TICK: Function = Function(0xf00);
const WRITEBACK: Function = Function(0xb00);

/// Microseconds between ticks.
const PERIOD: u64 = 4000;

/// Events in time order; the task on a CPU is known from them.
struct Script {
    ledger: Ledger,
    present: [Tid; 2],
}

impl Script {
    fn new() -> Self {
        let rules = Rules { owner: OWNER, tick: PERIOD * 1000, fault_overhead: 0 };
        Self { ledger: Ledger::new(rules, Mode::Subjects, 2), present: [Tid::IDLE; 2] }
    }

    /// A subject that becalm has started on CPU 0 and that executes at the microsecond 1000.
    fn running() -> Self {
        let mut script = Self::new();
        let (process, by) = (SUBJECT.0, Tid(OWNER));
        script
            .switch(1, 1, by, Left::Ready)
            .then(900, 1, What::Fork { parent: OWNER, process, tid: SUBJECT, by })
            .then(910, 1, What::Wakeup { tid: SUBJECT, target: 0 })
            .switch(920, 0, SUBJECT, Left::Ready)
            .then(1000, 0, What::Exec { tid: SUBJECT });
        script
    }

    fn then(&mut self, micros: u64, cpu: u32, what: What) -> &mut Self {
        let tid = self.present[cpu as usize];
        self.ledger.take(&TraceEvent { at: micros * 1000, cpu, tid, what });
        self
    }

    /// The present task leaves and another one comes.
    fn switch(&mut self, micros: u64, cpu: u32, next: Tid, left: Left) -> &mut Self {
        let previous = self.present[cpu as usize];
        let comm = Comm::new(format!("t{}", next.0).as_bytes());
        self.then(micros, cpu, What::Switch { left, previous, next, comm });
        self.present[cpu as usize] = next;
        self
    }

    fn exit(&mut self, micros: u64, cpu: u32) -> &mut Self {
        let what = What::Exit { process: SUBJECT.0, tid: SUBJECT };
        self.then(micros, cpu, what)
    }

    /// Ends the script and compares what was taken, in microseconds; the rest must be the subject's own.
    #[track_caller]
    fn check(&mut self, own: u64, expected: &[(Who, u64)]) -> Account {
        let mut closed = self.ledger.take_closed();
        assert_eq!(closed.len(), 1, "{closed:?}");
        let account = closed.remove(0);
        let mut found: Vec<(Who, u64)> =
            account.taken.iter().map(|(&who, amount)| (who, amount.nanos / 1000)).collect();
        let mut expected = expected.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(account.own / 1000, own);
        account
    }
}

fn task(tid: Tid) -> Who {
    Who::Task { tid, work: None }
}

fn layer(layer: Layer) -> Who {
    Who::Layer { layer: LayerKey::of(layer).unwrap(), timer: None }
}

#[test]
fn a_subject_that_nobody_disturbs_has_all_its_time() {
    let account = Script::running().exit(3000, 0).check(2000, &[]);
    assert_eq!((account.started, account.ended), (1_000_000, 3_000_000));
    assert_eq!((account.threads, account.processes), (1, 1));
}

#[test]
fn a_timeline_has_everybody_on_every_cpu_while_the_subject_lives() {
    let account = Script::running()
        .switch(1500, 0, HOG, Left::Ready)
        .then(1600, 1, What::Enter(DISK))
        .then(1700, 1, What::Leave(DISK))
        .switch(2000, 0, SUBJECT, Left::Ready)
        .exit(3000, 0)
        .check(1500, &[(task(HOG), 500)]);
    let timeline = &account.timeline;
    assert_eq!(timeline.from, 1_000_000);
    let on =
        |cpu, ran| timeline.lanes.get(&(cpu, ran)).map(|lane| lane.values().sum::<u64>() / 1000);
    assert_eq!(on(0, Ran::Subject), Some(1500));
    assert_eq!(on(0, Ran::Task(HOG)), Some(500));
    assert_eq!(on(1, Ran::Layer(LayerKey::of(DISK).unwrap())), Some(100));
    assert_eq!(on(1, Ran::Task(Tid(OWNER))), Some(1900), "up to the end of the subject");
    assert_eq!(timeline.names[&HOG].text(), "t200");
    let lane = &timeline.lanes[&(0, Ran::Task(HOG))];
    assert_eq!(lane.keys().next(), Some(&(500_000 / timeline.width)), "when it came");
}

#[test]
fn many_runs_keep_few_timelines_and_always_that_of_the_longest() {
    let mut script = Script::running();
    script.exit(9000, 0).switch(9010, 0, Tid::IDLE, Left::Dead);
    for run in 1..200_u64 {
        let (process, by, from) = (SUBJECT.0, Tid(OWNER), run * 10_000);
        script
            .then(from, 1, What::Fork { parent: OWNER, process, tid: SUBJECT, by })
            .then(from + 10, 1, What::Wakeup { tid: SUBJECT, target: 0 })
            .switch(from + 20, 0, SUBJECT, Left::Ready)
            .then(from + 100, 0, What::Exec { tid: SUBJECT })
            .exit(from + 1000, 0)
            .switch(from + 1010, 0, Tid::IDLE, Left::Dead);
    }
    let closed = script.ledger.take_closed();
    let kept = closed.iter().filter(|account| !account.timeline.lanes.is_empty()).count();
    assert!(closed.len() == 200 && (20..=80).contains(&kept), "{} {kept}", closed.len());
    assert!(!closed[0].timeline.lanes.is_empty());
}

#[test]
fn whoever_has_the_cpu_while_the_subject_is_ready_is_charged() {
    let account = Script::running()
        .switch(1500, 0, HOG, Left::Ready)
        .switch(2100, 0, SUBJECT, Left::Asleep)
        .switch(2500, 0, HOG, Left::Ready)
        .switch(2700, 0, SUBJECT, Left::Asleep)
        .exit(3000, 0)
        .check(1200, &[(task(HOG), 800)]);
    let hog = account.taken[&task(HOG)];
    assert_eq!((hog.times, hog.longest), (2, 600_000));
}

#[test]
fn an_interrupt_in_a_softirq_in_a_switch_is_told_apart() {
    Script::running()
        .switch(1500, 0, HOG, Left::Ready)
        .then(1600, 0, What::Enter(RCU))
        .then(1650, 0, What::Enter(DISK))
        .then(1750, 0, What::Leave(DISK))
        .then(1800, 0, What::Leave(RCU))
        .switch(2000, 0, SUBJECT, Left::Asleep)
        .exit(3000, 0)
        .check(1500, &[(task(HOG), 300), (layer(RCU), 100), (layer(DISK), 100)]);
}

#[test]
fn interrupts_on_top_of_the_subject_are_no_time_of_its_own() {
    let account = Script::running()
        .then(1200, 0, What::Enter(DISK))
        .then(1230, 0, What::Leave(DISK))
        .then(1230, 0, What::Enter(RCU))
        .then(1300, 0, What::Leave(RCU))
        .exit(2000, 0)
        .check(900, &[(layer(DISK), 30), (layer(RCU), 70)]);
    assert_eq!(account.interrupted, 100_000);
    assert_eq!(account.on_cpu, 1_080_000);
}

#[test]
fn a_timer_is_charged_with_the_interrupt_that_it_caused() {
    let timer = |function| What::Enter(Layer::Timer(function));
    let end = What::Leave(Layer::Timer(Function(0)));
    let named =
        |function| Who::Layer { layer: LayerKey::of(TIMER).unwrap(), timer: Some(function) };
    Script::running()
        .then(1200, 0, What::Enter(TIMER))
        .then(1204, 0, timer(TICK))
        .then(1210, 0, end)
        .then(1220, 0, What::Leave(TIMER))
        // Two timers in one interrupt share the way in and out.
        .then(1300, 0, What::Enter(TIMER))
        .then(1310, 0, timer(TICK))
        .then(1330, 0, end)
        .then(1330, 0, timer(WRITEBACK))
        .then(1334, 0, end)
        .then(1340, 0, What::Leave(TIMER))
        // And one without any is nobody's.
        .then(1400, 0, What::Enter(TIMER))
        .then(1405, 0, What::Leave(TIMER))
        .exit(2000, 0)
        .check(935, &[(named(TICK), 48), (named(WRITEBACK), 12), (layer(TIMER), 5)]);
}

#[test]
fn a_worker_is_charged_by_what_it_works_on() {
    Script::running()
        .switch(1500, 0, WORKER, Left::Ready)
        .then(1510, 0, What::WorkStart(WRITEBACK))
        .then(1710, 0, What::WorkEnd)
        .switch(1720, 0, SUBJECT, Left::Asleep)
        .exit(2000, 0)
        .check(780, &[(task(WORKER), 20), (Who::Task { tid: WORKER, work: Some(WRITEBACK) }, 200)]);
}

#[test]
fn sleeping_waking_and_being_held_back_are_told_apart() {
    Script::running()
        // It sleeps for 300, and an idle CPU takes 50 to notice that it is ready.
        .switch(1100, 0, Tid::IDLE, Left::Asleep)
        .then(1400, 1, What::Wakeup { tid: SUBJECT, target: 0 })
        .switch(1450, 0, SUBJECT, Left::Ready)
        // It waits for a disk.
        .switch(1500, 0, Tid::IDLE, Left::Blocked)
        .then(1700, 1, What::Wakeup { tid: SUBJECT, target: 0 })
        .switch(1710, 0, SUBJECT, Left::Ready)
        // A quota holds it back: it is ready, and its CPU does nothing.
        .switch(1800, 0, Tid::IDLE, Left::Ready)
        .switch(2300, 0, SUBJECT, Left::Ready)
        // A signal stops it.
        .switch(2400, 0, HOG, Left::Stopped)
        .then(2600, 1, What::Wakeup { tid: SUBJECT, target: 0 })
        .switch(2650, 0, SUBJECT, Left::Asleep)
        .exit(3000, 0)
        .check(
            690,
            &[
                (Who::Asleep, 300),
                (Who::WakeUp, 60),
                (Who::Blocked, 200),
                (Who::HeldBack, 500),
                (Who::Stopped, 200),
                (task(HOG), 50),
            ],
        );
}

#[test]
fn a_subject_that_moves_is_charged_by_the_cpu_on_which_it_waits() {
    Script::running()
        .switch(1100, 0, HOG, Left::Ready)
        .switch(1150, 1, WORKER, Left::Ready)
        .then(1300, 1, What::Migrate { tid: SUBJECT, target: 1 })
        .switch(1400, 1, SUBJECT, Left::Asleep)
        // What CPU 0 does is nothing to it any more.
        .then(1450, 0, What::Enter(DISK))
        .then(1550, 0, What::Leave(DISK))
        .exit(2000, 1)
        .check(700, &[(task(HOG), 200), (task(WORKER), 100)]);
}

#[test]
fn page_faults_last_from_their_start_to_their_end_with_the_disk_in_between() {
    Script::running()
        .then(1100, 0, What::FaultStart)
        .then(1102, 0, What::FaultEnd { major: false })
        .then(1200, 0, What::FaultStart)
        .switch(1210, 0, Tid::IDLE, Left::Blocked)
        .then(1600, 1, What::Wakeup { tid: SUBJECT, target: 0 })
        .switch(1610, 0, SUBJECT, Left::Ready)
        .then(1620, 0, What::FaultEnd { major: true })
        // A wild pointer has no end; its time stays the subject's.
        .then(1700, 0, What::FaultStart)
        .then(1800, 0, What::FaultStart)
        .then(1801, 0, What::FaultEnd { major: false })
        .exit(2000, 0)
        .check(
            577,
            &[
                (Who::Fault { major: false }, 3),
                (Who::Fault { major: true }, 410),
                (Who::WakeUp, 10),
            ],
        );
}

#[test]
fn the_way_into_a_fault_and_back_is_a_part_of_it() {
    let mut script = Script::running();
    script.ledger.set_fault_overhead(2000);
    script
        .then(1100, 0, What::FaultStart)
        .then(1105, 0, What::FaultEnd { major: false })
        .exit(2000, 0)
        .check(993, &[(Who::Fault { major: false }, 7)]);
}

#[test]
fn lost_events_are_time_that_nobody_knows() {
    Script::running()
        .switch(1500, 0, HOG, Left::Ready)
        .then(1900, 0, What::Lost(17))
        // The next event tells who is there.
        .then(2000, 0, What::FaultStart)
        .switch(2100, 0, SUBJECT, Left::Asleep)
        .exit(3000, 0)
        .check(1400, &[(Who::Unknown, 500), (task(HOG), 100)]);
}

#[test]
fn where_a_subject_went_unseen_is_unknown_until_it_is_seen_again() {
    let mut script = Script::running();
    script.then(1900, 0, What::Lost(1));
    // It has gone to sleep, and nobody saw that.
    script.present[0] = Tid::IDLE;
    script
        .then(2000, 0, What::Enter(TIMER))
        .then(2010, 0, What::Leave(TIMER))
        .then(8000, 0, What::Wakeup { tid: SUBJECT, target: 0 })
        .switch(8010, 0, SUBJECT, Left::Asleep)
        .exit(9000, 0)
        .check(1090, &[(Who::Unknown, 6900), (Who::WakeUp, 10)]);
}

#[test]
fn a_subject_is_on_one_cpu_at_a_time_whatever_was_lost() {
    let mut script = Script::running();
    script.then(1500, 0, What::Lost(1));
    // It was preempted there, which is lost, and comes to the other CPU, which is seen.
    script.switch(2000, 1, SUBJECT, Left::Asleep);
    script.present[0] = HOG;
    script
        .then(3000, 0, What::Enter(TIMER))
        .then(3010, 0, What::Leave(TIMER))
        .switch(3500, 0, Tid::IDLE, Left::Asleep)
        .exit(4000, 1)
        .check(2000, &[(Who::Unknown, 500)]);
}

#[test]
fn a_switch_that_was_lost_is_made_up_for_by_the_next_event() {
    let mut script = Script::running();
    script.switch(1500, 0, HOG, Left::Ready).then(1900, 0, What::Lost(1));
    // The subject is back, and nobody saw it come.
    script.present[0] = SUBJECT;
    script
        .then(1950, 0, What::Enter(DISK))
        .then(1960, 0, What::Leave(DISK))
        .exit(3000, 0)
        .check(1540, &[(Who::Unknown, 450), (layer(DISK), 10)]);
}

#[test]
fn a_silent_cpu_was_taken_from_outside() {
    let mut script = Script::running();
    let tick = |script: &mut Script, at| {
        script.then(at, 0, What::Enter(TIMER)).then(at + 10, 0, What::Leave(TIMER));
    };
    tick(&mut script, 2000);
    tick(&mut script, 6000);
    // A tick is due at 10000 and comes at 16000, 14000 after the last sign of life: the CPU stood
    // still for 10000 at least, 12000 at a guess.
    tick(&mut script, 20010);
    script.exit(20100, 0).check(7070, &[(layer(TIMER), 30), (Who::Gap, 12_000)]);
}

#[test]
fn a_little_late_is_not_outside() {
    Script::running()
        .then(1001, 0, What::FaultStart)
        .then(1001, 0, What::FaultEnd { major: false })
        .exit(1001 + PERIOD + PERIOD / 8, 0)
        .check(PERIOD + PERIOD / 8 + 1, &[]);
}

#[test]
fn children_and_threads_belong_to_the_subject() {
    let thread = Tid(101);
    let child = Tid(150);
    let by = SUBJECT;
    let born = |process, tid| What::Fork { parent: SUBJECT.0, process, tid, by };
    let account = Script::running()
        .then(1100, 0, born(SUBJECT.0, thread))
        .then(1100, 0, born(child.0, child))
        .then(1100, 0, What::Wakeup { tid: thread, target: 0 })
        .then(1100, 0, What::Wakeup { tid: child, target: 1 })
        .switch(1200, 1, child, Left::Ready)
        // The other thread waits for the first one, and then the first one for it.
        .switch(1300, 0, thread, Left::Ready)
        .switch(1400, 0, SUBJECT, Left::Ready)
        .then(1500, 1, What::Exit { process: child.0, tid: child })
        .then(1500, 0, What::Exit { process: SUBJECT.0, tid: thread })
        .exit(1600, 0)
        // 600 on CPU 0 and 300 on CPU 1; becalm had CPU 1 for 100 while the child was ready.
        .check(900, &[(Who::OwnThreads, 400), (task(Tid(OWNER)), 100)]);
    assert_eq!((account.threads, account.processes), (3, 2));
}

#[test]
fn who_is_still_there_at_the_end_of_the_subject_is_forgotten() {
    let child = Tid(150);
    let what = What::Fork { parent: SUBJECT.0, process: child.0, tid: child, by: SUBJECT };
    let mut script = Script::running();
    script.then(1100, 0, what).then(1100, 0, What::Wakeup { tid: child, target: 1 });
    script.exit(1200, 0).check(200, &[(task(Tid(OWNER)), 100)]);
    script.switch(1300, 1, child, Left::Ready).switch(1400, 1, HOG, Left::Ready);
    assert_eq!(script.ledger.take_closed(), []);
}

#[test]
fn the_end_may_come_in_the_middle_of_anything() {
    Script::running()
        .then(1100, 0, What::Enter(RCU))
        .then(1120, 0, What::FaultStart)
        .exit(1200, 0)
        .check(100, &[]);
}

#[test]
fn processes_of_others_are_no_subjects() {
    let mut script = Script::new();
    script.switch(1, 0, HOG, Left::Ready);
    let fork = What::Fork { parent: HOG.0, process: 201, tid: Tid(201), by: HOG };
    script.then(10, 0, fork).then(20, 0, What::Exit { process: 201, tid: Tid(201) });
    assert_eq!(script.ledger.take_closed(), []);
}

#[test]
fn after_a_pause_nothing_is_known_until_an_event_tells() {
    let mut script = Script::running();
    script.ledger.resume(5_000_000);
    script.exit(6000, 0);
    assert_eq!(script.ledger.take_closed(), []);
}

#[test]
fn every_cpu_can_be_watched_as_if_a_subject_waited_for_it() {
    let rules = Rules { owner: OWNER, tick: 0, fault_overhead: 0 };
    let mut script = Script { ledger: Ledger::new(rules, Mode::Watch, 2), present: [Tid::IDLE; 2] };
    script.ledger.resume(1_000_000);
    script
        .switch(1100, 0, HOG, Left::Ready)
        .then(1200, 0, What::Enter(DISK))
        .then(1230, 0, What::Leave(DISK))
        .switch(1300, 0, Tid::IDLE, Left::Asleep)
        .then(1400, 0, What::Enter(DISK))
        .then(1410, 0, What::Leave(DISK));
    let watched = script.ledger.watched(2_000_000);
    let taken = |who: Who| watched[0].nanos(who) / 1000;
    assert_eq!((taken(task(HOG)), taken(layer(DISK))), (170, 40));
    assert_eq!(watched[0].ended - watched[0].started, 1_000_000);
}

#[test]
fn the_first_event_of_a_cpu_tells_who_had_it_since_the_watch_began() {
    let rules = Rules { owner: OWNER, tick: PERIOD * 1000, fault_overhead: 0 };
    let mut script =
        Script { ledger: Ledger::new(rules, Mode::Watch, 2), present: [HOG, Tid::IDLE] };
    // What is recorded before the watch begins is no part of its timeline, which would begin with the machine.
    script.switch(500, 0, HOG, Left::Asleep).then(900, 0, What::WorkEnd);
    script.ledger.resume(1_000_000);
    script.switch(2500, 0, Tid::IDLE, Left::Asleep);
    let watched = script.ledger.watched(3_000_000);
    let timeline = &watched[0].timeline;
    assert_eq!(timeline.from, 1_000_000);
    assert_eq!(timeline.lanes[&(0, Ran::Task(HOG))].values().sum::<u64>(), 1_500_000);
    assert_eq!(watched[0].nanos(task(HOG)), 1_500_000 + 400_000);
    assert_eq!(watched[0].taken.len(), 1, "{:?}", watched[0].taken);
    // Nothing happened on the other one: it had nothing to do.
    assert!(watched[1].taken.is_empty(), "{:?}", watched[1].taken);
}
