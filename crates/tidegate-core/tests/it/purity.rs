//! The core has no clock, no I/O and no randomness: what it depends on and what its sources name.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn it_depends_on_maps_and_tables_alone() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    for name in manifest["dependencies"].as_table().unwrap().keys() {
        assert!(["foldhash", "hashbrown", "serde", "slab", "toml"].contains(&name.as_str()), "depends on {name}");
    }
    for section in ["build-dependencies", "target"] {
        assert!(!manifest.contains_key(section), "{section}");
    }
}

#[test]
fn it_needs_no_standard_library() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    assert!(lib.contains("#![no_std]"));
    let mut sources = Vec::new();
    collect(&root().join("src"), &mut sources);
    assert!(sources.len() > 10, "the sources are elsewhere");
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for word in ["std::time", "Instant::now", "SystemTime", "RandomState", "extern crate std"] {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}
