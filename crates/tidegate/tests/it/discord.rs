//! Discord through the built program, before the sandbox that judges it. Platform time runs twenty times faster; what is
//! checked are the judge's figures, not the clock.

mod bad_days;
mod gateway;
mod identify;
mod limits;
mod routes;
mod shapes;
mod tokens;

use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_sandbox::discord::{Handle, Options, Script, Settings, Stats, serve};

use crate::client::{Answer, Client};
use crate::fake::until;
use crate::house::House;

/// As Discord's are: the application's id in base64, and two parts more; the last must never show.
pub(crate) const TOKEN: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0";
pub(crate) const OTHER: &str = "ODc2NTQzMjEwOTg3NjU0MzIx.GsEcRe.discordsecretdiscordsecret1";
pub(crate) const BOT: &str = "123456789012345678";
const SCALE: f64 = 0.05;

/// A fake Discord and a tidegate before it.
pub(crate) struct Tide {
    pub(crate) discord: Handle,
    pub(crate) house: House,
    scale: f64,
    _runtime: tokio::runtime::Runtime,
}

/// One request before it is sent.
pub(crate) struct Asks<'a> {
    pub(crate) verb: &'a str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'a str, String)>,
    pub(crate) body: Vec<u8>,
}

impl<'a> Asks<'a> {
    /// By the bot, below `/api/v10`.
    pub(crate) fn new(verb: &'a str, path: impl Into<String>) -> Self {
        let headers = vec![("Authorization", format!("Bot {TOKEN}")), ("X-Tidegate-Max-Hold", "10min".to_owned())];
        Self { verb, path: format!("/api/v10{}", path.into()), headers, body: Vec::new() }
    }

    pub(crate) fn without(mut self, header: &str) -> Self {
        self.headers.retain(|(name, _)| *name != header);
        self
    }

    pub(crate) fn with(self, header: &'a str, value: impl Into<String>) -> Self {
        let mut asks = self.without(header);
        asks.headers.push((header, value.into()));
        asks
    }

    pub(crate) fn by(self, token: &str) -> Self {
        self.with("Authorization", format!("Bot {token}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        let mut asks = self.with("Content-Type", "application/json");
        asks.body = body.to_string().into_bytes();
        asks
    }
}

/// A message with a number that the judge looks for.
pub(crate) fn say(channel: u64, number: u64) -> Asks<'static> {
    Asks::new("POST", format!("/channels/{channel}/messages")).json(&json!({"content": format!("#{number}")}))
}

impl Tide {
    pub(crate) fn new(config: &str) -> Self {
        Self::with(Options::default(), config)
    }

    pub(crate) fn with(options: Options, config: &str) -> Self {
        Self::scaled(options, config, SCALE)
    }

    fn scaled(options: Options, config: &str, scale: f64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = Options { scale, ..options };
        let address = "127.0.0.1:0".parse().unwrap();
        let discord = runtime.block_on(serve(address, options)).unwrap();
        let house = House::start(&format!("time_scale = {scale}\ndiscord.api = \"{}\"\n{config}", discord.url()));
        Self { discord, house, scale, _runtime: runtime }
    }

    /// Where buckets turn over so fast that moments matter: tidegate goes on after a second without an answer, and at
    /// the scale of the rest a busy machine may take that long for one.
    pub(crate) fn slow(scale: f64) -> Self {
        Self::paced(scale, "")
    }

    pub(crate) fn paced(scale: f64, config: &str) -> Self {
        Self::scaled(Options::default(), config, scale)
    }

    /// Before a Discord whose answers take so long (real time): nothing is told before many have asked. Platform time runs
    /// ten times faster.
    pub(crate) fn far(milliseconds: u64) -> Self {
        let latency = std::time::Duration::from_millis(milliseconds);
        Self::scaled(Options { latency, ..Options::default() }, "", 0.1)
    }

    pub(crate) fn limits(change: impl FnOnce(&mut Settings), config: &str) -> Self {
        let mut options = Options::default();
        change(&mut options.settings);
        Self::with(options, config)
    }

    /// Sends it without waiting for its answer.
    pub(crate) fn begin(&self, asks: &Asks<'_>) -> Client {
        let mut client = Client::connect(self.house.listen);
        let headers: Vec<(&str, &str)> = asks.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        client.send(asks.verb, &asks.path, &headers, &asks.body);
        client
    }

    pub(crate) fn ask(&self, asks: &Asks<'_>) -> Answer {
        self.begin(asks).read().expect("an answer")
    }

    /// All at once; the answers in the same order.
    pub(crate) fn all(&self, asks: impl IntoIterator<Item = Asks<'static>>) -> Vec<Answer> {
        let mut clients: Vec<Client> = asks.into_iter().map(|asks| self.begin(&asks)).collect();
        clients.iter_mut().map(|client| client.read().expect("an answer")).collect()
    }

