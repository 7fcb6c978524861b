//! The programs: how each is run, and how its iterations are read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::workspace::{self, root, target};

/// One iteration, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Iteration {
    pub(super) seconds: f64,
    /// How long of it the thread waited for a CPU.
    pub(super) waited: f64,
}

/// A program in one of the languages.
pub(super) struct Program {
    pub(super) language: &'static str,
    pub(super) name: &'static str,
}

const fn program(language: &'static str, name: &'static str) -> Program {
    Program { language, name }
}

pub(super) const PROGRAMS: &[Program] = &[
    program("java", "words"),
    program("jmh", "words"),
    program("node", "json"),
    program("python", "words"),
    program("java", "shapes"),
    program("node", "shapes"),
    program("java", "step"),
    program("jmh", "step"),
    program("python", "step"),
    program("java", "garbage"),
    program("jmh", "garbage"),
    program("node", "cache"),
    program("java", "growing"),
    program("python", "growing"),
    program("java", "regex"),
    program("jmh", "tree"),
    program("node", "step"),
    program("python", "cache"),
    program("node", "phases"),
    program("python", "phases"),
    program("jmh", "regex"),
    program("node", "growing"),
    program("python", "numbers"),
    program("jmh", "shapes"),
    program("node", "tree"),
    program("java", "tree"),
    program("python", "tree"),
    program("jmh", "growing"),
    program("java", "phases"),
    program("jmh", "phases"),
];

/// Builds the Java programs below the target folder and returns where.
pub(super) fn build_java() -> Result<PathBuf> {
    let place = target()?.join("warmup");
    let folder = format!("-DbuildDirectory={}", place.display());
    let pom = root().join("xtask/warmup/jmh/pom.xml");
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", "--file"]).arg(pom).args([&folder, "package"]);
    workspace::run(&mut maven)?;
    Ok(place)
}

/// The flags of every Java machine: one that needs few threads of its own.
const JAVA: [&str; 2] = ["-XX:+UseSerialGC", "-Xmx128m"];

impl Program {
    /// Returns what runs it; `alone`: in the real-time class.
    pub(super) fn command(&self, place: &Path, iterations: usize, alone: bool) -> Command {
        let count = iterations.to_string();
        let jar = place.join("benchmarks.jar").display().to_string();
        let source = |name: &str| root().join("xtask/warmup").join(name).display().to_string();
        let program: Vec<String> = match self.language {
            "java" => ["java"]
                .iter()
                .chain(&JAVA)
                .map(|&word| word.to_owned())
                .chain([
                    "-cp".to_owned(),
                    jar,
                    "warmup.Plain".to_owned(),
                    self.name.to_owned(),
                    count,
                ])
                .collect(),
            "jmh" => vec![
                "java".to_owned(),
                "-jar".to_owned(),
                jar,
                "-f".to_owned(),
                "1".to_owned(),
                "-wi".to_owned(),
                "0".to_owned(),
                "-i".to_owned(),
                count.clone(),
                "-jvmArgs".to_owned(),
                JAVA.join(" "),
                "-p".to_owned(),
                format!("program={}", self.name),
                "-p".to_owned(),
                format!("iterations={count}"),
            ],
            "node" => vec!["node".to_owned(), source("programs.js"), self.name.to_owned(), count],
            _ => vec!["python3".to_owned(), source("programs.py"), self.name.to_owned(), count],
        };
        let class = if alone { ["--fifo", "1"] } else { ["--other", "0"] };
        let mut command = Command::new("chrt");
        command.args(class).args(["timeout", "40"]).args(program);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Reads its iterations.
    pub(super) fn read(&self, output: &str) -> Result<Vec<Iteration>> {
        if self.language == "jmh" { from_jmh(output) } else { from_lines(output) }
    }
}

/// Runs a program to its end and returns what it printed.
pub(super) fn run(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot start chrt (package util-linux)")?;
    ensure!(output.status.success(), "it ended with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Lines of seconds and seconds waited.
fn from_lines(output: &str) -> Result<Vec<Iteration>> {
    output
        .lines()
        .map(|line| {
            let (seconds, waited) = line.split_once(' ').context("a line of two numbers")?;
            Ok(Iteration { seconds: seconds.parse()?, waited: waited.parse()? })
        })
        .collect()
}

/// JMH's own lines, `Iteration 12: 205.0 ns/op`, and `waited 0.1` of our benchmark beside. The last value stands
/// on a line of its own, because the benchmark prints before JMH does.
fn from_jmh(output: &str) -> Result<Vec<Iteration>> {
    let (mut seconds, mut waited) = (Vec::new(), Vec::new());
    for line in output.lines().take_while(|line| !line.starts_with("Result")) {
        if let Some(number) = line.strip_prefix("waited ") {
            waited.push(number.parse::<f64>()?);
        } else if let Some(rest) = line.strip_suffix(" ns/op") {
            let number = rest.rsplit(' ').next().unwrap_or(rest);
            seconds.push(1e-9 * number.parse::<f64>()?);
        }
    }
    ensure!(seconds.len() == waited.len(), "{} times and {} waits", seconds.len(), waited.len());
    let pair = |(seconds, waited)| Iteration { seconds, waited };
    Ok(seconds.into_iter().zip(waited).map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jmh_prints_is_read() {
        let output = "# Fork: 1 of 1\nIteration   1: 250.0 ns/op\nIteration   2: \nwaited 0.0\nwaited 1.0E-4\n500.0 ns/op\n\n\nResult \"x\":\n  mean = 3.0 ns/op\n";
        let read = from_jmh(output).unwrap();
        assert_eq!(read.len(), 2);
        assert!((read[1].seconds - 5e-7).abs() < 1e-12 && (read[1].waited - 1e-4).abs() < 1e-12);
    }
}
