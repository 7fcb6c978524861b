//! The points of one entry as one row keeps them.
//!
//! Since version 2 of the tables: a mark (8 bytes, which no number of a series is), the count (4), then in columns, in
//! the order of rising series: the distances of their numbers and the runs (each as LEB128), for each point a bit that
//! says whether its error is known, the values (8 each), and the errors that are known (8 each). That is 10 bytes for a
//! point without error.
//!
//! Earlier rows have 28 bytes for each: series (8), value (8), error (8; NaN if it is unknown), runs (4). They are read
//! as well. All numbers are little-endian.

/// One point without its entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedPoint {
    pub(crate) series: i64,
    pub(crate) value: f64,
    pub(crate) error: Option<f64>,
    pub(crate) runs: u32,
}

/// Bytes of a point in an earlier row.
const SIZE: usize = 28;

/// What a row begins with.
const MARK: [u8; 8] = (-2_i64).to_le_bytes();

/// Packs points, of which each has another series.
pub(crate) fn pack(mut points: Vec<PackedPoint>) -> Vec<u8> {
    points.sort_unstable_by_key(|point| point.series);
    let mut bytes = Vec::with_capacity(16 + points.len() * 19);
    bytes.extend(MARK);
    bytes.extend(u32::try_from(points.len()).expect("memory is smaller").to_le_bytes());
    let mut last = 0;
    for point in &points {
        put(&mut bytes, u64::try_from(point.series - last).expect("they rise"));
        last = point.series;
    }
    for point in &points {
        put(&mut bytes, u64::from(point.runs));
    }
    for eight in points.chunks(8) {
        let bits = eight.iter().enumerate().map(|(i, point)| u8::from(point.error.is_some()) << i);
        bytes.push(bits.fold(0, |all, bit| all | bit));
    }
    for point in &points {
        bytes.extend(point.value.to_le_bytes());
    }
    for error in points.iter().filter_map(|point| point.error) {
        bytes.extend(error.to_le_bytes());
    }
    bytes
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Returns the points, by rising series; `None` where the bytes are nothing that becalm writes.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<PackedPoint>> {
    if !bytes.starts_with(&MARK) {
        return rows(bytes);
    }
    let columns = Columns::of(bytes.to_vec())?;
    let point = |(place, series)| {
        let (value, error, runs) = columns.at(place);
        PackedPoint { series, value, error, runs }
    };
    Some(columns.series()?.into_iter().enumerate().map(point).collect())
}

/// A packed row of which single points can be looked at.
#[derive(Debug)]
pub(crate) struct Columns {
    bytes: Vec<u8>,
    count: usize,
    /// Where in the bytes each column ends; the last one is the end.
    series_end: usize,
    runs: Runs,
    bits: usize,
    values: usize,
    /// How many of the errors before each eight points are known; empty if none is.
    known: Vec<u32>,
}

/// The column of runs.
#[derive(Debug)]
enum Runs {
    /// Each is one byte, from here on.
    Bytes(usize),
    Numbers(Vec<u32>),
}

impl Columns {
    /// Finds the columns; `None` where the bytes are nothing that becalm writes.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Self> {
        let bytes = if bytes.starts_with(&MARK) { bytes } else { pack(rows(&bytes)?) };
        let place = |rest: &Rest<'_>| bytes.len() - rest.0.len();
        let mut rest = Rest(&bytes[MARK.len()..]);
        let count = usize::try_from(u32::from_le_bytes(rest.take()?)).ok()?;
        rest.skip_numbers(count)?;
        let series_end = place(&rest);
        let runs = if rest.0.get(..count)?.iter().all(|byte| byte & 0x80 == 0) {
            rest.0 = &rest.0[count..];
            Runs::Bytes(series_end)
        } else {
            let number = |_| u32::try_from(rest.number()?).ok();
            Runs::Numbers((0..count).map(number).collect::<Option<_>>()?)
        };
        let bits = place(&rest);
        let (all, after) = rest.0.split_at_checked(count.div_ceil(8))?;
        let values = place(&Rest(after));
        let mut sum = 0;
        let before = |bits: &u8| {
            let before = sum;
            sum += bits.count_ones();
            before
        };
        let mut known: Vec<u32> = all.iter().map(before).collect();
        if after.len() != 8 * (count + sum as usize) {
            return None;
        }
        if sum == 0 {
            known = Vec::new();
        }
        Some(Self { bytes, count, series_end, runs, bits, values, known })
    }

    /// Returns the numbers of the series, which rise.
    pub(crate) fn series(&self) -> Option<Vec<i64>> {
        let mut rest = Rest(self.series_column());
        let mut series = 0_i64;
        let next = |_| {
            series = series.checked_add(i64::try_from(rest.number()?).ok()?)?;
            Some(series)
        };
        (0..self.count).map(next).collect()
    }

    /// Says whether another row has the same series.
    pub(crate) fn has_series_of(&self, other: &Self) -> bool {
        self.count == other.count && self.series_column() == other.series_column()
    }

    fn series_column(&self) -> &[u8] {
        &self.bytes[MARK.len() + 4..self.series_end]
    }

    /// Returns value, error and runs of the point at a place, which is below the count of series.
    pub(crate) fn at(&self, place: usize) -> (f64, Option<f64>, u32) {
        let number = |at: usize| {
            let at = self.values + 8 * at;
            f64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
        };
        let error = self.known.get(place / 8).and_then(|before| {
            let bits = self.bytes[self.bits + place / 8];
            let bit = 1 << (place % 8);
            let rank = *before + (bits & (bit - 1)).count_ones();
            (bits & bit != 0).then(|| number(self.count + rank as usize))
        });
        let runs = match &self.runs {
            Runs::Bytes(start) => u32::from(self.bytes[start + place]),
            Runs::Numbers(runs) => runs[place],
        };
        (number(place), error, runs)
    }
}

