//! The executor that starts real processes.

use std::io;
use std::time::Duration;

use becalm_machine::{Choice, Leases, SysRoot, Unrest, UnrestReader, Width, leased, shared};
use becalm_model::metric::CPU_MIGRATIONS;
use becalm_model::{Conditions, CpuSet, Evidence, KnobRecord, Metric, Outcome};

use super::executor::{Executor, Learnt, Measured, Request};
use super::hook::{Hook, run_hook};
use super::plan::{
    COMPETITION, Conditioning, FIFO_REST, LONGEST_FIFO_RUN, Rest, SHORTEST_FIFO_RUN,
};
use super::rest::RestDebt;
use super::settling::{
    BASELINE_LOOKS, BETWEEN_LOOKS, Baseline, Step, Unsettled, Wait, unsettled_limit,
};
use super::spawn_plan::{Cache, Expectation, Isolate, Isolated, RunError, SpawnPlan};
use crate::evidence::own_evidence;
use crate::page_cache::drop_page_cache;
use crate::precedence::Precedence;
use crate::{
    EvidenceCollector, Finished, Interrupt, Launch, LaunchError, Scheduler, Stdout, launch,
    monotonic_raw, own_affinity, pin_self, resident_floor,
};

/// Priority taken when nobody asked for one: the lowest real-time priority is above every normal
/// task, and below the kernel's own real-time threads, which must not wait for a benchmark.
const FIFO_PRIORITY: u8 = 1;

const CHOSEN_BY_THE_USER: &str = "chosen by the user";

/// The executor that starts real processes.
#[derive(Debug)]
pub struct Spawn<'a> {
    plan: SpawnPlan,
    root: &'a SysRoot,
    interrupt: &'a Interrupt,
    started: Duration,
    rest: RestDebt,
    /// Smallest of the resident sets of all runs, in bytes.
    smallest_resident: u64,
    /// Where becalm itself could run before the session, to be put back after it.
    own_cpus: Option<CpuSet>,
    /// What lets becalm see the end of a run at once, where it is allowed.
    precedence: io::Result<Option<Precedence>>,
    evidence: EvidenceCollector,
    /// Evidence that is complete and was not asked for yet.
    complete: Vec<Evidence>,
    affinity_reason: String,
    /// The CPUs that were chosen last; `None` if the user named them.
    choice: Option<Choice>,
    /// What keeps other measurements off the subject's CPUs.
    leases: Leases,
    isolate: Option<&'a dyn Isolate>,
    /// How the subject's CPUs were isolated.
    isolation: Option<String>,
    /// Why they could not be, although that was tried.
    not_isolated: Option<String>,
    /// What the present CPUs do not allow; a new choice of CPUs has its own.
    placement_limits: Vec<String>,
    limits: Vec<String>,
    /// Whether the present scheduling class was becalm's own idea and may be taken back.
    scheduler_is_a_try: bool,
    settling: Option<Settling>,
}

/// What is needed to wait for a calm machine.
#[derive(Debug)]
struct Settling {
    reader: UnrestReader,
    baseline: Baseline,
    /// The latest reading.
    latest: Option<Unrest>,
    maximum: Duration,
    unsettled: Unsettled,
}

impl<'a> Spawn<'a> {
    /// Prepares a session that has already used `elapsed` (0 unless it is resumed). With `isolate`
    /// the subjects get CPUs that nobody else uses.
    pub fn new(
        plan: SpawnPlan,
        root: &'a SysRoot,
        interrupt: &'a Interrupt,
        elapsed: Duration,
        isolate: Option<&'a dyn Isolate>,
    ) -> Self {
        let mut spawn = Self {
            evidence: EvidenceCollector::open(root, &CpuSet::new()),
            complete: Vec::new(),
            affinity_reason: CHOSEN_BY_THE_USER.to_owned(),
            choice: None,
            leases: Leases::default(),
            isolate,
            isolation: None,
            not_isolated: None,
            placement_limits: Vec::new(),
            limits: Vec::new(),
            scheduler_is_a_try: false,
            started: monotonic_raw().saturating_sub(elapsed),
            rest: RestDebt::default(),
            smallest_resident: u64::MAX,
            settling: None,
            own_cpus: own_affinity().ok(),
            precedence: Precedence::take(match plan.placement.scheduler {
                Scheduler::Fifo(priority) => priority,
                Scheduler::Other => FIFO_PRIORITY,
            }),
            plan,
            root,
            interrupt,
        };
        if matches!(spawn.plan.conditioning, Conditioning::Learn { affinity: true, .. }) {
            // The warm-up needs no CPUs for itself.
            let wide = spawn.plan.chooser.look(Width::All);
            spawn.place(&wide);
        } else if let Some(width) = spawn.plan.width {
            spawn.choose(width);
        } else {
            spawn.take_given();
        }
        spawn
    }

