//! Project chores: `cargo xtask test`, `docs`, `bench`.

fn main() {}
