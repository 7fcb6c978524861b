//! Parquet for data frames, with the columns of becalm's CSV; written here and not by the crate `parquet`,
//! which without any feature takes 25 crates, 18 of them new here, and 45 s of CPU time to build, for what
//! are 200 lines: one page per column, no compression, no statistics
//! (<https://parquet.apache.org/docs/file-format/>).
//!
//! Texts are dictionaries with run lengths, numbers are plain. Columns that may be empty (`benchmark`,
//! `iteration`, `statistic`) are optional and hold nulls. The facts about the machine are in the metadata of
//! the file, as JSON under `becalm.facts`.

use std::collections::HashMap;

use becalm_model::{Record, Unit};

use crate::writers::csv_values::{COLUMNS, Row, rows};
use crate::writers::thrift::{Struct, varint};
use crate::writers::{ExportError, Exported, Options, Writer};

pub(crate) const PARQUET: Writer = Writer {
    name: "parquet",
    about: "Parquet with the columns of the CSV, for pandas, polars, DuckDB and R",
    ending: "parquet",
    write,
};

const MAGIC: &[u8] = b"PAR1";

/// Rows that are written together; it keeps every page below 2 GiB.
const GROUP: usize = 1 << 20;

/// Physical types of Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Boolean = 0,
    Int32 = 1,
    Double = 5,
    ByteArray = 6,
}

/// The values of one column in one group of rows.
enum Values<'a> {
    Flags(Vec<bool>),
    Numbers(Vec<f64>),
    Counts(Vec<Option<u32>>),
    Texts(Vec<Option<&'a str>>),
}

/// One column: how it is declared and where its values come from.
struct Column {
    name: &'static str,
    kind: Type,
    optional: bool,
    of: for<'a> fn(&[Row<'a>]) -> Values<'a>,
}

/// Returns the columns, in the order of the CSV.
fn columns() -> [Column; COLUMNS.len()] {
    use Type::{Boolean, ByteArray, Double, Int32};
    let column = |at: usize, kind, optional, of| Column { name: COLUMNS[at], kind, optional, of };
    [
        column(0, ByteArray, false, |rows| texts(rows, |row| Some(row.subject))),
        column(1, ByteArray, true, |rows| texts(rows, |row| row.metric.benchmark.as_deref())),
        column(2, ByteArray, false, |rows| texts(rows, |row| Some(&row.metric.name))),
        column(3, ByteArray, false, |rows| texts(rows, |row| Some(unit(row)))),
        column(4, ByteArray, false, |rows| texts(rows, |row| Some(row.metric.direction.name()))),
        column(5, Int32, false, |rows| {
            Values::Counts(rows.iter().map(|row| Some(row.run)).collect())
        }),
        column(6, Int32, true, |rows| {
            Values::Counts(rows.iter().map(|row| row.iteration).collect())
        }),
        column(7, Double, false, |rows| {
            Values::Numbers(rows.iter().map(|row| row.value).collect())
        }),
        column(8, ByteArray, true, |rows| texts(rows, |row| row.metric.statistic.as_deref())),
        column(9, Boolean, false, |rows| {
            Values::Flags(rows.iter().map(|row| row.metric.exact).collect())
        }),
        column(10, Boolean, false, |rows| {
            Values::Flags(rows.iter().map(|row| row.warmup).collect())
        }),
    ]
}

fn texts<'a>(rows: &[Row<'a>], of: impl Fn(&Row<'a>) -> Option<&'a str>) -> Values<'a> {
    Values::Texts(rows.iter().map(of).collect())
}

fn unit<'a>(row: &Row<'a>) -> &'a str {
    match &row.metric.unit {
        Unit::Second => "s",
        Unit::Byte => "B",
        Unit::Count => "",
        Unit::Named(name) => name,
    }
}

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut all = Vec::new();
    let notes = rows(record, options, PARQUET.name, |row| all.push(row))?;
    let columns = columns();
    let mut bytes = MAGIC.to_vec();
    let mut groups = Vec::new();
    for rows in all.chunks(GROUP) {
        let begin = bytes.len();
        let mut chunks = Vec::new();
        for column in &columns {
            chunks.push(chunk(column, &(column.of)(rows), rows.len(), &mut bytes)?);
        }
        groups.push(
            Struct::default()
                .structures(1, chunks)
                .i64(2, long(bytes.len() - begin))
                .i64(3, long(rows.len())),
        );
    }
    let facts = serde_json::to_string(&record.machine.facts).expect("texts can be written");
    let facts = Struct::default().text(1, "becalm.facts").text(2, &facts);
    let footer = Struct::default()
        .i32(1, 1)
        .structures(2, schema(&columns))
        .i64(3, long(all.len()))
        .structures(4, groups)
        .structures(5, vec![facts])
        .text(6, &format!("becalm version {}", env!("CARGO_PKG_VERSION")))
        .finish();
    let length = u32::try_from(footer.len()).map_err(|_| too_large())?;
    bytes.extend(footer);
    bytes.extend(length.to_le_bytes());
    bytes.extend(MAGIC);
    Ok(Exported { bytes, notes })
}

fn long(size: usize) -> i64 {
    i64::try_from(size).expect("memory has fewer than 2^63 bytes")
}

