use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::steps::{waits, works};

fn never(_: &Workspace) -> Result<()> {
    bail!("these tests run no step")
}

/// Which of `steps` were run, where those in `failing` fail, and what the run says in the end.
fn played(steps: &[Step], failing: &[&str]) -> (Vec<&'static str>, bool) {
    let ran = Mutex::new(Vec::new());
    let alone = |step: &Step, _: Option<&Path>| {
        ran.lock().map_err(|_| anyhow!("poisoned"))?.push(step.name);
        if failing.contains(&step.name) { Err(anyhow!("as asked")) } else { Ok(()) }
    };
    let run = Run::new(steps, &alone, PathBuf::new());
    run.both_lanes();
    let passed = run.report();
    drop(run);
    (ran.into_inner().unwrap_or_default(), passed)
}

#[test]
fn a_step_waits_for_its_needs_in_the_other_lane() {
    let steps = [works("build", "", never), waits("clients", "", &["build"], never)];
    assert_eq!(played(&steps, &[]), (vec!["build", "clients"], true));
}

#[test]
fn a_failure_stops_what_needs_it_and_nothing_else() {
    let steps = [
        works("fmt", "", never),
        waits("install", "", &[], never),
        works("build", "", never),
        waits("clients", "", &["install"], never),
    ];
    let (mut ran, passed) = played(&steps, &["fmt", "install"]);
    ran.sort_unstable();
    assert_eq!((ran, passed), (vec!["build", "fmt", "install"], false));
}

#[test]
fn the_lanes_run_beside_each_other() {
    let steps = [waits("install", "", &[], never), works("build", "", never)];
    let (build_began, install_sees_it) = mpsc::channel();
    let install_sees_it = Mutex::new(install_sees_it);
    let alone = |step: &Step, _: Option<&Path>| match step.name {
        "build" => Ok(build_began.send(())?),
        _ => Ok(install_sees_it.lock().map_err(|_| anyhow!("poisoned"))?.recv_timeout(Duration::from_secs(60))?),
    };
    let run = Run::new(&steps, &alone, PathBuf::new());
    run.both_lanes();
    assert!(run.report());
}
