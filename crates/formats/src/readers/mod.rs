//! One file per tool, each with what its format holds and its traps on top.

pub(crate) mod cargo_criterion;
pub(crate) mod catch2;
pub(crate) mod catch2_xml;
pub(crate) mod criterion;
pub(crate) mod criterion_text;
pub(crate) mod divan;
pub(crate) mod go;
pub(crate) mod hyperfine;
pub(crate) mod libtest;
