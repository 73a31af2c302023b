use std::sync::Arc;
use std::time::Instant;
use tidegate_core::governor::*;
use tidegate_core::policy::*;
use tidegate_core::*;

#[inline(never)]
fn ask(g: &mut Governor, now: Time, w: Write) -> Option<Output> {
    g.handle(now, Input::Write(w));
    g.poll_output()
}
#[inline(never)]
fn answer(g: &mut Governor, now: Time, ticket: Ticket) {
    g.handle(now, Input::Done { ticket, result: Answer::Ok });
}
fn main() {
    let policy = Arc::new(
        Policy::load("telegram", &[("buckets.bot_second.window".into(), toml::Value::String("10000/1s".into()))])
            .unwrap(),
    );
    let row = policy.row_of(&Call { method: "sendMessage", has_chat: true, rich: false });
    let arg = |n: usize, d: u64| std::env::args().nth(n).map_or(d, |s| s.parse().unwrap());
    let n: u64 = arg(1, 100_000);
    let rounds = arg(2, 16);
    let each = arg(3, 15_000_000);
    let late = arg(4, 0);
    let mut g = Governor::new(policy.clone(), false);
    let m = MethodKey::of("sendMessage");
    let mut now = 0u64;
    let mut adm = 0;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut open = std::collections::VecDeque::new();
    let step = n * 6180 / 10000 | 1;
    let batch = 32;
    let mut i = 0;
    while i < n * rounds {
        let mut ws: Vec<_> = (i..i + batch)
            .map(|i| {
                let k = i.wrapping_mul(step) % n;
                now += each / n;
                Some((
                    Time::from_micros(now),
                    Write {
                        ticket: Ticket(i),
                        row,
                        method: m,
                        peer: Some(Peer::Id(-(k as i64) - 1000)),
                        wider: None,
                        thread: None,
                        message: None,
                        class: None,
                        weight: 1,
                        fields: Box::default(),
                        max_hold: None,
                        auto_hold: None,
                    },
                ))
            })
            .collect();
        let t = Instant::now();
        for w in &mut ws {
            let (now, w) = w.take().unwrap();
            if matches!(ask(&mut g, now, w), Some(Output::Send { .. })) {
                adm += 1;
            }
        }
        let t2 = Instant::now();
        open.extend(i..i + batch);
        let t3 = Instant::now();
        for _ in 0..batch {
            if open.len() as u64 > late {
                let i = open.pop_front().unwrap();
                answer(&mut g, Time::from_micros(now), Ticket(i));
            }
        }
        let t4 = Instant::now();
        if i >= n * (rounds / 2) {
            a.push((t2 - t).as_nanos() as u64);
            b.push((t4 - t3).as_nanos() as u64);
        }
        i += batch;
    }
    let stat = |v: &mut Vec<u64>| {
        v.sort_unstable();
        (v[v.len() / 2] as f64 / batch as f64, v.iter().sum::<u64>() as f64 / v.len() as f64 / batch as f64)
    };
    let (a, b) = (stat(&mut a), stat(&mut b));
    println!("write {:?} done {:?} peers {} adm {adm}/{} held {}", a, b, g.peers(), n * rounds, g.held());
}
