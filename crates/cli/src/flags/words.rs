//! The command line of some terms: of a session that continues, or of one that becalm recommends.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use super::compare;
use becalm_model::terms::{
    CommandLine, Exports, FailurePolicy, RunTerms, SubjectSource, Terms, TuneProfile, TuneWait,
};

/// Returns the words after `becalm` that start a session of these terms.
pub(crate) fn of(command: &str, terms: &Terms) -> Vec<String> {
    let mut words = vec![command.to_owned()];
    if let SubjectSource::Revisions { revisions, .. } = &terms.source {
        words.extend(revisions.iter().flat_map(|name| ["--rev".to_owned(), name.clone()]));
    }
    words.extend(flags(terms, &usual(command)));
    words.extend(of_source(&terms.source));
    words
}

/// Returns the terms of a command without any flags.
pub(crate) fn usual(command: &str) -> Terms {
    let margin = if command == "compare" { compare::MARGIN } else { 0.0 };
    Terms { margin, ..Terms::default() }
}

/// Returns the words after `becalm` that start a search of these terms between two ends.
pub(crate) fn of_bisect(terms: &Terms, ends: &[String; 2]) -> Vec<String> {
    let mut words = vec!["bisect".to_owned()];
    for (flag, end) in ["--good", "--bad"].into_iter().zip(ends) {
        words.extend([flag.to_owned(), end.clone()]);
    }
    words.extend(flags(terms, &usual("bisect")));
    words.extend(of_source(&terms.source));
    words
}

fn of_source(source: &SubjectSource) -> Vec<String> {
    let dashes = "--".to_owned();
    match source {
        SubjectSource::Itself { command } => vec!["--aa".to_owned(), line(command)],
        SubjectSource::Commands { commands } => match &commands[..] {
            [CommandLine::Words(command)] => {
                std::iter::once(dashes).chain(command.clone()).collect()
            }
            commands => std::iter::once(dashes).chain(commands.iter().map(line)).collect(),
        },
        SubjectSource::Revisions { command: CommandLine::Words(words), .. } => {
            std::iter::once(dashes).chain(words.clone()).collect()
        }
        SubjectSource::Revisions { command, .. } => vec![dashes, line(command)],
        SubjectSource::Suite { file, only, tags, fail_fast } => {
            let mut words = vec![match file {
                Some(file) => format!("--suite={}", file.display()),
                None => "--suite".to_owned(),
            }];
            words.extend(only.iter().map(|one| format!("--only={one}")));
            words.extend(tags.iter().map(|one| format!("--tag={one}")));
            words.extend(fail_fast.then(|| "--fail-fast".to_owned()));
            words
        }
        SubjectSource::Statement => Vec::new(),
    }
}

fn line(command: &CommandLine) -> String {
    match command {
        CommandLine::Line(line) => line.clone(),
        CommandLine::Words(words) => shell_words::join(words),
    }
}

/// Returns the flags by which terms differ from the usual ones.
pub(crate) fn flags(terms: &Terms, usual: &Terms) -> Vec<String> {
    let mut flags = Flags::default();
    let Terms { limits, failure, .. } = terms;
    flags.differs("warmup", &terms.warmup, &usual.warmup);
    flags.given("rounds", limits.rounds.as_ref());
    flags.given("min-rounds", limits.min_rounds.as_ref());
    flags.given("max-rounds", limits.max_rounds.as_ref());
    flags.time("max-time", limits.max_time);
    flags.given("precision", limits.precision.as_ref());
    flags.differs("confidence", &terms.confidence, &usual.confidence);
    flags.differs("margin", &terms.margin, &usual.margin);
    terms.metrics.iter().for_each(|one| flags.value("metric", one));
    terms.metrics_json.iter().for_each(|one| flags.value("metric-json", one));
    match failure {
        FailurePolicy::Stop => {}
        FailurePolicy::Ignore => flags.alone("ignore-failure", true),
        FailurePolicy::IgnoreCodes(codes) => {
            let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
            flags.attached("ignore-failure", &codes.join(","));
        }
    }
    flags.time("timeout", terms.timeout);
    flags.of_subjects(&terms.runs, &usual.runs);
    flags.of_conditions(&terms.runs, &usual.runs);
    flags.of_exports(&terms.exports);
    flags.words
}

#[derive(Default)]
struct Flags {
    words: Vec<String>,
}

impl Flags {
    fn value(&mut self, name: &str, value: impl Display) {
        let value = value.to_string();
        if value.starts_with('-') {
            return self.attached(name, &value);
        }
        self.words.extend([format!("--{name}"), value]);
    }

    fn attached(&mut self, name: &str, value: &str) {
        self.words.push(format!("--{name}={value}"));
    }

    fn alone(&mut self, name: &str, is_given: bool) {
        self.words.extend(is_given.then(|| format!("--{name}")));
    }

