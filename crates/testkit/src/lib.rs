//! Test only: fake machine trees, a hermetic command line and redaction.

mod tree;

pub use tree::FakeTree;
