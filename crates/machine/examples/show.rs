//! Prints everything that becalm can find out about a machine, and what a reading of its totals
//! costs: `cargo run --release -p becalm-machine --example show [ROOT]`.

#![expect(clippy::print_stdout, reason = "the example exists to print")]

use std::time::{Duration, Instant};

use becalm_machine::{
    ActivityReader, ChoiceFacts, SysRoot, Topology, TopologyError, Width, choose, read_facts,
};

fn main() -> Result<(), TopologyError> {
    let root = SysRoot::new(std::env::args().nth(1).unwrap_or_else(|| "/".into()));
    let start = Instant::now();
    let topology = Topology::read(&root)?;
    println!("topology, read in {:?}", start.elapsed());
    println!(
        "  {} packages, {} nodes, {} cores, {} CPUs, {} L2, {} L3",
        topology.packages.len(),
        topology.nodes.len(),
        topology.cores.len(),
        topology.cpus.len(),
        topology.data_caches(2).count(),
        topology.data_caches(3).count(),
    );
    println!(
        "  online {}, offline {}, possible {}",
        topology.online, topology.offline, topology.possible
    );
    println!("  allowed {}, isolated {}", topology.allowed, topology.isolated);
    for kind in &topology.kinds {
        println!("  {}: {}", kind.name, kind.cpus);
    }
    for limit in &topology.limits {
        println!("  limit: {limit:?}");
    }
    let facts = ChoiceFacts::read(&root);
    for width in [Width::One, Width::All] {
        let choice = choose(&topology, &facts, width);
        println!("choice for {width:?}: {:?}", choice.reason);
        for limit in &choice.limits {
            println!("  limit: {limit:?}");
        }
    }
    let start = Instant::now();
    let facts = read_facts(&root, &topology);
    println!("facts, read in {:?}", start.elapsed());
    for (key, value) in &facts.facts {
        println!("  {key} = {value}");
    }
    for (key, reason) in &facts.unreadable {
        println!("  {key}: {reason}");
    }
    let start = Instant::now();
    let mut reader = ActivityReader::open(
        &root,
        &choose(&topology, &ChoiceFacts::read(&root), Width::One).subject,
    );
    println!("totals, opened in {:?}", start.elapsed());
    println!("  {:?}", reader.read());
    for (pause, readings) in [(Duration::ZERO, 2000), (Duration::from_millis(5), 200)] {
        let mut costs: Vec<_> = (0..readings)
            .map(|_| {
                std::thread::sleep(pause);
                let start = Instant::now();
                std::hint::black_box(reader.read());
                start.elapsed()
            })
            .collect();
        costs.sort_unstable();
        let at = |share: usize| costs[(readings * share / 100).min(readings - 1)];
        println!(
            "  a reading {pause:?} after another costs {:?} (median), {:?} (95 %), {:?} (most)",
            at(50),
            at(95),
            at(100)
        );
    }
    for limit in reader.limits() {
        println!("  limit: {limit:?}");
    }
    Ok(())
}
