//! Reading HTTP requests: arguments wherever they stand, bodies of any length in bounded memory.

mod multipart;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{HeaderMap, Request};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use multipart::Multipart;

/// Bytes of arguments that are kept of one request; uploads are counted and thrown away.
const KEPT_MAX: usize = 1 << 20;

/// What a request carries.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// What stands behind the question mark.
    pub(crate) query: Vec<(String, String)>,
    /// Text of a form, by name, in the order found.
    pub(crate) pairs: Vec<(String, String)>,
    /// A JSON body.
    pub(crate) json: Map<String, Value>,
    /// A JSON body that is an array.
    pub(crate) list: Option<Vec<Value>>,
    /// Names of the uploads and their bytes.
    pub(crate) files: Vec<(String, u64)>,
}

/// Why a request's body is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyFault {
    TooLarge,
    Malformed(&'static str),
    /// The client stopped in the middle.
    Cut,
}

/// Splits `a=1&b=2`, with `+` for a space.
pub(crate) fn form(text: &str) -> Vec<(String, String)> {
    let decode = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

/// Reads query and body of a request to the end; a body of more than `body_max` bytes is refused.
pub(crate) async fn fields(request: Request<Incoming>, body_max: u64) -> Result<Fields, BodyFault> {
    let mut fields = Fields { query: form(request.uri().query().unwrap_or_default()), ..Fields::default() };
    let (head, body) = request.into_parts();
    let kind = header(&head.headers, CONTENT_TYPE.as_str()).to_owned();
    let length: Option<u64> = header(&head.headers, CONTENT_LENGTH.as_str()).parse().ok();
    if length.is_some_and(|length| length > body_max) {
        return Err(BodyFault::TooLarge);
    }
    let plain = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if plain == "multipart/form-data" {
        let boundary = boundary(&kind).ok_or(BodyFault::Malformed("boundary is missing"))?;
        let mut parser = Multipart::new(&boundary, KEPT_MAX);
        stream(body, body_max, |chunk| parser.feed(chunk)).await?;
        let (pairs, files) = parser.finish()?;
        fields.pairs.extend(pairs);
        fields.files = files;
        return Ok(fields);
    }
    let mut kept = Vec::new();
    stream(body, body_max, |chunk| {
        if kept.len() + chunk.len() > KEPT_MAX {
            return Err(BodyFault::TooLarge);
        }
        kept.extend_from_slice(chunk);
        Ok(())
    })
    .await?;
    match plain.as_str() {
        "application/json" if !kept.is_empty() => match serde_json::from_slice(&kept) {
            Ok(Value::Object(object)) => fields.json = object,
            Ok(Value::Array(list)) => fields.list = Some(list),
            _ => return Err(BodyFault::Malformed("can't parse request as JSON object")),
        },
        "application/x-www-form-urlencoded" => fields.pairs.extend(form(&String::from_utf8_lossy(&kept))),
        _ => {}
    }
    Ok(fields)
}

async fn stream(
    mut body: Incoming,
    body_max: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), BodyFault>,
) -> Result<(), BodyFault> {
    let mut total: u64 = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(BodyFault::Cut) };
        let Some(chunk) = frame.data_ref() else { continue };
        total += chunk.len() as u64;
        if total > body_max {
            return Err(BodyFault::TooLarge);
        }
        take(chunk)?;
    }
    Ok(())
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The boundary of a multipart content type, 1 to 70 characters.
fn boundary(kind: &str) -> Option<String> {
    kind.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let fits = name.trim().eq_ignore_ascii_case("boundary") && (1..=70).contains(&value.len());
        fits.then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_decoded() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(form("a=1+2&b=%23x&c&&=d"), [pair("a", "1 2"), pair("b", "#x"), pair("c", ""), pair("", "d")]);
        assert_eq!(form("%zz=%ff"), [pair("%zz", "\u{fffd}")]);
    }

    #[test]
    fn boundaries_may_be_quoted() {
        assert_eq!(boundary("multipart/form-data; charset=utf-8; Boundary=\"a b\"").as_deref(), Some("a b"));
        assert_eq!(boundary("multipart/form-data; boundary=----x").as_deref(), Some("----x"));
        assert_eq!(boundary("multipart/form-data; boundary="), None);
    }
}
