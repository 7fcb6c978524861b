//! The values of a window in ascending order, kept while values come and go.
#![expect(clippy::cast_possible_truncation, reason = "a window has a few hundred places")]

/// Values in ascending order, and their places; equal ones in the order of theirs.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    places: Vec<u16>,
    values: Vec<f64>,
    /// Whether some values may be equal; if not, none are.
    may_tie: bool,
}

impl Order {
    /// The order of no values, with room for so many.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self {
            places: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            may_tie: false,
        }
    }

    /// Returns the order of values that are all there already, as if each had been pushed.
    pub(super) fn of(values: &[f64]) -> Self {
        // A number in front of the place, so that nothing has to be looked up, and equal values stay in the order of theirs.
        let mut keys: Vec<u128> = (0..).zip(values).map(|(place, v)| key(*v) | place).collect();
        keys.sort_unstable();
        let places: Vec<u16> = keys.into_iter().map(|key| key as u16).collect();
        let values: Vec<f64> = places.iter().map(|place| values[usize::from(*place)]).collect();
        let may_tie = values.windows(2).any(|two| two[0] >= two[1]);
        Self { places, values, may_tie }
    }

    /// Takes the value that comes after all that are known, and returns twice the number of the others below it, a tie
    /// counting one half.
    pub(super) fn push(&mut self, value: f64) -> usize {
        let place = self.places.len() as u16;
        let below = self.values.partition_point(|one| *one < value);
        let equal = self.values[below..].iter().take_while(|one| **one <= value).count();
        self.places.insert(below + equal, place);
        self.values.insert(below + equal, value);
        self.may_tie |= equal > 0;
        2 * below + equal
    }

    /// Forgets the first `count` values, so that the others move to the front.
    pub(super) fn forget(&mut self, count: usize) {
        // Without a branch: which ones go is as good as random.
        let mut kept = 0;
        for i in 0..self.places.len().min(self.values.len()) {
            let place = self.places[i];
            self.places[kept] = place.wrapping_sub(count as u16);
            self.values[kept] = self.values[i];
            kept += usize::from(usize::from(place) >= count);
        }
        self.places.truncate(kept);
        self.values.truncate(kept);
    }

    /// Returns the places in ascending order of the values, if no two values are equal: of any of them too each has then as
    /// many below it as come before it.
    pub(super) fn untied(&self) -> Option<&[u16]> {
        (!self.may_tie).then_some(&self.places)
    }

    /// Calls `each` with every place in ascending order of the values, and with twice the number of the others below it, a
    /// tie counting one half.
    pub(super) fn walk_all(&self, mut each: impl FnMut(usize, usize)) {
        if let Some(places) = self.untied() {
            for (i, place) in places.iter().enumerate() {
                each(usize::from(*place), 2 * i);
            }
            return;
        }
        let mut i = 0;
        while let Some(value) = self.values.get(i) {
            let equal = 1 + self.values[i + 1..].iter().take_while(|one| *one <= value).count();
            for place in &self.places[i..i + equal] {
                each(usize::from(*place), 2 * i + equal - 1);
            }
            i += equal;
        }
    }

    /// Returns the values at the places that `counted` accepts, in ascending order.
    pub(super) fn sorted(&self, counted: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut sorted = self.values.clone();
        let mut count = 0;
        // Without a branch: which ones these are is as good as random.
        for (place, value) in self.places.iter().zip(&self.values) {
            sorted[count] = *value;
            count += usize::from(counted(usize::from(*place)));
        }
        sorted.truncate(count);
        sorted
    }

    /// Returns the order of those whose places `counted` accepts.
    pub(super) fn among(&self, counted: impl Fn(usize) -> bool) -> Self {
        let mut places = self.places.clone();
        let mut count = 0;
        for place in &self.places {
            places[count] = *place;
            count += usize::from(counted(usize::from(*place)));
        }
        places.truncate(count);
        Self { places, values: self.sorted(counted), may_tie: self.may_tie }
    }
}

/// Returns a number that is the larger the larger a value is, with room for a place.
fn key(value: f64) -> u128 {
    // Both zeros are the same.
    let bits = (value + 0.0).to_bits();
    let sign = 1 << 63;
    u128::from(if bits & sign == 0 { bits | sign } else { !bits }) << 16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns twice the number of values below another, a tie counting one half.
    fn twice_below(values: &[f64], value: f64) -> usize {
        values.iter().map(|one| usize::from(*one < value) + usize::from(*one <= value)).sum()
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_plain_count(
            values in prop::collection::vec((0u8..20).prop_map(f64::from), 1..60),
            forgotten in 0usize..60,
            from in 0usize..60,
        ) {
            let mut order = Order::default();
            for n in 1..=values.len() {
                let twice = order.push(values[n - 1]);
                prop_assert_eq!(twice, twice_below(&values[..n - 1], values[n - 1]));
            }
            prop_assert_eq!(&order.places, &Order::of(&values).places);
            let forgotten = forgotten % values.len();
            order.forget(forgotten);
            let values = &values[forgotten..];
            let from = from % values.len();
            let mut seen = 0;
            order.among(|place| place >= from).walk_all(|place, twice| {
                seen += 1;
                assert_eq!(twice, twice_below(&values[from..], values[place]) - 1);
            });
            prop_assert_eq!(seen, values.len() - from);
            let mut seen = 0;
            order.walk_all(|place, twice| {
                seen += 1;
                // Less one for the value itself, which is a tie.
                assert_eq!(twice, twice_below(values, values[place]) - 1);
            });
            prop_assert_eq!(seen, values.len());
        }
    }
}
