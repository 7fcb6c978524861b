//! Attending to a fleet: submits its blocks, collects what is finished, and tries again what was lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use becalm_kernel::interrupt::Interrupt;
use becalm_model::wire::{FleetState, LeftOutFor, TryState};
use becalm_session::own_record;

use super::arrived::{Ended, Frames};
use super::canary;
use super::event::{Attended, FleetEvent, Wanted};
use super::folder::{FleetFolder, Lock};
use super::next::{Step, progress, steps};
use super::state::{End, Member, Plan, State};
use crate::error::FleetError;
use crate::frame::Outcome;
use crate::job::{Job, Terminal};
use crate::request::{Errand, canary_request};
use crate::slurm::{AllocationError, Cluster, JobState, LATE, Node, Queued, nodes, own_jobs};

/// How often the files of jobs are looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How often Slurm is asked; its controller serves everybody.
const ASK: Duration = Duration::from_secs(2);

/// How long to wait after Slurm has refused a job, as where a user has too many.
const REFUSED: Duration = Duration::from_secs(30);

/// A fleet that is attended to, or looked at.
#[derive(Debug)]
pub struct FleetRun {
    pub(super) cluster: Cluster,
    pub(super) folder: FleetFolder,
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) live: BTreeMap<usize, Live>,
    pub(super) nodes: Vec<Node>,
    /// None while another becalm attends, and this one only looks.
    lock: Option<Lock>,
    refused: Option<Instant>,
    /// How many jobs of the user Slurm listed.
    listed: usize,
    /// It was said that there are too few machines.
    is_few: bool,
}

/// What is known of a try in flight.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) canary: Frames,
    pub(super) frames: Frames,
    pub(super) state: TryState,
    /// Since when Slurm has not had its job any more.
    over: Option<Instant>,
}

impl FleetRun {
    /// Starts a new one from the present folder: everything that its jobs need is in the shared folder afterwards. Nothing
    /// is submitted yet.
    pub fn start(
        cluster: Cluster,
        wanted: Wanted,
        present: &Path,
        terminal: Terminal,
    ) -> Result<Self, FleetError> {
        if cluster.allocation().node.is_some() {
            return Err(AllocationError::Node.into());
        }
        let Wanted { name, place, machines, blocks, canary, session } = wanted;
        let (arguments, aa) = (session.arguments.clone(), session.aa);
        let (confidence, margin) = (session.terms.confidence, session.terms.margin);
        let job = |errand: Errand| errand.job(cluster.folder(), true, terminal);
        let block = job(Errand::pack(session, present)?);
        let before = match &canary {
            Some(program) => Some(job(Errand::pack(canary_request(program), present)?)),
            None => None,
        };
        Cluster::send_files(&block)?;
        before.as_ref().map_or(Ok(()), Cluster::send_files)?;
        let folder = FleetFolder::make(cluster.folder(), name.as_deref())?;
        let lock = Some(folder.lock()?);
        let plan = Plan {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: folder.name(),
            place,
            arguments,
            started_at: now(),
            machines,
            blocks,
            confidence,
            margin,
            aa,
            canary,
        };
        let state = State::default();
        folder.write("job.json", &block)?;
        before.map_or(Ok(()), |job: Job| folder.write("canary.json", &job))?;
        folder.write("state.json", &state)?;
        // It is a fleet once it has a plan.
        folder.write("plan.json", &plan)?;
        Ok(Self::new(cluster, folder, lock, plan, state))
    }

    fn new(
        cluster: Cluster,
        folder: FleetFolder,
        lock: Option<Lock>,
        plan: Plan,
        state: State,
    ) -> Self {
        Self {
            cluster,
            folder,
            plan,
            state,
            live: BTreeMap::new(),
            nodes: Vec::new(),
            lock,
            refused: None,
            listed: 0,
            is_few: false,
        }
    }

