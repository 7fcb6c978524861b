//! Subjects that are benchmarks of a suite: each is started in its own way.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use becalm_model::metric::is_builtin;
use becalm_model::terms::{RunTerms, SubjectSource, Terms};
use becalm_model::{Limit, Metric, SessionLimit, Subject, SubjectTerms, with_causes};
use becalm_runner::rounds::{Hooks, Independent, OnFailure, OwnTerms, Serving, SpawnSubject};
use becalm_runner::{Environment, Extractor, Program, Stdin};

use super::{Benchmark, SuiteError, SuiteFile, choose, resolve};
use crate::harness::{self, HarnessChoice};
use crate::setup::SetupError;

/// How one benchmark is started.
#[derive(Debug, Clone)]
pub struct Start {
    /// Variables beside those of all.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub folder: PathBuf,
    /// What it reads, from its folder.
    pub input: Option<PathBuf>,
    /// How long a run may take.
    pub timeout: Option<Duration>,
    /// Commands around its runs.
    pub hooks: Hooks,
    /// The harness that it is a program of.
    pub harness: Option<HarnessChoice>,
    /// What is read from its output.
    pub extractors: Vec<Extractor>,
    /// What is done with it, if it is a server.
    pub serving: Option<Serving>,
}

/// What a suite says of the subjects, in their order.
#[derive(Debug)]
pub struct SuitePlan {
    /// How each is started.
    pub starts: Vec<Start>,
    /// When each is finished.
    pub own: Vec<OwnTerms>,
    /// What a gate has to know about each.
    pub about: Vec<SubjectTerms>,
    /// What happens to the others when one fails.
    pub on_failure: OnFailure,
}

impl SuitePlan {
    /// Makes the plan of the chosen benchmarks, with their subjects.
    pub fn of(chosen: Vec<Benchmark>, on_failure: OnFailure) -> (Vec<Subject>, Self) {
        let (mut subjects, mut starts) = (Vec::new(), Vec::new());
        let (mut own, mut about) = (Vec::new(), Vec::new());
        for one in chosen {
            subjects.push(one.subject);
            starts.push(one.start);
            own.push(one.own);
            about.push(one.about);
        }
        (subjects, Self { starts, own, about, on_failure })
    }

    /// Reads the suite that some terms name, and makes the plan of the benchmarks that they choose; `None` if they name none.
    pub fn of_terms(terms: &Terms) -> Result<Option<(Vec<Subject>, Self)>, SuiteError> {
        let SubjectSource::Suite { file, only, tags, fail_fast } = &terms.source else {
            return Ok(None);
        };
        let file = SuiteFile::read(file.as_deref())?;
        let chosen = choose(resolve(&file, terms)?, only, tags)?;
        let on_failure = if *fail_fast { OnFailure::End } else { OnFailure::LeaveOut };
        Ok(Some(Self::of(chosen, on_failure)))
    }

    /// Returns the terms of the session.
    pub fn independent(&self) -> Independent {
        Independent { terms: self.own.clone(), on_failure: self.on_failure }
    }

    /// Returns which metrics the suite asks for and this machine does not have.
    pub fn not_recorded(&self, recorded: &[Metric]) -> Option<Limit> {
        let asked = self.about.iter().flat_map(|terms| &terms.metrics).map(|one| one.name.as_str());
        let is_missing =
            |name: &&str| is_builtin(name) && !recorded.iter().any(|metric| metric.name == **name);
        let missing: BTreeSet<&str> = asked.filter(is_missing).collect();
        let metrics: Vec<String> = missing.into_iter().map(str::to_owned).collect();
        (!metrics.is_empty()).then(|| SessionLimit::NotRecorded { metrics }.into())
    }

    /// Makes the subjects ready to be started. One that cannot be is left to fail in its first run, unless
    /// the first failure ends everything anyway.
    pub fn spawn_subjects(
        &self,
        subjects: &[Subject],
        environment: &Environment,
        runs: &RunTerms,
    ) -> Result<Vec<SpawnSubject>, SetupError> {
        let mut ready = Vec::new();
        for (subject, start) in subjects.iter().zip(&self.starts) {
            let mut one = start.spawn_subject(subject, environment, runs)?;
            if let Err(why) = start.find(subject, &mut one) {
                if self.on_failure == OnFailure::End {
                    return Err(SetupError::Program { subject: subject.name.clone(), why });
                }
                one.program = Err(why);
            }
            ready.push(one);
        }
        Ok(ready)
    }
}

impl Start {
    fn spawn_subject(
        &self,
        subject: &Subject,
        environment: &Environment,
        runs: &RunTerms,
    ) -> Result<SpawnSubject, SetupError> {
        let mut environment = environment.clone();
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                let name = name.escape_debug();
                return Err(SetupError::VariableName {
                    subject: subject.name.clone(),
                    name: name.to_string(),
                });
            }
            // What the command line says goes before what the file says.
            if runs.env.iter().any(|text| text.split('=').next() == Some(name)) {
                continue;
            }
            environment = environment.with(name.as_ref(), value.as_ref())?;
        }
        Ok(SpawnSubject {
            layouts: Vec::new(),
            name: subject.name.clone(),
            program: Err(String::new()),
            late: None,
            stand: None,
            folder: Some(self.folder.clone()),
            hooks: self.hooks.clone(),
            environment,
            stdin: self.input.clone().map_or(Stdin::Null, Stdin::File),
            timeout: self.timeout,
            extractors: self.extractors.clone(),
            harness: None,
            serving: self.serving.clone(),
        })
    }

    /// Finds the program, and the flags that its harness needs.
    fn find(&self, subject: &Subject, one: &mut SpawnSubject) -> Result<(), String> {
        if !self.folder.is_dir() {
            return Err(format!("its folder {} does not exist", self.folder.display()));
        }
        let mut command = subject.command.clone();
        if let Some(choice) = &self.harness {
            let drive = harness::drive(choice, std::slice::from_ref(subject), Some(&self.folder))
                .map_err(|error| error.to_string())?;
            for (name, value) in &drive.environment {
                let environment = std::mem::take(&mut one.environment);
                one.environment = environment
                    .with(name.as_ref(), value.as_ref())
                    .map_err(|error| with_causes(&error))?;
            }
            command = drive.commands.into_iter().next().unwrap_or(command);
            one.harness = Some(Rc::new(drive.plan));
        }
        let path = one.environment.get("PATH".as_ref());
        let program = Program::resolve(&command, path, Some(&self.folder));
        let program = program.map_err(|error| with_causes(&error));
        if program.is_err() && self.hooks.setup.is_some() {
            one.late = Some(command);
            return Ok(());
        }
        one.program = Ok(program?);
        Ok(())
    }
}
