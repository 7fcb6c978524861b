//! Histograms in the encoding V2 of `HdrHistogram`, deflated, in base 64: those of records, and those of other tools' logs.

use std::io::Read as _;

use base64::Engine as _;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// More than the counts of any histogram that has 64 bits for a value and five significant digits.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes before the counts: cookie, length of the counts, normalizing offset, digits, lowest and highest value, ratio.
const HEAD: usize = 40;

/// Reads a histogram; `None` for what is none.
pub(crate) fn decoded(text: &str) -> Option<Histogram<u64>> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
    // The cookie of what is deflated, and its length.
    let (_, deflated) = bytes.split_at_checked(8)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(deflated).take(MOST_BYTES).read_to_end(&mut plain).ok()?;
    let length = u32::from_be_bytes(plain.get(4..8)?.try_into().ok()?);
    // The library makes room for as many counts as the text says that there are.
    if plain.len() < HEAD || plain.len() - HEAD < usize::try_from(length).ok()? {
        return None;
    }
    // JavaScript's writer has other bytes in the normalizing offset and the ratio, and means 0 and 1, as all do.
    plain[8..12].fill(0);
    plain[32..HEAD].copy_from_slice(&1.0_f64.to_be_bytes());
    Deserializer::new().deserialize(&mut plain.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer, V2Serializer};

    fn encoded(bytes: &[u8]) -> String {
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    #[test]
    fn what_was_written_is_read() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(1_000_000, 5).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        assert_eq!(decoded(&encoded(&bytes)).unwrap(), histogram);
        for end in 0..bytes.len() {
            assert_eq!(decoded(&encoded(&bytes[..end])), None, "{end} bytes");
        }
        assert_eq!(decoded("no base 64!"), None);
    }

    #[test]
    fn more_counts_than_there_are_bytes_are_no_histogram() {
        let mut plain = Vec::new();
        V2Serializer::new().serialize(&Histogram::<u64>::new(3).unwrap(), &mut plain).unwrap();
        plain[4..8].fill(0xff);
        let mut deflated = b"\x1c\x84\x93\x14\0\0\0\0".to_vec();
        let level = flate2::Compression::default();
        flate2::read::ZlibEncoder::new(plain.as_slice(), level).read_to_end(&mut deflated).unwrap();
        assert_eq!(decoded(&encoded(&deflated)), None);
    }
}
