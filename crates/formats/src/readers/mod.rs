//! One file per tool, each with what its format holds and its traps on top.

pub(crate) mod go;
pub(crate) mod hyperfine;
