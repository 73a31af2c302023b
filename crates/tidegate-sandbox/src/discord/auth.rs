//! Who calls.

use std::net::IpAddr;

use super::call::Call;
use super::route::{Kind, Route, hash};
use crate::tokens::Tokens;

/// Who calls, by the header `Authorization`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Bot(u64),
    /// A user's token, as a hash.
    Bearer(u64),
    Nobody,
}

/// Whose budget a call is counted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Bot(u64),
    Bearer(u64),
    Address(IpAddr),
    /// The resource's own: whoever holds its token.
    Anyone,
}

impl Caller {
    /// Reads the header; `None` is a 401.
    pub(crate) fn of(call: &Call, tokens: &Tokens) -> Option<Self> {
        let Some(header) = call.authorization.as_deref() else { return Some(Self::Nobody) };
        let (scheme, token) = header.trim().split_once(' ')?;
        let token = token.trim();
        if !tokens.take(token) {
            return None;
        }
        match scheme {
            "Bot" => bot_id(token).map(Self::Bot),
            "Bearer" if (1..=2048).contains(&token.len()) => Some(Self::Bearer(hash(token))),
            _ => None,
        }
    }

    pub(crate) fn bot(self) -> Option<u64> {
        if let Self::Bot(id) = self { Some(id) } else { None }
    }

    pub(crate) fn owner(self, from: IpAddr) -> Owner {
        match self {
            Self::Bot(id) => Owner::Bot(id),
            Self::Bearer(hash) => Owner::Bearer(hash),
            Self::Nobody => Owner::Address(from),
        }
    }
}

/// Routes that answer without `Authorization`.
pub(crate) fn is_open(route: &Route) -> bool {
    route.has_own_token() || matches!(route.kind, Kind::Gateway | Kind::Invite)
}

/// The bot's id, if the token has the shape of one: the id in base64, and two parts behind dots.
pub(crate) fn bot_id(token: &str) -> Option<u64> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-=".contains(&byte);
    let mut parts = token.split('.');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = |part: &str| (1..=128).contains(&part.len()) && part.bytes().all(plain);
    if parts.next().is_some() || ![first, second, third].into_iter().all(fits) {
        return None;
    }
    let id = String::from_utf8(base64(first)?).ok()?;
    id.parse().ok().filter(|id| *id > 0)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut have) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from(bits >> have & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_tells_its_bot() {
        assert_eq!(bot_id("MTIzNDU2.x.y"), Some(123456));
        assert_eq!(bot_id("ODA1MDE1MTA4MjMxNzk4ODM0.GAbCdE.aaaa_-aaaa"), Some(805015108231798834));
        assert_eq!(bot_id("NzY=.x.y"), Some(76));
        for wrong in ["", "MTIz", "MTIz.x", "MTIz.x.y.z", "abc.x.y", "MTIz..y", "MA.x.y", "M T.x.y", "\u{0661}.x.y"] {
            assert_eq!(bot_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_header_says_who_calls() {
        let of = |header: &str| {
            let call = Call { authorization: Some(header.to_owned()), ..Call::new("GET", "/users/@me") };
            let mut tokens = Tokens::default();
            tokens.revoke("MjI.x.y");
            Caller::of(&call, &tokens)
        };
        assert_eq!(of("Bot MTIzNDU2.x.y"), Some(Caller::Bot(123456)));
        assert_eq!(of("Bearer abc"), Some(Caller::Bearer(hash("abc"))));
        assert_eq!((of("MTIzNDU2.x.y"), of("Bot MjI.x.y"), of("Bearer "), of("Bot x")), (None, None, None, None));
    }
}
