//! The bare reverse proxy that `tidegate-bench proxy` measures beside the program: a process of its own, without the
//! counting allocator.

use std::process::ExitCode;

use tidegate_bench::http::bare;

fn main() -> ExitCode {
    let upstream = std::env::args().nth(1).unwrap_or_default();
    match bare::run(&upstream) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
