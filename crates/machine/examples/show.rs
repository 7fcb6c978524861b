//! Prints everything that becalm can find out about a machine, and what a reading of its totals
//! costs: `cargo run --release -p becalm-machine --example show [ROOT]`.

#![expect(clippy::print_stdout, reason = "the example exists to print")]

use std::time::Instant;

use becalm_machine::{
    ActivityReader, ChoiceFacts, Privilege, SysRoot, Topology, TopologyError, Width, choose,
    read_facts,
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
        println!("  limit: {limit}");
    }
    let facts = ChoiceFacts::read(&root);
    for width in [Width::One, Width::All] {
        let choice = choose(&topology, &facts, width);
        println!("choice for {width:?}: {}", choice.reason);
        for limit in &choice.limits {
            println!("  limit: {limit}");
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
    println!("{:?}", Privilege::read(&root, None, None));
    let start = Instant::now();
    let mut reader = ActivityReader::open(&root, &topology.allowed);
    println!("totals, opened in {:?}", start.elapsed());
    let mut costs: Vec<_> = (0..2000)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(reader.read());
            start.elapsed()
        })
        .collect();
    costs.sort_unstable();
    println!("  {:?}", reader.read());
    println!(
        "  a reading costs {:?} (median), {:?} (95 %), {:?} (most)",
        costs[1000], costs[1900], costs[1999]
    );
    for limit in reader.limits() {
        println!("  limit: {limit}");
    }
    Ok(())
}
