//! What is read: a file, or the files of a folder.

use std::borrow::Cow;
use std::io::Read as _;

use crate::error::ImportError;

/// One file, as the caller read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, or its path inside the folder that is imported, with `/` between the parts.
    pub name: String,
    /// What it holds, looked at once: many formats ask whether it is theirs.
    content: Result<String, NoText>,
}

/// Bytes that are no text, and the line of the first that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NoText {
    bytes: Vec<u8>,
    line: usize,
}

impl File {
    /// Makes a file of a name and of what it holds.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let content =
            utf_16(&bytes).map_or_else(|| String::from_utf8(bytes), Ok).map_err(|error| {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = before.split(|byte| *byte == b'\n').count();
                NoText { bytes: error.into_bytes(), line }
            });
        Self { name: name.into(), content }
    }

    /// Makes a file of a text; for tests and for the output of a harness.
    pub fn of_text(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), content: Ok(text.to_owned()) }
    }

    /// Returns its name without folders.
    pub(crate) fn base(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the folder that it is in, as far as its name has one.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.name.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// Returns what the file holds.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Ok(text) => text.as_bytes(),
            Err(no_text) => &no_text.bytes,
        }
    }

    /// Says whether this is a text in which these letters stand. That is quick in large ones, too.
    pub(crate) fn holds(&self, letters: &str) -> bool {
        let stands_in = |text: &String| memchr::memmem::find(text.as_bytes(), letters.as_bytes());
        self.content.as_ref().ok().and_then(stands_in).is_some()
    }

    /// Returns the text of the file, without the byte order mark that some Windows programs write.
    pub(crate) fn text(&self) -> Result<&str, ImportError> {
        match &self.content {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(no_text) => {
                Err(ImportError::at_line(self, no_text.line, "UTF-8 text", "other bytes"))
            }
        }
    }
}

/// Returns the text of UTF-16, as what PowerShell writes with `>`: its first two bytes tell the order of the others.
fn utf_16(bytes: &[u8]) -> Option<String> {
    let of: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().map(|pair| of(*pair))).collect::<Result<String, _>>().ok()
}

/// Returns the one file of a format that has no folders.
pub(crate) fn only(files: &[File]) -> Result<&File, ImportError> {
    match files {
        [one] => Ok(one),
        _ => Err(ImportError::Folder { files: files.len() }),
    }
}

/// Returns what an error calls files that are imported together.
pub(crate) fn name_of(files: &[File]) -> String {
    files.first().map_or_else(|| "nothing".to_owned(), |file| file.name.clone())
}

/// How much the compressed files of one import may hold together: a small file can hold terabytes.
const MOST_EXPANDED: u64 = 256 << 20;

/// Returns the files with those that gzip compressed expanded; which they are is told by the content.
pub(crate) fn expanded(files: &[File]) -> Result<Cow<'_, [File]>, ImportError> {
    if !files.iter().any(is_compressed) {
        return Ok(Cow::Borrowed(files));
    }
    let mut left = MOST_EXPANDED;
    let expand = |file: &File| {
        if is_compressed(file) { expand(file, &mut left) } else { Ok(file.clone()) }
    };
    files.iter().map(expand).collect::<Result<_, _>>().map(Cow::Owned)
}

fn is_compressed(file: &File) -> bool {
    file.bytes().starts_with(&[0x1f, 0x8b])
}

fn expand(file: &File, left: &mut u64) -> Result<File, ImportError> {
    let mut bytes = Vec::new();
    // One byte more than there may be tells a file that is too large from one that just fits.
    flate2::read::MultiGzDecoder::new(file.bytes())
        .take(*left + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            ImportError::compressed(file, format!("it is a damaged gzip file: {error}"))
        })?;
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
        let most = MOST_EXPANDED >> 20;
        ImportError::compressed(file, format!("expanded it is larger than {most} MiB"))
    })?;
    Ok(File::new(&file.name, bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn utf_16_is_text() {
        let letters = "a µ 𝄞\n";
        let of = |mark: [u8; 2], pair: fn(u16) -> [u8; 2]| {
            let bytes = mark.into_iter().chain(letters.encode_utf16().flat_map(pair)).collect();
            File::new("a", bytes).text().map(str::to_owned)
        };
        assert_eq!(of([0xff, 0xfe], u16::to_le_bytes).unwrap(), letters);
        assert_eq!(of([0xfe, 0xff], u16::to_be_bytes).unwrap(), letters);
        assert!(File::new("a", vec![0xff, 0xfe, 1]).text().is_err());
        assert!(File::new("a", vec![0xff, 0xfe, 0, 0xd8]).text().is_err());
    }

    #[test]
    fn what_expands_too_far_is_refused() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&[b' '; 1000]).unwrap();
        let file = File::new("a.gz", encoder.finish().unwrap());
        let mut left = 1000;
        assert_eq!(expand(&file, &mut left).unwrap().bytes().len(), 1000);
        assert_eq!(left, 0);
        assert_eq!(
            expand(&file, &mut 999).unwrap_err().to_string(),
            "a.gz: expanded it is larger than 256 MiB"
        );
    }
}
