//! The compilers of a static build, and the environment in which cargo uses them.
//!
//! becalm is linked with musl, whose C library works without the files of any other: docs/INSTALL.md says what else was
//! tried. Rust's standard library is built for the target with becalm itself, from its sources (`-Zbuild-std`), so that
//! one way serves both processors and the optimiser sees all of the program. The C compiler, linker, musl and unwinder
//! of both are Zig's, one package of a fixed version.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::arch::Arch;
use crate::install;
use crate::workspace::{capture, cargo, root, run};

/// The release of Zig, as pip installs it.
pub(super) const ZIG: &str = "0.17.1";

/// Where Debian's `rustc-web` lies, which has its sources beside it (`rust-web-src`).
const DEBIANS: &str = "/usr/bin/rustc";

/// Parts of SQLite that no history uses: searches in texts and in space, and libraries loaded at run time; statistics of
/// tables, which only `ANALYZE` makes; checks of calls in C, which Rust's types make; dates; texts in UTF-16; traces and
/// permissions of statements; and what SQLite's own page on its compilation recommends to leave out.
const WITHOUT: [&str; 25] = [
    "-USQLITE_ENABLE_FTS3",
    "-USQLITE_ENABLE_FTS3_PARENTHESIS",
    "-USQLITE_ENABLE_FTS5",
    "-USQLITE_ENABLE_RTREE",
    "-USQLITE_ENABLE_LOAD_EXTENSION",
    "-DSQLITE_OMIT_LOAD_EXTENSION",
    "-USQLITE_ENABLE_API_ARMOR",
    "-USQLITE_ENABLE_COLUMN_METADATA",
    "-USQLITE_ENABLE_DBSTAT_VTAB",
    "-USQLITE_ENABLE_MEMORY_MANAGEMENT",
    "-USQLITE_ENABLE_STAT4",
    "-USQLITE_SOUNDEX",
    "-DSQLITE_OMIT_DEPRECATED",
    "-DSQLITE_OMIT_PROGRESS_CALLBACK",
    "-DSQLITE_OMIT_SHARED_CACHE",
    "-DSQLITE_OMIT_AUTHORIZATION",
    "-DSQLITE_OMIT_COMPLETE",
    "-DSQLITE_OMIT_DATETIME_FUNCS",
    "-DSQLITE_OMIT_DESERIALIZE",
    "-DSQLITE_OMIT_GET_TABLE",
    "-DSQLITE_OMIT_INCRBLOB",
    "-DSQLITE_OMIT_INTROSPECTION_PRAGMAS",
    "-DSQLITE_OMIT_TCL_VARIABLE",
    "-DSQLITE_OMIT_TRACE",
    "-DSQLITE_OMIT_UTF16",
];

/// Leaves out what debuggers would read of Zig's libraries: it has paths of this machine, which nothing replaces.
const LINES: &str = "SECTIONS {
  /DISCARD/ : {
    *crt1.o(.debug_*)
    *libc.a:(.debug_*)
    *libzigc.a:(.debug_*)
    *libcompiler_rt.a:(.debug_*)
    *libunwind.a:(.debug_*)
  }
} INSERT AFTER .bss;
";

/// Programs that call Zig in the ways that cargo expects.
struct Calls {
    compiler: PathBuf,
    linker: PathBuf,
    archiver: PathBuf,
}

/// What builds.
pub(super) struct Toolchain {
    rustc: OsString,
    /// The folder with the sources of Rust that has `library`.
    sources: PathBuf,
    zig: PathBuf,
    /// LLVM's `objcopy`, which knows every processor.
    objcopy: PathBuf,
    /// The folder for the programs that call Zig.
    calls: PathBuf,
}

