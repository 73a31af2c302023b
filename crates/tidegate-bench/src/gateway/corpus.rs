//! Dispatches of a busy bot, made up: Discord's fields in Discord's order, the mix of a large community server.

use std::fmt::Write as _;

const WORDS: [&str; 72] = [
    "the",
    "be",
    "to",
    "of",
    "and",
    "a",
    "in",
    "that",
    "have",
    "it",
    "for",
    "not",
    "on",
    "with",
    "he",
    "as",
    "you",
    "do",
    "at",
    "this",
    "but",
    "his",
    "by",
    "from",
    "they",
    "we",
    "say",
    "her",
    "she",
    "or",
    "an",
    "will",
    "my",
    "one",
    "all",
    "would",
    "there",
    "their",
    "what",
    "so",
    "up",
    "out",
    "if",
    "about",
    "who",
    "get",
    "which",
    "go",
    "me",
    "when",
    "can",
    "like",
    "time",
    "no",
    "just",
    "him",
    "know",
    "people",
    "good",
    "game",
    "tonight",
    "server",
    "thanks",
    "update",
    "lol",
    "anyone",
    "patch",
    "stream",
    "queue",
    "raid",
    "link",
    "https://tide.example/view/cat-1234567",
];
const STATUSES: [&str; 4] = ["online", "idle", "dnd", "offline"];
/// People, servers and applications that there are.
const USERS: u64 = 20_000;
const GUILDS: u64 = 500;
const APPS: u64 = 50;

/// Steele, Lea and Flood's generator of 2014: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// The lower ones more often.
    fn low(&mut self, bound: u64) -> u64 {
        self.below(bound).min(self.below(bound))
    }

    fn word(&mut self) -> &'static str {
        let place = usize::try_from(self.low(WORDS.len() as u64)).unwrap_or(0);
        WORDS.get(place).copied().unwrap_or_default()
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// One of so many that come again and again.
    fn known(&mut self, of: u64) -> u64 {
        1_000_000_000_000_000_000 + self.low(of).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 400_000_000_000_000_000
    }

    /// One that was never seen.
    fn fresh(&mut self) -> u64 {
        1_400_000_000_000_000_000 + self.below(10_000_000_000_000_000)
    }

    fn hex(&mut self) -> String {
        format!("{:016x}{:016x}", self.next(), self.next())
    }

    fn moment(&mut self) -> String {
        let (day, hour, minute) = (1 + self.below(28), self.below(24), self.below(60));
        format!("2026-11-{day:02}T{hour:02}:{minute:02}:{:02}.{:06}+00:00", self.below(60), self.below(1_000_000))
    }
}

