use std::sync::Arc;
use std::time::Instant;
use tidegate_core::governor::*;
use tidegate_core::policy::*;
use tidegate_core::*;
fn main() {
    let policy = Arc::new(
        Policy::load("telegram", &[("buckets.bot_second.window".into(), toml::Value::String("2000/1s".into()))])
            .unwrap(),
    );
    let row = policy.row_of(&Call { method: "sendMessage", has_chat: true, rich: false });
    let n: u64 = std::env::args().nth(1).map_or(100_000, |s| s.parse().unwrap());
    for group in [true] {
        let mut g = Governor::new(policy.clone(), false);
        let m = MethodKey::of("sendMessage");
        let mut now = 0u64;
        let mut ticket = 0;
        let mut spent = std::time::Duration::ZERO;
        let mut spent2 = spent;
        let mut cnt = 0u64;
        let total = n * 10;
        let mut adm = 0;
        for i in 0..total {
            let k = (i.wrapping_mul(7919)) % n;
            let id = if group { -(k as i64) - 1000 } else { k as i64 };
            now += 60_000_000 / n;
            ticket += 1;
            let w = Write {
                ticket: Ticket(ticket),
                row,
                method: m,
                peer: Some(Peer::Id(id)),
                wider: None,
                thread: None,
                message: None,
                class: None,
                weight: 1,
                fields: Box::default(),
                max_hold: None,
                auto_hold: None,
            };
            let t = Instant::now();
            g.handle(Time::from_micros(now), Input::Write(w));
            let o = g.poll_output();
            let t2 = Instant::now();
            if matches!(o, Some(Output::Send { .. })) {
                adm += 1;
            }
            g.handle(Time::from_micros(now), Input::Done { ticket: Ticket(ticket), result: Answer::Ok });
            let t3 = Instant::now();
            while let Some(_) = g.poll_output() {}
            if i > total / 2 {
                spent += t2 - t;
                spent2 += t3 - t2;
                cnt += 1;
            }
        }
        println!(
            "group {group}: write {} ns done {} ns peers {} adm {adm}/{total} held {}",
            spent.as_nanos() / cnt as u128,
            spent2.as_nanos() / cnt as u128,
            g.peers(),
            g.held()
        );
    }
}