impl Toolchain {
    /// Finds the compiler with its sources and installs Zig under the target folder.
    pub(super) fn ready(target: &Path) -> Result<Self> {
        let default = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let candidates = [default, DEBIANS.into()];
        let found = candidates.into_iter().find_map(|rustc| Some((sources_of(&rustc)?, rustc)));
        let (sources, rustc) = found.context(
            "no compiler here has the sources of Rust's standard library: \
             `rustup component add rust-src`, or `apt-get install rustc-web rust-web-src llvm` on Debian",
        )?;
        let python = install::python(&target.join("zig"), &[&format!("ziglang=={ZIG}")])?;
        let place = "import ziglang, os; print(os.path.dirname(ziglang.__file__))";
        let folder = capture(Command::new(python).args(["-c", place]))?;
        let zig = Path::new(folder.trim()).join("zig");
        ensure!(zig.is_file(), "{} is missing", zig.display());
        let objcopy = objcopy_of(&rustc).or_else(|| install::find("llvm-objcopy"));
        let objcopy =
            objcopy.context("llvm-objcopy is missing: `apt-get install llvm` on Debian")?;
        let calls = target.join("calls");
        fs::create_dir_all(&calls)?;
        Ok(Self { rustc, sources, zig, objcopy, calls })
    }

    /// Returns what the compilers call themselves.
    pub(super) fn rustc_version(&self) -> Result<String> {
        let text = capture(Command::new(&self.rustc).arg("--version"))?;
        Ok(text.split_whitespace().nth(1).unwrap_or_default().to_owned())
    }

    /// Returns the folder in which Zig keeps the sources of C libraries.
    pub(super) fn c_sources(&self) -> PathBuf {
        self.zig.with_file_name("lib")
    }

