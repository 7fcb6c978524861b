//! What pages show, as documents: each query asks for as much of the history as its page has room for.

mod benchmarks;
mod changes;
mod compare;
mod entries;
mod findings;
mod machines;
mod noise;
mod outline;
mod search;
mod series;
mod standing;
mod suites;

use becalm_model::wire::WebPart;

pub(crate) use benchmarks::benchmarks;
pub(crate) use changes::{changes, feed};
pub(crate) use compare::{Asked as CompareAsked, KnownSides, Of as CompareOf, compare};
pub(crate) use entries::{entries, entry};
pub(crate) use findings::Findings;
pub(crate) use machines::machines;
pub(crate) use series::{By, series};
pub(crate) use standing::standing;
pub(crate) use suites::suites;

/// Cuts a long list into parts of `each` and returns the one asked for, with what it is; `None` if there is no such part.
fn part(items: usize, each: usize, page: usize) -> Option<(WebPart, std::ops::Range<usize>)> {
    let pages = items.div_ceil(each).max(1);
    let first = page.checked_sub(1)?.checked_mul(each)?;
    let range = first..items.min(first.saturating_add(each));
    (page <= pages).then_some((WebPart { page, pages, items }, range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_into_parts_and_an_empty_one_has_one() {
        assert_eq!(part(0, 20, 1), Some((WebPart { page: 1, pages: 1, items: 0 }, 0..0)));
        assert_eq!(part(41, 20, 3), Some((WebPart { page: 3, pages: 3, items: 41 }, 40..41)));
        for page in [0, 4, usize::MAX] {
            assert_eq!(part(41, 20, page), None);
        }
    }
}
