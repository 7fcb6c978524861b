//! From what a suite file says to subjects that can be measured.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use becalm_model::load::{MAIN_METRIC, ServerTerms};
use becalm_model::terms::{Goal, Stop, Terms};
use becalm_model::wire::{SuiteBenchmark, SuiteCommand, SuiteMetric, SuiteValue};
use becalm_model::{Subject, SubjectTerms};
use becalm_runner::Extractor;
use becalm_runner::rounds::{Hooks, OwnTerms, Serving};

use super::SuiteError;
use super::file::SuiteFile;
use super::load::load_of_text;
use super::metrics::{About, Kind, about, clash};
use super::start::Start;
use crate::harness::HarnessChoice;
use crate::servers;
use crate::subjects::{MOST_SUBJECTS, combinations, fill};

/// Time for the measured runs of a benchmark that says nothing of its end.
const BUDGET: Duration = Duration::from_secs(5);

/// Its fewest measured runs, however long they take: what `becalm run` makes.
const MINIMUM: u32 = 10;

/// A benchmark of a suite with its parameters filled in.
#[derive(Debug, Clone)]
pub struct Benchmark {
    /// What is measured.
    pub subject: Subject,
    /// How it is started.
    pub start: Start,
    /// Its warm-up and its end.
    pub own: OwnTerms,
    /// What a gate has to know about it.
    pub about: SubjectTerms,
}

/// Makes subjects of all benchmarks of a suite. The terms are for what the file leaves open.
pub fn resolve(file: &SuiteFile, terms: &Terms) -> Result<Vec<Benchmark>, SuiteError> {
    if file.document.defaults.command.is_some() {
        return Err(
            file.error_at(&["defaults", "command"], "every benchmark needs its own command")
        );
    }
    let mut all: Vec<Benchmark> = Vec::new();
    let mut extractors: Vec<Extractor> = Vec::new();
    for name in file.names() {
        let table = Table::of(file, name);
        let About { extractors: read, terms: metrics } = table.about()?;
        if let Some(clash) = clash(&read, &extractors) {
            return Err(table.wrong("metrics", clash));
        }
        extractors.extend(read.iter().cloned());
        let about = SubjectTerms {
            benchmark: name.to_owned(),
            tags: table.says.tags.clone().unwrap_or_default(),
            margin: table.says.margin.map(|margin| margin.0),
            metrics,
        };
        for values in table.combinations()? {
            let command = table.command(&values)?;
            let parameters = values.iter().map(|(name, value)| format!(" {name}={value}"));
            let shown = format!("{name}{}", parameters.collect::<String>());
            let start = table.start(&values, &read, terms)?;
            let own = table.own_terms(terms)?;
            let subject = Subject { parameters: values, ..Subject::new(shown, command) };
            all.push(Benchmark { subject, start, own, about: about.clone() });
        }
        if all.len() > MOST_SUBJECTS {
            let told = format!("with these, the suite has more than {MOST_SUBJECTS} benchmarks");
            return Err(table.wrong("parameters", told));
        }
    }
    if all.is_empty() {
        let (path, line) = (file.path.clone(), file.line_of(&["benchmark"]));
        return Err(SuiteError::NoBenchmark { path, line });
    }
    Ok(all)
}

/// One benchmark of the file, with the defaults filled in.
struct Table<'a> {
    file: &'a SuiteFile,
    name: &'a str,
    says: SuiteBenchmark,
}

impl<'a> Table<'a> {
    fn of(file: &'a SuiteFile, name: &'a str) -> Self {
        let own = file.document.benchmark[name].clone();
        Self { file, name, says: with_defaults(own, file.document.defaults.clone()) }
    }

    /// Says what is wrong with a value, at the place where it is: here or among the defaults.
    fn wrong(&self, key: &str, what: impl std::fmt::Display) -> SuiteError {
        let what = format!("benchmark `{}`: {what}", self.name);
        self.file.error_at(&self.keys_of(key), what)
    }

    fn keys_of<'b>(&'b self, key: &'b str) -> Vec<&'b str> {
        let own = ["benchmark", self.name, key].to_vec();
        if self.file.has(&own) || !self.file.has(&["defaults", key]) {
            own
        } else {
            ["defaults", key].to_vec()
        }
    }

    fn about(&self) -> Result<About, SuiteError> {
        let main = [SuiteMetric::named(MAIN_METRIC)];
        let kind = match (&self.says.load, &self.says.harness) {
            (Some(_), Some(_)) => {
                return Err(self.wrong("load", "a program of a harness is not a server"));
            }
            (Some(_), None) => Kind::Server,
            (None, Some(_)) => Kind::Harness,
            (None, None) => Kind::Program,
        };
        let metrics = match (&self.says.metrics, kind) {
            (None, Kind::Server) => &main[..],
            (metrics, _) => metrics.as_deref().unwrap_or_default(),
        };
        about(metrics, kind).map_err(|what| self.wrong("metrics", what))
    }

