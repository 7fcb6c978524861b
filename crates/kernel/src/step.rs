//! The steps of a start, each of which the kernel can refuse.

/// What the child does between its start and the subject's first instruction, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Makes a process group of its own, so that everything it starts can be ended.
    ProcessGroup = 1,
    /// Enters a control group, which must come before its CPUs can be asked for.
    ControlGroup,
    /// Goes to the CPUs of the placement.
    Affinity,
    /// Sets the niceness.
    Nice,
    /// Sets the scheduling class.
    Scheduler,
    /// Turns address space layout randomisation off.
    Aslr,
    /// Binds its memory to NUMA nodes.
    MemoryNodes,
    /// Settles which transparent huge pages it gets.
    HugePages,
    /// Takes a table of file descriptors of its own.
    OwnDescriptors,
    /// Connects standard input.
    Stdin,
    /// Connects standard output.
    Stdout,
    /// Connects standard error.
    Stderr,
    /// Asks to be ended when becalm dies.
    ParentDeath,
    /// Changes to the working directory.
    WorkingDirectory,
    /// Sets every signal to its default action.
    Signals,
    /// Executes the program.
    Execute,
}

impl Step {
    const ALL: [Self; 16] = [
        Self::ProcessGroup,
        Self::ControlGroup,
        Self::Affinity,
        Self::Nice,
        Self::Scheduler,
        Self::Aslr,
        Self::MemoryNodes,
        Self::HugePages,
        Self::OwnDescriptors,
        Self::Stdin,
        Self::Stdout,
        Self::Stderr,
        Self::ParentDeath,
        Self::WorkingDirectory,
        Self::Signals,
        Self::Execute,
    ];

    /// Returns the step that the child wrote down as a number; 0 is none.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u8 == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_found_again_by_its_number() {
        for step in Step::ALL {
            assert_eq!(Step::from_number(step as u8), Some(step));
        }
        assert_eq!(Step::from_number(0), None);
        assert_eq!(Step::from_number(19), None);
    }
}
