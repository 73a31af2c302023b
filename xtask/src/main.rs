//! What developers of tidegate run: `cargo xtask ci` is all that CI does, and each of its steps can be run alone.
#![expect(clippy::print_stdout, reason = "a command line tool speaks on its standard output")]

mod bench;
mod cargo;
mod docs;
mod edges;
mod files;
mod install;
mod lanes;
mod library;
mod sizes;
mod steps;
mod tools;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::steps::{STEPS, Step};
use crate::tools::Workspace;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}\n\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let mut text = String::from("cargo xtask ci          every step below, two at a time\n");
    text.push_str("cargo xtask ci --list   their names\n");
    text.push_str("cargo xtask STEP…       these, with what they need before them\n");
    text.push_str("cargo xtask only STEP   this one, without what it needs\n");
    text.push_str(
        "cargo xtask bench NAME  one figure of docs/performance.md (no step of CI); without NAME: their names\n\n",
    );
    for step in STEPS {
        text.extend(["  ", step.name, &" ".repeat(9_usize.saturating_sub(step.name.len())), step.does, "\n"]);
    }
    text
}

/// Whether every step passed.
fn run(args: &[String]) -> Result<bool> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{}", usage());
            Ok(true)
        }
        ["ci", "--list"] => {
            for step in STEPS {
                println!("{:<8} {}", step.name, step.does);
            }
            Ok(true)
        }
        ["ci"] => lanes::run_all(&Workspace::find(), STEPS),
        ["only", name] => {
            let step = STEPS.iter().find(|step| step.name == *name).context("no such step")?;
            let ended = (step.run)(&Workspace::find());
            if let Err(error) = &ended {
                println!("error: {error:#}");
            }
            Ok(ended.is_ok())
        }
        ["bench", rest @ ..] => bench::run_bench(&Workspace::find(), rest).map(|()| true),
        names => Ok(run_steps(&with_needs(names)?)),
    }
}

/// The steps named, each after the steps that it needs, none twice.
fn with_needs(names: &[&str]) -> Result<Vec<&'static Step>> {
    let mut wanted: Vec<&'static Step> = Vec::new();
    let mut pending: Vec<&str> = names.iter().rev().copied().collect();
    while let Some(name) = pending.pop() {
        let Some(step) = STEPS.iter().find(|step| step.name == name) else {
            bail!("no step is called `{name}`");
        };
        if wanted.iter().any(|other| other.name == step.name) {
            continue;
        }
        let missing: Vec<&str> =
            step.needs.iter().filter(|need| wanted.iter().all(|other| other.name != **need)).copied().collect();
        if missing.is_empty() {
            wanted.push(step);
        } else {
            pending.push(name);
            pending.extend(missing.into_iter().rev());
        }
    }
    Ok(wanted)
}

/// Runs all of them, also past a failure, but none whose need failed: that one has failed too.
fn run_steps(steps: &[&Step]) -> bool {
    let workspace = Workspace::find();
    let mut failed: Vec<&str> = Vec::new();
    for step in steps {
        println!("\n==> {}: {}", step.name, step.does);
        if let Some(need) = step.needs.iter().find(|need| failed.contains(need)) {
            println!("<== {} failed: it needs `{need}`, which failed", step.name);
            failed.push(step.name);
            continue;
        }
        let started = Instant::now();
        match (step.run)(&workspace) {
            Ok(()) => println!("<== {} passed in {:.1} s", step.name, started.elapsed().as_secs_f64()),
            Err(error) => {
                println!("<== {} failed after {:.1} s: {error:#}", step.name, started.elapsed().as_secs_f64());
                failed.push(step.name);
            }
        }
    }
    if !failed.is_empty() {
        println!("\nfailed: {}", failed.join(", "));
    }
    println!("\nsteps: {} passed, {} failed", steps.len() - failed.len(), failed.len());
    failed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &[&str]) -> Vec<&'static str> {
        with_needs(asked).map(|steps| steps.iter().map(|step| step.name).collect()).unwrap_or_default()
    }

    #[test]
    fn a_step_comes_after_what_it_needs_and_none_twice() {
        assert_eq!(names(&["clients"]), ["install", "build", "clients"]);
        assert_eq!(names(&["fmt", "clients", "build"]), ["fmt", "install", "build", "clients"]);
    }

    #[test]
    fn an_unknown_step_is_an_error() {
        assert!(run(&["cients".to_owned()]).is_err());
    }

    #[test]
    fn in_ci_every_step_stands_after_what_it_needs() {
        for (place, step) in STEPS.iter().enumerate() {
            for need in step.needs {
                assert!(STEPS[..place].iter().any(|earlier| earlier.name == *need), "{} before {need}", step.name);
            }
        }
    }
}
