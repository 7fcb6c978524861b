//! Memory on two NUMA nodes.

use anyhow::{Result, ensure};

use super::expect::{contains, leaves_no_trace};
use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[
    test("the_memory_of_an_isolated_subject_is_that_of_its_node", bound),
    test("memory_that_cannot_be_bound_is_told", not_bound),
    test("files_that_are_cached_on_the_other_node_are_told", cached),
];

const fn test(name: &'static str, body: fn(&mut Guest) -> Result<()>) -> Test {
    Test { name, machines: Machines::Only(&["numa"]), sample: &[], body: Body::Guest(body) }
}

const RUN: &str = "becalm run --rounds 1 --warmup 0";

fn bound(guest: &mut Guest) -> Result<()> {
    let show = "sh -c 'cat /proc/self/numa_maps >/tmp/maps'";
    leaves_no_trace(guest, &format!("{RUN} --isolate --threads 1 -- {show}"))?;
    let maps = guest.ok("head -1 /tmp/maps")?;
    ensure!(maps.contains(" bind:1 "), "{maps}");
    leaves_no_trace(guest, &format!("{RUN} --isolate --threads 1 --membind off -- {show}"))?;
    let maps = guest.ok("head -1 /tmp/maps")?;
    ensure!(maps.contains(" default "), "{maps}");
    Ok(())
}

/// A control group without the memory of the node on which the subject runs.
fn not_bound(guest: &mut Guest) -> Result<()> {
    let said = guest.ok(&format!(
        "cd /sys/fs/cgroup; echo +cpuset >cgroup.subtree_control; mkdir one; echo 0 >one/cpuset.mems\n\
         sh -c 'echo $$ >/sys/fs/cgroup/one/cgroup.procs; exec {RUN} --affinity 3 --membind auto -- true' 2>&1\n\
         rmdir one"
    ))?;
    contains(&said, "node 1")
}

fn cached(guest: &mut Guest) -> Result<()> {
    let file = |node_cpu: u32| {
        format!(
            "rm -f /tmp/data; taskset -c {node_cpu} dd if=/dev/zero of=/tmp/data bs=1M count=4 2>/dev/null\n\
             {RUN} --affinity 3 -- cat /tmp/data 2>&1"
        )
    };
    let said = guest.ok(&file(0))?;
    contains(&said, "/tmp/data")?;
    contains(&said, "cached in the memory of node 0")?;
    let said = guest.ok(&file(3))?;
    ensure!(!said.contains("/tmp/data is cached"), "{said}");
    Ok(())
}