    /// Reads how calm the machine is now, and from here on waits before each round until it is so again,
    /// at most for `maximum`. Takes a fifth of a second; to be called before anything is run.
    #[must_use]
    pub fn settling(mut self, maximum: Duration) -> Self {
        let mut reader = UnrestReader::open(self.root);
        let mut looks = Vec::with_capacity(BASELINE_LOOKS);
        for _ in 0..BASELINE_LOOKS {
            if !self.interrupt.sleep(BETWEEN_LOOKS) {
                break;
            }
            looks.push(reader.read());
        }
        let baseline = Baseline::of(&looks);
        let latest = looks.last().copied();
        let unsettled = Unsettled::new();
        self.settling = Some(Settling { reader, baseline, latest, maximum, unsettled });
        self
    }

    /// Runs the setup hooks of every subject.
    pub fn set_up(&mut self) -> Result<(), RunError> {
        for index in 0..self.plan.subjects.len() {
            let command = self.plan.subjects[index].hooks.setup.clone();
            self.hook(Hook::Setup, command.as_deref())?;
        }
        Ok(())
    }

    /// Runs the cleanup hooks of every subject, all of them even if one fails; the first failure
    /// is returned.
    pub fn clean_up(&mut self) -> Result<(), RunError> {
        let mut result = Ok(());
        for index in 0..self.plan.subjects.len() {
            let command = self.plan.subjects[index].hooks.cleanup.clone();
            result = result.and(self.hook(Hook::Cleanup, command.as_deref()));
        }
        result
    }

