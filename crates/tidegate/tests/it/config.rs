//! The configuration: what is in force, where it came from, and what is wrong with it.

use crate::fake::{Act, Fake};
use crate::house::{House, program};

fn check(config: &str, env: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = program(&["check"], config);
    command.envs(env.iter().copied());
    let output = command.output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn it_prints_what_is_in_force_and_where_it_came_from() {
    let config = "admin = \"127.0.0.1:1\"\n\n[telegram]\napi = \"http://127.0.0.1:9000\"\n[policy.telegram.buckets.group_minute]\nwindow = \"16/60s\"\n";
    let env = [
        ("TIDEGATE_ADMIN_TOKEN", "hidden"),
        ("TIDEGATE_BOTS", "1,2"),
        ("TIDEGATE_POLICY__TELEGRAM__SETTLE_RESERVE", "4"),
    ];
    let (code, shown) = check(config, &env);
    assert_eq!(code, Some(0), "{shown}");
    let line = |start: &str| {
        let line = shown.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {shown}"));
        let (setting, source) = line.split_once(" # ").unwrap();
        (setting.trim_end().to_owned(), source.to_owned())
    };
    assert_eq!(line("listen ="), ("listen = \"127.0.0.1:8787\"".to_owned(), "default".to_owned()));
    assert!(line("admin =").1.ends_with(".toml:1"));
    assert!(line("telegram.api").1.ends_with(".toml:4"));
    assert_eq!(
        line("policy.telegram.buckets.group_minute.window").0,
        "policy.telegram.buckets.group_minute.window = \"16/60s\""
    );
    assert!(line("policy.telegram.buckets.group_minute.window").1.ends_with(".toml:6"));
    assert_eq!(line("bots"), ("bots = [\"1\", \"2\"]".to_owned(), "TIDEGATE_BOTS".to_owned()));
    assert_eq!(line("policy.telegram.settle_reserve").0, "policy.telegram.settle_reserve = 4");
    assert_eq!(line("admin_token").1, "TIDEGATE_ADMIN_TOKEN");
    assert!(!shown.contains("hidden"));
}

#[test]
fn an_error_names_key_line_and_reason() {
    for (config, words) in [
        ("lisen = \"x\"", &[".toml:1", "lisen", "nearest", "\"listen\""][..]),
        ("\n[telegram]\napi_url = \"x\"", &[".toml:3", "telegram.api_url", "\"telegram.api\""]),
        ("listen = 8787", &[".toml:1", "listen", "quotes"]),
        ("listen = \"nowhere\"", &[".toml:1", "listen", "127.0.0.1:8787"]),
        ("time_scale = 0", &[".toml:1", "time_scale"]),
        ("bots_max = -1", &[".toml:1", "bots_max"]),
        ("drain_timeout = \"10\"", &[".toml:1", "drain_timeout", "10min"]),
        ("buffer_total = \"1XB\"", &[".toml:1", "buffer_total", "64KiB"]),
        ("telegram.api = \"ftp://x\"", &[".toml:1", "telegram.api"]),
        ("telegram.api = \"http://user:pass@x\"", &[".toml:1", "telegram.api"]),
        ("telegram.policy = \"telegramm\"", &[".toml:1", "telegram.policy", "telegramm"]),
        ("telegram.api = \"http://h:1/x/bot\"", &[".toml:1", "telegram.api", "write \"http://h:1/x\""]),
        ("telegram.api = \"http://h:1/file/\"", &[".toml:1", "telegram.api", "write \"http://h:1\""]),
        ("discord.api = \"https://h/api\"", &[".toml:1", "discord.api", "write \"https://h\""]),
        ("discord.api = \"https://h/api/v10\"", &[".toml:1", "discord.api", "write \"https://h\""]),
        ("admin_token = \"\"", &[".toml:1", "admin_token", "is empty"]),
        ("record.dir = \"\"", &[".toml:1", "record.dir", "is empty"]),
        ("record.dir = \"/dev/null/x\"", &[".toml:1", "record.dir", "\"/dev/null\" is no folder"]),
        ("log = \"loud\"", &[".toml:1", "log"]),
        ("listen = \"a\n", &[".toml:1"]),
        ("[policy.telegram.buckets.group_minute]\nwindow = \"18\"", &[".toml:2", "group_minute", "18/60s"]),
        (
            "[policy.telegram.buckets.group_minut]\nwindow = \"18/60s\"",
            &[
                ".toml:2",
                "buckets.group_minut.window: there is no bucket \"group_minut\"",
                "nearest is \"group_minute\"",
            ],
        ),
        (
            "policy.telegram.surface.edti.auto_hold = \"1s\"",
            &[".toml:1", "there is no surface \"edti\"; the nearest is \"edit\""],
        ),
        (
            "policy.telegram.surface.edit.class.finl.max_hold = \"1s\"",
            &[".toml:1", "there is no class \"finl\"; the nearest is \"final\""],
        ),
        (
            "telegram.policy = \"telegram-forum\"\n[policy.telegram-forum]\ntyping_min_interval = \"500ms\"",
            &[".toml:3", "typing_min_interval: \"500ms\" is under the least, \"1s\""],
        ),
        (
            "telegram.policy = \"telegram-forum\"\npolicy.telegram-forum.send_min_interval = \"10ms\"",
            &[".toml:2", "send_min_interval: \"10ms\" is under the least, \"50ms\""],
        ),
        ("discord.gateway.send.period = \"0s\"", &[".toml:1", "discord.gateway.send.period: must be over 0"]),
        ("discord.gateway.identify.hold = \"0s\"", &[".toml:1", "discord.gateway.identify.hold: must be over 0"]),
        (
            "discord.gateway.send.queued_limit = 121",
            &[".toml:1", "send.queued_limit: 121 is over discord.gateway.send.platform_limit, which is 120"],
        ),
        (
            "discord.gateway.send.platform_limit = 99",
            &[".toml:1", "send.platform_limit: 99 is under discord.gateway.send.queued_limit, which is 100"],
        ),
        (
            "discord.gateway.send.subscription_limit = 101",
            &[".toml:1", "send.subscription_limit: 101 is over discord.gateway.send.queued_limit, which is 100"],
        ),
        (
            "[discord.gateway.reconnect]\nbackoff_min = \"2h\"",
            &[".toml:2", "backoff_min: \"2h\" is over discord.gateway.reconnect.backoff_max, which is \"15min\""],
        ),
        ("bots = [\"1\", \"mybot\"]", &[".toml:1", "bots: \"mybot\" is no bot's number"]),
        ("bots = [\"\"]", &[".toml:1", "bots: \"\" is no bot's number"]),
        ("\u{feff}bots_max = -1", &[".toml:1: bots_max"]),
        ("[policy.telegrm.buckets.x]\nwindow = \"18\"", &[".toml:2", "telegrm", "\"telegram\""]),
        ("listen = \"0.0.0.0:8787\"", &[".toml:1", "listen", "insecure"]),
        ("admin = \"0.0.0.0:8788\"", &[".toml:1", "admin", "admin_token"]),
        ("store.url = \"redis://x\"", &[".toml:1", "store.url", "memory"]),
    ] {
        let (code, told) = check(config, &[]);
        assert_eq!(code, Some(2), "{config}: {told}");
        for word in words {
            assert!(told.contains(word), "{config}: {told} lacks {word}");
        }
    }
    let (code, told) = check("", &[("TIDEGATE_TELEGRAM__APY", "x")]);
    assert_eq!(code, Some(2));
    assert!(told.contains("TIDEGATE_TELEGRAM__APY") && told.contains("telegram.api"), "{told}");
}

#[test]
fn an_api_may_stand_behind_a_path() {
    for config in
        ["telegram.api = \"http://h/robot\"", "telegram.api = \"http://h/v1\"", "discord.api = \"http://h/x/\""]
    {
        assert_eq!(check(config, &[]).0, Some(0), "{config}");
    }
}

#[test]
fn a_list_in_the_environment_may_be_one_of_toml() {
    for written in ["123456,77", " [\"123456\", \"77\"]"] {
        let (code, shown) = check("", &[("TIDEGATE_BOTS", written)]);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.lines().any(|line| line.starts_with("bots = [\"123456\", \"77\"]")), "{shown}");
    }
    let (code, told) = check("", &[("TIDEGATE_BOTS", "[\"1\"")]);
    assert!(code == Some(2) && told.contains("TIDEGATE_BOTS") && told.contains("list"), "{told}");
}

