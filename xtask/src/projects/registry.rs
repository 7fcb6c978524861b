//! Fetching a release from where it is published, by the ordinary client of each language.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::table::{Project, Registry};
use crate::workspace::{capture, run};

/// Puts the files of a release into `folder`, as they were published; `scratch` is for the client.
pub(super) fn fetch(project: &Project, release: &str, scratch: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(scratch)?;
    let unpacked = match project.registry {
        Registry::Cargo => cargo(project.name, release, scratch)?,
        Registry::Go => go(project.name, release)?,
        Registry::Python => python(project.name, release, scratch)?,
        Registry::Npm => npm(project.name, release, scratch)?,
        Registry::Maven => maven(project.name, release, scratch)?,
        Registry::Debian => debian(project.name, release, scratch)?,
    };
    fs::create_dir_all(folder)?;
    // What a client keeps for itself may be write-protected.
    run(Command::new("cp").args(["-r", "--no-preserve=mode"]).arg(unpacked.join(".")).arg(folder))
}

/// Lets cargo fetch it for a package that depends on it, and returns where it unpacked it.
fn cargo(name: &str, release: &str, scratch: &Path) -> Result<PathBuf> {
    let manifest = format!(
        "[package]\nname = \"fetching\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\n{name} = \"={release}\"\n"
    );
    fs::write(scratch.join("Cargo.toml"), manifest)?;
    fs::write(scratch.join("lib.rs"), "")?;
    let text = capture(
        Command::new("cargo").args(["metadata", "--format-version", "1"]).current_dir(scratch),
    )?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let found = packages.iter().find(|one| one["name"] == name && one["version"] == release);
    let manifest =
        found.and_then(|one| one["manifest_path"].as_str()).context("it was not fetched")?;
    Ok(Path::new(manifest).with_file_name(""))
}

fn go(name: &str, release: &str) -> Result<PathBuf> {
    let module = format!("{name}@{release}");
    let text = capture(Command::new("go").args(["mod", "download", "-json", &module]))?;
    let found: serde_json::Value = serde_json::from_str(&text)?;
    Ok(PathBuf::from(found["Dir"].as_str().context("go names no folder")?))
}

fn python(name: &str, release: &str, scratch: &Path) -> Result<PathBuf> {
    // Not `:all:`, which would build what the build needs from its source too.
    let wanted = format!("{name}=={release}");
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, &wanted];
    capture(Command::new("python3").args(download).current_dir(scratch))?;
    unpack(&only(scratch, &[".tar.gz"])?, scratch)
}

fn npm(name: &str, release: &str, scratch: &Path) -> Result<PathBuf> {
    let wanted = format!("{name}@{release}");
    capture(Command::new("npm").args(["pack", "--silent", &wanted]).current_dir(scratch))?;
    unpack(&only(scratch, &[".tgz"])?, scratch)
}

/// Fetches the description and the sources, and lays them out as Maven has them.
fn maven(name: &str, release: &str, scratch: &Path) -> Result<PathBuf> {
    let (_, artifact) = name.split_once(':').context("a name of Maven is GROUP:ARTIFACT")?;
    let folder = scratch.join("project");
    let sources = folder.join("src/main/java");
    fs::create_dir_all(&sources)?;
    for kind in ["pom", "jar:sources"] {
        let artifact = format!("-Dartifact={name}:{release}:{kind}");
        let to = format!("-DoutputDirectory={}", scratch.display());
        capture(Command::new("mvn").args([
            "--quiet",
            "--batch-mode",
            "dependency:copy",
            &artifact,
            &to,
        ]))?;
    }
    fs::copy(scratch.join(format!("{artifact}-{release}.pom")), folder.join("pom.xml"))?;
    let jar = scratch.join(format!("{artifact}-{release}-sources.jar"));
    run(Command::new("jar").arg("xf").arg(&jar).current_dir(&sources))?;
    // Archives of sources hold what the build generated too, which no repository does: it is generated again.
    let generated =
        ["-depth", "-type", "d", "-name", "jmh_generated", "-exec", "rm", "-r", "{}", ";"];
    run(Command::new("find").arg(&sources).args(generated))?;
    Ok(folder)
}

/// Lets apt fetch it from the releases of Debian after this machine's too, by lists of its own: those of the
/// machine stay as they are.
fn debian(name: &str, release: &str, scratch: &Path) -> Result<PathBuf> {
    const RELEASES: [&str; 3] = ["bookworm", "trixie", "sid"];
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let format = "$(ORIGIN) $(REPO_URI)";
    let known = capture(Command::new("apt-get").args(["indextargets", "--format", format]))?;
    let archive = known
        .lines()
        .filter_map(|line| line.strip_prefix("Debian "))
        .find(|archive| !archive.contains("-security"))
        .context("this machine knows no archive of Debian; `apt-get update` may help")?;
    let lists = RELEASES.map(|one| format!("deb-src [signed-by={KEYS}] {archive} {one} main\n"));
    // The lists are the same for all projects.
    let place = scratch.join("../../apt");
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(place.join(folder))?;
    }
    let place = place.canonicalize()?;
    fs::write(place.join("sources.list"), lists.concat())?;
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        for (option, value) in [
            ("Dir::Etc::sourcelist", place.join("sources.list")),
            ("Dir::Etc::sourceparts", PathBuf::from("-")),
            ("Dir::State", place.join("state")),
            ("Dir::Cache", place.join("cache")),
            ("APT::Sandbox::User", PathBuf::from("root")),
        ] {
            command.arg("-o").arg(format!("{option}={}", value.display()));
        }
        command.arg("--quiet=2").args(words).current_dir(scratch);
        capture(&mut command).map(drop)
    };
    if !place.join("updated").is_file() {
        apt(&["update"])?;
        fs::write(place.join("updated"), "")?;
    }
    apt(&["source", "--tar-only", "--only-source", &format!("{name}={release}")])?;
    unpack(&only(scratch, &[".orig.tar.xz", ".orig.tar.gz"])?, scratch)
}

/// Returns the one file in a folder whose name ends in one of these ways.
fn only(folder: &Path, endings: &[&str]) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path.clone());
        }
    }
    ensure!(found.len() == 1, "{} archives are in {}", found.len(), folder.display());
    Ok(found.remove(0))
}

/// Unpacks an archive and returns the folder that it has for everything.
fn unpack(archive: &Path, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("unpacked");
    fs::create_dir_all(&folder)?;
    let strip = "--strip-components=1";
    run(Command::new("tar").arg("-xf").arg(archive).arg(strip).arg("-C").arg(&folder))?;
    Ok(folder)
}
