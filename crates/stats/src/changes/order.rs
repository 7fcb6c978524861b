//! The values of a window in ascending order, kept while values come and go.
#![expect(clippy::cast_possible_truncation, reason = "a window has a few hundred places")]

/// Places of values, by value.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    places: Vec<u16>,
}

impl Order {
    /// Returns the order of values that are all there already, as if each had been pushed.
    pub(super) fn of(values: &[f64]) -> Self {
        // A number in front of the place, so that nothing has to be looked up, and equal values stay in the order of theirs.
        let mut keys: Vec<u128> = (0..).zip(values).map(|(place, v)| key(*v) | place).collect();
        keys.sort_unstable();
        Self { places: keys.into_iter().map(|key| key as u16).collect() }
    }

    /// Takes the last of `values`, the others being known already, and returns twice the number of the
    /// others below it, a tie counting one half.
    pub(super) fn push(&mut self, values: &[f64]) -> usize {
        let place = values.len() - 1;
        let value = values[place];
        let at = |place: &u16| values[*place as usize];
        let below = self.places.partition_point(|one| at(one) < value);
        let equal = self.places[below..].iter().take_while(|one| at(one) <= value).count();
        self.places.insert(below + equal, place as u16);
        2 * below + equal
    }

    /// Forgets the first `count` values, so that the others move to the front.
    pub(super) fn forget(&mut self, count: usize) {
        // Without a branch: which ones go is as good as random.
        let mut kept = 0;
        for i in 0..self.places.len() {
            let place = self.places[i];
            self.places[kept] = place.wrapping_sub(count as u16);
            kept += usize::from(place as usize >= count);
        }
        self.places.truncate(kept);
    }

    /// Calls `each` with every place in ascending order of the values, and with twice the number of the others below it, a
    /// tie counting one half.
    pub(super) fn walk_all(&self, values: &[f64], mut each: impl FnMut(usize, usize)) {
        let at = |place: u16| values[place as usize];
        let places = &self.places[..];
        let mut has_ties = false;
        let mut last = f64::NEG_INFINITY;
        for place in places {
            let value = at(*place);
            has_ties |= value <= last;
            last = value;
        }
        if !has_ties {
            for (i, place) in places.iter().enumerate() {
                each(*place as usize, 2 * i);
            }
            return;
        }
        let mut i = 0;
        while let Some(place) = places.get(i) {
            let value = at(*place);
            let is_tie = |place: &&u16| at(**place) <= value;
            let equal = 1 + places[i + 1..].iter().take_while(is_tie).count();
            for place in &places[i..i + equal] {
                each(*place as usize, 2 * i + equal - 1);
            }
            i += equal;
        }
    }

    /// Returns the values at the places from `first` up to `split`, and those from there on, each in ascending order.
    pub(super) fn sides(&self, values: &[f64], first: usize, split: usize) -> [Vec<f64>; 2] {
        let count = self.places.len();
        let (mut before, mut after) = (vec![0.0; count + 1], vec![0.0; count + 1]);
        let (mut of_before, mut of_after) = (0, 0);
        // Without a branch: each is written to both, where the next one takes its place if it is not of that side.
        for place in &self.places {
            let place = *place as usize;
            before[of_before] = values[place];
            after[of_after] = values[place];
            of_before += usize::from((first..split).contains(&place));
            of_after += usize::from(place >= split);
        }
        before.truncate(of_before);
        after.truncate(of_after);
        [before, after]
    }

    /// Returns the order of those whose places `counted` accepts.
    pub(super) fn among(&self, counted: impl Fn(usize) -> bool) -> Self {
        let mut places = vec![0; self.places.len()];
        let mut count = 0;
        // Without a branch: which ones these are is as good as random.
        for place in &self.places {
            places[count] = *place;
            count += usize::from(counted(*place as usize));
        }
        places.truncate(count);
        Self { places }
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
                let twice = order.push(&values[..n]);
                prop_assert_eq!(twice, twice_below(&values[..n - 1], values[n - 1]));
            }
            prop_assert_eq!(&order.places, &Order::of(&values).places);
            let forgotten = forgotten % values.len();
            order.forget(forgotten);
            let values = &values[forgotten..];
            let from = from % values.len();
            let mut seen = 0;
            order.among(|place| place >= from).walk_all(values, |place, twice| {
                seen += 1;
                assert_eq!(twice, twice_below(&values[from..], values[place]) - 1);
            });
            prop_assert_eq!(seen, values.len() - from);
            let mut seen = 0;
            order.walk_all(values, |place, twice| {
                seen += 1;
                // Less one for the value itself, which is a tie.
                assert_eq!(twice, twice_below(values, values[place]) - 1);
            });
            prop_assert_eq!(seen, values.len());
        }
    }
}
