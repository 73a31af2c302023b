use tidegate_core::policy::nearest;
use toml::Value;

use super::keys::{Kind, keys};
use super::value::{address, bytes, check, gateway_url, scale, shares_ppm, spans, url};
use super::{Config, Layers};

#[test]
fn every_default_fits_its_key() {
    let layers = Layers::defaults();
    for key in keys().filter(|key| !key.default.is_empty()) {
        let sourced = layers.0.get(key.path).unwrap_or_else(|| panic!("{}", key.path));
        check(key.kind, &sourced.value).unwrap_or_else(|reason| panic!("{}: {reason}", key.path));
    }
    Config::new(&layers).unwrap();
}

#[test]
fn the_nearest_key_is_named() {
    let near = |written| nearest(written, keys().map(|key| key.path)).unwrap();
    assert_eq!((near("lisen"), near("telegram.apy"), near("bot_max")), ("listen", "telegram.api", "bots_max"));
}

#[test]
fn values_are_read_as_people_write_them() {
    assert_eq!(bytes(&"64KiB".into()), Ok(65_536));
    assert_eq!(bytes(&" 2 MiB ".into()), Ok(2 << 20));
    assert_eq!(bytes(&7.into()), Ok(7));
    assert!(bytes(&(-7).into()).is_err() && bytes(&"99999999999999GiB".into()).is_err());
    assert_eq!(address("localhost:1").unwrap().to_string(), "127.0.0.1:1");
    assert!(url("https://h/p").is_ok() && url("https://h/?q").is_err() && url("h:1").is_err());
    assert!(scale(&1.into()).is_ok() && scale(&0.into()).is_err() && scale(&f64::NAN.into()).is_err());
}

/// `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_reference_is_as_the_program_has_it() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let page = super::reference().unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference.md is not what `tidegate check --reference` prints: UPDATE_EXPECT=1 cargo test -p tidegate --bins reference"
    );
}

#[test]
fn the_gateways_defaults_are_those_of_the_gates() {
    let gateway = Config::new(&Layers::defaults()).unwrap().gateway;
    let own = tidegate_core::shard::Settings { autonomous: false, ..Default::default() };
    assert_eq!(format!("{:?}", gateway.shard), format!("{own:?}"));
    assert_eq!(gateway.send_queue, tidegate_core::send_queue::Settings::default());
    // The wire needs a margin that replays do without.
    let margin = tidegate_core::Span::from_millis(25);
    let own = tidegate_core::identify_queue::Settings { spacing_margin: margin, ..Default::default() };
    assert_eq!(gateway.identify_queue, own);
}

#[test]
fn ranges_and_words_are_checked() {
    let list = |a: &str, b: &str| Value::Array(vec![a.into(), b.into()]);
    assert!(spans(&list("1s", "5s")).is_ok() && spans(&list("5s", "1s")).is_err() && spans(&"1s".into()).is_err());
    let shares = |a: f64, b: f64| shares_ppm(&Value::Array(vec![a.into(), b.into()]));
    assert_eq!(shares(0.5, 1.0), Ok((500_000, 1_000_000)));
    assert!(shares(1.0, 0.5).is_err() && shares(-0.1, 1.0).is_err() && shares(0.0, f64::NAN).is_err());
    assert!(check(Kind::OneOf(&["park", "stop"]), &"park".into()).is_ok());
    assert!(check(Kind::OneOf(&["park", "stop"]), &"halt".into()).unwrap_err().contains("park, stop"));
    assert_eq!(gateway_url("ws://h:1/"), Ok("ws://h:1".to_owned()));
    assert!(gateway_url("http://h").is_err() && gateway_url("ws://h/p").is_err() && gateway_url("ws://u@h").is_err());
}
