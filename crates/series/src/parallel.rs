//! The same for many series, on all processors that there are.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many series are looked at together: their points stay in the caches of a processor.
const TOGETHER: usize = 128;

/// How many series are worth a thread.
const WORTH_A_THREAD: usize = 500;

/// Returns what `of` makes of some of them at a time, of all in their order.
pub(crate) fn some_at_a_time<T: Send, R: Send>(
    all: Vec<T>,
    of: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let threads = all.len() / WORTH_A_THREAD;
    let threads = if threads > 1 {
        threads.min(thread::available_parallelism().map_or(1, NonZero::get))
    } else {
        1
    };
    by(threads, all, of)
}

fn by<T: Send, R: Send>(
    threads: usize,
    all: Vec<T>,
    of: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let mut rest = all.into_iter();
    let parts = std::iter::from_fn(move || {
        let part: Vec<T> = rest.by_ref().take(TOGETHER).collect();
        (!part.is_empty()).then_some(part)
    });
    if threads < 2 {
        return parts.flat_map(of).collect();
    }
    // Each thread takes the next part when it is done with one: some series take ten times as long as others.
    let parts = Mutex::new(parts.enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut made = Vec::new();
        while let Some((place, part)) = next() {
            made.push((place, of(part)));
        }
        made
    };
    let mut made: Vec<(usize, Vec<R>)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let made = running.into_iter().map(|one| one.join().unwrap_or_else(|e| resume_unwind(e)));
        made.flatten().collect()
    });
    made.sort_unstable_by_key(|(place, _)| *place);
    made.into_iter().flat_map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_in_the_same_order() {
        let all: Vec<usize> = (0..1001).collect();
        let expected: Vec<String> = all.iter().map(ToString::to_string).collect();
        let of = |some: Vec<usize>| some.iter().map(ToString::to_string).collect();
        for threads in [0, 1, 2, 3, 7, 50] {
            assert_eq!(by(threads, all.clone(), of), expected, "{threads}");
        }
        assert_eq!(some_at_a_time(all, of), expected);
        assert!(some_at_a_time(Vec::<u8>::new(), |some| some).is_empty());
    }
}
