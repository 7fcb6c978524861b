//! Compresses the JSON Schemas that `becalm schema` prints. The code that makes them from the types of the documents is
//! ten times as large as they are then, and is left to `cargo xtask docs`, which writes them.

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
    let mut table =
        "/// Every schema, compressed.\nconst SCHEMAS: &[(&str, &[u8])] = &[\n".to_owned();
    for file in files {
        let name = file.file_name().into_string().map_err(|_| "a name that is not UTF-8")?;
        let Some(name) = name.strip_suffix(".schema.json") else { continue };
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(file.path())?)?;
        let compressed = format!("{name}.deflate");
        fs::write(Path::new(&out).join(&compressed), encoder.finish()?)?;
        writeln!(table, "    ({name:?}, include_bytes!({compressed:?})),")?;
    }
    table.push_str("];\n");
    fs::write(Path::new(&out).join("schemas.rs"), table)?;
    Ok(())
}