#[test]
fn a_folder_that_cannot_be_made_is_told_at_the_start() {
    let output =
        program(&["serve"], "listen = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\nrecord.dir = \"/proc/x\"").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("/proc/x (record.dir)"));
}

#[test]
fn what_others_set_in_the_environment_is_no_error() {
    let kubernetes =
        [("TIDEGATE_PORT", "tcp://10.0.0.1:80"), ("TIDEGATE_SERVICE_HOST", "10.0.0.1"), ("TIDEGATE_PORT_80_TCP", "x")];
    assert_eq!(check("", &kubernetes).0, Some(0));
}

#[test]
fn open_addresses_are_for_those_who_say_so() {
    let config = "listen = \"0.0.0.0:0\"\ninsecure = true\nadmin = \"0.0.0.0:0\"\nadmin_token = \"x\"\n";
    assert_eq!(check(config, &[]).0, Some(0));
}

#[test]
fn a_port_that_is_taken_is_told() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, "");
    for config in [
        format!("listen = \"{}\"\nadmin = \"127.0.0.1:0\"", house.listen),
        format!("listen = \"127.0.0.1:0\"\nadmin = \"{}\"", house.admin),
    ] {
        let output = program(&["serve"], &config).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains("cannot listen on"));
    }
}

#[test]
fn bad_usage_is_2() {
    for arguments in
        [&["--nothing"][..], &["serve", "--listen", "x"], &["check", "--config", "/nonexistent/tidegate.toml"]]
    {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tidegate")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_text_of_megabytes_is_quoted_by_its_beginning_and_a_token_not_at_all() {
    let long = "y".repeat(3_000_000);
    for config in [
        format!("{long} = 1"),
        format!("log = \"{long}\""),
        format!("bots = [\"{long}\"]"),
        format!("[policy.telegram.buckets.{long}]\nwindow = \"1/1s\""),
        format!("[policy.{long}]\nx = 1"),
        format!("listen = {long}"),
    ] {
        let (code, told) = check(&config, &[]);
        assert_eq!(code, Some(2));
        assert!(told.len() < 3_000 && !told.contains(&"y".repeat(121)), "{} bytes: {told:.300}", told.len());
    }
    let (code, told) = check("bots = [\"123:ABC-secret\"]", &[]);
    assert_eq!(code, Some(2));
    assert!(told.contains("no bot's number") && !told.contains("secret"), "{told}");
}

#[test]
fn numbers_at_their_bounds_a_mark_at_the_start_and_a_bucket_of_ones_own_are_taken() {
    let config = "\u{feff}bots = [\"1\"]\ntelegram.policy = \"telegram-forum\"\n\
                  discord.gateway.send.queued_limit = 120\ndiscord.gateway.send.subscription_limit = 120\n\
                  discord.gateway.reconnect.backoff_min = \"60s\"\n\
                  policy.telegram-forum.typing_min_interval = \"1s\"\n\
                  policy.telegram-forum.buckets.own = { scope = \"peer\", window = \"5/1s\" }\n";
    let (code, shown) = check(config, &[]);
    assert_eq!(code, Some(0), "{shown}");
}
