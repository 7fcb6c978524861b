//! The values of a window in ascending order, kept while values come and go.
#![expect(clippy::cast_possible_truncation, reason = "a window has a few hundred places")]

/// Places of values, by value.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    places: Vec<u16>,
}

impl Order {
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
        let mut first = 0;
        while first < self.places.len() {
            let end = first + self.equal(values, first);
            for place in &self.places[first..end] {
                each(*place as usize, first + end - 1);
            }
            first = end;
        }
    }

    /// Calls `each` with every place in ascending order of the values, and with twice the number of
    /// values below it among those whose places `counted` accepts, a tie counting one half.
    pub(super) fn walk(
        &self,
        values: &[f64],
        counted: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, usize),
    ) {
        let (mut first, mut below) = (0, 0);
        while first < self.places.len() {
            let end = first + self.equal(values, first);
            let equal = &self.places[first..end];
            let count = equal.iter().filter(|place| counted(**place as usize)).count();
            for place in equal {
                each(*place as usize, 2 * below + count);
            }
            below += count;
            first = end;
        }
    }

    /// Returns how many values are equal to the one at `first` of the order, which is the first of them.
    fn equal(&self, values: &[f64], first: usize) -> usize {
        let at = |place: u16| values[place as usize];
        let value = at(self.places[first]);
        1 + self.places[first + 1..].iter().take_while(|one| at(**one) <= value).count()
    }
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
            let forgotten = forgotten % values.len();
            order.forget(forgotten);
            let values = &values[forgotten..];
            let from = from % values.len();
            let mut seen = 0;
            order.walk(values, |place| place >= from, |place, twice| {
                seen += 1;
                assert_eq!(twice, twice_below(&values[from..], values[place]));
            });
            prop_assert_eq!(seen, values.len());
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
