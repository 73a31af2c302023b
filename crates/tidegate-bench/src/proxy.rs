//! The built program beside a bare reverse proxy: how many calls a second, how much later, how many instructions.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::net::TcpListener;

use crate::http::load::{Run, Until, closed, open};
use crate::http::mix::{CHATS, Mix};
use crate::http::program::{Kind, Program};
use crate::http::upstream;
use crate::sends::Shape;
use crate::spread::Spread;

/// Connections that are kept.
const CONNECTIONS: u64 = 64;
/// Measured pairs.
const PAIRS: usize = 7;
/// How long each is measured.
const SPAN: Duration = Duration::from_secs(2);

/// What is measured of one program.
#[derive(Default)]
struct Figures {
    rate: Vec<f64>,
    processor_micros: Vec<f64>,
    p50: Vec<f64>,
}

/// Both programs, each with what was measured of it.
struct Pair {
    upstream: SocketAddr,
    mix: [Arc<Mix>; 2],
    programs: [Program; 2],
    figures: [Figures; 2],
}

/// A platform that answers on this runtime.
pub(crate) async fn platform() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(upstream::serve(listener));
    Ok(address)
}

/// Runs what measures over HTTP on one thread: the programs have the other core.
pub(crate) fn on_one_thread<T>(measure: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure)
}

/// Measures and prints.
pub fn report(pairs: Option<&str>) -> Result<()> {
    let pairs = pairs.map_or(Ok(PAIRS), str::parse)?;
    for shape in [Shape::Telegram, Shape::Discord] {
        on_one_thread(async {
            let mut pair = Pair::new(shape).await?;
            pair.warm_up().await?;
            for nth in 0..pairs {
                pair.full(nth).await?;
            }
            let half = Spread::of(pair.figures[1].rate.iter().copied()).median / 2.0;
            for nth in 0..pairs {
                pair.half(nth, half).await?;
            }
            pair.print(shape, half);
            Ok(())
        })?;
    }
    Ok(())
}

impl Pair {
    async fn new(shape: Shape) -> Result<Self> {
        let upstream = platform().await?;
        let programs = [Program::proxy(Kind::Bare, upstream, &[])?, Program::proxy(Kind::Tidegate, upstream, &[])?];
        let mix = [Arc::new(Mix::new(shape)), Arc::new(Mix::new(shape))];
        Ok(Self { upstream, mix, programs, figures: <[Figures; 2]>::default() })
    }

    /// Until every chat is known.
    async fn warm_up(&self) -> Result<()> {
        for (program, mix) in self.programs.iter().zip(&self.mix) {
            closed(program.address, mix, CONNECTIONS, Until::Called(CHATS + CHATS / 10)).await?;
        }
        Ok(())
    }

    /// As many calls as it can take. Which of the two goes first changes.
    async fn full(&mut self, nth: usize) -> Result<()> {
        for at in [nth % 2, 1 - nth % 2] {
            let before = self.programs[at].on_processor()?;
            let run = closed(self.programs[at].address, &self.mix[at], CONNECTIONS, Until::Passed(SPAN)).await?;
            let nanos = self.programs[at].on_processor()? - before;
            self.figures[at].rate.push(run.rate());
            self.figures[at].processor_micros.push(nanos as f64 / 1e3 / run.calls as f64);
        }
        Ok(())
    }

    /// So many calls a second.
    async fn half(&mut self, nth: usize, rate: f64) -> Result<()> {
        let pause = Duration::from_secs_f64(1.0 / rate);
        for at in [nth % 2, 1 - nth % 2] {
            let mix = &self.mix[at];
            let next = |request: &mut Vec<u8>| mix.next(request);
            let run: Run = open(self.programs[at].address, 64, pause, SPAN, next).await?;
            self.figures[at].p50.push(run.within(0.5));
        }
        Ok(())
    }

    fn print(&self, shape: Shape, half: f64) {
        let [bare, ours] = &self.figures;
        let spread = |of: &[f64]| Spread::of(of.iter().copied());
        let ratio = |of: fn(&Figures) -> &Vec<f64>| Spread::of(of(ours).iter().zip(of(bare)).map(|(a, b)| a / b));
        println!(
            "{shape:?}, {CONNECTIONS} connections, {} pairs in turn, upstream {}:",
            bare.rate.len(),
            self.upstream
        );
        println!("  calls a second, bare      {:.0}", spread(&bare.rate));
        println!("  calls a second, tidegate  {:.0}", spread(&ours.rate));
        println!("  ratio                     {:.2}", ratio(|figures| &figures.rate));
        println!("  processor time of a call, bare      {:.1} us", spread(&bare.processor_micros));
        println!("  processor time of a call, tidegate  {:.1} us", spread(&ours.processor_micros));
        println!("  bare's share of tidegate's          {:.2}", {
            let pairs = bare.processor_micros.iter().zip(&ours.processor_micros);
            Spread::of(pairs.map(|(a, b)| a / b))
        });
        println!("  open loop at {half:.0} a second, p50, bare      {:.0} us", spread(&bare.p50));
        println!("  open loop at {half:.0} a second, p50, tidegate  {:.0} us", spread(&ours.p50));
        let later = ours.p50.iter().zip(&bare.p50).map(|(a, b)| a - b);
        println!("  later by                                    {:.0} us", Spread::of(later));
    }
}

/// Counts instructions of a call by callgrind: the difference between a run of `calls` and one of twice as many.
pub fn count(calls: Option<&str>) -> Result<()> {
    let calls: u64 = calls.map_or(Ok(5_000), str::parse)?;
    for shape in [Shape::Telegram, Shape::Discord] {
        let mut counted = [0.0; 2];
        for (kind, counted) in [Kind::Bare, Kind::Tidegate].into_iter().zip(&mut counted) {
            let once = instructions(kind, shape, calls)?;
            *counted = (instructions(kind, shape, 2 * calls)? - once) as f64 / calls as f64;
        }
        let [bare, ours] = counted;
        let share = ours / bare * 100.0;
        println!("{shape:?}: bare {bare:.0} instructions a call, tidegate {ours:.0}: {share:.1} % of them");
    }
    Ok(())
}

/// Instructions of a program from its start to its end, with so many calls between them.
fn instructions(kind: Kind, shape: Shape, calls: u64) -> Result<i64> {
    let out = std::env::temp_dir().join(format!("tidegate-bench.{kind:?}.{shape:?}.{calls}.callgrind"));
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(&out);
    let under = ["valgrind".into(), "-q".into(), "--tool=callgrind".into(), file];
    on_one_thread(async {
        let program = Program::proxy(kind, platform().await?, &under)?;
        let mix = Arc::new(Mix::of(shape, 100, 5_000));
        // All chats are known first.
        closed(program.address, &mix, CONNECTIONS, Until::Called(5_500 + calls)).await?;
        program.end()
    })?;
    let listed = Command::new("grep").args(["-m1", "^summary:"]).arg(&out).output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.split_whitespace().nth(1).and_then(|count| count.parse().ok()).context("callgrind counted nothing")
}
