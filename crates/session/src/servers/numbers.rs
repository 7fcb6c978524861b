//! The numbers of requests, which go on over the windows of servers that stay, so that no server gets the same twice.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of the first request of the first window: the one before it showed that the server is ready.
pub(super) const FIRST: u64 = 1;

/// Which numbers the windows have. All servers that are compared with each other share them, so that a round has the same
/// requests for each, even if one of them missed a round.
#[derive(Debug, Default)]
pub(crate) struct Numbers(RefCell<Given>);

#[derive(Debug, Default)]
struct Given {
    /// First numbers, by the seed of the window.
    firsts: BTreeMap<u64, u64>,
    /// Requests of all these windows.
    requests: u64,
}

impl Numbers {
    /// Returns the number of the first request of a window, which has so many unless it was had before.
    pub(super) fn first_of(&self, seed: u64, requests: impl Fn() -> u64) -> u64 {
        let Given { firsts, requests: all } = &mut *self.0.borrow_mut();
        *firsts.entry(seed).or_insert_with(|| {
            let first = FIRST + *all;
            *all += requests();
            first
        })
    }
}
