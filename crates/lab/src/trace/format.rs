//! The layout of a tracepoint's data, as its `format` file in tracefs tells it.
//!
//! Offsets differ from kernel to kernel, so none is taken for granted.
//! <https://docs.kernel.org/trace/events.html#event-formats>

/// The layout of one tracepoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format {
    /// What `perf_event_open` knows it by.
    pub(super) id: u64,
    fields: Vec<(String, Field)>,
}

/// Where one field lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    offset: usize,
    size: usize,
    /// Whether it says where a text lies rather than being one.
    is_elsewhere: bool,
}

impl Format {
    /// Reads a `format` file; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let fields = text.lines().filter_map(|line| field(line.trim())).collect();
        Some(Self { id, fields })
    }

    /// Returns the field called `name`.
    pub(super) fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// Reads `field:__data_loc char[] name; offset:12; size:4; signed:0;`, with tabs for the spaces.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.strip_prefix("field:")?.split(';').map(str::trim);
    let declaration = parts.next()?;
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
    let (offset, size) = (number("offset:")?, number("size:")?);
    let name = declaration.rsplit(' ').next()?;
    let name = name.split('[').next()?.trim_start_matches('*');
    let is_elsewhere = declaration.starts_with("__data_loc");
    Some((name.to_owned(), Field { offset, size, is_elsewhere }))
}

impl Field {
    /// Reads an integer as its bits stand, without its sign. `None` if the data are too short.
    pub(super) fn number(self, data: &[u8]) -> Option<u64> {
        let bytes = data.get(self.offset..self.offset.checked_add(self.size)?)?;
        Some(match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }

    /// Reads a text up to its first zero byte.
    pub(super) fn text(self, data: &[u8]) -> Option<&[u8]> {
        let (offset, size) = if self.is_elsewhere {
            // The lower half is the offset from the start of the data, the upper half the length.
            let place = u32::try_from(Self { is_elsewhere: false, ..self }.number(data)?).ok()?;
            ((place & 0xffff) as usize, (place >> 16) as usize)
        } else {
            (self.offset, self.size)
        };
        let bytes = data.get(offset..offset.checked_add(size)?)?;
        bytes.split(|&byte| byte == 0).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Linux 6.18.
    const IRQ_ENTRY: &str = "\
name: irq_handler_entry
ID: 225
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;

print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)
";

    #[test]
    fn fields_lie_where_the_file_says() {
        let format = Format::parse(IRQ_ENTRY).unwrap();
        assert_eq!(format.id, 225);
        let mut data = [0; 24];
        data[8..12].copy_from_slice(&36_u32.to_ne_bytes());
        data[12..16].copy_from_slice(&(6 << 16 | 16_u32).to_ne_bytes());
        data[16..22].copy_from_slice(b"eth0\0x");
        assert_eq!(format.field("irq").unwrap().number(&data), Some(36));
        assert_eq!(format.field("name").unwrap().text(&data), Some(&b"eth0"[..]));
        assert_eq!(format.field("irq").unwrap().number(&data[..9]), None);
        assert_eq!(format.field("name").unwrap().text(&data[..18]), None);
        assert_eq!(format.field("vec"), None);
    }

    #[test]
    fn arrays_and_pointers_have_plain_names() {
        let text = "ID: 1\n\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
                    \tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n";
        let format = Format::parse(text).unwrap();
        let mut data = [b'x'; 60];
        data[43] = 0;
        data[16..24].copy_from_slice(&0xffff_ffff_8100_0000_u64.to_ne_bytes());
        assert_eq!(format.field("next_comm").unwrap().text(&data), Some(&b"xxx"[..]));
        let function = format.field("function").unwrap().number(&data);
        assert_eq!(function, Some(0xffff_ffff_8100_0000));
    }

    #[test]
    fn a_file_without_an_id_is_no_format() {
        for text in ["", "name: x\n", "ID: many\n"] {
            assert_eq!(Format::parse(text), None, "{text:?}");
        }
    }
}
