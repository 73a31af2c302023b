//! `cargo xtask bench NAME`: measures one of the figures of `docs/performance.md` and prints it.
#![expect(clippy::print_stdout, reason = "a command line tool speaks on its standard output")]

use std::alloc::System;
use std::process::ExitCode;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tidegate_bench::gateway::{self, relay};
use tidegate_bench::{callbacks, decision, memory, proxy, upload};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const USAGE: &str = "decision    one governor decision beside the `governor` crate's keyed check twice
memory      bytes of peers, at rest and after a rush
proxy       the program beside a bare reverse proxy (`proxy 3`: three pairs; `proxy count`: instructions, by valgrind)
upload      resident memory during an upload of 50 MB
callbacks   Discord's interaction callbacks while the bot's budget is full
gateway     dispatches a second through the compressions, and through the program beside a bare relay
            (`gateway idle`: a thousand shards at rest)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let measured = match words.as_slice() {
        ["decision"] => decision::report(),
        // For callgrind: so many decisions, and nothing else that grows with their number.
        ["decision", "count", table, rounds] => decision::count(table, rounds),
        ["memory"] => memory::report(),
        ["upload"] => upload::report(),
        ["callbacks"] => callbacks::report(),
        ["proxy"] => proxy::report(None),
        ["proxy", "count"] => proxy::count(None),
        ["proxy", "count", calls] => proxy::count(Some(calls)),
        ["proxy", pairs] => proxy::report(Some(pairs)),
        ["gateway"] => gateway::report(None),
        ["gateway", "idle"] => gateway::idle(),
        ["gateway", rounds] => gateway::report(Some(rounds)),
        // The other of the two that `gateway` compares.
        ["relay", upstream, work, compression] => relay::run(upstream, work, compression),
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
