//! Whole numbers of estimates. A cast of a float saturates: what is below 0, or no number, gives 0.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit saturates"
)]

/// Returns the whole part of a number as a place in a list.
pub(crate) fn place(number: f64) -> usize {
    number as usize
}

/// Returns the whole part of a number as a count.
pub fn count(number: f64) -> u32 {
    number as u32
}
