//! When to look: after a number of rounds that grows by a constant factor, so that the number of
//! looks, and with it the price of looking, grows only with the logarithm of the rounds.

use crate::whole::count;

/// Growth from look to look. Smaller stops a little earlier and pays with wider intervals.
const GROWTH: f64 = 1.25;

/// Fewest rounds at which a look can say anything at usual levels (see
/// [`super::paired::FEWEST_ROUNDS`]) and is worth paying for.
pub const FIRST_LOOK: u32 = 8;

/// Says whether to look after `rounds`, when the first look is after `first` rounds.
pub fn is_look(rounds: u32, first: u32) -> bool {
    let first = first.max(FIRST_LOOK);
    let mut look = first;
    while look < rounds {
        look = next(look);
    }
    look == rounds
}

/// Returns the looks up to and including `rounds`, whether or not `rounds` is one by itself.
pub fn looks_until(rounds: u32, first: u32) -> Vec<u32> {
    let mut looks = Vec::new();
    let mut look = first.max(FIRST_LOOK);
    while look < rounds {
        looks.push(look);
        look = next(look);
    }
    looks.push(rounds);
    looks
}

fn next(look: u32) -> u32 {
    count((f64::from(look) * GROWTH).round()).max(look + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_geometrically_and_end_with_the_last_round() {
        assert_eq!(looks_until(40, 0), [8, 10, 13, 16, 20, 25, 31, 39, 40]);
        assert_eq!(looks_until(5, 0), [5]);
        assert!(is_look(13, 0) && !is_look(12, 0) && is_look(20, 20));
    }
}
