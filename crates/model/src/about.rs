//! What a record is about: which of its metrics a reader looks at first, a series is followed by, a decision is made on.

use crate::{Metric, Record, metric};

impl Record {
    /// Returns the metrics that a subject is about, of those that it has values of: those that its suite names, or
    /// else what the benchmarks inside the program are about, or else what was read from the output, and what says how
    /// long the program takes.
    pub fn about(&self, subject: usize) -> Vec<usize> {
        let all = self.metrics_of(self.measured(subject));
        let named = self.suite.get(subject).into_iter().flat_map(|terms| &terms.metrics);
        let is_of_program = |metric: &Metric| {
            metric.name == self.usual_metric() || !metric::is_builtin(&metric.name)
        };
        let those = |is_wanted: &dyn Fn(&Metric) -> bool| -> Vec<usize> {
            all.iter().copied().filter(|&index| is_wanted(&self.metrics[index])).collect()
        };
        let choices: [&dyn Fn() -> Vec<usize>; 4] = [
            // In the order of the suite.
            &|| {
                named.clone().flat_map(|one| those(&|metric| metric.is_called(&one.name))).collect()
            },
            &|| those(&Metric::is_main),
            // Some tools name every measure and none that the benchmark is about, such as gungraun's counts.
            &|| those(&|metric| metric.benchmark.is_some()),
            &|| those(&is_of_program),
        ];
        choices.into_iter().map(|choice| choice()).find(|some| !some.is_empty()).unwrap_or_default()
    }

    /// Returns these measures of all benchmarks inside the program; without any what the benchmarks are about, and where
    /// nothing is that, all that they have.
    pub fn about_benchmarks(&self, measures: &[String]) -> Vec<usize> {
        if !measures.is_empty() {
            return self.metrics_that(|metric| measures.iter().any(|name| metric.is_called(name)));
        }
        let main = self.metrics_that(Metric::is_main);
        if main.is_empty() { self.metrics_that(|metric| metric.benchmark.is_some()) } else { main }
    }

    /// Returns the indices of some metrics.
    pub fn metrics_that(&self, is_wanted: impl Fn(&Metric) -> bool) -> Vec<usize> {
        (0..self.metrics.len()).filter(|&index| is_wanted(&self.metrics[index])).collect()
    }
}
