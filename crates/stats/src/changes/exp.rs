//! The exponential function of many numbers, several at once.
//!
//! exp(x) = 2^k exp(r) with k the whole number nearest to x / log 2, and exp(r) by Taylor's polynomial: the error is below
//! 1e-12 of the value. Nothing in it is a call or a branch, so that a loop over it is as fast as the processor multiplies.

/// What added and taken away again leaves a whole number: 1.5 times 2^52.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// log 2 in two parts, the first of which times a whole number has no rounding error.
const LOG_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);

/// Numbers that are brought into this range, so that powers of two are numbers.
const RANGE: f64 = 700.0;

/// Returns exp(x); of x beyond 700 that of 700, on either side.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let x = if x > RANGE { RANGE } else { x };
    let x = if x < -RANGE { -RANGE } else { x };
    let shifted = x * std::f64::consts::LOG2_E + ROUNDING;
    let k = shifted - ROUNDING;
    let r = (x - k * LOG_2.0) - k * LOG_2.1;
    let mut sum = 1.0 / 3_628_800.0;
    for divisor in [362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = sum * r + 1.0 / divisor;
    }
    // The last bits of `shifted` are k, and those of a number in front are its power of two.
    sum * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_function() {
        for i in -7000..=7000 {
            let x = f64::from(i) / 10.0 + 1e-4;
            let x = x.clamp(-RANGE, RANGE);
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!([exp(0.0), exp(1e9), exp(-1e9)], [1.0, exp(RANGE), exp(-RANGE)]);
    }
}
