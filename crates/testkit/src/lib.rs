//! Test only: fake machine trees, a hermetic command line and redaction.

mod machine;
mod skip;
mod tree;

pub use machine::FakeMachine;
pub use skip::skipped;
pub use tree::FakeTree;
