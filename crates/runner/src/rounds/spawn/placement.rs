//! Where the subjects run, in which scheduling class, and where becalm itself stays meanwhile.

use becalm_kernel::numa::NodeMask;
use becalm_machine::{Choice, Leases, Width, leased, shared};
use becalm_model::conditions::{AffinityReason, Membind, Pace, Scheduler};
use becalm_model::{CpuSet, Limit, PaceObstacle, PlacementLimit, SessionLimit, SharedBecause};

use super::Spawn;
use super::neighbours::Neighbours;
use crate::pace::PaceSampler;
use crate::rounds::executor::Learnt;
use crate::rounds::plan::{COMPETITION, Conditioning, LONGEST_FIFO_RUN, SHORTEST_FIFO_RUN};
use crate::rounds::spawn_plan::Isolated;
use crate::{EvidenceCollector, own_affinity, pin_self};

/// Priority taken when nobody asked for one: the lowest real-time priority is above every normal
/// task, and below the kernel's own real-time threads, which must not wait for a benchmark.
pub(super) const FIFO_PRIORITY: u8 = 1;

/// Shortest run, in seconds, whose pace is sampled unless asked for: it takes some twenty samples.
const SHORTEST_PACED_RUN: f64 = 5e-3;

/// Levels of the caches that cores may share.
const CACHES: [u32; 2] = [2, 3];

/// Says that becalm is on the subject's CPUs.
pub(super) fn not_kept_off(error: &std::io::Error) -> Limit {
    PlacementLimit::NotKeptOff { error: error.to_string() }.into()
}

