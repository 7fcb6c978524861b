//! Numbers as texts that are read as the same number again.

/// Writes a number with as many digits as it needs and no more.
pub(super) fn text(value: f64) -> String {
    shifted(value, 0)
}

/// Writes a number times ten to the power of `exponent`, by moving the point: no digit changes, so that
/// moving it back gives the number bit by bit. A multiplication would round.
pub(super) fn shifted(value: f64, exponent: i32) -> String {
    // `1.2345e-7`: the shortest digits that are read as this number.
    let written = format!("{value:e}");
    let Some((figures, power)) = written.split_once('e') else { return written };
    let (sign, figures) = figures.strip_prefix('-').map_or(("", figures), |rest| ("-", rest));
    let digits: String = figures.chars().filter(char::is_ascii_digit).collect();
    if value == 0.0 {
        return format!("{sign}0");
    }
    let power = power.parse::<i32>().unwrap_or(0) + exponent;
    // The point stands behind so many digits.
    let point = power + 1;
    match usize::try_from(point) {
        _ if !(-5..=17).contains(&power) => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{dot}{rest}e{power}")
        }
        Ok(point) if point >= digits.len() => {
            format!("{sign}{digits}{}", "0".repeat(point - digits.len()))
        }
        Ok(point) if point > 0 => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        _ => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
    }
}

/// Returns the number nearest to a number times ten to the power of `exponent`.
pub(super) fn scaled(value: f64, exponent: i32) -> f64 {
    shifted(value, exponent).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_point_is_moved_and_digits_stay() {
        assert_eq!(shifted(1.234_567e-4, 9), "123456.7");
        assert_eq!(shifted(0.1, 9), "100000000");
        assert_eq!(shifted(2.0, 0), "2");
        assert_eq!(shifted(-0.002_5, 0), "-0.0025");
        assert_eq!(shifted(123.0, -1), "12.3");
        assert_eq!(shifted(1e-300, 9), "1e-291");
        assert_eq!(shifted(1.5e300, 9), "1.5e309");
        assert_eq!(shifted(0.0, 9), "0");
        assert_eq!(scaled(3e-7, 9).to_bits(), 300.0_f64.to_bits());
    }

    proptest! {
        #[test]
        fn every_number_is_read_as_it_was(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(text(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
            let back = format!("{}e-9", shifted(value, 9));
            if !shifted(value, 9).contains('e') {
                prop_assert_eq!(back.parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
        }
    }
}
