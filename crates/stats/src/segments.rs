//! Segments from the table of an exact search.

/// Returns the first index of every segment but the first. `last[t]` is where the last segment of the first
/// t values begins, for the best segmentation of these.
pub(crate) fn starts(last: &[usize]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut start = last.last().copied().unwrap_or(0);
    while start > 0 {
        starts.push(start);
        start = last[start];
    }
    starts.reverse();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_last_segments_is_followed_back() {
        assert_eq!(starts(&[0, 0, 0, 2, 2, 2, 4]), [2, 4]);
        assert_eq!(starts(&[0, 0]), [0; 0]);
        assert_eq!(starts(&[]), [0; 0]);
    }
}
