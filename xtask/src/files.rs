//! The project's files, as git has them or would take them.

use std::path::PathBuf;

use anyhow::Result;

use crate::tools::{Workspace, output};

/// Paths from the root of the workspace, without what `.gitignore` names.
pub(crate) fn of_project(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed = output(workspace.command("git").args(args))?;
    let mut files: Vec<PathBuf> =
        listed.lines().map(PathBuf::from).filter(|path| workspace.root.join(path).is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

pub(crate) fn has_extension(path: &std::path::Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|one| found == *one))
}
