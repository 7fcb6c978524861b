//! Runs of servers as real processes, with a scripted generator: nothing depends on how busy the machine is.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use becalm_machine::SysRoot;
use becalm_model::load::{
    Distrust, Failed, FailureKind, LoadCounts, MAIN_METRIC, Rates, RunLoad, Scenario, ServerTerms,
};
use becalm_model::terms::{Primary, RunTerms, Stop, Terms};
use becalm_model::{Metric, Record, RecordKind, Subject, Unit, Verdict, metric};
use becalm_runner::Interrupt;
use becalm_runner::conclude::{self, Shape};
use becalm_runner::rounds::{
    Call, Client, Executor as _, Hooks, RunError, RunRequest, Sent, ServerError, Spawn, Values,
    measure,
};
use becalm_testkit::wait_until;

use crate::layouts::Layouts;
use crate::plan::plan_of;
use crate::setup::{Machine, spawn_plan};

/// A generator whose servers are ready when a file exists, and whose loads go as a test says.
#[derive(Debug)]
struct Scripted {
    ready: PathBuf,
    metrics: Vec<Metric>,
    /// What the n-th load meets.
    load: fn(usize, &Path) -> Met,
    loads: Cell<usize>,
    seeds: RefCell<Vec<u64>>,
    urls: RefCell<Vec<String>>,
}

/// What a load meets.
enum Met {
    /// A server that answers.
    Answers,
    /// One that does not.
    Nothing,
    /// A generator that is late.
    Lag,
    /// A server that ends.
    End,
}

impl Client for Scripted {
    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn ask(&self, url: &str, _patience: Duration, _interrupt: &Interrupt) -> Result<(), String> {
        self.urls.borrow_mut().push(url.to_owned());
        // Each server makes it again.
        std::fs::remove_file(&self.ready).map_err(|error| error.to_string())
    }

    fn get(
        &self,
        url: &str,
        _of_load: &str,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        self.ask(url, patience, interrupt)
    }

    fn is_taken(&self, _url: &str) -> bool {
        self.ready.with_file_name("taken").exists()
    }

    fn warm_up(&self, _call: Call<'_>) -> Result<(), String> {
        Ok(())
    }

    fn load(&self, call: Call<'_>) -> Result<Sent, String> {
        let number = self.loads.replace(self.loads.get() + 1);
        self.seeds.borrow_mut().push(call.seed);
        let met = (self.load)(number, &self.ready);
        if matches!(met, Met::End) {
            let goes_on = RefCell::new(call.goes_on);
            wait_until("the server has ended", || !(goes_on.borrow_mut())());
        }
        let answered = if matches!(met, Met::Answers | Met::Lag) { 100 } else { 0 };
        let refused =
            Failed { kind: FailureKind::Refused, status: None, count: 100, example: None };
        let load = RunLoad {
            seed: call.seed,
            counts: LoadCounts { scheduled: 100, answered, ..LoadCounts::default() },
            elapsed: 1.0,
            errors: if answered == 0 { vec![refused] } else { vec![] },
            ..RunLoad::default()
        };
        let late = Distrust::Unsent { requests: 1, scheduled: 100 };
        let distrust = if matches!(met, Met::Lag) { vec![late] } else { vec![] };
        Ok(Sent { load, values: Values::default(), distrust })
    }
}

/// A generator for one subject, whose quantile is so many seconds.
#[derive(Debug)]
struct OfSubject(Rc<Scripted>, f64);

impl Client for OfSubject {
    fn metrics(&self) -> &[Metric] {
        self.0.metrics()
    }

    fn ask(&self, url: &str, patience: Duration, interrupt: &Interrupt) -> Result<(), String> {
        self.0.ask(url, patience, interrupt)
    }

    fn get(
        &self,
        url: &str,
        of_load: &str,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<(), String> {
        self.0.get(url, of_load, patience, interrupt)
    }

    fn is_taken(&self, url: &str) -> bool {
        self.0.is_taken(url)
    }

    fn warm_up(&self, call: Call<'_>) -> Result<(), String> {
        self.0.warm_up(call)
    }

    fn load(&self, call: Call<'_>) -> Result<Sent, String> {
        let mut sent = self.0.load(call)?;
        // A little of the round, as on a machine.
        let of_round = 1.0 + 1e-3 * (sent.load.seed % 7) as f64;
        sent.values = Values::default();
        sent.values.add(MAIN_METRIC, self.1 * of_round);
        Ok(sent)
    }
}

/// A session of servers in a folder of their own.
struct Bench {
    folder: tempfile::TempDir,
    client: Rc<Scripted>,
    machine: Machine,
    interrupt: Interrupt,
}

impl Bench {
    fn new(load: fn(usize, &Path) -> Met) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let client = Rc::new(Scripted {
            ready: folder.path().join("ready"),
            metrics: vec![Metric::lower(MAIN_METRIC, Unit::Second)],
            load,
            loads: Cell::new(0),
            seeds: RefCell::new(Vec::new()),
            urls: RefCell::new(Vec::new()),
        });
        let machine = Machine::read().unwrap();
        Self { folder, client, machine, interrupt: Interrupt::new().unwrap() }
    }

