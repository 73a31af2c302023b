//! The Gateway through the built program, between bots made for the test and the sandbox that judges what reaches it.
//! Platform time runs twenty times faster.

mod client;
mod closes;
mod drops;
mod hostile;
mod login;
mod owed;
mod record;
mod restarts;
mod storm;
mod viewport;
mod weather;

use serde_json::{Value, json};
use tidegate_sandbox::discord::gateway::GatewayStats;

use self::client::Bot;
use crate::client::ask;
use crate::discord::{TOKEN, Tide};
use crate::fake::until;

const PLAIN: &str = "/?v=10&encoding=json";

/// A fake Discord and a tidegate before it. IDENTIFYs keep two seconds more apart than they must: those are 100 ms of real
/// time, and a short processor must not bring them together.
fn tide(config: &str) -> Tide {
    Tide::new(&format!("discord.gateway.identify.spacing_margin = \"2s\"\n{config}"))
}

/// A bot that has had READY.
struct Live {
    bot: Bot,
    session: String,
}

impl Tide {
    fn bot(&self, target: &str) -> Bot {
        Bot::open(self.house.listen, target)
    }

    /// A bot that has read HELLO.
    fn greeted(&self, target: &str) -> Bot {
        let mut bot = self.bot(target);
        let hello = bot.json();
        assert_eq!(hello["op"], 10, "{hello}");
        bot
    }

    /// A bot with this beside its IDENTIFY's token that has had READY.
    fn live_with(&self, target: &str, more: &Value) -> Live {
        let mut bot = self.greeted(target);
        bot.identify(TOKEN, more);
        ready(bot)
    }

    fn live(&self) -> Live {
        self.live_with(PLAIN, &json!({}))
    }

    /// Asks something of the sandbox.
    fn control(&self, path: &str, body: &Value) -> Value {
        let target = format!("/__sandbox/gateway/{path}");
        let answer = ask(self.discord.addr, "POST", &target, &[], body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Discord dispatches so many events to all sessions.
    fn dispatch(&self, count: u64) {
        self.control("dispatch", &json!({"t": "NUMBERED", "d": {}, "count": count}));
    }

    /// Something happens to all of Discord's connections now.
    fn strike(&self, what: &Value) {
        let struck = self.control("now", &json!({"do": what}));
        assert!(struck["connections"].as_u64() > Some(0), "{struck}");
    }

    fn judged(&self) -> GatewayStats {
        self.discord.with(|model| model.gateway().stats())
    }

    /// What tidegate tells of its first bot.
    fn told(&self) -> Value {
        self.house.status()["gateway"]["bots"][0].clone()
    }

    /// How many IDENTIFYs and RESUMEs reached Discord.
    fn reached(&self) -> (u64, u64) {
        let total = self.judged().total;
        (total.identifies, total.resumes)
    }

    /// Waits until Discord has so many connections.
    fn connections(&self, count: usize) {
        until("Discord has as many connections", || self.judged().open.len() == count);
    }
}

fn ready(mut bot: Bot) -> Live {
    let ready = bot.json();
    assert_eq!(ready["t"], "READY", "{ready}");
    let session = ready["d"]["session_id"].as_str().unwrap().to_owned();
    bot.dispatch("GUILD_CREATE");
    Live { bot, session }
}

/// The numbers of the next dispatches that [`Tide::dispatch`] made.
fn numbers(bot: &mut Bot, count: usize) -> Vec<u64> {
    (0..count).map(|_| bot.dispatch("NUMBERED")["s"].as_u64().unwrap()).collect()
}