    /// Opens one to attend to it.
    pub fn open(cluster: Cluster, folder: FleetFolder) -> Result<Self, FleetError> {
        let lock = Some(folder.lock()?);
        let mut run = Self::read(cluster, folder, lock)?;
        run.find_lost_submission()?;
        Ok(run)
    }

    /// Opens one to look at it, whoever attends.
    pub fn look(cluster: Cluster, folder: FleetFolder) -> Result<Self, FleetError> {
        let lock = folder.lock().ok();
        let mut run = Self::read(cluster, folder, lock)?;
        if run.lock.is_some() {
            // One look without waiting: what is finished is collected, and nothing is started.
            run.find_lost_submission()?;
            run.collect(&mut |_| ())?;
        }
        run.ask(&mut |_| ())?;
        Ok(run)
    }

    fn read(cluster: Cluster, folder: FleetFolder, lock: Option<Lock>) -> Result<Self, FleetError> {
        let (plan, state) = (folder.plan()?, folder.state()?);
        Ok(Self::new(cluster, folder, lock, plan, state))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// Attends until there is nothing left to do, or the user goes away.
    pub fn attend(
        &mut self,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<Attended, FleetError> {
        let mut asked: Option<Instant> = None;
        loop {
            let has_ended = self.collect(hear)?;
            if has_ended || asked.is_none_or(|asked| asked.elapsed() >= ASK) {
                asked = Some(Instant::now());
                self.ask(hear)?;
                self.act(hear)?;
            }
            self.tell(hear);
            if progress(&self.plan, &self.state, &self.nodes) != FleetState::Unfinished {
                return Ok(Attended::Over);
            }
            if !interrupt.sleep(LOOK) {
                return Ok(Attended::Left(interrupt.signal().unwrap_or_default()));
            }
        }
    }

    /// Submits what is to be submitted now, without waiting.
    pub fn advance(&mut self, hear: &mut dyn FnMut(FleetEvent<'_>)) -> Result<(), FleetError> {
        self.ask(hear)?;
        self.act(hear)
    }

    /// Removes one of which nothing could be submitted.
    pub fn discard_if_unused(self) {
        if self.state.tries.is_empty() {
            let _ = std::fs::remove_dir_all(self.folder.path(""));
        }
    }

    /// Ends its jobs as soon as it is attended to.
    pub fn cancel(&mut self) -> Result<(), FleetError> {
        self.state.is_cancelled = true;
        self.save()
    }

    /// Writes down how far it is.
    pub(super) fn save(&self) -> Result<(), FleetError> {
        self.folder.write("state.json", &self.state)
    }

    pub(super) fn live(&self, index: usize) -> Live {
        let folder = self.folder.of_try(index);
        let frames = |name: &str| Frames::new(folder.join(name));
        Live {
            canary: frames("canary.jsonl"),
            frames: frames("frames.jsonl"),
            state: TryState::Waiting(String::new()),
            over: None,
        }
    }

    /// Collects what the tries have written; says whether one has ended.
    fn collect(&mut self, hear: &mut dyn FnMut(FleetEvent<'_>)) -> Result<bool, FleetError> {
        let mut has_ended = false;
        for index in self.state.in_flight().collect::<Vec<_>>() {
            let mut live = self.live.remove(&index).unwrap_or_else(|| self.live(index));
            if self.state.tries[index].canary.is_none()
                && let Some(Ended::Session(outcome)) = live.canary.look()
            {
                has_ended |= self.take_canary(index, &outcome)?;
            }
            match live.frames.look() {
                Some(ended) => {
                    self.finish(index, ended, hear)?;
                    has_ended = true;
                }
                None => drop(self.live.insert(index, live)),
            }
        }
        Ok(has_ended)
    }

    /// Judges a canary; says whether its machine is off its level.
    fn take_canary(&mut self, index: usize, outcome: &Outcome) -> Result<bool, FleetError> {
        let shared = self.cluster.folder();
        let Some(program) = self.plan.canary.clone() else { return Ok(false) };
        let record = own_record(&outcome.record).ok().map(|(record, _)| record);
        let value = record.as_ref().and_then(|record| canary::value(record, &program));
        let (Some(record), Some(value)) = (record, value) else { return Ok(false) };
        let one = &mut self.state.tries[index];
        let earlier = canary::level(shared, &one.node, &program, record.started_at);
        let found = canary::judge(value, &earlier);
        one.canary = Some(found);
        let (machine, at, is_off) = (one.node.clone(), record.started_at, found.is_off());
        canary::keep(shared, &canary::Measured { machine, program, at, value, is_off })?;
        self.save()?;
        Ok(is_off)
    }

    /// Keeps how a try ended.
    fn finish(
        &mut self,
        index: usize,
        ended: Ended,
        hear: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<(), FleetError> {
        let one = &self.state.tries[index];
        let (machine, block) = (one.node.clone(), one.block);
        let end = match ended {
            Ended::Failed { code, .. } if code > 128 => End::Stopped,
            Ended::Failed { message, .. } => End::Failed(message),
            Ended::Session(outcome) => {
                if outcome.is_machine_changed {
                    self.leave_out(&machine, &LeftOutFor::NotRestored, hear);
                }
                match (outcome.signal, &outcome.failure, own_record(&outcome.record)) {
                    (Some(_), _, _) => End::Stopped,
                    (None, Some((message, _)), _) => End::Failed(message.clone()),
                    (None, None, Err(error)) => End::Failed(error.to_string()),
                    (None, None, Ok((record, _))) => {
                        let path = self.folder.of_try(index).join("record.json");
                        becalm_session::files::write_atomically(&path, &outcome.record)?;
                        hear(FleetEvent::Measured { machine: &machine, block, record: &record });
                        End::Measured
                    }
                }
            }
        };
        self.end(index, end, hear)
    }

    /// Notes how a try ended.
    fn end(
        &mut self,
        index: usize,
        end: End,
        hear: &mut dyn FnMut(FleetEvent<'_>),
    ) -> Result<(), FleetError> {
        self.live.remove(&index);
        let one = &mut self.state.tries[index];
        let state = shown(&end);
        one.end = Some(end);
        if !one.is_measured() && !one.is_asked_to_end {
            hear(FleetEvent::InVain { machine: &one.node, block: one.block, how: &state });
        }
        self.save()
    }

    /// Asks Slurm how the jobs and the nodes are. While it does not answer, they are as they were.
    fn ask(&mut self, hear: &mut dyn FnMut(FleetEvent<'_>)) -> Result<(), FleetError> {
        let jobs = match own_jobs() {
            Ok(jobs) => jobs,
            Err(error @ FleetError::NoSlurm { .. }) => return Err(error),
            Err(_) => return Ok(()),
        };
        self.nodes = match nodes(self.cluster.allocation()) {
            Ok(nodes) => nodes,
            Err(FleetError::Slurm { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        if jobs.len() < self.listed {
            // Slurm may take another one now.
            self.refused = None;
        }
        self.listed = jobs.len();
        let mut lost = Vec::new();
        for index in self.state.in_flight().collect::<Vec<_>>() {
            let mut live = self.live.remove(&index).unwrap_or_else(|| self.live(index));
            let number = self.state.tries[index].job.clone().unwrap_or_default();
            let listed = jobs.iter().find(|job| job.number == number);
            match listed.and_then(|job| job.state.as_ref()) {
                Some(JobState::Waits(reason)) => live.state = TryState::Waiting(reason.clone()),
                Some(JobState::Runs(_)) => live.state = TryState::Running,
                Some(JobState::Over(_)) | None => {
                    let over = *live.over.get_or_insert_with(Instant::now);
                    let how = Queued { number }.end();
                    let has_written = live.frames.is_begun() || live.canary.is_begun();
                    // A shared file system may show the last frames late.
                    if over.elapsed() > LATE || !has_written && how != "COMPLETED" {
                        lost.push((index, how));
                    }
                }
            }
            if live.over.is_some() && listed.is_some_and(|job| job.state.is_some()) {
                live.over = None;
            }
            self.live.insert(index, live);
        }
        if self.lock.is_some() {
            for (index, how) in lost {
                let is_asked = self.state.tries[index].is_asked_to_end;
                let end = if is_asked { End::Stopped } else { End::Lost(how) };
                self.end(index, end, hear)?;
            }
        }
        Ok(())
    }

    /// Does what comes next, until nothing does.
    fn act(&mut self, hear: &mut dyn FnMut(FleetEvent<'_>)) -> Result<(), FleetError> {
        loop {
            let is_refused = self.refused.is_some_and(|refused| refused.elapsed() < REFUSED);
            let mut next = steps(&self.plan, &self.state, &self.nodes);
            next.retain(|step| !(is_refused && matches!(step, Step::Submit(..))));
            if next.is_empty() {
                self.tell_if_few(hear);
                return Ok(());
            }
            for step in next {
                match step {
                    Step::Add(node) => self.state.members.push(Member { node, left_out: None }),
                    Step::LeaveOut(node, why) => self.leave_out(&node, &why, hear),
                    Step::End(index) => self.ask_to_end(index),
                    Step::Submit(node, block) => match self.submit(&node, block) {
                        Ok(job) => {
                            self.listed += 1;
                            hear(FleetEvent::Submitted { machine: &node, block, job: &job });
                        }
                        // After others, it may take this one when they are done.
                        Err(error @ FleetError::Slurm { .. }) if !self.state.tries.is_empty() => {
                            hear(FleetEvent::Refused(&error));
                            self.refused = Some(Instant::now());
                            break;
                        }
                        Err(error) => return Err(error),
                    },
                }
            }
            self.save()?;
        }
    }

    fn leave_out(&mut self, node: &str, why: &LeftOutFor, hear: &mut dyn FnMut(FleetEvent<'_>)) {
        let found = self.state.members.iter_mut().find(|member| member.node == node);
        if let Some(member) = found.filter(|member| member.left_out.is_none()) {
            member.left_out = Some(why.clone());
            hear(FleetEvent::LeftOut { machine: node, why });
        }
    }

    fn tell(&self, hear: &mut dyn FnMut(FleetEvent<'_>)) {
        let count = |measured: usize| u32::try_from(measured).unwrap_or(u32::MAX);
        let measured = self.state.tries.iter().filter(|one| self.state.counts(one)).count();
        let in_flight = self.state.in_flight().map(|index| {
            let one = &self.state.tries[index];
            (one.node.as_str(), one.block, self.try_state(index))
        });
        hear(FleetEvent::Looked {
            measured: count(measured),
            wanted: self.plan.machines * self.plan.blocks,
            in_flight: in_flight.collect(),
        });
    }

    /// Says, once, that the cluster has fewer machines than were asked for.
    fn tell_if_few(&mut self, hear: &mut dyn FnMut(FleetEvent<'_>)) {
        let found = self.state.members.iter().filter(|member| member.left_out.is_none()).count();
        let wanted = self.plan.machines as usize;
        if found < wanted && !self.is_few && !self.state.is_cancelled {
            self.is_few = true;
            hear(FleetEvent::Few { found, wanted });
        }
    }

    /// Returns how a try is.
    pub(super) fn try_state(&self, index: usize) -> TryState {
        let live = || self.live.get(&index).map(|live| live.state.clone());
        let end = self.state.tries[index].end.as_ref().map(shown);
        end.or_else(live).unwrap_or(TryState::Waiting(String::new()))
    }
}

pub(super) fn shown(end: &End) -> TryState {
    match end {
        End::Measured => TryState::Measured,
        End::Lost(how) => TryState::Lost(how.clone()),
        End::Stopped => TryState::Stopped,
        End::Failed(why) => TryState::Failed(why.clone()),
    }
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}
