//! The file format: PNG, true colour without transparency (W3C, Portable Network Graphics, third edition).

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tiny_skia::Pixmap;

/// Says that each byte of a line is the difference from the one above it.
const FILTER_UP: u8 = 2;

/// Writes opaque pixels.
pub(super) fn of(pixmap: &Pixmap) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = Vec::new();
    head.extend(pixmap.width().to_be_bytes());
    head.extend(pixmap.height().to_be_bytes());
    // Eight bits, true colour; the only compression, filters and order that there are.
    head.extend([8, 2, 0, 0, 0]);
    chunk(&mut out, *b"IHDR", &head);
    chunk(&mut out, *b"IDAT", &compressed(pixmap));
    chunk(&mut out, *b"IEND", &[]);
    out
}

fn compressed(pixmap: &Pixmap) -> Vec<u8> {
    let width = pixmap.width() as usize;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut above = vec![0_u8; width * 3];
    for row in pixmap.pixels().chunks(width) {
        let line: Vec<u8> =
            row.iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
        let differences = line.iter().zip(&above).map(|(byte, above)| byte.wrapping_sub(*above));
        let filtered: Vec<u8> = std::iter::once(FILTER_UP).chain(differences).collect();
        encoder.write_all(&filtered).expect("memory can be written");
        above = line;
    }
    encoder.finish().expect("memory can be written")
}

fn chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("pictures have fewer pixels");
    let mut crc = flate2::Crc::new();
    crc.update(&kind);
    crc.update(data);
    out.extend(length.to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}
