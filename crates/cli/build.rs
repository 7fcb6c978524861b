//! Compresses the JSON Schemas that `becalm schema` prints. The code that makes them from the types of the documents is
//! ten times as large as they are then, and is left to `cargo xtask docs`, which writes them.
//!
//! Most of a schema stands in others too, farther away than the compression looks back. So each is a list of the blocks
//! that it consists of, and every block is kept once.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const FOLDER: &str = "../../docs/schema";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let out = env::var("OUT_DIR")?;
    let mut files: Vec<_> = fs::read_dir(FOLDER)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut numbers = HashMap::new();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let mut table =
        "/// Every schema: its name, and its blocks.\nconst SCHEMAS: &[(&str, &[u16])] = &[\n"
            .to_owned();
    for file in files {
        let name = file.file_name().into_string().map_err(|_| "a name that is not UTF-8")?;
        let Some(name) = name.strip_suffix(".schema.json") else { continue };
        let mut own = Vec::new();
        for block in blocks(&fs::read_to_string(file.path())?) {
            let next = u16::try_from(numbers.len())?;
            let number = *numbers.entry(block.to_owned()).or_insert(next);
            if number == next {
                encoder.write_all(block.as_bytes())?;
                encoder.write_all(b"\0")?;
            }
            own.push(number);
        }
        writeln!(table, "    ({name:?}, &{own:?}),")?;
    }
    table.push_str(
        "];\n/// The blocks, each with a zero behind it, compressed.\n\
         const BLOCKS: &[u8] = include_bytes!(\"schemas.deflate\");\n",
    );
    let out = Path::new(&out);
    fs::write(out.join("schemas.deflate"), encoder.finish()?)?;
    fs::write(out.join("schemas.rs"), table)?;
    Ok(())
}

/// Parts a text before each line that is indented by four spaces at most, as the names of definitions are.
fn blocks(text: &str) -> Vec<&str> {
    const DEEPER: &str = "     ";
    let mut all = Vec::new();
    let (mut begins, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if at > begins && !line.starts_with(DEEPER) {
            all.push(&text[begins..at]);
            begins = at;
        }
        at += line.len();
    }
    all.push(&text[begins..]);
    all
}
