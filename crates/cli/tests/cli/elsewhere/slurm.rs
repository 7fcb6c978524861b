//! `--on slurm`, with a real cluster of two nodes.

use becalm_testkit::{SlurmCluster, TestEnv, skipped};

use super::cuts::{continues, start_on};
use crate::support::{Measures, T, env, numbered_processes_that_name, prints, send, wait_until};

/// Starts a cluster; `None`, visibly, where there is no Slurm.
pub(super) fn cluster(test: &str) -> Option<(TestEnv, SlurmCluster)> {
    let env = env();
    match SlurmCluster::start(env.path()) {
        Ok(cluster) => {
            let configuration = cluster.configuration().display().to_string();
            Some((env.variable("SLURM_CONF", &configuration), cluster))
        }
        Err(why) => {
            skipped(&format!("{test}: {why}"));
            None
        }
    }
}

#[test]
fn comparisons_on_two_nodes() {
    let Some((env, cluster)) = cluster("comparisons_on_two_nodes") else { return };
    env.script("old", &prints("1000"));
    env.script("new", &prints("1030"));
    for constraint in ["fast", "slow"] {
        let host = format!("slurm:partition=test,constraint={constraint}");
        let arguments = ["--on", &host, "--rounds", "6", "--metric", T, "./old", "./new"];
        let output = env.compare(&arguments).exits_with(0);
        assert!(
            output.stdout.contains("3.00 % slower than ./old on t (exact)"),
            "{}",
            output.stdout
        );
        assert!(output.stdout.contains(&format!("measured on {host}")), "{}", output.stdout);
    }
    let failed = env.compare(&["--on", "slurm", "--rounds", "2", "./old", "false"]).exits_with(4);
    assert!(failed.stderr.contains("exited with code 1"), "{}", failed.stderr);
    let refused = env.compare(&["--on", "slurm:constraint=none", "./old", "./new"]).exits_with(4);
    assert!(
        refused.stderr.contains("error: sbatch: Batch job submission failed"),
        "{}",
        refused.stderr
    );
    let topology = env.run(["topology", "--on", "slurm"]).exits_with(0);
    assert!(topology.stdout.contains("CPU"), "{}", topology.stdout);
    let jobs = env.work().join(".becalm/slurm/jobs");
    assert_eq!(std::fs::read_dir(jobs).unwrap().count(), 0);
    wait_until("the end of the last job", || cluster.says("squeue", &["--noheader"]).is_empty());
}

#[test]
fn ctrl_c_ends_the_job_and_keeps_its_rounds() {
    let Some((env, cluster)) = cluster("ctrl_c_on_a_cluster") else { return };
    let child = start_on("slurm", &env);
    send("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    wait_until("the end of the job", || cluster.says("squeue", &["--noheader"]).is_empty());
    continues(&env, "r.json");
}

/// Returns the number of the only job.
fn job(cluster: &SlurmCluster) -> String {
    cluster.says("squeue", &["--noheader", "--format=%A"]).trim().to_owned()
}

#[test]
fn a_job_that_somebody_cancels_keeps_its_rounds() {
    let Some((env, cluster)) = cluster("a_cancelled_job") else { return };
    let child = start_on("slurm", &env);
    let _ = cluster.says("scancel", &[&job(&cluster)]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    continues(&env, "r.json");
}

#[test]
fn a_job_that_is_killed_loses_no_round() {
    let Some((env, cluster)) = cluster("a_killed_job") else { return };
    let child = start_on("slurm", &env);
    let number = job(&cluster);
    let jobs = env.work().join(".becalm/slurm/jobs").display().to_string();
    for (process, line) in numbered_processes_that_name(&jobs) {
        if line.contains(" far-end ") {
            send("KILL", process);
        }
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("job {number} ended without a result")), "{said}");
    assert!(said.contains("`becalm compare --resume r.json.partial` continues"), "{said}");
    continues(&env, "r.json.partial");
}
