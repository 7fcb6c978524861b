//! A Slurm cluster of two nodes, which are both this machine, for as long as one test runs.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the cluster may take to start.
const PATIENCE: Duration = Duration::from_secs(120);

/// The controller of a cluster, and its nodes `n1` and `n2`.
#[derive(Debug)]
pub struct SlurmCluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl SlurmCluster {
    /// Starts it in a folder; fails with the reason where Slurm is not installed or does not start.
    pub fn start(folder: &Path) -> Result<Self, String> {
        if ["slurmctld", "slurmd"].iter().any(|name| !Path::new("/usr/sbin").join(name).is_file()) {
            return Err("Slurm is not installed (package slurm-wlm)".to_owned());
        }
        let folder = folder.join("slurm");
        for part in ["log", "state", "spool/n1", "spool/n2"] {
            fs::create_dir_all(folder.join(part)).map_err(|error| error.to_string())?;
        }
        let text = configuration(&folder)?;
        fs::write(folder.join("slurm.conf"), text).map_err(|error| error.to_string())?;
        let mut cluster = Self { folder, daemons: Vec::new() };
        cluster.daemon("slurmctld", &["-D"])?;
        for node in ["n1", "n2"] {
            cluster.daemon("slurmd", &["-D", "-N", node])?;
        }
        let since = Instant::now();
        while cluster.says("sinfo", &["--noheader", "--Node", "--format=%t"]) != "idle\nidle\n" {
            if since.elapsed() > PATIENCE {
                let log = fs::read_to_string(cluster.folder.join("log/controller"));
                return Err(format!("Slurm does not start: {}", log.unwrap_or_default()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(cluster)
    }

    fn daemon(&mut self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(Path::new("/usr/sbin").join(program));
        command.args(arguments).env("SLURM_CONF", self.configuration());
        let silent = || Stdio::null();
        let child = command.stdin(silent()).stdout(silent()).stderr(silent()).spawn();
        self.daemons.push(child.map_err(|error| format!("{program}: {error}"))?);
        Ok(())
    }

    /// Returns its configuration, for the variable `SLURM_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// Returns what one of Slurm's commands prints.
    pub fn says(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        let output = command.args(arguments).env("SLURM_CONF", self.configuration()).output();
        output.map_or_else(
            |error| format!("{program}: {error}"),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        // Jobs end with their nodes otherwise never.
        let _ = self.says("scancel", &["--state=RUNNING"]);
        let _ = self.says("scancel", &["--state=PENDING"]);
        let since = Instant::now();
        while !self.says("squeue", &["--noheader"]).is_empty() && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Returns the configuration: no service beside it, no authority but the user's own, no pause between jobs.
fn configuration(folder: &Path) -> Result<String, String> {
    let host =
        fs::read_to_string("/proc/sys/kernel/hostname").map_err(|error| error.to_string())?;
    let host = host.trim().split('.').next().unwrap_or_default().to_owned();
    let user = Command::new("id").arg("-un").output().map_err(|error| error.to_string())?;
    let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
    // Three that are free now; they stay bound until all are known.
    let listeners: Vec<TcpListener> = (0..3)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let port = |index: usize| listeners[index].local_addr().map_or(0, |address| address.port());
    let at = |name: &str| folder.join(name).display().to_string();
    Ok(format!(
        "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\nAuthType=auth/none\n\
         CredType=cred/none\nSlurmctldPort={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\nSlurmctldLogFile={}\n\
         SlurmdLogFile={}\nStateSaveLocation={}\nSlurmdSpoolDir={}\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nSwitchType=switch/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nMpiDefault=none\nMailProg=/bin/true\n\
         SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000\nReturnToService=2\nSlurmdTimeout=10\n\
         NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=1 Features=fast State=UNKNOWN\n\
         NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=1 Features=slow State=UNKNOWN\n\
         PartitionName=test Nodes=n1,n2 Default=YES State=UP OverSubscribe=EXCLUSIVE\n",
        port(0),
        at("controller.pid"),
        at("node.%n.pid"),
        at("log/controller"),
        at("log/node.%n"),
        at("state"),
        at("spool/%n"),
        port(1),
        port(2),
    ))
}
