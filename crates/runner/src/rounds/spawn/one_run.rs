//! One run, with what is done before and after it and the evidence that is gathered around it.

use becalm_model::conditions::{AffinityReason, Cache, Scheduler};
use becalm_model::load::RunLoad;
use becalm_model::metric::{self, CPU_MIGRATIONS};
use becalm_model::{Evidence, PlacementLimit};

use super::Spawn;
use super::output::Inside;
use super::placement::not_kept_off;
use super::serve::Served;
use crate::evidence::own_evidence;
use crate::harness::ResultsPlace;
use crate::pace::PaceSampler;
use crate::rounds::Values;
use crate::rounds::client::{PORT, ServerStart, Serving};
use crate::rounds::executor::{MeasuredRun, RunRequest};
use crate::rounds::hook::{Hook, run_hook};
use crate::rounds::spawn_plan::{Expectation, RunError, Stand};
use crate::running::Running;
use crate::{
    CounterPlan, Finished, Interrupt, Launch, LaunchError, Stdout, launch, own_affinity, pin_self,
};
use becalm_machine::drop_page_cache;

/// What the load of a server gave: values, what the record keeps, and whether the process is the run's alone.
type OfLoad = (Values, Box<RunLoad>, bool);

impl Spawn<'_> {
    /// Prepares a run, makes it, and reads what it gave.
    pub(super) fn one_run(&mut self, request: RunRequest) -> Result<MeasuredRun, RunError> {
        if let Some(why) = &self.cpus.not_isolated {
            return Err(RunError::NotIsolated(why.clone()));
        }
        let subject = request.subject;
        let serving = self.plan.subjects[subject].serving.clone();
        let is_there = serving.as_ref().is_some_and(|one| one.start == ServerStart::IsThere);
        if let Err(why) = &self.plan.subjects[subject].program
            && !is_there
        {
            let (subject, why) = (self.plan.subjects[subject].name.clone(), why.clone());
            return Err(RunError::NotReady { subject, why });
        }
        let prepare = self.plan.subjects[subject].hooks.prepare.clone();
        if let Some(serving) = &serving {
            self.choose_port(subject, serving)?;
        }
        self.stand(subject)?;
        self.hook(Hook::Prepare, subject, prepare.as_deref())?;
        let launch_error = |spawn: &Self, source| RunError::Launch {
            subject: spawn.plan.subjects[subject].name.clone(),
            source,
        };
        match self.plan.cache {
            Cache::AsIs => {}
            Cache::Warm => {
                self.close_window();
                self.launch(request).map_err(|source| launch_error(self, source))?;
                // What that run used up or left behind has to be as before it for the run that counts.
                let conclude = self.plan.subjects[subject].hooks.conclude.clone();
                self.hook(Hook::Conclude, subject, conclude.as_deref())?;
                self.hook(Hook::Prepare, subject, prepare.as_deref())?;
            }
            Cache::Drop => {
                self.close_window();
                drop_page_cache(self.root).map_err(RunError::DropCache)?;
            }
        }
        if let Some(plan) = &self.plan.subjects[subject].harness {
            plan.folder.empty().map_err(RunError::Results)?;
        }
        if let Some(backend) = &self.plan.backend {
            backend.prepare().map_err(RunError::Results)?;
        }
        self.observed.evidence.before_run();
        if let Some(pace) = &self.pace {
            pace.before_run();
        }
        let energy = self.plan.energy.as_mut().and_then(|energy| energy.before_run(subject));
        let made = self.make(request, serving.as_ref());
        let pace = self.pace.as_ref().map(PaceSampler::after_run);
        let (finished, served) = made?;
        let mut finished = Finished { pace, ..finished };
        let energy = self
            .plan
            .energy
            .as_mut()
            .and_then(|meter| meter.after_run(subject, energy.as_ref(), finished.wall));
        let evidence = self.gather(&finished);
        let is_whole = served.as_ref().is_none_or(|(_, _, is_whole)| *is_whole);
        let mut values = if is_whole {
            self.values_of_process(&finished)
        } else {
            Self::values_of_window(&finished)
        };
        values.add(metric::ENERGY, energy);
        let load = served.map(|(of_load, load, _)| {
            values.append(of_load);
            load
        });
        let conclude = self.plan.subjects[subject].hooks.conclude.clone();
        let after = self
            .read_values(subject, &finished, &mut values)
            .and_then(|()| self.inside(subject, &finished))
            .and_then(|inside| {
                self.hook(Hook::Conclude, subject, conclude.as_deref()).map(|()| inside)
            });
        let Inside { iterations, benchmarks } = match after {
            Ok(inside) => inside,
            Err(error) => {
                self.forget_latest();
                return Err(error.with(finished.said));
            }
        };
        let measured = MeasuredRun {
            started: self.clock.at(finished.released).as_secs_f64(),
            outcome: finished.outcome,
            values,
            iterations,
            benchmarks,
            load,
            evidence,
            said: std::mem::take(&mut finished.said),
        };
        let owed = self.rest.after(&finished, self.rest_share());
        if let Some(pause) = owed {
            self.interrupt.sleep(pause);
        }
        Ok(measured)
    }

    /// Makes the run itself: a program comes to its end, a server is loaded.
    fn make(
        &mut self,
        request: RunRequest,
        serving: Option<&Serving>,
    ) -> Result<(Finished, Option<OfLoad>), RunError> {
        let Some(serving) = serving else {
            let finished = self.launch(request).map_err(|source| RunError::Launch {
                subject: self.name_of(request.subject),
                source,
            })?;
            return Ok((finished, None));
        };
        let Served { finished, values, load, is_whole } = self.serve(request, serving)?;
        Ok((finished, Some((values, load, is_whole))))
    }

    /// Gathers the evidence of a run, of which the machine-wide part may come later.
    fn gather(&mut self, finished: &Finished) -> Evidence {
        // Of a server that another program started it is not known.
        if finished.max_rss > 0 {
            self.observed.smallest_resident = self.observed.smallest_resident.min(finished.max_rss);
        }
        let migrations = self.plan.counters.index(CPU_MIGRATIONS);
        let migrations =
            migrations.and_then(|index| finished.counters.get(index).copied().flatten());
        let complete = self.observed.evidence.after_run(finished, migrations);
        self.observed.complete.extend(complete);
        own_evidence(finished, migrations)
    }

    /// Returns what is recorded of every process, and its counters.
    fn values_of_process(&self, finished: &Finished) -> Values {
        let mut values = Values::default();
        values.add(metric::WALL_TIME, finished.wall);
        values.add(metric::CPU_TIME, finished.cpu_time());
        values.add(metric::USER_TIME, finished.user_time);
        values.add(metric::SYSTEM_TIME, finished.system_time);
        values.add(metric::MAX_RSS, finished.max_rss as f64);
        values.add_all(self.plan.counters.metrics(), &finished.counters);
        values
    }

    /// Puts the build of a subject in its place.
    fn stand(&self, subject: usize) -> Result<(), RunError> {
        let one = &self.plan.subjects[subject];
        one.stand
            .as_ref()
            .map_or(Ok(()), Stand::take)
            .map_err(|source| RunError::Stand { subject: one.name.clone(), source })
    }

    fn launch(&mut self, request: RunRequest) -> Result<Finished, LaunchError> {
        self.attempt(request, None, &launch)
    }

    /// Starts a server that was given a port.
    pub(super) fn start_running(
        &mut self,
        request: RunRequest,
        port: &str,
    ) -> Result<Running, LaunchError> {
        self.attempt(request, Some(port), &Running::start)
    }

    /// Returns the name of a subject.
    pub(super) fn name_of(&self, subject: usize) -> String {
        self.plan.subjects[subject].name.clone()
    }

    /// Does something with the launch of a run. What was becalm's own idea and is refused is given up.
    fn attempt<T>(
        &mut self,
        request: RunRequest,
        port: Option<&str>,
        action: &dyn Fn(&Launch<'_>, &CounterPlan, &Interrupt) -> Result<T, LaunchError>,
    ) -> Result<T, LaunchError> {
        let folder = self.plan.folder_of(request.subject);
        let subject = &self.plan.subjects[request.subject];
        let program = subject.layouts.get(request.layout as usize);
        let program = match program {
            Some(one) => one.clone(),
            None => subject.program.clone().expect("seen before anything is launched"),
        };
        let (program, filled) = match port {
            Some(port) => {
                (program.filled(PORT, port)?, Some(subject.environment.filled(PORT, port)?))
            }
            None => (program, None),
        };
        // What a server prints is looked at while it runs, and becalm ends it itself.
        let is_server = port.is_some();
        loop {
            let subject = &self.plan.subjects[request.subject];
            let captures = !subject.extractors.is_empty()
                || self.plan.iterations.is_some()
                || self.plan.statement.is_some()
                || subject
                    .harness
                    .as_ref()
                    .is_some_and(|h| h.harness.place == ResultsPlace::Output)
                || self.plan.expectation != Expectation::Anything;
            let result = action(
                &Launch {
                    program: &program,
                    environment: filled.as_ref().unwrap_or(&subject.environment),
                    padding: request.padding,
                    placement: &self.plan.placement,
                    stdin: &subject.stdin,
                    stdout: match &self.plan.stdout {
                        Stdout::Null if is_server => &Stdout::WithErrors,
                        _ if captures => &Stdout::Capture,
                        other => other,
                    },
                    stderr: self.plan.stderr,
                    cwd: folder.as_deref(),
                    timeout: subject.timeout.filter(|_| !is_server),
                },
                &self.plan.counters,
                self.interrupt,
            );
            match result {
                // The real-time class was becalm's own idea: where it is refused, go without.
                Err(error) if self.scheduler_is_a_try && error.is_scheduler_refused() => {
                    self.scheduler_is_a_try = false;
                    self.plan.placement.scheduler = Scheduler::Other;
                    self.limit(PlacementLimit::NoFifo { error: error.to_string() });
                }
                // So were the CPUs.
                Err(error) if self.affinity_is_a_try() && error.is_affinity_refused() => {
                    self.plan.placement.affinity = None;
                    // What becalm starts has the CPUs that becalm has.
                    if let Some(all) = &self.cpus.own {
                        let _ = pin_self(all);
                    }
                    self.cpus.reason = AffinityReason::Refused;
                    let error = error.to_string();
                    self.cpus.limits = vec![PlacementLimit::NotPinned { error }.into()];
                    self.pace = None;
                    self.bind_memory();
                    self.watch_cpus();
                }
                other => return other,
            }
        }
    }

    /// Runs a command of the user, if there is one.
    pub(super) fn hook(
        &mut self,
        hook: Hook,
        subject: usize,
        command: Option<&str>,
    ) -> Result<(), RunError> {
        let Some(text) = command.map(|text| self.with_port(subject, text)) else { return Ok(()) };
        self.stand(subject)?;
        // What the hook does to the machine is no evidence against the runs before it.
        self.close_window();
        let folder = self.plan.folder_of(subject);
        // A build in a hook, or a server that it starts, is not for the one CPU that becalm keeps to.
        let kept_to = own_affinity().ok();
        let widened = self.cpus.own.as_ref().is_some_and(|all| pin_self(all).is_ok());
        let result = run_hook(hook, &text, folder.as_deref(), self.interrupt);
        if let Some(cpus) = kept_to.filter(|_| widened)
            && let Err(error) = pin_self(&cpus)
        {
            self.limit(not_kept_off(&error));
        }
        result.map_err(|how| RunError::Hook { hook, command: text, how })
    }

    /// Ends the window of evidence before something that is not a run.
    pub(super) fn close_window(&mut self) {
        self.observed.flush();
    }

    /// Forgets the evidence of the latest run, which becomes no part of the record.
    pub(super) fn forget_latest(&mut self) {
        self.close_window();
        self.observed.complete.pop();
    }
}