    /// Returns the metrics that each run gives.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Metric::always();
        metrics.extend(self.plan.counters.metrics().iter().cloned());
        metrics.extend(self.plan.extractors.iter().map(|extractor| extractor.metric().clone()));
        metrics
    }

    /// Returns how the subjects are started now.
    pub fn conditions(&self) -> Conditions {
        let placement = &self.plan.placement;
        let mut limits = self.placement_limits.clone();
        limits.extend(self.limits.iter().cloned());
        limits.extend(self.resident_limit());
        limits.extend(self.evidence.limits());
        if let Some(settling) = &self.settling {
            limits.extend(settling.reader.limits().iter().cloned());
            limits.extend(unsettled_limit(&settling.unsettled, settling.maximum));
        }
        Conditions {
            affinity: placement.affinity.as_ref().map(ToString::to_string),
            affinity_reason: self.affinity_reason.clone(),
            scheduler: placement.scheduler.to_string(),
            nice: placement.nice.unwrap_or(0),
            aslr: if placement.aslr_off { "off" } else { "on" }.to_owned(),
            layout: String::new(),
            cache: match self.plan.cache {
                Cache::AsIs => "as-is",
                Cache::Warm => "warm",
                Cache::Drop => "drop",
            }
            .to_owned(),
            // Rounded, because 0.07 times 100 is not quite 7.
            rest: format!("{}%", (self.rest_share() * 1e5).round() / 1e3),
            settle: self.settling.as_ref().map(|settling| {
                format!("at most {} s, until {}", settling.maximum.as_secs_f64(), settling.baseline)
            }),
            on_disturbance: String::new(),
            environment: self
                .plan
                .environment
                .names()
                .map(|name| name.to_string_lossy().into_owned())
                .collect(),
            limits,
            isolation: self.isolation.clone(),
            knobs: KnobRecord::default(),
        }
    }

    /// Chooses CPUs for the rest of the session and takes them.
    fn choose(&mut self, width: Width) {
        // Its own leases would be in the way.
        self.leases = Leases::default();
        let (choice, leases) = self.plan.chooser.take(width);
        self.leases = leases;
        self.settle_on(&choice);
    }

    /// Takes the CPUs that the user named, if any, whoever else uses them.
    fn take_given(&mut self) {
        let given = self.plan.placement.affinity.clone();
        self.make_way();
        self.watch_cpus();
        let Some(given) = given else { return };
        let taken = leased(self.root, &given);
        let free = given.difference(&taken.iter().map(|one| one.cpu).collect());
        // Who is quicker now is seen by nobody, and measured.
        self.leases = Leases::take(self.root, &free).unwrap_or_default();
        let limits: Vec<String> =
            self.placement_limits.drain(..).chain(shared(&taken, &given)).collect();
        let own = self.own_cpus.clone().unwrap_or_default().difference(&given);
        let choice = Choice {
            housekeeping: if own.is_empty() { given.clone() } else { own },
            subject: given,
            reason: CHOSEN_BY_THE_USER.to_owned(),
            limits,
        };
        if self.isolate.is_some() {
            self.settle_on(&choice);
            self.choice = None;
        } else {
            self.placement_limits = choice.limits;
        }
    }

    /// Goes to chosen CPUs, isolated if that is wanted.
    fn settle_on(&mut self, choice: &Choice) {
        match self.isolate.map(|isolate| isolate.isolate(choice)) {
            None => self.place(choice),
            Some(Ok(Isolated { choice, control_group, description })) => {
                self.plan.placement.control_group = control_group;
                self.isolation = description;
                self.place(&choice);
            }
            Some(Err(why)) => self.not_isolated = Some(why),
        }
    }

    fn place(&mut self, choice: &Choice) {
        self.choice = Some(choice.clone());
        self.plan.placement.affinity = Some(choice.subject.clone());
        self.affinity_reason.clone_from(&choice.reason);
        self.placement_limits.clone_from(&choice.limits);
        // becalm itself stays off the subject's CPU; where that is refused it only costs quiet.
        if let Err(error) = pin_self(&choice.housekeeping) {
            self.placement_limits
                .push(format!("becalm could not be kept off the subject's CPUs: {error}"));
        }
        self.watch_cpus();
    }

    /// Moves becalm off the CPUs that the user gave to the subjects, where there are others.
    fn make_way(&mut self) {
        let (Some(own), Some(given)) = (&self.own_cpus, &self.plan.placement.affinity) else {
            return;
        };
        let others = own.difference(given);
        if others.is_empty() {
            self.placement_limits.push(format!("becalm shares CPUs {given} with the subject"));
        } else if let Err(error) = pin_self(&others) {
            self.placement_limits.push(format!("becalm stays on the subject's CPUs: {error}"));
        }
    }

    fn watch_cpus(&mut self) {
        let cpus = match &self.plan.placement.affinity {
            Some(cpus) => cpus.clone(),
            None => own_affinity().unwrap_or_default(),
        };
        self.evidence = EvidenceCollector::open(self.root, &cpus);
    }

    fn limit(&mut self, sentence: String) {
        if !self.limits.contains(&sentence) {
            self.limits.push(sentence);
        }
    }

    /// Says so when becalm itself hides how much memory a subject used.
    fn resident_limit(&self) -> Option<String> {
        let floor = resident_floor().filter(|&floor| self.smallest_resident <= floor)?;
        Some(format!(
            "max_rss below {:.1} MiB cannot be told: the kernel counts becalm's own size for a \
             process that it has just started",
            floor as f64 / f64::from(1 << 20)
        ))
    }

    fn rest_share(&self) -> f64 {
        match (self.plan.rest, self.plan.placement.scheduler) {
            (Rest::Share(share), _) => share,
            (Rest::Auto, Scheduler::Fifo(_)) => FIFO_REST,
            (Rest::Auto, Scheduler::Other) => 0.0,
        }
    }

    fn launch(&mut self, request: Request) -> Result<Finished, LaunchError> {
        loop {
            let captures = !self.plan.extractors.is_empty()
                || self.plan.iterations.is_some()
                || self.plan.expectation != Expectation::Anything;
            let result = launch(
                &Launch {
                    program: &self.plan.subjects[request.subject].program,
                    environment: &self.plan.environment,
                    padding: request.padding,
                    placement: &self.plan.placement,
                    stdin: &self.plan.stdin,
                    stdout: if captures { &Stdout::Capture } else { &self.plan.stdout },
                    stderr: self.plan.stderr,
                    cwd: None,
                    timeout: self.plan.timeout,
                },
                &self.plan.counters,
                self.interrupt,
            );
            match result {
                // The real-time class was becalm's own idea: where it is refused, go without.
                Err(error) if self.scheduler_is_a_try && error.is_scheduler_refused() => {
                    self.scheduler_is_a_try = false;
                    self.plan.placement.scheduler = Scheduler::Other;
                    self.limit(format!("SCHED_FIFO is not allowed here: {error}"));
                }
                // So were the CPUs.
                Err(error) if self.affinity_is_a_try() && error.is_affinity_refused() => {
                    self.plan.placement.affinity = None;
                    "they could not be chosen".clone_into(&mut self.affinity_reason);
                    self.placement_limits = vec![format!("the subjects are not pinned: {error}")];
                    self.watch_cpus();
                }
                other => return other,
            }
        }
    }

    fn affinity_is_a_try(&self) -> bool {
        matches!(self.plan.conditioning, Conditioning::Learn { affinity: true, .. })
            && self.plan.placement.affinity.is_some()
    }

    fn hook(&mut self, hook: Hook, command: Option<&str>) -> Result<(), RunError> {
        let Some(text) = command else { return Ok(()) };
        // What the hook does to the machine is no evidence against the runs before it.
        self.close_window();
        run_hook(hook, text, self.plan.placement.user.as_ref(), self.interrupt)
            .map_err(|how| RunError::Hook { hook, command: text.to_owned(), how })
    }

    /// Ends the window of evidence before something that is not a run.
    fn close_window(&mut self) {
        self.complete.extend(self.evidence.flush());
    }

    /// Forgets the evidence of the latest run, which becomes no part of the record.
    fn forget_latest(&mut self) {
        self.close_window();
        self.complete.pop();
    }

    /// Reads the metrics that a run printed.
    fn extracted(
        &mut self,
        subject: usize,
        finished: &Finished,
    ) -> Result<Vec<Option<f64>>, RunError> {
        let Some(output) = &finished.output else { return Ok(Vec::new()) };
        let extractors = self.plan.extractors.iter();
        match finished.outcome {
            Outcome::Exited(0) => {}
            // Where such runs are taken, they are taken with what they printed.
            Outcome::Exited(_) => return Ok(extractors.map(|e| e.extract(output).ok()).collect()),
            // What was printed before the end may be anything.
            _ => return Ok(extractors.map(|_| None).collect()),
        }
        self.check_output(subject, output)?;
        let extractors = self.plan.extractors.iter();
        extractors
            .map(|extractor| {
                extractor.extract(output).map(Some).map_err(|source| RunError::Metric {
                    subject: self.plan.subjects[subject].name.clone(),
                    source,
                })
            })
            .collect()
    }

    /// Reads the iterations that a run timed itself. A run that failed has none to be relied on.
    fn iterations(&self, subject: usize, finished: &Finished) -> Result<Vec<f64>, RunError> {
        let (Some(rule), Some(output)) = (&self.plan.iterations, &finished.output) else {
            return Ok(Vec::new());
        };
        if finished.outcome != Outcome::Exited(0) {
            return Ok(Vec::new());
        }
        rule.read(output).map_err(|source| RunError::Iterations {
            subject: self.plan.subjects[subject].name.clone(),
            source,
        })
    }

    fn check_output(&mut self, subject: usize, output: &[u8]) -> Result<(), RunError> {
        match &self.plan.expectation {
            Expectation::Anything => Ok(()),
            Expectation::Same => {
                self.plan.expectation = Expectation::Text(output.to_vec());
                Ok(())
            }
            Expectation::Text(expected) if expected == output => Ok(()),
            Expectation::Text(expected) => Err(RunError::Output {
                subject: self.plan.subjects[subject].name.clone(),
                difference: difference(expected, output),
            }),
        }
    }
}

