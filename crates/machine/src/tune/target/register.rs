//! A register of one CPU, of those that becalm changes, through `/dev/cpu/N/msr`.

use std::io;

use crate::{Reading, SysRoot};

fn path(cpu: u32) -> String {
    format!("/dev/cpu/{cpu}/msr")
}

pub(super) fn read(root: &SysRoot, cpu: u32, register: u32) -> Reading {
    root.read_word(path(cpu), u64::from(register)).map(text)
}

pub(super) fn write(root: &SysRoot, cpu: u32, register: u32, value: &str) -> io::Result<()> {
    let word =
        parse(value).ok_or_else(|| io::Error::other(format!("`{value}` is not a number")))?;
    root.write_word(path(cpu), u64::from(register), word)
}

/// Writes the value of a register.
pub(crate) fn text(word: u64) -> String {
    format!("{word:#x}")
}

/// Reads it back.
pub(crate) fn parse(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}
