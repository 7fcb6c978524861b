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
    match bytes.strip_prefix(&MARK) {
        Some(rest) => columns(rest),
        None => rows(bytes),
    }
}

/// Hands on the points of these series alone, each with its place among them; `None` where the bytes are nothing that
/// becalm writes. `wanted` rises. Of a row of thousands of series, a few are found in a fraction of the time that all take.
pub(crate) fn pick(
    bytes: &[u8],
    wanted: &[i64],
    mut take: impl FnMut(usize, PackedPoint),
) -> Option<()> {
    let Some(bytes) = bytes.strip_prefix(&MARK) else {
        let mut next = 0;
        for point in rows(bytes)? {
            while wanted.get(next).is_some_and(|series| *series < point.series) {
                next += 1;
            }
            if wanted.get(next) == Some(&point.series) {
                take(next, point);
            }
        }
        return Some(());
    };
    let mut rest = Rest(bytes);
    let count = usize::try_from(u32::from_le_bytes(rest.take()?)).ok()?;
    // Where each is in the row, and among those that are wanted.
    let mut found: Vec<(usize, usize, PackedPoint)> = Vec::new();
    let (mut series, mut next) = (0_i64, 0);
    for at in 0..count {
        series = series.checked_add(i64::try_from(rest.number()?).ok()?)?;
        while wanted.get(next).is_some_and(|one| *one < series) {
            next += 1;
        }
        if wanted.get(next) == Some(&series) {
            found.push((at, next, PackedPoint { series, value: 0.0, error: None, runs: 0 }));
        }
    }
    let mut here = found.iter_mut().peekable();
    for at in 0..count {
        let runs = u32::try_from(rest.number()?).ok()?;
        if let Some((_, _, point)) = here.next_if(|(place, ..)| *place == at) {
            point.runs = runs;
        }
    }
    let (bits, after) = rest.0.split_at_checked(count.div_ceil(8))?;
    let (values, errors) = after.as_chunks::<8>().0.split_at_checked(count)?;
    let known = |until: usize| -> usize {
        let whole: u32 = bits[..until / 8].iter().map(|bits| bits.count_ones()).sum();
        let last =
            bits.get(until / 8).map_or(0, |bits| (bits & ((1 << (until % 8)) - 1)).count_ones());
        whole as usize + last as usize
    };
    if after.len() != 8 * (count + known(count)) {
        return None;
    }
    for (at, place, mut point) in found {
        point.value = f64::from_le_bytes(values[at]);
        if bits[at / 8] >> (at % 8) & 1 == 1 {
            point.error = Some(f64::from_le_bytes(*errors.get(known(at))?));
        }
        take(place, point);
    }
    Some(())
}

fn columns(bytes: &[u8]) -> Option<Vec<PackedPoint>> {
    let mut rest = Rest(bytes);
    let count = usize::try_from(u32::from_le_bytes(rest.take()?)).ok()?;
    // A point has 10 bytes at least; a count that is damaged must not take all memory.
    let mut points = Vec::with_capacity(count.min(bytes.len() / 10 + 1));
    let mut series = 0_i64;
    for _ in 0..count {
        series = series.checked_add(i64::try_from(rest.number()?).ok()?)?;
        points.push(PackedPoint { series, value: 0.0, error: None, runs: 0 });
    }
    for point in &mut points {
        point.runs = u32::try_from(rest.number()?).ok()?;
    }
    let (bits, after) = rest.0.split_at_checked(count.div_ceil(8))?;
    rest.0 = after;
    for point in &mut points {
        point.value = f64::from_le_bytes(rest.take()?);
    }
    for (at, point) in points.iter_mut().enumerate() {
        if bits[at / 8] >> (at % 8) & 1 == 1 {
            point.error = Some(f64::from_le_bytes(rest.take()?));
        }
    }
    rest.0.is_empty().then_some(points)
}

/// What is not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
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
        let picked = |bytes: &[u8], wanted: &[i64]| {
            let mut found = Vec::new();
            pick(bytes, wanted, |place, point| found.push((place, point))).map(|()| found)
        };
        for wanted in [&[][..], &[90], &[1, 90, 91, 180, 1 << 40, 1 << 41], &[270, 900, 1710]] {
            let of_all = unpack(&bytes)
                .unwrap()
                .into_iter()
                .filter_map(|point| Some((wanted.binary_search(&point.series).ok()?, point)));
            assert_eq!(picked(&bytes, wanted), Some(of_all.collect()), "{wanted:?}");
        }
        for end in 8..bytes.len() {
            assert_eq!(unpack(&bytes[..end]), None, "{end}");
            assert_eq!(picked(&bytes[..end], &[90]), None, "{end}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!((unpack(&longer), picked(&longer, &[90])), (None, None));
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
        let mut found = Vec::new();
        pick(&bytes, &[2, 3, 4], |place, point| found.push((place, point))).unwrap();
        assert_eq!(found, [(1, point(3, Some(0.1)))]);
        assert_eq!(unpack(&bytes[1..]), None);
        assert_eq!(unpack(&[]), Some(Vec::new()));
    }
}