/// Somebody, always the same for the same number.
fn user(id: u64) -> String {
    let mut random = Random(id);
    let name = format!("{}{}{}", random.word(), random.word(), random.below(1000));
    format!(
        r#"{{"username":"{name}","public_flags":{},"primary_guild":null,"id":"{id}","global_name":"{name}","#,
        id % 3 * 64
    ) + r#""display_name_styles":null,"discriminator":"0","collectibles":null,"clan":null,"avatar_decoration_data":null,"#
        + &format!(r#""avatar":"{}"}}"#, random.hex())
}

/// The fields of a member, without its braces and its user.
fn member(id: u64, guild: u64) -> String {
    let mut random = Random(id ^ guild);
    let roles: Vec<String> = (0..random.below(6)).map(|nth| format!("\"{}\"", guild + nth * 7919)).collect();
    format!(
        r#""roles":[{}],"premium_since":null,"pending":false,"nick":null,"mute":false,"joined_at":"{}","#,
        roles.join(","),
        random.moment()
    ) + r#""flags":0,"deaf":false,"communication_disabled_until":null,"banner":null,"avatar":null"#
}

/// What one dispatch is about.
struct Scene {
    user: u64,
    guild: u64,
    channel: u64,
}

impl Scene {
    fn message(&self, random: &mut Random) -> String {
        let Self { user: id, guild, channel } = self;
        let mut embed = String::new();
        if random.below(6) == 0 {
            let (title, text, value) = (random.words(4), random.words(25), random.words(5));
            let _ = write!(
                embed,
                r#"{{"type":"rich","title":"{title}","description":"{text}","color":{},"fields":[{{"name":"{}","#,
                random.below(1 << 24),
                random.words(2)
            );
            let _ = write!(embed, r#""value":"{value}","inline":true}}]}}"#);
        }
        let length = random.below(30) + 1;
        let (moment, nonce, message, text) = (random.moment(), random.fresh(), random.fresh(), random.words(length));
        format!(r#"{{"type":0,"tts":false,"timestamp":"{moment}","pinned":false,"nonce":"{nonce}","mentions":[],"#)
            + &format!(
                r#""mention_roles":[],"mention_everyone":false,"member":{{{}}},"id":"{message}","flags":0,"embeds":[{embed}],"#,
                member(*id, *guild)
            )
            + &format!(
                r#""edited_timestamp":null,"content":"{text}","components":[],"channel_type":0,"channel_id":"{channel}","#
            )
            + &format!(r#""author":{},"attachments":[],"guild_id":"{guild}"}}"#, user(*id))
    }

    fn presence(&self, random: &mut Random) -> String {
        let status = usize::try_from(random.below(4)).ok().and_then(|place| STATUSES.get(place)).unwrap_or(&"online");
        let mut activity = String::new();
        if random.below(2) == 0 {
            let session = Random(random.below(5000)).hex();
            let _ = write!(
                activity,
                r#"{{"type":0,"timestamps":{{"start":17{:011}}},"session_id":"{session}","name":"{}","id":"{:016x}"}}"#,
                random.below(100_000_000_000),
                random.words(2),
                random.next()
            );
        }
        format!(
            r#"{{"user":{{"id":"{}"}},"status":"{status}","processed_at_timestamp":{},"guild_id":"{}","#,
            self.user,
            random.below(1 << 40),
            self.guild
        ) + &format!(r#""client_status":{{"desktop":"{status}"}},"broadcast":null,"activities":[{activity}]}}"#)
    }

    /// A member with its user.
    fn whole_member(&self) -> String {
        format!(r#""user":{},{}"#, user(self.user), member(self.user, self.guild))
    }

    fn typing(&self, random: &mut Random) -> String {
        let Self { user, guild, channel } = self;
        let (moment, member) = (random.below(100_000_000), self.whole_member());
        format!(r#"{{"user_id":"{user}","timestamp":17{moment:08},"member":{{{member}}},"#)
            + &format!(r#""channel_id":"{channel}","guild_id":"{guild}"}}"#)
    }

    fn voice(&self, random: &mut Random) -> String {
        let Self { user, guild, channel } = self;
        format!(r#"{{"member":{{{}}},"user_id":"{user}","suppress":false,"#, self.whole_member())
            + &format!(r#""session_id":"{}","self_video":false,"self_mute":{},"#, random.hex(), random.below(2) == 0)
            + &format!(r#""self_deaf":false,"request_to_speak_timestamp":null,"mute":false,"guild_id":"{guild}","#)
            + &format!(r#""deaf":false,"channel_id":"{channel}"}}"#)
    }

    fn interaction(&self, random: &mut Random) -> String {
        let Self { guild, channel, .. } = self;
        let token: String = (0..6).map(|_| random.hex()).collect();
        let (id, last, command, app) = (random.fresh(), random.fresh(), random.known(APPS), random.known(3));
        format!(r#"{{"version":1,"type":2,"token":"{token}","member":{{{}}},"locale":"en-US","#, self.whole_member())
            + &format!(r#""id":"{id}","guild_locale":"en-US","guild_id":"{guild}","guild":{{"locale":"en-US","#)
            + &format!(r#""id":"{guild}","features":["COMMUNITY","NEWS","AUTO_MODERATION"]}},"entitlements":[],"#)
            + &format!(r#""data":{{"type":1,"options":[{{"value":"{}","type":3,"name":"query"}}],"#, random.words(4))
            + &format!(r#""name":"play","id":"{command}"}},"context":0,"channel_id":"{channel}","channel":{{"type":0,"#)
            + r#""topic":null,"rate_limit_per_user":0,"position":3,"permissions":"2248473465835073","#
            + &format!(r#""nsfw":false,"name":"general","last_message_id":"{last}","id":"{channel}","flags":0}},"#)
            + &format!(r#""attachment_size_limit":10485760,"application_id":"{app}","app_permissions":"0"}}"#)
    }
}

/// So many dispatches, numbered from `first`; the same ones each time.
pub(crate) fn dispatches(first: u64, count: u64) -> impl Iterator<Item = String> {
    let mut random = Random(7);
    (first..first + count).map(move |seq| {
        let (user, guild) = (random.known(USERS), random.known(GUILDS));
        let scene = Scene { user, guild, channel: guild + random.below(20) * 104_729 };
        let (name, data) = match random.below(100) {
            0..50 => ("MESSAGE_CREATE", scene.message(&mut random)),
            50..72 => ("PRESENCE_UPDATE", scene.presence(&mut random)),
            72..85 => ("TYPING_START", scene.typing(&mut random)),
            85..95 => ("VOICE_STATE_UPDATE", scene.voice(&mut random)),
            _ => ("INTERACTION_CREATE", scene.interaction(&mut random)),
        };
        format!(r#"{{"t":"{name}","s":{seq},"op":0,"d":{data}}}"#)
    })
}
