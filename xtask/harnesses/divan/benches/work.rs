//! The ten as benchmarks of divan.

fn main() {
    divan::main();
}

#[divan::bench(args = 1..=10)]
fn work(number: u64) -> u64 {
    work::work(number)
}