    /// Returns a cargo command that builds for a target, for which it keeps this folder, from sources of this time.
    pub(super) fn cargo(&self, arch: Arch, folder: &Path, time: u64) -> Result<Command> {
        let triple = arch.triple();
        let calls = self.write_calls(arch)?;
        let prefixes = self.prefixes(folder)?;
        let rust: Vec<String> = [
            "-Clink-self-contained=no",
            "-Ctarget-feature=+crt-static",
            "-Crelocation-model=static",
            // Nothing unwinds; debuggers have the tables in the file beside.
            "-Cforce-unwind-tables=no",
            // What many functions do alike becomes a function of its own, if that spares at least so many bytes: 2 % of
            // the program. Sparing every byte is 4 %, and made it read files half as fast.
            "-Cllvm-args=-enable-machine-outliner=always -outliner-benefit-threshold=64",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain(prefixes.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")))
        .collect();
        let c: Vec<String> = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
            .into_iter()
            .map(str::to_owned)
            .chain(prefixes.iter().map(|(from, to)| format!("-ffile-prefix-map={from}={to}")))
            .collect();
        let mut command = cargo(&["build", "--quiet", "--locked", "--profile", "dist"]);
        command.args(["--package", "becalm", "--bin", "becalm", "--target", triple]);
        command.args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"]);
        for name in ["CFLAGS", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTFLAGS"] {
            command.env_remove(name);
        }
        let lower = triple.replace('-', "_");
        command
            .env("RUSTC", &self.rustc)
            // `-Z` is for nightly compilers; the standard library is one, whichever built it.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", folder)
            .env("CARGO_ENCODED_RUSTFLAGS", rust.join("\x1f"))
            .env(format!("CARGO_TARGET_{}_LINKER", lower.to_uppercase()), &calls.linker)
            .env(format!("CC_{lower}"), &calls.compiler)
            .env(format!("AR_{lower}"), &calls.archiver)
            // What Zig keeps of its libraries remembers where it lay.
            .env("ZIG_GLOBAL_CACHE_DIR", self.calls.with_file_name("zig-cache"))
            .env(format!("CFLAGS_{lower}"), c.join(" "))
            .env("LIBSQLITE3_FLAGS", WITHOUT.join(" "))
            .env("SOURCE_DATE_EPOCH", time.to_string());
        Ok(command)
    }

    /// Parts what only debuggers need from a program, which then names the file that has it.
    pub(super) fn part(&self, built: &Path, program: &Path, lines: &Path) -> Result<()> {
        run(Command::new(&self.objcopy).arg("--only-keep-debug").args([built, lines]))?;
        let mut link = OsString::from("--add-gnu-debuglink=");
        link.push(lines);
        run(Command::new(&self.objcopy).arg("--strip-all").arg(link).args([built, program]))
    }

    /// Writes the programs that cargo calls as C compiler, linker and archiver.
    fn write_calls(&self, arch: Arch) -> Result<Calls> {
        let zig = self.zig.display();
        let lines = self.calls.join("lines.ld");
        fs::write(&lines, LINES)?;
        // Rust's name of the target is not Zig's.
        let compiler = format!(
            "#!/bin/sh\nfor argument; do\n  shift\n  case $argument in\n    --target=*) ;;\n    \
             *) set -- \"$@\" \"$argument\" ;;\n  esac\ndone\nexec '{zig}' cc -target {} \"$@\"\n",
            arch.c_target()
        );
        let linker = |compiler: &Path| {
            format!(
                "#!/bin/sh\nexec '{}' -Wl,-T,'{}' \"$@\"\n",
                compiler.display(),
                lines.display()
            )
        };
        let archiver = format!("#!/bin/sh\nexec '{zig}' ar \"$@\"\n");
        let write = |name: &str, text: &str| -> Result<PathBuf> {
            let file = self.calls.join(format!("{name}-{}", arch.c_target()));
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
            Ok(file)
        };
        let compiler = write("cc", &compiler)?;
        let linker = write("link", &linker(&compiler))?;
        Ok(Calls { compiler, linker, archiver: write("ar", &archiver)? })
    }

    /// Returns folders of this machine and what stands for each in the program; of several that fit, the last counts.
    fn prefixes(&self, folder: &Path) -> Result<Vec<(String, &'static str)>> {
        let metadata = capture(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let registry =
            registry_of(&metadata).context("cargo metadata names no crate of a registry")?;
        let text = |path: &Path| path.display().to_string();
        let sources = self.sources.canonicalize()?;
        Ok(vec![
            (text(&root()), "/becalm"),
            (text(folder), "/target"),
            (registry, "/cargo"),
            (text(&sources), "/rust"),
            (text(&self.sources), "/rust"),
            (text(&self.c_sources()), "/zig"),
        ])
    }
}

/// Returns the folder with the sources of Rust that belong to a compiler, if they are there.
fn sources_of(rustc: &OsString) -> Option<PathBuf> {
    let sysroot = capture(Command::new(rustc).args(["--print", "sysroot"])).ok()?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    sources.join("library/std/Cargo.toml").is_file().then_some(sources)
}

/// Returns the `objcopy` that comes with a compiler.
fn objcopy_of(rustc: &OsString) -> Option<PathBuf> {
    let library = capture(Command::new(rustc).args(["--print", "target-libdir"])).ok()?;
    let objcopy = Path::new(library.trim()).with_file_name("bin").join("rust-objcopy");
    objcopy.is_file().then_some(objcopy)
}

/// Returns the folder in which cargo keeps the sources of the registry's crates.
fn registry_of(metadata: &Value) -> Option<String> {
    let packages = metadata["packages"].as_array()?;
    let other = packages.iter().find(|package| package["source"].is_string())?;
    let manifest = Path::new(other["manifest_path"].as_str()?);
    Some(manifest.parent()?.parent()?.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_registry_is_the_folder_above_a_crate_that_is_not_ours() {
        let metadata = json!({"packages": [
            {"source": null, "manifest_path": "/home/me/becalm/crates/cli/Cargo.toml"},
            {"source": "registry+x", "manifest_path": "/home/.cargo/registry/src/i/csv-1.4.0/Cargo.toml"},
        ]});
        assert_eq!(registry_of(&metadata).as_deref(), Some("/home/.cargo/registry/src/i"));
        assert_eq!(registry_of(&json!({"packages": []})), None);
    }
}
