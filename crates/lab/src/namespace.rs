//! Which processes becalm can see: in a pid namespace of its own there are others, and all have other numbers.
//! <https://man7.org/linux/man-pages/man7/pid_namespaces.7.html>

use becalm_machine::SysRoot;

/// Says whether this is known not to be the first pid namespace of the machine.
pub(crate) fn is_nested(root: &SysRoot) -> bool {
    /// `PROC_PID_INIT_INO` of the kernel's `include/linux/proc_ns.h`.
    const FIRST: &str = "pid:[4026531836]";
    root.link("/proc/self/ns/pid").is_some_and(|namespace| namespace.as_os_str() != FIRST)
}
