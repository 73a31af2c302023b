//! `cargo xtask ci`: two lanes of steps beside each other, one that keeps the processor busy and one that mostly waits.
//!
//! Every step is a process of its own (`cargo xtask only STEP`). The busy lane writes to the terminal and gives way to the
//! other one, whose tests have timers in real time. What the waiting lane writes goes to a file and is shown when its step
//! has ended, between two steps of the busy lane.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use crate::steps::{Lane, Step};
use crate::tools::Workspace;

/// How a step ended.
struct Outcome {
    /// `None`: it passed.
    fault: Option<String>,
    began_s: f64,
    took_s: f64,
}

/// How a step is run by itself, with its output in a file if one is named.
type Alone<'a> = &'a (dyn Fn(&Step, Option<&Path>) -> Result<()> + Sync);

/// What both lanes know.
struct Run<'a> {
    steps: &'a [Step],
    alone: Alone<'a>,
    /// Where the output of the waiting lane is kept.
    folder: PathBuf,
    started: Instant,
    progress: Mutex<Progress>,
    ended: Condvar,
}

#[derive(Default)]
struct Progress {
    outcomes: HashMap<&'static str, Outcome>,
    /// Steps of the waiting lane whose output nobody has shown yet.
    unshown: Vec<&'static str>,
}

/// Whether all of them passed. Each lane takes its steps in the order of the table, also past a failure, but none whose
/// need failed.
pub(crate) fn run_all(workspace: &Workspace, steps: &[Step]) -> Result<bool> {
    let folder = workspace.target.join("ci");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let gives_way = has_nice(workspace);
    let alone = |step: &Step, output: Option<&Path>| in_a_process(workspace, step, output, gives_way);
    let run = Run::new(steps, &alone, folder);
    run.both_lanes();
    Ok(run.report())
}

fn has_nice(workspace: &Workspace) -> bool {
    let mut nice = workspace.command("nice");
    nice.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn in_a_process(workspace: &Workspace, step: &Step, output: Option<&Path>, gives_way: bool) -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = if gives_way && step.lane == Lane::Works {
        let mut command = workspace.command("nice");
        command.args(["-n", "10"]).arg(program);
        command
    } else {
        workspace.command(program)
    };
    if let Some(file) = output {
        let file = File::create(file).with_context(|| format!("cannot make {}", file.display()))?;
        command.stdout(file.try_clone()?).stderr(file);
    }
    let status = command.args(["only", step.name]).status().context("cannot start it")?;
    if !status.success() {
        bail!("it ended with {status}");
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn new(steps: &'a [Step], alone: Alone<'a>, folder: PathBuf) -> Self {
        Self { steps, alone, folder, started: Instant::now(), progress: Mutex::default(), ended: Condvar::new() }
    }

    fn both_lanes(&self) {
        thread::scope(|scope| {
            scope.spawn(|| self.lane(Lane::Waits));
            self.lane(Lane::Works);
        });
        self.show_what_ended_beside();
    }

    fn lane(&self, lane: Lane) {
        for step in self.steps.iter().filter(|step| step.lane == lane) {
            let failed_need = self.wait_for_needs(step);
            let began = Instant::now();
            if lane == Lane::Works {
                self.show_what_ended_beside();
                println!("\n==> {}: {}", step.name, step.does);
            }
            let output = (lane == Lane::Waits).then(|| self.output_of(step.name));
            let ended = match failed_need {
                Some(need) => Err(anyhow!("it needs `{need}`, which failed")),
                None => (self.alone)(step, output.as_deref()),
            };
            let outcome = Outcome {
                fault: ended.err().map(|error| format!("{error:#}")),
                began_s: (began - self.started).as_secs_f64(),
                took_s: began.elapsed().as_secs_f64(),
            };
            if lane == Lane::Works {
                println!("{}", outcome.line(step.name));
            }
            let mut progress = self.progress();
            progress.outcomes.insert(step.name, outcome);
            if lane == Lane::Waits {
                progress.unshown.push(step.name);
            }
            self.ended.notify_all();
        }
    }

    /// Ends when all needs of the step have ended; tells one that failed.
    fn wait_for_needs(&self, step: &Step) -> Option<&'static str> {
        let running = |progress: &mut Progress| step.needs.iter().any(|need| !progress.outcomes.contains_key(need));
        let progress = self.ended.wait_while(self.progress(), running).unwrap_or_else(PoisonError::into_inner);
        step.needs.iter().copied().find(|need| progress.outcomes[need].fault.is_some())
    }

    fn output_of(&self, step: &str) -> PathBuf {
        self.folder.join(format!("{step}.txt"))
    }

    fn show_what_ended_beside(&self) {
        let unshown = std::mem::take(&mut self.progress().unshown);
        for name in unshown {
            let text = fs::read(self.output_of(name)).unwrap_or_default();
            let line = self.progress().outcomes[name].line(name);
            println!("\n==> {name}, beside other steps\n{}{line}", String::from_utf8_lossy(&text));
        }
    }

    /// Prints the table of all steps; whether all passed.
    fn report(&self) -> bool {
        let progress = self.progress();
        println!("\n{:<9} {:>8} {:>8}", "step", "began", "took");
        for step in self.steps {
            let outcome = &progress.outcomes[step.name];
            let result = if outcome.fault.is_none() { "passed" } else { "FAILED" };
            println!("{:<9} {:>6.0} s {:>6.0} s  {result}", step.name, outcome.began_s, outcome.took_s);
        }
        let failed = progress.outcomes.values().filter(|outcome| outcome.fault.is_some()).count();
        let took_s = self.started.elapsed().as_secs_f64();
        println!("\nsteps: {} passed, {failed} failed, in {took_s:.0} s", self.steps.len() - failed);
        failed == 0
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outcome {
    fn line(&self, name: &str) -> String {
        match &self.fault {
            None => format!("<== {name} passed in {:.1} s", self.took_s),
            Some(fault) => format!("<== {name} failed after {:.1} s: {fault}", self.took_s),
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
