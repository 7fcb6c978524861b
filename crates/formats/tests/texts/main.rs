//! Formats that are text, tables, or whole folders, one file per tool or kind of tool.

mod catch2;
#[path = "../common/mod.rs"]
mod common;
mod consoles;
mod criterion;
mod damage;
mod divan;
mod go;
mod libtest;
mod load;
mod reference;
mod tables;
mod terminals;
mod wrk;
