//! A sandbox that refuses one call, to test what becalm does in one.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::checked;

/// A system call that sandboxes are known to refuse.
#[derive(Debug, Clone, Copy)]
pub enum Call {
    /// `perf_event_open`.
    PerfEventOpen,
    /// `sched_setaffinity`.
    SetAffinity,
    /// `sched_setscheduler`.
    SetScheduler,
}

/// Makes the kernel refuse a call with this error number in the command and all that it starts, as
/// the seccomp profile of a container does.
pub fn refuse_call(command: &mut Command, call: Call, errno: i32) {
    let number = match call {
        Call::PerfEventOpen => libc::SYS_perf_event_open,
        Call::SetAffinity => libc::SYS_sched_setaffinity,
        Call::SetScheduler => libc::SYS_sched_setscheduler,
    };
    let number = u32::try_from(number).expect("numbers of system calls are small");
    let refusal = libc::SECCOMP_RET_ERRNO | u32::try_from(errno).expect("error numbers are small");
    // Loads the number of the call, which is the first word; refuses this one and allows the rest.
    let filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, 0, 1),
        instruction(libc::BPF_RET | libc::BPF_K, refusal, 0, 0),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    // SAFETY: the closure makes two system calls and allocates nothing, as is required between
    // fork and exec.
    unsafe { command.pre_exec(move || install(&filter)) };
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).expect("codes have 16 bits"), jt, jf, k }
}

fn install(filter: &[libc::sock_filter; 4]) -> io::Result<()> {
    let program = libc::sock_fprog { len: 4, filter: filter.as_ptr().cast_mut() };
    // SAFETY: plain numbers first; then a program of the stated length that outlives the call,
    // which only reads it.
    unsafe {
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        let mode = libc::SECCOMP_MODE_FILTER;
        checked(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_call_fails_with_the_number_given() {
        let mut command = Command::new("taskset");
        command.args(["-p", "1", "0"]);
        refuse_call(&mut command, Call::SetAffinity, libc::EPERM);
        let output = command.output().expect("util-linux is everywhere");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("Operation not permitted"), "{said}");
    }
}
