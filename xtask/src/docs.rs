//! Checks of what people read: that links lead somewhere, that the tests which the docs name exist, that the README
//! holds the commands, and that nothing in the repository names a package registry's host or a path of one machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::files;
use crate::tools::Workspace;

const COMMANDS: [&str; 2] = ["cargo run --release", "cargo xtask ci"];
/// In pieces, so that this file does not hold what it looks for.
const NEVER: [&str; 8] = [
    concat!("registry.npm", "js.org"),
    concat!("pypi", ".org"),
    concat!("files.python", "hosted.org"),
    concat!("static.crates", ".io"),
    concat!("index.crates", ".io"),
    concat!("deb.debian", ".org"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
];
/// The cases of other people's bug reports that docs/cases.md must answer.
const CASES: &str = "T2 T3 T4 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T16 T18 T19 T20 T21 T22 T24 T26 T27 T28 T29 T30 T31 \
                     T32 T34 T35 T36 T38 T39 T41 T42 T43 T44 T47 T48 T49 T50 T51 T52 T53 T56 T59 T60 T61 T63 T65 T66 \
                     T68 T70 \
                     D1 D2 D3 D4 D5 D6 D7 D9 D10 D11 D12 D14 D15 D18 D19 D20 D21 D22 D23 D24 D25 D26 D27 D28 D30 D32 \
                     D33 D34 D36 D38 D39 D40 D41 D44 D45 D46 D47 D48 D49 D50 D51 D52 D53 D54 D56 D58 D59 D60 D62 D63 \
                     D64 D65 D67 D68 D70 D71 D72 D73 D74 D75 D77 D78 D79 D80 D81 D84 D85 D86 D88";

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut faults = Vec::new();
    let mut pages = 0;
    for path in files::of_project(workspace)? {
        let Ok(text) = fs::read_to_string(workspace.root.join(&path)) else { continue };
        faults.extend(forbidden(&text).into_iter().map(|fault| format!("{}: {fault}", path.display())));
        if files::has_extension(&path, &["md"]) {
            pages += 1;
            faults.extend(page(workspace, &path, &text));
        }
    }
    let readme = fs::read_to_string(workspace.root.join("README.md")).context("README.md")?;
    faults.extend(missing_commands(&readme));
    let cases = fs::read_to_string(workspace.root.join("docs/cases.md")).context("docs/cases.md")?;
    faults.extend(unanswered(&cases));
    faults.extend(unknown_tests(workspace, &cases));
    for fault in &faults {
        println!("{fault}");
    }
    println!("{pages} pages, {} faults", faults.len());
    if !faults.is_empty() {
        bail!("{} faults in the docs", faults.len());
    }
    Ok(())
}

fn forbidden(text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| NEVER.iter().any(|never| line.contains(never)))
        .map(|(at, _)| format!("line {} names a package registry's host or a path of one machine", at + 1))
        .collect()
}

fn missing_commands(readme: &str) -> Vec<String> {
    COMMANDS
        .iter()
        .filter(|command| !readme.contains(**command))
        .map(|command| format!("README.md: no `{command}`"))
        .collect()
}

/// Dead links to files, and the small things of form.
fn page(workspace: &Workspace, path: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.ends_with('\n') || text.ends_with("\n\n") {
        faults.push(format!("{}: must end in one newline", path.display()));
    }
    for (at, line) in text.lines().enumerate() {
        if line.ends_with(' ') || line.contains('\t') {
            faults.push(format!("{}:{}: trailing space or tab", path.display(), at + 1));
        }
        for link in links(line) {
            let place = path.parent().unwrap_or(Path::new("")).join(&link);
            if !workspace.root.join(&place).exists() {
                faults.push(format!("{}:{}: dead link to {link}", path.display(), at + 1));
            }
        }
    }
    faults
}

/// The files that a line links to, without the part after `#`.
fn links(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in line.split("](").skip(1) {
        let target = part.split(')').next().unwrap_or("").split('#').next().unwrap_or("");
        if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
            found.push(target.to_owned());
        }
    }
    found
}

/// A case without a row, or with one that neither names a test nor says why it can have none.
fn unanswered(cases: &str) -> Vec<String> {
    let fault = |case| {
        let Some(row) = cases.lines().find(|line| line.starts_with(&format!("| {case} |"))) else {
            return Some(format!("docs/cases.md: no row for {case}"));
        };
        let tested = !named_tests(row).is_empty() || row.contains("| cannot concern tidegate: ");
        (!tested).then(|| format!("docs/cases.md: no test for {case}"))
    };
    CASES.split_whitespace().filter_map(fault).collect()
}

/// `path::name` in the page of cases, where the file holds no test of that name.
fn unknown_tests(workspace: &Workspace, cases: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (file, name) in named_tests(cases) {
        let text = fs::read_to_string(workspace.root.join(&file)).unwrap_or_default();
        if !defines(&text, &name) {
            faults.push(format!("docs/cases.md: {} holds no test `{name}`", file.display()));
        }
    }
    faults
}

fn named_tests(cases: &str) -> Vec<(PathBuf, String)> {
    let quoted = cases.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|text| text.split_once("::"))
        .filter(|(file, _)| file.contains('/'))
        .map(|(file, name)| (PathBuf::from(file), name.rsplit("::").next().unwrap_or(name).to_owned()))
        .collect()
}

fn defines(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("async ").unwrap_or(line);
        let rest = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def "));
        rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_holds_both_commands() {
        assert_eq!(missing_commands(include_str!("../../README.md")), Vec::<String>::new());
        assert_eq!(missing_commands("cargo run --release").len(), 1);
    }

    #[test]
    fn links_to_files_are_found_and_others_left_alone() {
        let line = "see [a](docs/a.md#part), [b](https://example.com) and [c](#here)";
        assert_eq!(links(line), ["docs/a.md"]);
    }

    #[test]
    fn tests_named_in_the_cases_are_looked_up() {
        let named = named_tests("| T2 | `tests/clients/test_cases.py::test_t2` and `X-Tidegate-Class` |");
        assert_eq!(named, [(PathBuf::from("tests/clients/test_cases.py"), "test_t2".to_owned())]);
        assert!(defines("async def test_t2(clients):", "test_t2"));
        assert!(defines("    fn t2() {", "t2"));
        assert!(!defines("def test_t22():", "test_t2"));
    }

    #[test]
    fn every_case_needs_a_row_with_a_test() {
        let told = |row: &str| unanswered(row).into_iter().find(|fault| fault.ends_with(" T2"));
        assert_eq!(told("| T2 | x | y | `tests/a.py::b` |"), None);
        assert_eq!(told("| T2 | x | cannot concern tidegate: y | |"), None);
        assert_eq!(told("| T2 | x | y | the tests |").as_deref(), Some("docs/cases.md: no test for T2"));
        assert_eq!(told("| T3 | x |").as_deref(), Some("docs/cases.md: no row for T2"));
    }
}
