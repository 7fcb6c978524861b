//! A running guest: QEMU as a process, the agent in the guest, the monitor beside it.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use becalm_kernel::process::ends_with_us;
use becalm_kernel::signal::SIGKILL;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::base64;
use super::deaths::Deaths;
use super::state::State;

/// How long a guest may take for one script. Emulated machines on a busy computer are slow; this is
/// for those that hang.
const PATIENCE: Duration = Duration::from_secs(600);

/// The I/O port of the guest to which `lose_power` writes.
const POWER_PORT: u16 = 0x500;

/// A running virtual machine. Dropping it is like cutting its power.
#[derive(Debug)]
pub(super) struct Guest {
    process: Child,
    /// Sockets and logs.
    place: TempDir,
    depth: Depth,
    deaths: Rc<Deaths>,
    agent: BufReader<UnixStream>,
    /// What the guest writes to [`POWER_PORT`].
    power: UnixStream,
}

/// How tests run, and are counted.
#[derive(Debug)]
pub(super) struct Manner {
    /// How much of a long test is done.
    pub(super) depth: Depth,
    pub(super) cuts: Cuts,
    pub(super) after_us: AfterUs,
    /// How often tests have killed.
    pub(super) deaths: Rc<Deaths>,
}

/// How connections are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cuts {
    /// How often; by the depth of the test if nobody says.
    pub(super) count: Option<u32>,
    /// What the moments follow from.
    pub(super) seed: u64,
}

/// How much of a long test is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// A few of its cases.
    Sample,
    /// Some, spread over all: in a night.
    Whole,
    /// All.
    Every,
}

/// How a disk of a guest lies in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiskFormat {
    /// Byte by byte: what the guest has written is there after a power loss.
    Raw,
    /// Where each cluster lies is written when the guest flushes: what it has written since its last flush is gone after
    /// a power loss, as from a disk that has a cache.
    Qcow2,
}

impl DiskFormat {
    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Qcow2 => "qcow2",
        }
    }
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
    pub(super) fn start(mut command: Command, manner: &Manner) -> Result<Self> {
        if manner.after_us == AfterUs::Ends {
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
            .args(["-mon", "chardev=monitor,mode=control", "-chardev"])
            .arg(format!("socket,id=power,{}", socket("power")))
            .arg("-device")
            .arg(format!("isa-debugcon,iobase={POWER_PORT},chardev=power"))
            .arg("-serial")
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
        let power = connect(&path("power"), &mut process)?;
        power.set_read_timeout(Some(PATIENCE))?;
        let (depth, deaths) = (manner.depth, Rc::clone(&manner.deaths));
        Ok(Self { process, place, depth, deaths, agent: BufReader::new(agent), power })
    }

    /// Returns the process of QEMU.
    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Returns how much of a long test is wanted.
    pub(super) fn depth(&self) -> Depth {
        self.depth
    }

    /// Returns where deaths are counted.
    pub(super) fn deaths(&self) -> &Deaths {
        &self.deaths
    }

    /// Runs a script that asks for it by `lose_power`, and cuts the power then, as a wall socket does: nothing is
    /// told and nothing written. A virtual disk of the format qcow2 forgets what its guest has not flushed.
    pub(super) fn lose_power(mut self, script: &str) -> Result<()> {
        self.say(script)?;
        let length = self.power.read(&mut [0]).with_context(|| {
            format!("the guest does not come to where its power is cut:\n{script}")
        })?;
        if length == 0 {
            return Err(self.ended());
        }
        self.deaths.lost_power();
        Ok(())
    }

    /// Puts a disk into the slot of a machine that has one: it is `/dev/vdb` then.
    pub(super) fn plug(&mut self, disk: &Path, format: DiskFormat) -> Result<()> {
        let (file, format) = (disk.display().to_string(), format.name());
        self.order(
            "blockdev-add",
            &json!({"node-name": "disk", "driver": format, "file": {"driver": "file", "filename": file}}),
        )?;
        self.order(
            "device_add",
            &json!({"driver": "virtio-blk-pci", "drive": "disk", "bus": "bay"}),
        )?;
        self.ok("until_so '[ -e /dev/vdb ]'").map(drop)
    }

    /// Waits until the agent of a booting guest answers, and returns the boot id.
    pub(super) fn wait_for_boot(&mut self) -> Result<String> {
        let line = self.line().context("the guest does not boot")?;
        let boot = line.strip_prefix("ready ");
        boot.map(str::to_owned).with_context(|| format!("the agent said {line:?}"))
    }

    /// Runs a shell script in the guest as root.
    pub(super) fn run(&mut self, script: &str) -> Result<Output> {
        self.say(script)?;
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

    /// Gives an order to QEMU itself, in the words of its human monitor, which says nothing when all is well.
    pub(super) fn monitor(&self, order: &str) -> Result<()> {
        let answer = self.order("human-monitor-command", &json!({"command-line": order}))?;
        ensure!(answer == "", "QEMU's answer to `{order}` was {answer}");
        Ok(())
    }

    /// Gives an order to QEMU itself, and returns its answer.
    fn order(&self, execute: &str, arguments: &Value) -> Result<Value> {
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
        let mut answer = ask(&json!({"execute": execute, "arguments": arguments}))?;
        ensure!(answer.get("return").is_some(), "QEMU's answer to `{execute}` was {answer}");
        Ok(answer["return"].take())
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
            return Err(self.ended());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Hands a script to the agent.
    fn say(&mut self, script: &str) -> Result<()> {
        let line = base64::encode(script.as_bytes()) + "\n";
        Ok(self.agent.get_mut().write_all(line.as_bytes())?)
    }

    fn ended(&self) -> anyhow::Error {
        let said = fs::read_to_string(self.place.path().join("qemu")).unwrap_or_default();
        // Dozens of lines about features of the processor that are not emulated.
        let said: Vec<&str> = said.lines().filter(|line| !line.contains("warning: TCG")).collect();
        Ended { said: said.join("\n"), console: self.console() }.into()
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
