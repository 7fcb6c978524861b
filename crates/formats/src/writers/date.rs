//! Points in time as ISO 8601 writes them.

use becalm_model::time_text;

/// Writes seconds since the Unix epoch as `2026-11-20T18:33:33`, in UTC and without a zone; `None` where
/// nobody knows when it was.
pub(super) fn iso(seconds: f64) -> Option<String> {
    time_text(seconds).filter(|_| seconds > 0.0).map(|text| text.replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn known_days_are_written() {
        assert_eq!(iso(951_782_400.0).as_deref(), Some("2000-02-29T00:00:00"));
        assert_eq!(iso(1_795_199_613.9).as_deref(), Some("2026-11-20T18:33:33"));
        assert_eq!(iso(253_402_300_799.0).as_deref(), Some("9999-12-31T23:59:59"));
        assert_eq!([iso(0.0), iso(-1.0), iso(f64::NAN), iso(1e300)], [const { None }; 4]);
    }
}