    /// Returns every combination of the values of its parameters.
    fn combinations(&self) -> Result<Vec<Vec<(String, String)>>, SuiteError> {
        let Some(parameters) = &self.says.parameters else { return Ok(vec![Vec::new()]) };
        let names = parameters.keys().map(String::as_str).collect();
        let wrong = |told: String| Err(self.wrong("parameters", told));
        let mut lists = Vec::new();
        let mut count = 1_usize;
        for name in self.file.in_order(&self.keys_of("parameters"), names) {
            let values: Vec<String> =
                parameters[name].iter().map(|SuiteValue(value)| value.clone()).collect();
            if values.is_empty() {
                return wrong(format!("the parameter `{name}` has no values"));
            }
            if let Some(twice) = values.iter().enumerate().find(|(i, v)| values[..*i].contains(v)) {
                return wrong(format!("the parameter `{name}` has the value {} twice", twice.1));
            }
            if !self.uses(name) {
                return wrong(format!(
                    "nothing uses the parameter `{name}`; write {{{name}}} where its value goes"
                ));
            }
            count = count.saturating_mul(values.len());
            lists.push((name.to_owned(), values));
        }
        if count > MOST_SUBJECTS {
            return wrong(format!(
                "{count} combinations of parameters are more than the limit of {MOST_SUBJECTS}"
            ));
        }
        Ok(combinations(&lists))
    }

    /// Says whether anything uses a parameter.
    fn uses(&self, parameter: &str) -> bool {
        let SuiteBenchmark {
            command,
            filter,
            load,
            env,
            folder,
            input,
            setup,
            prepare,
            conclude,
            cleanup,
            ..
        } = &self.says;
        let words = match command {
            Some(SuiteCommand::Line(line)) => vec![line],
            Some(SuiteCommand::Words(words)) => words.iter().collect(),
            None => Vec::new(),
        };
        let texts = [filter, load, folder, input, setup, prepare, conclude, cleanup];
        let values = env.iter().flat_map(|env| env.values()).map(|SuiteValue(value)| value);
        let mark = format!("{{{parameter}}}");
        let mut all = words.into_iter().chain(texts.into_iter().flatten()).chain(values);
        all.any(|text| text.contains(&mark))
    }

    fn command(&self, values: &[(String, String)]) -> Result<Vec<String>, SuiteError> {
        let words = match &self.says.command {
            None => {
                return Err(self.wrong("command", "there is no command to run"));
            }
            Some(SuiteCommand::Words(words)) => {
                words.iter().map(|word| fill(word, values)).collect()
            }
            Some(SuiteCommand::Line(line)) => {
                let words: Vec<String> = shell_words::split(&fill(line, values))
                    .map_err(|error| self.wrong("command", format!("`{line}`: {error}")))?;
                let operators = ["|", "&&", "||", ";", ">", "<"];
                if words.iter().any(|word| operators.contains(&word.as_str())) {
                    return Err(SuiteError::NeedsShell {
                        path: self.file.path.clone(),
                        line: self.file.line_of(&self.keys_of("command")),
                        benchmark: self.name.to_owned(),
                        command: line.clone(),
                    });
                }
                words
            }
        };
        if words.first().is_none_or(String::is_empty) {
            return Err(self.wrong("command", "the command is empty"));
        }
        Ok(words)
    }

    fn start(
        &self,
        values: &[(String, String)],
        extractors: &[Extractor],
        terms: &Terms,
    ) -> Result<Start, SuiteError> {
        let says = &self.says;
        let filled = |text: &Option<String>| text.as_ref().map(|text| fill(text, values));
        let home = self.file.folder();
        let folder = filled(&says.folder).map_or(home.clone(), |folder| home.join(folder));
        let env = says.env.iter().flatten();
        Ok(Start {
            env: env.map(|(name, SuiteValue(value))| (name.clone(), fill(value, values))).collect(),
            // From the folder, like everything that the benchmark itself opens.
            input: filled(&says.input).map(|input| Path::new(&input).to_owned()),
            folder,
            timeout: match says.timeout {
                Some(timeout) if timeout.0.is_zero() => {
                    return Err(self.wrong("timeout", "the timeout must be above zero"));
                }
                Some(timeout) => Some(timeout.0),
                None => terms.timeout,
            },
            hooks: Hooks {
                setup: filled(&says.setup),
                prepare: filled(&says.prepare),
                conclude: filled(&says.conclude),
                cleanup: filled(&says.cleanup),
            },
            harness: self.harness(values, terms)?,
            extractors: extractors.to_vec(),
            serving: self.serving(values)?,
        })
    }

