//! Finding and running programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Where things are.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Cargo's target folder, which also takes what the tests install.
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().unwrap_or(here).to_path_buf();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        Self { root, target }
    }

    /// The program that the client tests run.
    pub(crate) fn program(&self) -> PathBuf {
        self.target.join("clients/tidegate")
    }

    /// A command that runs in the root of the workspace.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo);
        command.args(args);
        command
    }
}

/// Runs it with its output shown; anything but exit code 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// What it writes to its standard output, when it ends well.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` ended with {}", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The version that a tool tells, or an error that says how to get it: a missing tool is never a skipped test.
pub(crate) fn need(workspace: &Workspace, program: &str, how_to_get_it: &str) -> Result<String> {
    let told = workspace.command(program).arg("--version").stderr(Stdio::null()).output();
    match told {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            println!("{program}: {version}");
            Ok(version)
        }
        _ => bail!("`{program}` is missing: {how_to_get_it}"),
    }
}

fn shown(command: &Command) -> String {
    let mut text = Path::new(command.get_program())
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}
