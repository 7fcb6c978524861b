//! What is read from the output of a run: metrics, iterations, and whether it is what was expected.

use becalm_model::Outcome;

use super::Spawn;
use crate::harness;
use crate::rounds::Values;
use crate::rounds::executor::BenchmarkValue;
use crate::rounds::spawn_plan::{Expectation, RunError};
use crate::{Callgrind, Finished};

/// What a run timed inside itself.
#[derive(Debug)]
pub(super) struct Inside {
    /// Iterations of the whole program.
    pub(super) iterations: Vec<f64>,
    /// Benchmarks.
    pub(super) benchmarks: Vec<BenchmarkValue>,
}

impl Spawn<'_> {
    /// Reads the metrics that a run printed, and what was counted by simulation.
    pub(super) fn read_values(
        &mut self,
        subject: usize,
        finished: &Finished,
        values: &mut Values,
    ) -> Result<(), RunError> {
        self.read_printed(subject, finished, values)?;
        // A run that was cut off has counted only a part.
        if let (Some(backend), Outcome::Exited(_)) = (&self.plan.backend, finished.outcome) {
            let counts = backend.read().map_err(|source| RunError::Backend {
                subject: self.plan.subjects[subject].name.clone(),
                source,
            })?;
            values.add_all(&Callgrind::metrics(), &counts);
        }
        Ok(())
    }

    fn read_printed(
        &mut self,
        subject: usize,
        finished: &Finished,
        values: &mut Values,
    ) -> Result<(), RunError> {
        // What was printed before another end may be anything.
        let (Some(output), Outcome::Exited(code)) = (&finished.output, finished.outcome) else {
            return Ok(());
        };
        if code != 0 && !self.plan.failure.accepts(finished.outcome) {
            return Ok(());
        }
        self.check_output(subject, output)?;
        let subject = &self.plan.subjects[subject];
        for rule in &subject.extractors {
            let value = match rule.extract(output) {
                Ok(value) => Some(value),
                // Where such runs are taken, they are taken with what they printed.
                Err(_) if code != 0 => None,
                Err(source) => {
                    return Err(RunError::Metric { subject: subject.name.clone(), source });
                }
            };
            values.add(&rule.metric().name, value);
        }
        Ok(())
    }

    /// Reads what a run timed itself.
    pub(super) fn inside(&self, subject: usize, finished: &Finished) -> Result<Inside, RunError> {
        Ok(Inside {
            iterations: self.iterations(subject, finished)?,
            benchmarks: self.benchmarks(subject, finished)?,
        })
    }

    /// Reads what a harness left, or a worker printed. A run that failed has nothing to be relied on.
    fn benchmarks(
        &self,
        subject: usize,
        finished: &Finished,
    ) -> Result<Vec<BenchmarkValue>, RunError> {
        if let (Some(rule), Outcome::Exited(0)) = (&self.plan.statement, finished.outcome) {
            let output = finished.output.as_deref().unwrap_or_default();
            return rule.read(output).map(|reading| vec![reading]).map_err(|source| {
                let subject = self.plan.subjects[subject].name.clone();
                RunError::Statement { subject, source }
            });
        }
        let Some(plan) = &self.plan.subjects[subject].harness else { return Ok(Vec::new()) };
        if finished.outcome != Outcome::Exited(0) {
            return Ok(Vec::new());
        }
        let (output, filter) = (finished.output.as_deref(), plan.filter.as_deref());
        harness::readings(plan.harness, &plan.folder, output, filter).map_err(|source| {
            RunError::Harness {
                subject: self.plan.subjects[subject].name.clone(),
                source: Box::new(source),
            }
        })
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