/// What is not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// Skips so many numbers.
    fn skip_numbers(&mut self, count: usize) -> Option<()> {
        for _ in 0..count {
            self.number()?;
        }
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.take()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

fn rows(bytes: &[u8]) -> Option<Vec<PackedPoint>> {
    let (points, []) = bytes.as_chunks::<SIZE>() else { return None };
    let point = |point: &[u8; SIZE]| {
        let eight = |at: usize| point[at..at + 8].try_into().expect("eight bytes");
        let error = f64::from_le_bytes(eight(16));
        PackedPoint {
            series: i64::from_le_bytes(eight(0)),
            value: f64::from_le_bytes(eight(8)),
            error: Some(error).filter(|error| !error.is_nan()),
            runs: u32::from_le_bytes(point[24..].try_into().expect("four bytes")),
        }
    };
    Some(points.iter().map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(series: i64, error: Option<f64>) -> PackedPoint {
        PackedPoint { series, value: -0.0, error, runs: u32::MAX }
    }

    #[test]
    fn points_come_back_sorted_and_damage_is_noticed() {
        let all: Vec<PackedPoint> = (1..20)
            .map(|i| point(i * 90, (i % 3 == 0).then_some(0.1)))
            .chain([point(1 << 40, None)])
            .collect();
        let bytes = pack(all.iter().rev().copied().collect());
        assert_eq!(unpack(&bytes), Some(all));
        let looked_at = |bytes: &[u8]| -> Option<Vec<PackedPoint>> {
            let columns = Columns::of(bytes.to_vec())?;
            let point = |(place, series)| {
                let (value, error, runs) = columns.at(place);
                PackedPoint { series, value, error, runs }
            };
            Some(columns.series()?.into_iter().enumerate().map(point).collect())
        };
        assert_eq!(looked_at(&bytes), unpack(&bytes));
        let few_runs: Vec<PackedPoint> =
            (1..30).map(|i| PackedPoint { runs: 5, ..point(i, None) }).collect();
        assert_eq!(looked_at(&pack(few_runs.clone())), Some(few_runs));
        for end in 8..bytes.len() {
            assert_eq!(unpack(&bytes[..end]), None, "{end}");
            assert_eq!(looked_at(&bytes[..end]), None, "{end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!((unpack(&longer), looked_at(&longer)), (None, None));
        assert_eq!(unpack(&pack(Vec::new())), Some(Vec::new()));
    }

    #[test]
    fn rows_of_the_first_version_are_read() {
        let mut bytes = Vec::new();
        for (series, error) in [(3_i64, 0.1), (1 << 40, f64::NAN)] {
            bytes.extend(series.to_le_bytes());
            bytes.extend((-0.0_f64).to_le_bytes());
            bytes.extend(error.to_le_bytes());
            bytes.extend(u32::MAX.to_le_bytes());
        }
        assert_eq!(unpack(&bytes), Some(vec![point(3, Some(0.1)), point(1 << 40, None)]));
        let columns = Columns::of(bytes.clone()).unwrap();
        assert_eq!(columns.series(), Some(vec![3, 1 << 40]));
        assert_eq!(columns.at(0), (-0.0, Some(0.1), u32::MAX));
        assert_eq!(columns.at(1), (-0.0, None, u32::MAX));
        assert_eq!(unpack(&bytes[1..]), None);
        assert_eq!(unpack(&[]), Some(Vec::new()));
    }
}
