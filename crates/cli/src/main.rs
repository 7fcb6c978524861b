//! The `becalm` binary.

fn main() {}
