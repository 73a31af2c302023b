use super::keys::{KEYS, nearest};
use super::value::{address, bytes, check, scale, url};
use super::{Config, Layers};

#[test]
fn every_default_fits_its_key() {
    let layers = Layers::defaults();
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let sourced = layers.0.get(key.path).unwrap_or_else(|| panic!("{}", key.path));
        check(key.kind, &sourced.value).unwrap_or_else(|reason| panic!("{}: {reason}", key.path));
    }
    Config::new(&layers).unwrap();
}

#[test]
fn the_nearest_key_is_named() {
    let near = |written| nearest(written, KEYS.iter().map(|key| key.path)).unwrap();
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