fn too_large() -> ExportError {
    ExportError::TooLarge { format: PARQUET.name, what: "bytes in a page", most: i32::MAX as usize }
}

fn schema(columns: &[Column]) -> Vec<Struct> {
    let count = i32::try_from(columns.len()).expect("there are a few columns");
    let mut schema = vec![Struct::default().text(4, "becalm").i32(5, count)];
    schema.extend(columns.iter().map(|column| {
        let element = Struct::default()
            .i32(1, column.kind as i32)
            .i32(3, i32::from(column.optional))
            .text(4, column.name);
        if column.kind == Type::ByteArray {
            // UTF-8, for old readers and for new ones.
            let text = Struct::default().structure(1, Struct::default());
            element.i32(6, 0).structure(10, text)
        } else {
            element
        }
    }));
    schema
}

/// Encodings of Parquet.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;

/// Writes one column of a group of rows and returns what the footer says of it.
fn chunk(
    column: &Column,
    values: &Values,
    n_rows: usize,
    bytes: &mut Vec<u8>,
) -> Result<Struct, ExportError> {
    let begin = bytes.len();
    let mut dictionary_at = None;
    let mut page = Vec::new();
    if column.optional {
        let levels = match values {
            Values::Counts(counts) => runs(counts.iter().map(|one| one.is_some().into()), 1),
            Values::Texts(texts) => runs(texts.iter().map(|one| one.is_some().into()), 1),
            Values::Flags(_) | Values::Numbers(_) => runs(std::iter::repeat_n(1, n_rows), 1),
        };
        page.extend(u32::try_from(levels.len()).map_err(|_| too_large())?.to_le_bytes());
        page.extend(levels);
    }
    let encoding =
        match values {
            Values::Texts(texts) => {
                let (dictionary, words, indices) = dictionary(texts);
                let header = Struct::default().i32(1, size(words)?).i32(2, PLAIN);
                dictionary_at = Some(bytes.len());
                put_page(2, 7, header, &dictionary, bytes)?;
                // At least one bit, because some readers refuse none.
                let width = (usize::BITS - words.saturating_sub(1).leading_zeros()).max(1);
                page.push(u8::try_from(width).expect("a number has few bits"));
                page.extend(runs(indices.into_iter(), width));
                RLE_DICTIONARY
            }
            Values::Flags(flags) => {
                page.extend(flags.chunks(8).map(|eight| {
                    eight.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag))
                }));
                PLAIN
            }
            Values::Numbers(numbers) => {
                page.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                PLAIN
            }
            Values::Counts(counts) => {
                page.extend(counts.iter().flatten().flat_map(|count| count.to_le_bytes()));
                PLAIN
            }
        };
    let data_at = bytes.len();
    let header = Struct::default().i32(1, size(n_rows)?).i32(2, encoding).i32(3, RLE).i32(4, RLE);
    put_page(0, 5, header, &page, bytes)?;
    let mut encodings = vec![encoding, RLE];
    if dictionary_at.is_some() {
        encodings.push(PLAIN);
    }
    let length = long(bytes.len() - begin);
    let mut metadata = Struct::default()
        .i32(1, column.kind as i32)
        .i32s(2, &encodings)
        .texts(3, &[column.name])
        .i32(4, 0)
        .i64(5, long(n_rows))
        .i64(6, length)
        .i64(7, length)
        .i64(9, long(data_at));
    if let Some(at) = dictionary_at {
        metadata = metadata.i64(11, long(at));
    }
    Ok(Struct::default().i64(2, long(begin)).structure(3, metadata))
}

fn size(length: usize) -> Result<i32, ExportError> {
    i32::try_from(length).map_err(|_| too_large())
}

/// Writes a page of this type, whose own header stands in `field` of the header.
fn put_page(
    kind: i32,
    field: u8,
    header: Struct,
    page: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<(), ExportError> {
    let size = size(page.len())?;
    let header = Struct::default().i32(1, kind).i32(2, size).i32(3, size).structure(field, header);
    bytes.extend(header.finish());
    bytes.extend(page);
    Ok(())
}

/// Returns the different texts, encoded, how many there are, and the place of each value among them.
fn dictionary(texts: &[Option<&str>]) -> (Vec<u8>, usize, Vec<u32>) {
    let (mut bytes, mut places) = (Vec::new(), HashMap::new());
    let mut indices = Vec::with_capacity(texts.len());
    for text in texts.iter().flatten() {
        let next = u32::try_from(places.len()).expect("a group has few rows");
        let place = *places.entry(*text).or_insert_with(|| {
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            bytes.extend(length.to_le_bytes());
            bytes.extend(text.as_bytes());
            next
        });
        indices.push(place);
    }
    (bytes, places.len(), indices)
}

/// Encodes numbers of `width` bits as run lengths.
fn runs(numbers: impl Iterator<Item = u32>, width: u32) -> Vec<u8> {
    let n_bytes = width.div_ceil(8) as usize;
    let mut bytes = Vec::new();
    let mut numbers = numbers.peekable();
    while let Some(number) = numbers.next() {
        let mut length = 1_u64;
        while numbers.next_if_eq(&number).is_some() {
            length += 1;
        }
        // The lowest bit would say that the values are packed instead.
        varint(&mut bytes, length << 1);
        bytes.extend(&number.to_le_bytes()[..n_bytes]);
    }
    bytes
}
