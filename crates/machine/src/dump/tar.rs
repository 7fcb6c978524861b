//! Writes a dump as a tar archive, in the format that every tar reads (`ustar`, POSIX.1-1988), with GNU's way
//! for links that are longer than it has room for, as those of devices behind several bridges are.
//!
//! Files, folders and links with fixed owner and time, so that equal machines give equal archives.

use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Dump, Entry};

const BLOCK: usize = 512;

/// Returns the archive, compressed by gzip, with everything in one folder called `top`.
pub fn archive(dump: &Dump, top: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&uncompressed(dump, top))?;
    encoder.finish()
}

/// A path too long for the format, which the kernel has none of, is left out.
fn uncompressed(dump: &Dump, top: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let note = format!("Captured by becalm. Not included:\n- {}\n", dump.left_out.join("\n- "));
    append(&mut out, &format!("{top}/LEFT_OUT.txt"), &Entry::File(note.into_bytes()));
    for (path, entry) in &dump.entries {
        let inner = path.strip_prefix("/").unwrap_or(path);
        append(&mut out, &Path::new(top).join(inner).to_string_lossy(), entry);
    }
    // Two empty blocks end an archive.
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn append(out: &mut Vec<u8>, path: &str, entry: &Entry) {
    let Some(path) = split(path) else { return };
    let empty: &[u8] = &[];
    let (kind, mode, link, content) = match entry {
        Entry::File(content) => (b'0', "0000644\0", String::new(), content.as_slice()),
        Entry::Folder => (b'5', "0000755\0", String::new(), empty),
        Entry::Link(to) => (b'2', "0000777\0", to.to_string_lossy().into_owned(), empty),
    };
    let mut short = link.as_bytes();
    if short.len() > LONGEST_LINK {
        // A file of this name and kind has the link of the entry after it.
        let whole = [short, b"\0"].concat();
        record(out, ("", "././@LongLink"), (b'K', "0000644\0"), b"", &whole);
        short = &short[..LONGEST_LINK];
    }
    record(out, path, (kind, mode), short, content);
}

/// Longest link that has room in a header.
const LONGEST_LINK: usize = 100;

fn record(
    out: &mut Vec<u8>,
    (prefix, name): (&str, &str),
    (kind, mode): (u8, &str),
    link: &[u8],
    content: &[u8],
) {
    let mut header = [0u8; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, mode.as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{:011o}\0", content.len()).as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link);
    put(257, b"ustar\x0000");
    put(345, prefix.as_bytes());
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(content);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

/// Splits a path into a prefix of at most 155 bytes and a name of at most 100.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    path.match_indices('/')
        .map(|(at, _)| (&path[..at], &path[at + 1..]))
        .find(|(prefix, name)| prefix.len() <= 155 && name.len() <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_split_between_folders() {
        assert_eq!(split("a/b"), Some(("", "a/b")));
        let long = format!("{}/{}", "a".repeat(90), "b".repeat(90));
        assert_eq!(split(&long).map(|(prefix, name)| (prefix.len(), name.len())), Some((90, 90)));
        assert_eq!(split(&"a".repeat(300)), None);
    }

    #[test]
    fn a_long_link_stands_whole_before_its_entry() {
        let mut dump = Dump::default();
        let to = format!("../{}", "a".repeat(150));
        dump.entries.insert("/sys/y".into(), Entry::Link((&to).into()));
        let bytes = uncompressed(&dump, "top");
        let (long, entry) = (&bytes[2 * BLOCK..4 * BLOCK], &bytes[4 * BLOCK..5 * BLOCK]);
        assert_eq!((long[156], entry[156]), (b'K', b'2'));
        assert!(long[BLOCK..].starts_with(format!("{to}\0").as_bytes()));
        assert!(entry.starts_with(b"top/sys/y\0") && entry[157..].starts_with(b"../aaa"));
    }

    #[test]
    fn blocks_are_whole_and_summed() {
        let mut dump = Dump::default();
        dump.entries.insert("/sys/x".into(), Entry::File(b"1\n".to_vec()));
        dump.entries.insert("/sys/y".into(), Entry::Link("x".into()));
        let bytes = uncompressed(&dump, "top");
        assert_eq!(bytes.len(), BLOCK * (2 + 2 + 1 + 2));
        let header = &bytes[2 * BLOCK..3 * BLOCK];
        assert!(header.starts_with(b"top/sys/x\0"));
        let stated =
            u32::from_str_radix(std::str::from_utf8(&header[148..154]).unwrap(), 8).unwrap();
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        let field: u32 = header[148..156].iter().map(|&byte| u32::from(byte)).sum();
        assert_eq!(stated, sum - field + 8 * u32::from(b' '));
    }
}
