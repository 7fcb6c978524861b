//! The points of one entry as one row keeps them.
//!
//! 28 bytes each, little-endian: series (8), value (8), error (8; NaN if it is unknown), runs (4);
//! sorted by series.

/// One point without its entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedPoint {
    pub(crate) series: i64,
    pub(crate) value: f64,
    pub(crate) error: Option<f64>,
    pub(crate) runs: u32,
}

/// Bytes of a point.
const SIZE: usize = 28;

/// Packs points, of which each has another series.
pub(crate) fn pack(mut points: Vec<PackedPoint>) -> Vec<u8> {
    points.sort_unstable_by_key(|point| point.series);
    let mut bytes = Vec::with_capacity(points.len() * SIZE);
    for point in points {
        bytes.extend(point.series.to_le_bytes());
        bytes.extend(point.value.to_le_bytes());
        bytes.extend(point.error.unwrap_or(f64::NAN).to_le_bytes());
        bytes.extend(point.runs.to_le_bytes());
    }
    bytes
}

/// Returns the points, by rising series; `None` where the bytes are no whole number of points.
pub(crate) fn unpack(bytes: &[u8]) -> Option<impl Iterator<Item = PackedPoint>> {
    let (points, []) = bytes.as_chunks::<SIZE>() else { return None };
    Some(points.iter().map(|point| {
        let eight = |at: usize| point[at..at + 8].try_into().expect("eight bytes");
        let error = f64::from_le_bytes(eight(16));
        PackedPoint {
            series: i64::from_le_bytes(eight(0)),
            value: f64::from_le_bytes(eight(8)),
            error: Some(error).filter(|error| !error.is_nan()),
            runs: u32::from_le_bytes(point[24..].try_into().expect("four bytes")),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_back_sorted_and_damage_is_noticed() {
        let point = |series, error| PackedPoint { series, value: -0.0, error, runs: u32::MAX };
        let bytes = pack(vec![point(1 << 40, None), point(3, Some(0.1))]);
        let back: Vec<_> = unpack(&bytes).unwrap().collect();
        assert_eq!(back, [point(3, Some(0.1)), point(1 << 40, None)]);
        assert!(unpack(&bytes[1..]).is_none());
    }
}
