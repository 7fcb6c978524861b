//! The processors that becalm is built for, and what each is called where.

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Arch {
    /// 64-bit PCs
    #[value(name = "x86_64")]
    X86,
    /// 64-bit ARM
    #[value(name = "aarch64")]
    Arm,
}

impl Arch {
    /// All of them.
    pub(super) const ALL: [Self; 2] = [Self::X86, Self::Arm];

    /// What the kernel, Rust and QEMU call it.
    pub(super) fn processor(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    /// What Rust calls the target.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::X86 => "x86_64-unknown-linux-musl",
            Self::Arm => "aarch64-unknown-linux-musl",
        }
    }

    /// What the C compiler calls it.
    pub(super) fn c_target(self) -> &'static str {
        match self {
            Self::X86 => "x86_64-linux-musl",
            Self::Arm => "aarch64-linux-musl",
        }
    }

    /// What Debian calls the architecture.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }
}
