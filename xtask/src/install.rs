//! What the client tests need, and the client tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::tools::{Workspace, need, run};

const TESTS: &str = "tests/clients";
/// Most tests sleep nearly all of their time, since platforms count in seconds: so many of them keep one core busy.
const AT_ONCE: &str = "10";

/// The bot on twilight-http, a workspace of its own so that the library is no part of tidegate's build.
pub(crate) const TWILIGHT: &str = "tests/clients/twilight/Cargo.toml";

/// The pinned packages: Python's into `target/venv`, Node's into `target/npm`, Rust's into `target/clients`.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    python(workspace)?;
    node(workspace)?;
    twilight(workspace)
}

fn twilight(workspace: &Workspace) -> Result<()> {
    run(workspace
        .cargo(&["build", "--locked", "--manifest-path", TWILIGHT, "--target-dir"])
        .arg(workspace.target.join("clients/twilight")))
}

fn python(workspace: &Workspace) -> Result<()> {
    let told = need(workspace, "python3", "install Python 3.10 or later (Debian: `apt-get install python3-venv`)")?;
    if !at_least(&told, 3, 10) {
        bail!("{told} is too old: the client tests need Python 3.10 or later");
    }
    let venv = workspace.target.join("venv");
    let wanted = workspace.root.join(TESTS).join("requirements.txt");
    let stamp = venv.join("installed.txt");
    if same(&wanted, &stamp) && venv_python(workspace).exists() {
        println!("{} is up to date", venv.display());
        return Ok(());
    }
    run(workspace.command("python3").args(["-m", "venv", "--clear"]).arg(&venv))
        .context("`python3 -m venv` does not work (Debian: `apt-get install python3-venv`)")?;
    run(workspace
        .command(venv_python(workspace))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"])
        .arg(&wanted))?;
    fs::copy(&wanted, &stamp).context("cannot write the venv's stamp")?;
    Ok(())
}

fn node(workspace: &Workspace) -> Result<()> {
    let how = "install Node.js 18 or later with npm (Debian: `apt-get install nodejs npm`)";
    let told = need(workspace, "node", how)?;
    if !at_least(&told, 18, 0) {
        bail!("Node.js {told} is too old: {how}");
    }
    need(workspace, "npm", how)?;
    let source = workspace.root.join(TESTS).join("node");
    let place = workspace.target.join("npm");
    let stamp = place.join("node_modules/installed.json");
    if same(&source.join("package-lock.json"), &stamp) {
        println!("{} is up to date", place.display());
        return Ok(());
    }
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), place.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    run(workspace.command("npm").current_dir(&place).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::copy(source.join("package-lock.json"), &stamp).context("cannot write npm's stamp")?;
    Ok(())
}

/// All of `tests/clients`: first what may run beside others, then by itself what may not.
pub(crate) fn clients(workspace: &Workspace) -> Result<()> {
    let together = pytest(workspace, &["-m", "not alone", "--numprocesses", AT_ONCE]);
    let alone = pytest(workspace, &["-m", "alone"]);
    together.and(alone)
}

fn pytest(workspace: &Workspace, args: &[&str]) -> Result<()> {
    run(workspace
        .command(venv_python(workspace))
        .env("CLIENTS_BIN", workspace.program())
        .env("CLIENTS_NODE_MODULES", workspace.target.join("npm/node_modules"))
        .env("CLIENTS_TWILIGHT", workspace.target.join("clients/twilight/debug/twilight-bot"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "pytest", "-p", "no:cacheprovider", "--durations", "10"])
        .args(args)
        .arg(TESTS))
}

fn venv_python(workspace: &Workspace) -> PathBuf {
    workspace.target.join("venv/bin/python")
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(a), Ok(b)) if a == b)
}

/// Whether a version such as `Python 3.11.7` or `v20.20.2` is this one or later.
fn at_least(told: &str, major: u32, minor: u32) -> bool {
    let digits = told.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = digits.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (major, minor)
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(at_least("Python 3.11.7", 3, 10));
        assert!(!at_least("Python 3.9.2", 3, 10));
        assert!(at_least("v20.20.2", 18, 0));
        assert!(!at_least("v16.3.0", 18, 0));
    }
}
