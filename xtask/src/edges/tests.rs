use std::collections::BTreeMap;
use std::path::PathBuf;

use super::graph::{Edges, cycle, faults};
use super::table::Table;
use super::{crates, imports};

fn edges(text: &str) -> Edges {
    Table::parse(&format!("[crates]\n{text}")).unwrap().crates
}

/// A crate with these files, as a table has its edges.
fn found(files: &[(&str, &str)]) -> Edges {
    let files: BTreeMap<PathBuf, String> =
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    imports::of_files(&files).unwrap()
}

#[test]
fn a_crate_that_is_not_allowed_is_a_fault() {
    let manifest = "[package]\nname = \"proxy\"\n[dependencies]\ncore = { workspace = true }\nserde = \"1\"\n\
                    [dev-dependencies]\ngateway = { workspace = true }\n[target.'cfg(unix)'.dependencies]\ntokio.workspace = true\n";
    let (name, needs) = crates::manifest_of(manifest).unwrap();
    assert_eq!(name, "proxy");
    assert_eq!(needs.into_iter().collect::<Vec<_>>(), ["core", "gateway", "serde", "tokio"]);
    let (allowed, is) = (edges("proxy: core"), edges("proxy: core gateway"));
    assert_eq!(faults("crates", &allowed, &is), ["crates: proxy may not use gateway"]);
    assert_eq!(faults("crates", &is, &is), [""; 0]);
}

#[test]
fn sources_of_another_crate_are_a_need_too() {
    let text = "#[path = \"../../../gateway/src/wire/mod.rs\"]\nmod wire;\n#[path = \"model_tests.rs\"]\nmod tests;\n";
    assert_eq!(crates::taken_in(text).into_iter().collect::<Vec<_>>(), ["gateway"]);
}

#[test]
fn a_module_that_is_not_allowed_is_a_fault() {
    let is = found(&[("lib.rs", "mod a; mod b;"), ("a/mod.rs", "use crate::b::B;"), ("b.rs", "pub struct B;")]);
    assert_eq!(is, edges("a: b\nb:"));
    assert_eq!(faults("x", &edges("a:\nb:"), &is), ["x: a may not use b"]);
    assert_eq!(faults("x", &edges("a: b\nb: a"), &is).len(), 2, "a line that nothing needs, and a cycle");
}

#[test]
fn a_cycle_is_a_fault_though_each_edge_is_allowed() {
    let all = edges("a: b\nb: c d\nc: a\nd:");
    assert_eq!(cycle(&all).unwrap(), ["a", "b", "c", "a"]);
    let faults = faults("x", &all, &all);
    assert_eq!(faults, ["x: a cycle in the table: a → b → c → a", "x: a cycle in the code: a → b → c → a"]);
    assert_eq!(cycle(&edges("a: b c\nb: d\nc: d\nd:")), None);
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let root =
        "mod a; mod b; mod c; mod d; mod e; mod f; pub use self::f::{Thing, deep::Other as Named}; pub fn own() {}";
    let rest = ["b", "c", "d", "e", "f"].map(|name| (format!("{name}.rs"), ""));
    let used = |path: &str, text: &str| {
        let mut files = vec![("lib.rs", root), (path, text)];
        files.extend(rest.iter().map(|(path, text)| (path.as_str(), *text)));
        found(&files).remove("a").unwrap().into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(used("a.rs", "use crate::{b::{self, x::{y, z}}, c as other, d::*};"), "b c d");
    assert_eq!(used("a.rs", "fn f(x: crate::b::B) -> super::c::C { crate::d::make::<super::e::E>() }"), "b c d e");
    assert_eq!(used("a.rs", "fn f() { println!(\"{}\", crate::b::name()) }"), "b");
    assert_eq!(used("a/x/y.rs", "use super::super::super::b; use super::super::mine; use super::own;"), "b");
    assert_eq!(used("a.rs", "mod inner { use super::super::b::B; use super::here; }"), "b");
    assert_eq!(used("a.rs", "use crate::Thing; use super::Named;"), "f");
    assert_eq!(used("a.rs", "use crate::own;"), "the root");
    assert_eq!(used("a.rs", "use super::*;"), "the root");
    assert_eq!(
        used("a.rs", "// use crate::b;\nconst C: &str = \"crate::c\"; pub(in crate::a) struct S; pub(crate) fn f() {}"),
        ""
    );
    assert_eq!(used("a.rs", "#[cfg(test)] use crate::b; #[cfg(test)] mod tests { use crate::c; } use crate::d;"), "d");
}

#[test]
fn tests_in_files_of_their_own_may_know_everything() {
    let is = found(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod all;"),
        ("a/mod.rs", "#[cfg(test)]\nmod explore;"),
        ("a/explore.rs", "use crate::b;"),
        ("a/explore/deep.rs", "use crate::b;"),
        ("all.rs", "use crate::a; use crate::b;"),
        ("b.rs", ""),
    ]);
    assert_eq!(is, edges("a:\nb:"));
}
