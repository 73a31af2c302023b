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
        ("log = \"loud\"", &[".toml:1", "log"]),
        ("listen = \"a\n", &[".toml:1"]),
        ("[policy.telegram.buckets.group_minute]\nwindow = \"18\"", &[".toml:2", "group_minute", "18/60s"]),
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