    /// All at once, but each is taken in before the next comes.
    pub(crate) fn in_order(&self, asks: impl IntoIterator<Item = Asks<'static>>) -> Vec<Client> {
        let begin = |(number, asks): (usize, Asks<'static>)| {
            let client = self.begin(&asks);
            until("it is taken in", || self.counted("accepted") > number as u64);
            client
        };
        let before = usize::try_from(self.counted("accepted")).unwrap();
        asks.into_iter().enumerate().map(|(number, asks)| begin((before + number, asks))).collect()
    }

    /// Writes of all bots with this outcome.
    pub(crate) fn counted(&self, outcome: &str) -> u64 {
        let status = self.house.status();
        let bots = status["bots"].as_array().unwrap().clone();
        let counters = bots.iter().flat_map(|bot| bot["counters"].as_array().unwrap());
        counters.filter(|count| count["outcome"] == outcome).map(|count| count["count"].as_u64().unwrap()).sum()
    }

    pub(crate) fn stats(&self) -> Stats {
        self.discord.stats()
    }

    pub(crate) fn force(&self, script: &Value) {
        assert!(self.discord.script(Script::from_json(script).unwrap()));
    }

    /// Waits platform time.
    pub(crate) fn pass(&self, seconds: f64) {
        std::thread::sleep(std::time::Duration::from_secs_f64(seconds * self.scale));
    }

    /// Waits until tidegate has been told of the bot's forced refusal, and all that it had sent before is answered; how
    /// many calls the platform had taken by then.
    pub(crate) fn refusal_known(&self) -> usize {
        let in_flight = || {
            let status = self.house.status();
            status["bots"].as_array().unwrap().iter().map(|bot| bot["in_flight"].as_u64().unwrap()).sum::<u64>()
        };
        until("the refusal is known", || self.stats().total.refused_429 > 0 && in_flight() == 0);
        self.discord.with(|model| model.log().count())
    }

    /// Of the bot's calls none went into its forced refusal: neither one that was refused before, nor any once it was
    /// `known`. Read from the order of the calls, since how long one is on its way hangs on how busy the machine is.
    pub(crate) fn assert_waited_out(&self, known: usize) {
        self.discord.with(|model| {
            let calls = || model.log().enumerate().filter(|(_, entry)| entry.authorized);
            let (_, forced) = calls().find(|(_, entry)| entry.forced).expect("a forced refusal");
            let until_ms = forced.at_ms + forced.wait_ms.expect("its time");
            let mut tried = std::collections::BTreeSet::new();
            for (number, entry) in calls().filter(|(_, entry)| entry.at_ms < until_ms) {
                assert!(number < known, "a call into a refusal that was known: {entry:?}");
                assert!(entry.marker.is_none_or(|marker| tried.insert(marker)), "a second try into it: {entry:?}");
            }
            assert!(tried.len() < calls().count(), "none was left for afterwards");
        });
        self.assert_nothing_in_vain();
    }

    /// Nothing was refused that could have been foreseen, and nothing was in vain.
    pub(crate) fn assert_clean(&self) {
        let stats = self.stats();
        let mut refused = String::new();
        self.discord.with(|model| {
            for entry in model.log().filter(|entry| entry.foreseeable == Some(true)).take(5) {
                let _ = writeln!(refused, "{entry:?}");
            }
        });
        assert_eq!(stats.total.foreseeable_429, 0, "{refused}");
        assert_eq!(stats.misuse.into_global, 0);
        self.assert_nothing_in_vain();
    }

    fn assert_nothing_in_vain(&self) {
        let stats = self.stats();
        assert_eq!((stats.bans, stats.into_ban, stats.duplicates), (0, 0, 0));
        assert_eq!(stats.misuse.needless_authorization, 0);
    }
}

/// A message in the channel; its id.
pub(crate) fn message(tide: &Tide, channel: u64) -> String {
    let asks = Asks::new("POST", format!("/channels/{channel}/messages")).json(&json!({"content": "hello"}));
    tide.ask(&asks).json()["id"].as_str().unwrap().to_owned()
}

/// An id as of so long ago.
pub(crate) fn id_of(age_ms: u64, count: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let made = u64::try_from(now.as_millis()).unwrap() - 1_420_070_400_000 - age_ms;
    (made << 22 | count).to_string()
}

pub(crate) fn answers(clients: Vec<Client>) -> Vec<Answer> {
    clients.into_iter().map(|mut client| client.read().expect("an answer")).collect()
}

pub(crate) fn statuses(answers: &[Answer]) -> std::collections::BTreeMap<u16, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.status).or_default() += 1;
    }
    counts
}