    /// Returns what is done with a server; `None` for a program.
    fn serving(&self, values: &[(String, String)]) -> Result<Option<Serving>, SuiteError> {
        let Some(text) = &self.says.load else { return Ok(None) };
        let wrong = |what: String| self.wrong("load", what);
        if self.says.timeout.is_some() {
            let what = "a server runs until becalm stops it; `timeout` in its load is the time limit of each request";
            return Err(self.wrong("timeout", what));
        }
        let text = fill(text, values);
        let load =
            load_of_text(&text, Some(self.file)).map_err(|error| wrong(error.to_string()))?;
        let scenario = load.scenario;
        let named: Vec<String> =
            self.says.metrics.iter().flatten().map(|metric| metric.name.clone()).collect();
        let quantiles = servers::quantiles(&scenario, &named);
        let env = self.says.env.iter().flat_map(|env| env.values());
        let env: Vec<String> = env.map(|SuiteValue(value)| value.clone()).collect();
        let terms = ServerTerms { text, scenario, url: load.url, ready: load.ready, keep: false };
        // No two benchmarks have a server in common.
        let numbers = Rc::default();
        servers::serving(&terms, &self.command(values)?, &env, &quantiles, &numbers)
            .map(Some)
            .map_err(|error| wrong(error.to_string()))
    }

    fn harness(
        &self,
        values: &[(String, String)],
        terms: &Terms,
    ) -> Result<Option<HarnessChoice>, SuiteError> {
        let says = &self.says;
        let Some(name) = &says.harness else {
            let own = &self.file.document.benchmark[self.name];
            for (key, is_there) in
                [("filter", own.filter.is_some()), ("harness-time", own.harness_time.is_some())]
            {
                if is_there {
                    return Err(
                        self.wrong(key, format!("`{key}` is for a harness, and none is named"))
                    );
                }
            }
            return Ok(None);
        };
        let time = says.harness_time.map_or(terms.runs.harness_time, |time| time.0);
        if time.is_zero() {
            return Err(self.wrong("harness-time", "the time must be above zero"));
        }
        let filter = says.filter.as_ref().map(|filter| fill(filter, values));
        HarnessChoice::named(name, filter, time)
            .map(Some)
            .map_err(|error| self.wrong("harness", format!("`{name}`: {error}")))
    }

    /// Returns when it is finished. A number of rounds on the command line applies to all.
    fn own_terms(&self, terms: &Terms) -> Result<OwnTerms, SuiteError> {
        let budget = self.says.budget.map(|budget| budget.0);
        if self.says.rounds == Some(0) {
            return Err(self.wrong("rounds", "expected at least 1 round"));
        }
        let stop = match (terms.limits.rounds, self.says.rounds, budget) {
            (Some(rounds), _, _) | (None, Some(rounds), None) => Stop::Rounds(rounds),
            (None, maximum, budget) => Stop::Until {
                // Who sets a limit gets it, however few runs fit into it.
                minimum: if budget.is_some() { 1 } else { MINIMUM },
                maximum,
                budget: Some(budget.unwrap_or(BUDGET)),
                goal: Goal::Budget,
            },
        };
        Ok(OwnTerms { warmup: self.says.warmup.unwrap_or(terms.warmup), stop })
    }
}

/// Fills in what a benchmark does not say.
fn with_defaults(own: SuiteBenchmark, defaults: SuiteBenchmark) -> SuiteBenchmark {
    let env = match (own.env, defaults.env) {
        (Some(own), Some(mut env)) => {
            env.extend(own);
            Some(env)
        }
        (own, defaults) => own.or(defaults),
    };
    // A number of rounds without a time, or a time without a number, is a whole answer.
    let ends = own.rounds.is_some() || own.budget.is_some();
    let (rounds, budget) =
        if ends { (own.rounds, own.budget) } else { (defaults.rounds, defaults.budget) };
    SuiteBenchmark {
        command: own.command,
        harness: own.harness.or(defaults.harness),
        load: own.load.or(defaults.load),
        filter: own.filter.or(defaults.filter),
        harness_time: own.harness_time.or(defaults.harness_time),
        parameters: own.parameters.or(defaults.parameters),
        metrics: own.metrics.or(defaults.metrics),
        env,
        folder: own.folder.or(defaults.folder),
        setup: own.setup.or(defaults.setup),
        prepare: own.prepare.or(defaults.prepare),
        conclude: own.conclude.or(defaults.conclude),
        cleanup: own.cleanup.or(defaults.cleanup),
        input: own.input.or(defaults.input),
        timeout: own.timeout.or(defaults.timeout),
        warmup: own.warmup.or(defaults.warmup),
        budget,
        rounds,
        margin: own.margin.or(defaults.margin),
        tags: own.tags.or(defaults.tags),
    }
}
