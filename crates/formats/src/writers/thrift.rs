//! The compact protocol of Thrift, as far as Parquet's headers need it
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

/// Writes one structure: fields in rising order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

/// Types of fields and of elements of lists.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Struct {
    pub(super) fn i32(mut self, field: u8, value: i32) -> Self {
        self.header(field, I32);
        varint(&mut self.bytes, zigzag(value.into()));
        self
    }

    pub(super) fn i64(mut self, field: u8, value: i64) -> Self {
        self.header(field, I64);
        varint(&mut self.bytes, zigzag(value));
        self
    }

    pub(super) fn text(mut self, field: u8, value: &str) -> Self {
        self.header(field, BINARY);
        binary(&mut self.bytes, value);
        self
    }

    pub(super) fn structure(mut self, field: u8, value: Struct) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend(value.finish());
        self
    }

    pub(super) fn structures(self, field: u8, values: Vec<Struct>) -> Self {
        self.list(field, STRUCT, values, |bytes, value| bytes.extend(value.finish()))
    }

    pub(super) fn i32s(self, field: u8, values: &[i32]) -> Self {
        self.list(field, I32, values, |bytes, value| varint(bytes, zigzag((*value).into())))
    }

    pub(super) fn texts(self, field: u8, values: &[&str]) -> Self {
        self.list(field, BINARY, values, |bytes, value| binary(bytes, value))
    }

    /// Ends the structure and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn list<T, I>(
        mut self,
        field: u8,
        kind: u8,
        values: I,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        let values = values.into_iter();
        self.header(field, LIST);
        if let Ok(short @ ..15) = u8::try_from(values.len()) {
            self.bytes.push(short << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, values.len() as u64);
        }
        for value in values {
            write(&mut self.bytes, value);
        }
        self
    }

    fn header(&mut self, field: u8, kind: u8) {
        // No structure of Parquet's has as many fields that a longer header were needed.
        debug_assert!(self.last < field && field - self.last < 16, "fields rise by less than 16");
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }
}

/// Writes a number in groups of seven bits, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let group = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(group);
            return;
        }
        bytes.push(group | 0x80);
    }
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

/// Maps small negative numbers to small numbers.
#[expect(clippy::cast_sign_loss, reason = "the bits are what is wanted")]
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_written_as_the_specification_says() {
        let inner = Struct::default().text(4, "ab");
        let bytes = Struct::default().i32(1, -1).i64(3, 300).structure(5, inner).i32s(6, &[1, 2]);
        let expected = [
            0x15, 1, // i32, field 1
            0x26, 0xd8, 4, // i64, field 3: 300 is 600 after zigzag
            0x2c, 0x48, 2, b'a', b'b', 0, // structure, field 5
            0x19, 0x25, 2, 4, // list of two, field 6
            0,
        ];
        assert_eq!(bytes.finish(), expected);
        let long = Struct::default().i32s(1, &[0; 20]).finish();
        assert_eq!(&long[..3], [0x19, 0xf5, 20]);
    }
}
