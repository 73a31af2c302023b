//! The workspace's crates, and which of them need which.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::graph::Edges;

/// One crate of the workspace.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// All that its manifest names, for tests and builds too, and whose sources it takes in.
    needs: BTreeSet<String>,
}

/// Those under `crates`, and xtask.
pub(super) fn read(root: &Path) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    let listed = fs::read_dir(root.join("crates")).context("crates")?;
    let mut folders: Vec<PathBuf> = listed.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.push(root.join("xtask"));
    folders.sort();
    for folder in folders {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| format!("{}", manifest.display()))?;
        let (name, mut needs) = manifest_of(&text).with_context(|| format!("{}", manifest.display()))?;
        for file in super::imports::sources(&folder.join("src"))? {
            needs.extend(taken_in(&fs::read_to_string(file)?));
        }
        packages.push(Package { name, folder, needs });
    }
    Ok(packages)
}

/// A crate's name, and the names of all that it depends on.
pub(super) fn manifest_of(text: &str) -> Result<(String, BTreeSet<String>)> {
    let manifest: toml::Table = text.parse()?;
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let mut tables = vec![&manifest];
    if let Some(targets) = manifest.get("target").and_then(toml::Value::as_table) {
        tables.extend(targets.values().filter_map(toml::Value::as_table));
    }
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let listed = tables.iter().flat_map(|table| sections.iter().filter_map(|section| table.get(*section)?.as_table()));
    Ok((name.context("no package.name")?.to_owned(), listed.flat_map(|table| table.keys().cloned()).collect()))
}

/// The crates whose sources a file takes in by `#[path]`.
pub(super) fn taken_in(text: &str) -> BTreeSet<String> {
    let paths = text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \""));
    let folders = paths.filter_map(|path| path.rsplit_once("../")?.1.split_once("/src/"));
    folders.map(|(folder, _)| folder.to_owned()).collect()
}

/// The edges among these crates.
pub(super) fn edges(packages: &[Package]) -> Edges {
    let ours = |name: &&String| packages.iter().any(|package| package.name == **name);
    let of = |package: &Package| package.needs.iter().filter(ours).cloned().collect();
    packages.iter().map(|package| (package.name.clone(), of(package))).collect()
}
