//! The ten as benchmarks of criterion.

use criterion::{criterion_group, criterion_main, Criterion};

fn all(criterion: &mut Criterion) {
    for number in 1..=10 {
        criterion.bench_function(&format!("work_{number:02}"), |b| b.iter(|| work::work(number)));
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
