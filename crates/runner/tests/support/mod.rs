//! What the tests with real processes share.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use becalm_runner::{
    CounterPlan, EnvPolicy, Environment, Finished, Interrupt, Launch, LaunchError, Placement,
    Program, Stderr, Stdin, Stdout, launch,
};

/// A launch that a test changes where it needs to.
pub(crate) struct Subject {
    pub(crate) command: Vec<String>,
    pub(crate) environment: Environment,
    pub(crate) padding: u32,
    pub(crate) placement: Placement,
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
    pub(crate) cwd: Option<std::path::PathBuf>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) counters: CounterPlan,
}

/// Makes a subject that runs a shell script and captures its output.
pub(crate) fn shell(script: &str) -> Subject {
    command(&["/bin/sh", "-c", script])
}

/// Makes a subject from its words and captures its output.
pub(crate) fn command(words: &[&str]) -> Subject {
    let path = [(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))];
    Subject {
        command: words.iter().map(ToString::to_string).collect(),
        environment: Environment::from_vars(path, EnvPolicy::Inherit).unwrap(),
        padding: 0,
        placement: Placement::default(),
        stdin: Stdin::Null,
        stdout: Stdout::Capture,
        cwd: None,
        // No test may hang for ever.
        timeout: Some(Duration::from_secs(60)),
        counters: CounterPlan::none(),
    }
}

impl Subject {
    pub(crate) fn try_run(&self) -> Result<Finished, LaunchError> {
        self.run_until(&Interrupt::new().unwrap())
    }

    pub(crate) fn run_until(&self, interrupt: &Interrupt) -> Result<Finished, LaunchError> {
        let path = Some(OsStr::new("/usr/bin:/bin"));
        let cwd = self.cwd.as_deref();
        let program = Program::resolve(&self.command, path, cwd)?;
        self.run_program(&program, cwd, interrupt)
    }

    pub(crate) fn run_program(
        &self,
        program: &Program,
        cwd: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Finished, LaunchError> {
        let plan = Launch {
            program,
            environment: &self.environment,
            padding: self.padding,
            placement: &self.placement,
            stdin: &self.stdin,
            stdout: &self.stdout,
            stderr: Stderr::Null,
            cwd,
            timeout: self.timeout,
        };
        launch(&plan, &self.counters, interrupt)
    }

    #[track_caller]
    pub(crate) fn run(&self) -> Finished {
        self.try_run().unwrap()
    }

    /// Runs and returns what was printed, without the last line end.
    #[track_caller]
    pub(crate) fn output(&self) -> String {
        let output = self.run().output.expect("the output is captured");
        String::from_utf8(output).unwrap().trim_end().to_owned()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> String {
        self.try_run().unwrap_err().to_string()
    }
}

/// Says visibly that a test could not run here; the test then returns.
#[expect(clippy::print_stdout, reason = "xtask counts these lines")]
pub(crate) fn skipped(test: &str, reason: &str) {
    println!("skipped: {test}: {reason}");
}