impl Spawn<'_> {
    /// Chooses CPUs for the rest of the session and takes them.
    pub(super) fn choose(&mut self, width: Width) {
        // Its own leases would be in the way.
        self.cpus.leases = Leases::default();
        let (choice, leases) = self.plan.chooser.take(width);
        self.cpus.leases = leases;
        self.place_on(&choice);
    }

    /// Takes the CPUs that the user named, if any, whoever else uses them.
    pub(super) fn take_given(&mut self) {
        self.keep_to_what_is_there();
        let given = self.plan.placement.affinity.clone();
        self.make_way();
        self.watch_cpus();
        self.bind_memory();
        let Some(given) = given else { return };
        let taken = leased(self.root, &given);
        let free = given.difference(&taken.iter().map(|one| one.cpu).collect());
        // Who is quicker now is seen by nobody, and measured.
        self.cpus.leases = Leases::take(self.root, &free).unwrap_or_default();
        let limits: Vec<Limit> = self.cpus.limits.drain(..).chain(shared(&taken, &given)).collect();
        let own = self.cpus.own.clone().unwrap_or_default().difference(&given);
        let choice = Choice {
            housekeeping: if own.is_empty() { given.clone() } else { own },
            subject: given,
            reason: AffinityReason::ChosenByUser,
            limits,
        };
        if self.cpus.isolate.is_some() {
            self.place_on(&choice);
            self.cpus.choice = None;
        } else {
            self.cpus.limits = choice.limits;
        }
    }

    /// Goes to chosen CPUs, isolated if that is wanted.
    fn place_on(&mut self, choice: &Choice) {
        match self.cpus.isolate.map(|isolate| isolate.isolate(choice)) {
            None => self.place(choice),
            Some(Ok(Isolated { choice, control_group, taken })) => {
                self.plan.placement.control_group = control_group;
                self.cpus.isolation = taken;
                self.place(&choice);
            }
            Some(Err(why)) => self.cpus.not_isolated = Some(why),
        }
    }

    pub(super) fn place(&mut self, choice: &Choice) {
        self.cpus.choice = Some(choice.clone());
        self.plan.placement.affinity = Some(choice.subject.clone());
        self.cpus.reason.clone_from(&choice.reason);
        self.cpus.limits.clone_from(&choice.limits);
        // becalm itself stays off the subject's CPU; where that is refused it only costs quiet.
        if let Err(error) = pin_self(&choice.housekeeping) {
            self.cpus.limits.push(not_kept_off(&error));
        }
        self.bind_memory();
        self.watch_cpus();
    }

    /// Binds the subjects' memory to nodes: those that were named, or those of their CPUs. Where these are not
    /// allowed it stays where it may be, with a limit.
    pub(super) fn bind_memory(&mut self) {
        let affinity = self.plan.placement.affinity.as_ref();
        let of_cpus = || affinity.and_then(|cpus| self.plan.chooser.memory_of(cpus));
        let is_isolated = self.cpus.isolation.is_some();
        let nodes = match &self.plan.membind {
            // What was named is there, or the first run says why not.
            Some(Membind::Nodes(nodes)) => {
                self.plan.placement.memory = Some(nodes.clone());
                return;
            }
            Some(Membind::Auto) => of_cpus(),
            None if is_isolated => of_cpus(),
            Some(Membind::Off) | None => None,
        };
        self.plan.placement.memory =
            nodes.and_then(|nodes| match nodes.iter().collect::<NodeMask>().can_be_bound_to() {
                Ok(()) => Some(nodes),
                Err(error) => {
                    let error = error.to_string();
                    self.cpus.limits.push(PlacementLimit::MemoryNotBound { nodes, error }.into());
                    None
                }
            });
    }

    /// Leaves out the CPUs that the user named and that are offline, or not for this control group: the kernel would
    /// do so too, and tell nobody.
    fn keep_to_what_is_there(&mut self) {
        let Some(given) = self.plan.placement.affinity.clone() else { return };
        // In a thread of its own, because where becalm itself runs is another matter.
        let granted = std::thread::scope(|scope| {
            scope
                .spawn(|| pin_self(&given).and_then(|()| own_affinity()).ok())
                .join()
                .ok()
                .flatten()
        });
        // Where none is there the first run says so.
        let Some(granted) = granted.filter(|granted| *granted != given) else { return };
        self.plan.placement.affinity = Some(granted.clone());
        self.limit(PlacementLimit::NotThere { cpus: given.difference(&granted), granted });
    }

    /// Moves becalm off the CPUs that the user gave to the subjects, where there are others.
    fn make_way(&mut self) {
        let (Some(own), Some(given)) = (&self.cpus.own, &self.plan.placement.affinity) else {
            return;
        };
        let others = own.difference(given);
        if others.is_empty() {
            let (cpus, because) = (given.clone(), SharedBecause::NoOthers);
            self.cpus.limits.push(PlacementLimit::Shared { cpus, because }.into());
        } else if let Err(error) = pin_self(&others) {
            self.cpus.limits.push(not_kept_off(&error));
        }
    }

    pub(super) fn watch_cpus(&mut self) {
        let cpus = match &self.plan.placement.affinity {
            Some(cpus) => cpus.clone(),
            None => own_affinity().unwrap_or_default(),
        };
        self.observed.evidence = EvidenceCollector::open(self.root, &cpus);
        let mut known = cpus.clone();
        self.cpus.neighbours = CACHES
            .into_iter()
            .filter_map(|level| {
                let beside = self.plan.chooser.beside(level, &cpus).difference(&known);
                known = known.union(&beside);
                Neighbours::watch(self.root, level, beside)
            })
            .collect();
    }

    /// Settles on CPUs and scheduling class by what the warm-up has taught.
    pub(super) fn adapt_placement(&mut self, learnt: Learnt) {
        let Conditioning::Learn { affinity, scheduler, .. } = self.plan.conditioning else {
            return;
        };
        if affinity {
            self.choose(if learnt.single_threaded { Width::One } else { Width::All });
        }
        if (affinity || scheduler)
            && let Err(error) = &self.precedence
            && learnt.kept_waiting >= COMPETITION
        {
            self.limits.push(PlacementLimit::SeesEndLate { error: error.to_string() }.into());
        }
        let one = match &self.cpus.choice {
            Some(choice) => choice.clone(),
            None => self.plan.chooser.look(Width::One),
        };
        // A real-time subject must leave somebody a CPU to end it from.
        let has_own_cpu = one.subject.len() == 1
            && one.subject.intersection(&one.housekeeping).is_empty()
            && self.plan.placement.affinity.as_ref() == Some(&one.subject);
        // Whoever started becalm may have chosen a class, which stays.
        if scheduler
            && self.inherited.is_ordinary()
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

    /// Starts to sample the pace of the subjects' CPU, if that is wanted and the warm-up has taught that it is
    /// of use. Comes after the CPU was chosen.
    pub(super) fn adapt_pace(&mut self, learnt: Learnt) {
        // An earlier one may be on another CPU.
        self.pace = None;
        let Conditioning::Learn { pace, .. } = self.plan.conditioning else { return };
        let computes =
            learnt.single_threaded && learnt.cpu_bound && learnt.shortest_run >= SHORTEST_PACED_RUN;
        match pace {
            Pace::Auto if computes => self.pace = self.start_sampling().ok(),
            Pace::Off | Pace::Auto => {}
            Pace::On => match self.start_sampling() {
                Ok(sampler) => self.pace = Some(sampler),
                Err(because) => self.limit(SessionLimit::PaceNotSampled { because }),
            },
        }
    }

    fn start_sampling(&self) -> Result<PaceSampler, PaceObstacle> {
        if self.plan.placement.control_group.is_some() {
            return Err(PaceObstacle::Isolated);
        }
        let one = self.plan.placement.affinity.as_ref().filter(|cpus| cpus.len() == 1);
        let cpu = one.and_then(CpuSet::first).ok_or(PaceObstacle::SeveralCpus)?;
        let scheduler = self.plan.placement.scheduler;
        PaceSampler::start(cpu, scheduler)
            .or_else(|error| match scheduler {
                // The class was becalm's own idea: where becalm has none, the subject will go without, too.
                Scheduler::Fifo(_)
                    if self.scheduler_is_a_try && !matches!(self.precedence, Ok(Some(_))) =>
                {
                    PaceSampler::start(cpu, Scheduler::Other)
                }
                Scheduler::Fifo(_) | Scheduler::Other => Err(error),
            })
            .map_err(|error| PaceObstacle::NoThread { cpu: cpu.0, error: error.to_string() })
    }

    /// Says whether the CPUs were becalm's own idea and may be given up.
    pub(super) fn affinity_is_a_try(&self) -> bool {
        let was_chosen = self.plan.width.is_some()
            || matches!(self.plan.conditioning, Conditioning::Learn { affinity: true, .. });
        was_chosen && self.plan.placement.affinity.is_some()
    }
}