impl Drop for Spawn<'_> {
    /// Gives becalm its own CPUs back, so that a further session of this process chooses afresh.
    fn drop(&mut self) {
        if let Some(own) = &self.own_cpus {
            // CPUs that went away meanwhile are no error worth a word at the end.
            let _ = pin_self(own);
        }
    }
}

impl Executor for Spawn<'_> {
    type Error = RunError;

    fn wait_until_settled(&mut self) -> Option<f64> {
        let settling = self.settling.as_mut()?;
        let start = monotonic_raw();
        let mut wait = Wait::new(settling.baseline, settling.latest);
        let mut waited = Duration::ZERO;
        loop {
            let reading = settling.reader.read();
            settling.latest = Some(reading);
            let Step::LookAgain(restless) = wait.see(reading) else { break };
            if waited + BETWEEN_LOOKS > settling.maximum {
                for what in restless {
                    *settling.unsettled.entry(what).or_default() += 1;
                }
                break;
            }
            // What happens meanwhile is no evidence against the runs before it.
            self.complete.extend(self.evidence.flush());
            if !self.interrupt.sleep(BETWEEN_LOOKS) {
                break;
            }
            waited = monotonic_raw().saturating_sub(start);
        }
        Some(waited.as_secs_f64())
    }

    fn run(&mut self, request: Request) -> Result<Measured, RunError> {
        if let Some(why) = &self.not_isolated {
            return Err(RunError::NotIsolated(why.clone()));
        }
        let subject = request.subject;
        let prepare = self.plan.subjects[subject].hooks.prepare.clone();
        self.hook(Hook::Prepare, prepare.as_deref())?;
        let launch_error = |spawn: &Self, source| RunError::Launch {
            subject: spawn.plan.subjects[subject].name.clone(),
            source,
        };
        match self.plan.cache {
            Cache::AsIs => {}
            Cache::Warm => {
                self.close_window();
                self.launch(request).map_err(|source| launch_error(self, source))?;
            }
            Cache::Drop => {
                self.close_window();
                drop_page_cache(self.root).map_err(RunError::DropCache)?;
            }
        }
        self.evidence.before_run();
        let finished = self.launch(request).map_err(|source| launch_error(self, source))?;
        self.smallest_resident = self.smallest_resident.min(finished.max_rss);
        let migrations =
            self.plan.counters.index(CPU_MIGRATIONS).and_then(|index| finished.counters[index]);
        let evidence = own_evidence(&finished, migrations);
        let complete = self.evidence.after_run(&finished, migrations);
        self.complete.extend(complete);
        let mut values = vec![
            Some(finished.wall),
            Some(finished.cpu_time()),
            Some(finished.user_time),
            Some(finished.system_time),
            Some(finished.max_rss as f64),
        ];
        values.extend(&finished.counters);
        let conclude = self.plan.subjects[subject].hooks.conclude.clone();
        let read = self
            .extracted(subject, &finished)
            .and_then(|extracted| Ok((extracted, self.iterations(subject, &finished)?)));
        let after = match read {
            Ok((extracted, iterations)) => {
                values.extend(extracted);
                self.hook(Hook::Conclude, conclude.as_deref()).map(|()| iterations)
            }
            Err(error) => Err(error),
        };
        let iterations = match after {
            Ok(iterations) => iterations,
            Err(error) => {
                self.forget_latest();
                return Err(error);
            }
        };
        let measured = Measured {
            started: finished.released.saturating_sub(self.started).as_secs_f64(),
            outcome: finished.outcome,
            values,
            iterations,
            evidence,
        };
        let owed = self.rest.after(&finished, self.rest_share());
        if let Some(pause) = owed {
            self.interrupt.sleep(pause);
        }
        Ok(measured)
    }

    fn evidence(&mut self, close: bool) -> Vec<Evidence> {
        if close {
            self.complete.extend(self.evidence.flush());
        }
        std::mem::take(&mut self.complete)
    }

    fn elapsed(&self) -> Duration {
        monotonic_raw().saturating_sub(self.started)
    }

    fn settle(&mut self, learnt: Learnt) {
        let Conditioning::Learn { affinity, scheduler } = self.plan.conditioning else { return };
        if affinity {
            self.choose(if learnt.single_threaded { Width::One } else { Width::All });
        }
        if let Err(error) = &self.precedence
            && learnt.kept_waiting >= COMPETITION
        {
            self.limits.push(format!(
                "other programs compete for the CPUs, and becalm may not go before them (SCHED_FIFO: \
                 {error}): it sees the end of a run late, so wall_time is too long by as much"
            ));
        }
        let one = match &self.choice {
            Some(choice) => choice.clone(),
            None => self.plan.chooser.look(Width::One),
        };
        // A real-time subject must leave somebody a CPU to end it from.
        let has_own_cpu = one.subject.len() == 1
            && one.subject.intersection(&one.housekeeping).is_empty()
            && self.plan.placement.affinity.as_ref() == Some(&one.subject);
        if scheduler
            && has_own_cpu
            && learnt.single_threaded
            && learnt.cpu_bound
            && learnt.kept_waiting >= COMPETITION
            && (SHORTEST_FIFO_RUN..=LONGEST_FIFO_RUN).contains(&learnt.shortest_run)
            && learnt.longest_run <= LONGEST_FIFO_RUN
        {
            self.plan.placement.scheduler = Scheduler::Fifo(FIFO_PRIORITY);
            self.scheduler_is_a_try = true;
        }
    }

    fn interrupted(&self) -> Option<String> {
        self.interrupt.signal().map(|signal| format!("stopped by signal {signal}"))
    }
}

/// Says where two outputs first differ.
fn difference(expected: &[u8], found: &[u8]) -> String {
    let same = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let line = expected[..same].split(|&byte| byte == b'\n').count() - 1;
    let nth = |text: &[u8]| -> String {
        let line = text.split(|&byte| byte == b'\n').nth(line).unwrap_or_default();
        let text = String::from_utf8_lossy(line);
        // What a terminal would obey is shown, not sent: outputs may be binary.
        let shown = text.chars().take(80).map(|c| match c {
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        });
        shown.collect()
    };
    format!("line {} is `{}`, expected `{}`", line + 1, nth(found), nth(expected))
}
