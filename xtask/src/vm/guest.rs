//! A running guest: QEMU as a process, the agent in the guest, the monitor beside it.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use becalm_kernel::process::ends_with_us;
use becalm_kernel::signal::SIGKILL;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::base64;
use super::state::State;

/// How long a guest may take for one script. Emulated machines on a busy computer are slow; this is
/// for those that hang.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running virtual machine. Dropping it is like cutting its power.
#[derive(Debug)]
pub(super) struct Guest {
    process: Child,
    /// Sockets and logs.
    place: TempDir,
    depth: Depth,
    agent: BufReader<UnixStream>,
}

/// How much of a long test is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Some of its cases.
    Sample,
    /// All.
    Whole,
}

/// What becomes of a machine when this process ends without stopping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterUs {
    Ends,
    /// `--keep`.
    Stays,
}

/// What a script did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) status: i32,
    /// Standard output and standard error together.
    pub(super) text: String,
}

impl Guest {
    /// Starts QEMU with an agent port, a monitor and a console beside what `command` has.
    pub(super) fn start(mut command: Command, depth: Depth, after_us: AfterUs) -> Result<Self> {
        if after_us == AfterUs::Ends {
            ends_with_us(&mut command, SIGKILL);
        }
        // Not in the cache: the path of a socket may have 107 bytes only.
        let place = tempfile::Builder::new().prefix("becalm-vm-").tempdir()?;
        let path = |name: &str| place.path().join(name);
        let socket = |name: &str| format!("path={},server=on,wait=off", path(name).display());
        command
            .args(["-device", "virtio-serial-pci", "-chardev"])
            .arg(format!("socket,id=agent,{}", socket("agent")))
            .args(["-device", "virtserialport,chardev=agent,name=agent", "-chardev"])
            .arg(format!("socket,id=monitor,{}", socket("monitor")))
            .args(["-mon", "chardev=monitor,mode=control", "-serial"])
            .arg(format!("file:{}", path("console").display()))
            .stdin(Stdio::null())
            .stdout(fs::File::create(path("qemu"))?)
            .stderr(fs::File::options().append(true).open(path("qemu"))?);
        let mut process = command.spawn().context("cannot start QEMU")?;
        let agent = connect(&path("agent"), &mut process).with_context(|| {
            format!("QEMU: {}", fs::read_to_string(path("qemu")).unwrap_or_default().trim())
        })?;
        agent.set_read_timeout(Some(PATIENCE))?;
        agent.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { process, place, depth, agent: BufReader::new(agent) })
    }

    /// Returns the process of QEMU.
    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Returns how much of a long test is wanted.
    pub(super) fn depth(&self) -> Depth {
        self.depth
    }

    /// Waits until the agent of a booting guest answers, and returns the boot id.
    pub(super) fn wait_for_boot(&mut self) -> Result<String> {
        let line = self.line().context("the guest does not boot")?;
        let boot = line.strip_prefix("ready ");
        boot.map(str::to_owned).with_context(|| format!("the agent said {line:?}"))
    }

    /// Runs a shell script in the guest as root.
    pub(super) fn run(&mut self, script: &str) -> Result<Output> {
        let line = base64::encode(script.as_bytes()) + "\n";
        self.agent.get_mut().write_all(line.as_bytes())?;
        let answer = self
            .line()
            .with_context(|| format!("the guest does not end this script:\n{script}"))?;
        let numbers: Vec<&str> = answer.split(' ').collect();
        let ["done", status, length] = numbers.as_slice() else {
            bail!("the agent said {answer:?} where it should have ended a script");
        };
        let mut bytes = vec![0; length.parse().context("length of the output")?];
        self.agent.read_exact(&mut bytes).context("the output of a script is incomplete")?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Output { status: status.parse().context("status of the script")?, text })
    }

    /// Runs a script that must succeed, and returns what it wrote without the last line end.
    #[track_caller]
    pub(super) fn ok(&mut self, script: &str) -> Result<String> {
        let output = self.run(script)?;
        ensure!(
            output.status == 0,
            "{} ended with {}:\n{}",
            shown(script),
            output.status,
            output.text.trim_end()
        );
        Ok(output.text.trim_end().to_owned())
    }

    /// Reads everything that a change could have left behind.
    pub(super) fn state(&mut self) -> Result<State> {
        Ok(State::parse(&self.run(super::state::SCRIPT)?.text))
    }

    /// Gives an order to QEMU itself, in the words of its human monitor.
    pub(super) fn monitor(&self, order: &str) -> Result<()> {
        let stream = UnixStream::connect(self.place.path().join("monitor"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut ask = |request: &Value| -> Result<Value> {
            (&stream).write_all(format!("{request}\n").as_bytes())?;
            loop {
                let line = lines.next().context("QEMU closed its monitor")??;
                let answer: Value = serde_json::from_str(&line)?;
                // Between them come events and the greeting.
                if answer.get("return").is_some() || answer.get("error").is_some() {
                    break Ok(answer);
                }
            }
        };
        ask(&json!({"execute": "qmp_capabilities"}))?;
        let answer = ask(&json!({
            "execute": "human-monitor-command",
            "arguments": {"command-line": order},
        }))?;
        // This monitor says nothing when all is well.
        ensure!(answer["return"] == "", "QEMU's answer to `{order}` was {answer}");
        Ok(())
    }

    /// Returns what the kernel wrote to its console.
    pub(super) fn console(&self) -> String {
        let bytes = fs::read(self.place.path().join("console")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }

    /// Leaves the machine running and returns how it can be reached.
    pub(super) fn leave(mut self) -> (u32, PathBuf) {
        let id = self.process.id();
        let place = std::mem::replace(&mut self.place, TempDir::new().expect("a temporary folder"));
        std::mem::forget(self);
        (id, place.keep())
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        // A QEMU that ends may close its end or reset it.
        let length = match self.agent.read_line(&mut line) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            result => result?,
        };
        if length == 0 {
            let said = fs::read_to_string(self.place.path().join("qemu")).unwrap_or_default();
            return Err(Ended { said: said.trim().to_owned(), console: self.console() }.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Why a test cannot tell here, which is no failure.
#[derive(Debug)]
pub(super) struct CannotTell(pub(super) String);

impl fmt::Display for CannotTell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotTell {}

/// A machine that ended by itself.
#[derive(Debug)]
pub(super) struct Ended {
    said: String,
    console: String,
}

/// Why a machine ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedBy {
    /// The guest's kernel gave up.
    Panic,
    /// It gave up because of the emulation: when a kernel patches its own code, as for a tracepoint, another CPU may
    /// meet the breakpoint (`int3`) that guards the patch only while it lasts. QEMU's threads may run their
    /// translation of it later than that.
    Emulation,
    /// Nobody says.
    Unknown,
}

impl Ended {
    pub(super) fn by(&self) -> EndedBy {
        match () {
            () if self.console.contains("Oops: int3") => EndedBy::Emulation,
            () if self.console.contains("Kernel panic") => EndedBy::Panic,
            () => EndedBy::Unknown,
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QEMU has ended: {}\nThe console:\n{}", self.said, self.console.trim())
    }
}

impl std::error::Error for Ended {}

impl Drop for Guest {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed; there is nothing else to be done here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns how a script is called in messages: a long one by its beginning.
pub(super) fn shown(script: &str) -> String {
    let mut lines = script.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("`{first}` ...") } else { format!("`{first}`") }
}

/// Waits for the socket that QEMU makes when it starts.
fn connect(path: &Path, process: &mut Child) -> Result<UnixStream> {
    let start = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                if let Some(status) = process.try_wait()? {
                    bail!("QEMU ended with {status}");
                }
                if start.elapsed() > PATIENCE {
                    let _ = process.kill();
                    let _ = process.wait();
                    return Err(error).with_context(|| format!("cannot reach {}", path.display()));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