    fn given<T: Display>(&mut self, name: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    fn differs<T: Display + PartialEq>(&mut self, name: &str, value: &T, usual: &T) {
        self.given(name, Some(value).filter(|value| *value != usual));
    }

    fn time(&mut self, name: &str, time: Option<Duration>) {
        self.given(name, time.map(|time| format!("{}s", time.as_secs_f64())).as_ref());
    }

    fn path(&mut self, name: &str, path: Option<&PathBuf>) {
        self.given(name, path.map(|path| path.display().to_string()).as_ref());
    }

    fn of_subjects(&mut self, runs: &RunTerms, usual: &RunTerms) {
        if let Some(shell) = &runs.shell {
            self.attached("shell", shell);
        }
        for (name, values) in &runs.parameters {
            self.words.extend(["--parameter-list".to_owned(), name.clone(), values.join(",")]);
        }
        runs.names.iter().for_each(|name| self.value("name", name));
        self.path("input", runs.input.as_ref());
        self.differs("output", &runs.output, &usual.output);
        self.given("expect-output", runs.expect_output.as_ref());
        if let Some(rule) = &runs.iterations {
            self.attached("iterations", rule);
        }
        self.differs("backend", &runs.backend, &usual.backend);
        self.differs("counters", &runs.counters, &usual.counters);
        self.alone("trace", runs.trace);
        self.given("build", runs.build.as_ref());
        self.given("layouts", runs.layouts.as_ref());
        self.given("harness", runs.harness.as_ref());
        self.given("filter", runs.filter.as_ref());
        self.time(
            "harness-time",
            Some(runs.harness_time).filter(|time| *time != usual.harness_time),
        );
        self.given("setup", runs.setup.as_ref());
        self.given("prepare", runs.prepare.as_ref());
        self.given("conclude", runs.conclude.as_ref());
        self.given("cleanup", runs.cleanup.as_ref());
    }

    fn of_conditions(&mut self, runs: &RunTerms, usual: &RunTerms) {
        self.alone("env-clear", runs.env_clear);
        runs.env.iter().for_each(|one| self.value("env", one));
        self.differs("affinity", &runs.affinity, &usual.affinity);
        self.alone("isolate", runs.isolate);
        self.given("threads", runs.threads.as_ref());
        self.given("scheduler", runs.scheduler.as_ref());
        self.given("nice", runs.nice.as_ref());
        self.differs("aslr", &runs.aslr, &usual.aslr);
        self.alone("in-memory", runs.in_memory);
        self.differs("malloc", &runs.malloc, &usual.malloc);
        self.given("membind", runs.membind.as_ref());
        self.differs("thp", &runs.thp, &usual.thp);
        self.differs("layout", &runs.layout, &usual.layout);
        self.differs("cache", &runs.cache, &usual.cache);
        self.differs("rest", &runs.rest, &usual.rest);
        self.time("settle", runs.settle);
        self.differs("pace", &runs.pace, &usual.pace);
        self.differs("on-disturbance", &runs.on_disturbance, &usual.on_disturbance);
        match &runs.tune {
            None => {}
            Some(TuneProfile::Safe) => self.alone("tune", true),
            Some(TuneProfile::Strict) => self.attached("tune", "strict"),
            Some(TuneProfile::File(path)) => self.attached("tune", &path.display().to_string()),
        }
        match runs.wait {
            TuneWait::No => {}
            TuneWait::Forever => self.alone("wait", true),
            TuneWait::For(time) => self.attached("wait", &format!("{}s", time.as_secs_f64())),
        }
        self.alone("keep-root", runs.keep_root);
        self.given("seed", runs.seed.as_ref());
    }

    fn of_exports(&mut self, exports: &Exports) {
        self.alone("json", exports.print);
        self.path("export-json", exports.json.as_ref());
        self.path("export-html", exports.html.as_ref());
        self.path("export-markdown", exports.markdown.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args as _, FromArgMatches as _};

    fn terms(words: &[String]) -> Terms {
        let line = compare::Args::augment_args(clap::Command::new("compare"));
        let matches = line.try_get_matches_from(words).unwrap();
        compare::Args::from_arg_matches(&matches).unwrap().terms(None).unwrap()
    }

    #[test]
    fn the_words_of_terms_make_the_same_terms() {
        let lines: [&[&str]; 8] = [
            &["./a", "./b"],
            &["--warmup", "3", "--rounds", "50", "--confidence", "99%", "--margin", "0", "a", "b"],
            &[
                "--max-time",
                "5s",
                "-M9",
                "--min-rounds=2",
                "-i",
                "--timeout",
                "9s",
                "--",
                "a b",
                "-c",
            ],
            &["--aa", "./a --size 3", "--ignore-failure=1,2", "--nice", "-5", "--affinity", "2-3"],
            &["-L", "n", "1,2", "-P", "t", "0", "3", "--shell=bash", "--", "a {n} {t} | b", "c"],
            &["--rev", "main", "--rev", ".", "--build", "make", "--layouts", "3", "./a", "x y"],
            &[
                "--tune",
                "--wait=5s",
                "--isolate",
                "--membind",
                "0-1",
                "--thp",
                "advised",
                "--scheduler",
                "fifo:2",
                "--rest",
                "5%",
                "a",
                "b",
            ],
            &[
                "--metric",
                "t[ns]=t: (\\S+)",
                "--metric-json",
                "m=/a",
                "--iterations=x",
                "--env",
                "A=1",
                "--harness-time",
                "50ms",
                "--settle",
                "2s",
                "--pace",
                "off",
                "--json",
                "a",
                "b",
            ],
        ];
        for line in lines {
            let words: Vec<String> =
                std::iter::once(&"compare").chain(line).map(ToString::to_string).collect();
            let first = terms(&words);
            let again = of("compare", &first);
            assert_eq!(terms(&again), first, "{again:?}");
        }
    }
}
