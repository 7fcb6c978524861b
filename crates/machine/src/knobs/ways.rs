//! Which ways of a cache a subject gets.

/// Of every four ways, everything else keeps one.
const KEPT: u32 = 4;

/// A cache that can be divided, each way a bit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ways {
    /// All that there are.
    pub(super) all: u64,
    /// Those that devices fill too, and those of groups of others.
    pub(super) taken: u64,
    /// What everything else may use: one mask, or those for code and for data.
    pub(super) default: Vec<u64>,
    /// The fewest that a group may have.
    pub(super) fewest: u32,
    /// Whether a group may have ways with holes between them.
    pub(super) sparse: bool,
}

impl Ways {
    /// Returns the ways for a subject: as many neighbouring ones as can be spared, the lowest of these, because
    /// devices use the highest. `None` where too few are free.
    pub(super) fn spare(&self) -> Option<u64> {
        let width = 64 - self.all.leading_zeros();
        let of = |count: u32| u64::MAX >> (64 - count);
        (self.fewest.max(1)..=width)
            .rev()
            .flat_map(|count| (0..=width - count).map(move |first| of(count) << first))
            .find(|&ours| {
                ours & self.all == ours && ours & self.taken == 0 && self.leaves_enough(ours)
            })
    }

    fn leaves_enough(&self, ours: u64) -> bool {
        let kept = self.all.count_ones().div_ceil(KEPT).max(self.fewest);
        self.default.iter().all(|&default| {
            let rest = default & !ours;
            let is_whole = self.sparse || is_contiguous(rest);
            rest == default || (rest.count_ones() >= kept && is_whole)
        })
    }
}

fn is_contiguous(mask: u64) -> bool {
    let low = mask.checked_shr(mask.trailing_zeros()).unwrap_or(0);
    low != 0 && low & low.wrapping_add(1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_gets_neighbouring_ways_and_leaves_a_quarter() {
        let check = |ways: &Ways, expected: Option<u64>| {
            let found = ways.spare();
            assert_eq!(found, expected, "{ways:x?}: {found:x?}");
        };
        // A Xeon of eleven ways, of which devices use two.
        let intel =
            Ways { all: 0x7ff, taken: 0x600, default: vec![0x7ff], fewest: 1, sparse: false };
        check(&intel, Some(0xff));
        // An EPYC.
        let amd = Ways { all: 0xffff, taken: 0, default: vec![0xffff], fewest: 1, sparse: false };
        check(&amd, Some(0xfff));
        // Somebody else has the lowest ones, or a part in the middle.
        let low = Ways { taken: 0x60f, default: vec![0x7f0], ..intel.clone() };
        check(&low, Some(0xf0));
        let middle = Ways { taken: 0x00f0, ..amd.clone() };
        check(&middle, Some(0xff00));
        // Nothing of either end is free.
        let ends = Ways { taken: 0xc003, ..amd.clone() };
        check(&ends, None);
        check(&Ways { sparse: true, ..ends }, Some(0x3ffc));
        // Others keep as many as a group must have.
        check(&Ways { all: 0xff, default: vec![0xff], fewest: 3, ..amd.clone() }, Some(0x1f));
        check(&Ways { all: 0x7, default: vec![0x7], fewest: 2, ..amd.clone() }, None);
        // Code and data have masks of their own, and both have to keep enough.
        let code = Ways { default: vec![0xffff, 0xff00], ..amd.clone() };
        check(&code, Some(0xfff));
        let narrow = Ways { default: vec![0x00ff, 0xff00], ..amd.clone() };
        check(&narrow, Some(0x0ff0));
        check(&Ways { taken: 0xffff, ..amd.clone() }, None);
        check(&Ways { all: 0, default: vec![], ..amd }, None);
        let widest =
            Ways { all: u64::MAX, taken: 0, default: vec![u64::MAX], fewest: 1, sparse: false };
        check(&widest, Some(u64::MAX >> 16));
    }
}
