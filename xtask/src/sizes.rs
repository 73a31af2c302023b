//! No source file is longer than a head can hold.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::files;
use crate::tools::Workspace;

const MOST_LINES: usize = 500;

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut too_long = 0;
    let mut counted = 0;
    for path in files::of_project(workspace)? {
        if !files::has_extension(&path, &["rs", "py", "js", "cjs", "mjs", "ts", "css", "html"]) || is_test(&path) {
            continue;
        }
        let text = fs::read_to_string(workspace.root.join(&path)).with_context(|| format!("{}", path.display()))?;
        let lines = lines_without_tests(&text);
        counted += 1;
        if lines > MOST_LINES {
            println!("{}: {lines} lines", path.display());
            too_long += 1;
        }
    }
    println!("{counted} source files, {too_long} over {MOST_LINES} lines");
    if too_long > 0 {
        bail!("{too_long} source files are over {MOST_LINES} lines");
    }
    Ok(())
}

/// A file of nothing but tests: a folder `tests` inside a crate, or the `tests.rs` beside what it tests.
fn is_test(path: &Path) -> bool {
    path.starts_with("crates") && path.iter().any(|part| part == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// Lines before a test module at the file's end.
fn lines_without_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'))
        .unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_test, lines_without_tests};

    #[test]
    fn a_test_module_at_the_end_does_not_count() {
        assert_eq!(lines_without_tests("a\nb\n#[cfg(test)]\nmod tests {\n}\n"), 2);
        assert_eq!(lines_without_tests("a\n#[cfg(test)]\nmod tests;\nb\n"), 4);
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        assert!(is_test(Path::new("crates/tidegate-core/tests/it/main.rs")));
        assert!(is_test(Path::new("crates/tidegate-core/src/policy/tests.rs")));
        assert!(!is_test(Path::new("crates/tidegate-core/src/policy/mod.rs")));
        assert!(!is_test(Path::new("tests/clients/harness.py")));
    }
}