    /// Returns a shell's line with the folder in place of `%`.
    fn line(&self, text: &str) -> String {
        text.replace('%', self.folder.path().to_str().unwrap())
    }

    /// Does something with the servers of these commands of a shell.
    fn with<T>(
        &self,
        commands: &[&str],
        change: impl FnOnce(&mut ServerTerms),
        action: impl FnOnce(&mut Spawn<'_>) -> T,
    ) -> T {
        self.with_hooks(commands, &Hooks::default(), change, action)
    }

    /// The same with commands around each run.
    fn with_hooks<T>(
        &self,
        commands: &[&str],
        hooks: &Hooks,
        change: impl FnOnce(&mut ServerTerms),
        action: impl FnOnce(&mut Spawn<'_>) -> T,
    ) -> T {
        let mut server = ServerTerms {
            text: "rate=1".to_owned(),
            scenario: Scenario {
                stages: "1".parse::<Rates>().unwrap().stages(1.0),
                ..Scenario::default()
            },
            url: Some("http://127.0.0.1:{port}/".to_owned()),
            ready: None,
            keep: false,
        };
        change(&mut server);
        let runs = RunTerms { load: Some(Box::new(server)), ..RunTerms::default() };
        let terms = Terms { warmup: 0, runs, ..Terms::default() };
        let subjects: Vec<Subject> = commands
            .iter()
            .map(|text| {
                let words =
                    ["sh".to_owned(), "-c".to_owned(), self.line(text), "{port}".to_owned()];
                Subject::new(*text, words.to_vec())
            })
            .collect();
        let layouts = Layouts::default();
        let (mut plan, _) =
            spawn_plan(&terms, &subjects, (&[], &layouts), Vec::new(), None, None, &self.machine)
                .unwrap();
        for (index, subject) in plan.subjects.iter_mut().enumerate() {
            let seconds = 0.01 * (index + 1) as f64;
            subject.hooks = hooks.clone();
            let client = OfSubject(Rc::clone(&self.client), seconds);
            subject.serving.as_mut().unwrap().client = Rc::new(client);
        }
        let mut spawn = Spawn::new(plan, &self.machine.root, &self.interrupt, Duration::ZERO, None);
        action(&mut spawn)
    }

    fn run_one(&self, command: &str) -> Result<Values, RunError> {
        self.with(&[command], |_| {}, |spawn| spawn.run(request(0, 1)).map(|run| run.values))
    }

    fn refused(&self, command: &str) -> ServerError {
        match self.run_one(command).unwrap_err() {
            RunError::Server { source, .. } => *source,
            RunError::Said { error, .. } => match *error {
                RunError::Server { source, .. } => *source,
                other => panic!("{other}"),
            },
            other => panic!("{other}"),
        }
    }

    /// Returns the process ids that servers wrote into a file.
    fn written(&self, name: &str) -> Vec<String> {
        let text = SysRoot::new(self.folder.path()).read(format!("/{name}")).value();
        let text = text.unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn request(subject: usize, seed: u64) -> RunRequest {
    RunRequest { subject, padding: 0, layout: 0, seed }
}

/// A server that writes its id, has a child, and is ready at once.
const SERVER: &str = "echo $$ >> %/pids; sleep 1000 & echo $! >> %/pids; touch %/ready; wait";

fn is_gone(pid: &str) -> bool {
    // One that is not reaped yet has no files.
    SysRoot::default().link(format!("/proc/{pid}/exe")).is_none()
}

#[test]
fn a_server_is_started_loaded_and_stopped_with_all_that_it_started() {
    let bench = Bench::new(|_, _| Met::Answers);
    let values = bench.run_one(SERVER).unwrap();
    assert!(values.of(MAIN_METRIC).unwrap() >= 0.01);
    assert!(values.of(metric::WALL_TIME).unwrap() > 0.0);
    let pids = bench.written("pids");
    assert_eq!(pids.len(), 2);
    // What was killed may take a moment.
    wait_until("everything has ended", || pids.iter().all(|pid| is_gone(pid)));
}

#[test]
fn each_run_has_a_process_and_a_port_of_its_own_and_the_due_times_of_its_round() {
    let bench = Bench::new(|_, _| Met::Answers);
    let command = "echo $0 >> %/ports; touch %/ready; exec sleep 1000";
    bench.with(
        &[command, command],
        |_| {},
        |spawn| {
            for (subject, seed) in [(0, 7), (1, 7), (1, 8), (0, 8)] {
                let run = spawn.run(request(subject, seed)).unwrap();
                assert_eq!(run.load.unwrap().seed, seed);
            }
        },
    );
    assert_eq!(*bench.client.seeds.borrow(), [7, 7, 8, 8]);
    let ports = bench.written("ports");
    assert_eq!(ports.len(), 4);
    let urls = bench.client.urls.borrow();
    assert!(
        ports.iter().all(|port| urls.contains(&format!("http://127.0.0.1:{port}/"))),
        "{urls:?}"
    );
}

#[test]
fn hooks_learn_the_port_of_their_server() {
    let command = "echo $0 >> %/ports; touch %/ready; exec sleep 1000";
    for keep in [false, true] {
        let bench = Bench::new(|_, _| Met::Answers);
        let hook = |name: &str| Some(bench.line(&format!("echo {{port}} >> %/{name}")));
        let hooks = Hooks {
            prepare: hook("prepared"),
            conclude: hook("concluded"),
            cleanup: hook("cleaned"),
            ..Hooks::default()
        };
        bench.with_hooks(
            &[command],
            &hooks,
            |server| server.keep = keep,
            |spawn| {
                spawn.run(request(0, 1)).unwrap();
                spawn.run(request(0, 2)).unwrap();
                spawn.clean_up(&mut |_| {}).unwrap();
            },
        );
        let ports = bench.written("ports");
        assert_eq!(ports.len(), if keep { 1 } else { 2 });
        let of_runs = [&ports[0], &ports[ports.len() - 1]];
        for name in ["prepared", "concluded"] {
            assert!(bench.written(name).iter().eq(of_runs), "{name}: {ports:?}");
        }
        assert_eq!(bench.written("cleaned"), [of_runs[1].clone()]);
    }
}

#[test]
fn servers_that_stay_are_started_once_and_stopped_in_the_end() {
    let bench = Bench::new(|_, _| Met::Answers);
    bench.with(
        &[SERVER, SERVER],
        |server| server.keep = true,
        |spawn| {
            for subject in [0, 1, 1, 0] {
                let run = spawn.run(request(subject, 1)).unwrap();
                let wall = run.values.of(metric::WALL_TIME).unwrap();
                assert!(wall >= 0.0 && run.values.of(metric::MAX_RSS).is_some());
            }
            assert_eq!(bench.written("pids").len(), 4);
            assert!(bench.written("pids").iter().all(|pid| !is_gone(pid)));
            spawn.clean_up(&mut |_| {}).unwrap();
        },
    );
    let pids = bench.written("pids");
    wait_until("everything has ended", || pids.iter().all(|pid| is_gone(pid)));
}

#[test]
fn a_server_that_stays_and_leaves_something_that_listens_is_an_error_in_the_end() {
    let bench = Bench::new(|_, _| Met::Answers);
    let leaves = "touch %/ready; trap 'touch %/taken; exit' TERM; sleep 1000 & wait";
    let stopped = |is_interrupted: bool| {
        bench.with(
            &[leaves],
            |server| server.keep = true,
            |spawn| {
                spawn.run(request(0, 1)).unwrap();
                if is_interrupted {
                    bench.interrupt.raise(2);
                }
                spawn.clean_up(&mut |_| {})
            },
        )
    };
    let RunError::Server { source, .. } = stopped(false).unwrap_err() else { panic!() };
    assert!(matches!(*source, ServerError::StillThere { .. }), "{source}");
    std::fs::remove_file(bench.folder.path().join("taken")).unwrap();
    // After a signal nobody waits for that, and nothing has failed.
    stopped(true).unwrap();
    assert!(bench.folder.path().join("taken").exists());
}

#[test]
fn a_load_that_is_not_believed_is_repeated_with_the_same_due_times() {
    let bench = Bench::new(|number, _| if number < 2 { Met::Lag } else { Met::Answers });
    let run = bench.with(
        &[SERVER],
        |_| {},
        |spawn| {
            let run = spawn.run(request(0, 5)).unwrap();
            // The evidence of what was not used is nobody's.
            assert!(spawn.evidence(true).len() <= 1);
            run
        },
    );
    assert_eq!(run.load.unwrap().repeated.len(), 2);
    assert_eq!(*bench.client.seeds.borrow(), [5, 5, 5]);
}

#[test]
fn too_many_loads_that_are_not_believed_end_it_and_blame_nobody() {
    let bench = Bench::new(|_, _| Met::Lag);
    let error = bench.run_one(SERVER).unwrap_err();
    assert_eq!(error.at_fault(), None);
    let RunError::Server { source, .. } = &error else { panic!("{error}") };
    assert!(matches!(**source, ServerError::NotBelieved { invalid: 10, all: 10, .. }), "{error}");
    assert!(error.to_string().contains("the load was invalid in 10 of 10 runs"), "{error}");
}

#[test]
fn what_is_wrong_with_a_server_is_named() {
    let early = Bench::new(|_, _| Met::Answers);
    let error = early.run_one("echo no config >&2; exit 3").unwrap_err();
    assert_eq!(error.at_fault(), Some("echo no config >&2; exit 3"));
    let text = error.to_string();
    assert!(text.contains("exited with code 3 before it was ready"), "{text}");
    assert!(text.contains("no config"), "{text}");

    let silent = Bench::new(|_, _| Met::Nothing);
    let ServerError::NoAnswer { requests: 100, why } = silent.refused(SERVER) else { panic!() };
    assert_eq!(why, "connection refused");
    let pids = silent.written("pids");
    wait_until("everything has ended", || pids.iter().all(|pid| is_gone(pid)));

    let dies = Bench::new(|_, ready| {
        std::fs::create_dir(ready.with_file_name("end")).unwrap();
        Met::End
    });
    let dying = "touch %/ready; until test -e %/end; do sleep 0.01; done; echo lost >&2; exit 4";
    let error = dies.run_one(dying).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("exited with code 4 while requests were sent"), "{text}");
    assert!(text.contains("lost") && error.at_fault().is_some(), "{text}");
}

#[test]
fn a_server_that_was_told_to_end_did_not_fail_whatever_it_says() {
    let bench = Bench::new(|_, _| Met::Answers);
    for command in [
        "trap 'exit 9' TERM; touch %/ready; sleep 1000 & wait",
        "trap 'exit 0' TERM; touch %/ready; sleep 1000 & wait",
        "touch %/ready; exec sleep 1000",
    ] {
        bench.run_one(command).unwrap();
    }
}

#[test]
fn a_line_that_a_server_prints_shows_that_it_is_ready_wherever_it_prints_it() {
    for command in
        ["echo listening on $0; exec sleep 1000", "echo listening on $0 >&2; exec sleep 1000"]
    {
        let bench = Bench::new(|_, _| Met::Answers);
        let ready =
            |server: &mut ServerTerms| server.ready = Some("listening on {port}".to_owned());
        bench.with(&[command], ready, |spawn| spawn.run(request(0, 1)).map(drop)).unwrap();
        assert!(bench.client.urls.borrow().is_empty());
    }
}

#[test]
fn a_signal_ends_a_run_before_its_server_is_ready() {
    let bench = Bench::new(|_, _| Met::Answers);
    let command = "echo $$ >> %/pids; exec sleep 1000";
    bench.with(
        &[command],
        |_| {},
        |spawn| {
            std::thread::scope(|scope| {
                let (interrupt, bench) = (&bench.interrupt, bench.folder.path().join("pids"));
                scope.spawn(move || {
                    wait_until("the server has started", || bench.exists());
                    interrupt.raise(2);
                });
                spawn.run(request(0, 1)).unwrap_err();
            });
        },
    );
    let pids = bench.written("pids");
    wait_until("it has ended", || pids.iter().all(|pid| is_gone(pid)));
}

#[test]
fn a_server_of_double_response_time_is_slower_and_both_sides_have_the_same_due_times() {
    let bench = Bench::new(|_, _| Met::Answers);
    let command = "touch %/ready; exec sleep 1000";
    let record = bench.with(
        &[command, command],
        |_| {},
        |spawn| {
            let primary = Primary::Named(vec![MAIN_METRIC.to_owned()]);
            let terms = Terms { warmup: 0, stop: Stop::Rounds(8), ..Terms::default() };
            let plan = plan_of(&terms, primary, None, Vec::new());
            let mut record = Record {
                seed: 5,
                confidence: 0.95,
                metrics: spawn.metrics(),
                subjects: vec![Subject::new("old", vec![]), Subject::new("new", vec![])],
                ..Record::empty(RecordKind::Comparison)
            };
            measure(&plan, &mut record, spawn, &mut |_| {}).unwrap();
            record.comparisons =
                conclude::comparisons(&record, &plan.judgement, &Shape::of_session(&plan, &record));
            record
        },
    );
    let main = record.comparisons.iter().find(|one| one.primary).unwrap();
    assert_eq!(record.metrics[main.metric].name, MAIN_METRIC);
    assert_eq!(main.verdict, Verdict::Slower);
    let ratio = main.ratio.unwrap().estimate;
    assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    let mut seeds = BTreeMap::new();
    for run in &record.runs {
        let seed = run.load.as_ref().unwrap().seed;
        assert_eq!(*seeds.entry(run.round).or_insert(seed), seed);
    }
    let all: BTreeSet<u64> = seeds.into_values().collect();
    assert_eq!(all.len(), 8);
}
