//! The same for many series, on all processors that there are.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// How many series are worth a thread.
const WORTH_A_THREAD: usize = 500;

/// Returns what `of` makes of each, in their order.
pub(crate) fn each<T: Send, R: Send>(all: Vec<T>, of: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = all.len() / WORTH_A_THREAD;
    let threads = if threads > 1 {
        threads.min(thread::available_parallelism().map_or(1, NonZero::get))
    } else {
        1
    };
    each_by(threads, all, of)
}

fn each_by<T: Send, R: Send>(
    threads: usize,
    mut all: Vec<T>,
    of: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if threads < 2 {
        return all.into_iter().map(of).collect();
    }
    let count = all.len();
    thread::scope(|scope| {
        // From the end, so that the others keep their places.
        let mut running: Vec<_> = (0..threads)
            .rev()
            .map(|thread| {
                let part = all.split_off(thread * count / threads);
                scope.spawn(|| part.into_iter().map(&of).collect::<Vec<R>>())
            })
            .collect();
        running.reverse();
        let parts = running.into_iter().map(|one| one.join().unwrap_or_else(|e| resume_unwind(e)));
        parts.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_in_the_same_order() {
        let all: Vec<usize> = (0..1001).collect();
        let expected: Vec<String> = all.iter().map(ToString::to_string).collect();
        for threads in [0, 1, 2, 3, 7, 50] {
            assert_eq!(each_by(threads, all.clone(), |one| one.to_string()), expected, "{threads}");
        }
        assert_eq!(each(all, |one| one.to_string()), expected);
        assert!(each(Vec::<u8>::new(), |one| one).is_empty());
    }
}
