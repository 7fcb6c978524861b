//! On which NUMA nodes the memory of a thread, and of what it executes, may lie (`set_mempolicy(2)`).

use std::io;

use crate::checked;

/// As many nodes as any kernel supports.
const NODES: usize = 1024;

const WORDS: usize = NODES / 64;

/// `MPOL_BIND` of `linux/mempolicy.h`: nowhere else, even where nothing is free there.
const MPOL_BIND: libc::c_int = 2;

/// A set of nodes as the kernel takes it.
#[derive(Clone)]
pub struct NodeMask([u64; WORDS]);

impl FromIterator<u32> for NodeMask {
    fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
        let mut words = [0; WORDS];
        for node in nodes {
            // A mask without a larger one is refused where it is empty, and narrower otherwise.
            if let Some(word) = words.get_mut(node as usize / 64) {
                *word |= 1 << (node % 64);
            }
        }
        Self(words)
    }
}

impl NodeMask {
    /// Binds the memory of the calling thread; 0, or -1 with `errno` set. Allocates nothing.
    pub(crate) fn bind_raw(&self) -> libc::c_long {
        // The kernel takes one off.
        const BITS: usize = NODES + 1;
        // SAFETY: the pointer and the length describe this array, which the kernel only reads.
        unsafe { libc::syscall(libc::SYS_set_mempolicy, MPOL_BIND, self.0.as_ptr(), BITS) }
    }

    /// Says whether memory can be bound to these nodes, by doing it in a thread.
    pub fn can_be_bound_to(&self) -> io::Result<()> {
        let mask = self.clone();
        let tried = std::thread::spawn(move || checked(mask.bind_raw()).map(drop));
        tried.join().unwrap_or_else(|_| Err(io::Error::other("the probing thread panicked")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_node_at_all_is_refused() {
        assert!(NodeMask::from_iter([]).can_be_bound_to().is_err());
        assert!(NodeMask::from_iter([5000]).can_be_bound_to().is_err());
    }
}
