//! Where the Gateway is, and which hosts may be dialled at all.

use hyper::Uri;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};

use crate::wire::codec::Compression;

/// The Gateway's version, as the query names it.
const VERSION: &str = "10";

/// Why an address is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It is no address of a WebSocket.
    #[error("not a ws:// or wss:// address")]
    NotWebSocket,
    /// It lies elsewhere than the Gateway.
    #[error("its host is not the Gateway's")]
    Host,
    /// It is without TLS, and the Gateway's main address has it.
    #[error("it is without TLS")]
    Plain,
}

/// An address of the Gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    uri: Uri,
    host: String,
}

impl Address {
    /// Reads an address.
    pub(crate) fn new(written: &str) -> Result<Self, Refused> {
        let uri: Uri = written.parse().map_err(|_| Refused::NotWebSocket)?;
        let scheme = uri.scheme_str().unwrap_or_default();
        // Nothing but a host and, where there is more, a port: who the user is no address says.
        let is_plain =
            |authority: &&Authority| authority.as_str() == authority.host() || authority.port_u16().is_some();
        let authority = uri.authority().filter(is_plain).filter(|authority| !authority.as_str().contains('@'));
        let host = authority.map(|authority| plain(authority.host())).unwrap_or_default();
        if !matches!(scheme, "ws" | "wss") || host.is_empty() {
            return Err(Refused::NotWebSocket);
        }
        Ok(Self { uri, host })
    }

    /// Whether this may be dialled by somebody whose main Gateway address is `main`: a token is sent there.
    ///
    /// It may where its host is the main one's, a sibling of that, or under one of `hosts`, and where TLS is not lost. A
    /// sibling shares all labels but the first, and those are two or more: `gateway-us-east1-b.discord.gg` is one of
    /// `gateway.discord.gg`.
    pub(crate) fn allowed(&self, main: &Self, hosts: &[String]) -> Result<(), Refused> {
        if main.is_tls() && !self.is_tls() {
            return Err(Refused::Plain);
        }
        let is_sibling = || main.parent().is_some_and(|parent| is_under(&self.host, parent));
        let is_named = || hosts.iter().any(|host| is_under(&self.host, &plain(host)));
        if self.host == main.host || is_sibling() || is_named() { Ok(()) } else { Err(Refused::Host) }
    }

    /// As it is dialled: with the query that every Gateway address is given, resume addresses too.
    pub(super) fn dialled(&self, compression: Compression) -> Option<Uri> {
        build(self.uri.scheme()?.clone(), self.uri.authority()?.clone(), &self.target(compression))
    }

    /// As a connector knows it, that knows HTTP alone.
    pub(super) fn as_http(&self) -> Option<Uri> {
        let scheme = if self.is_tls() { Scheme::HTTPS } else { Scheme::HTTP };
        build(scheme, self.uri.authority()?.clone(), "/")
    }

    fn target(&self, compression: Compression) -> String {
        let path = match self.uri.path() {
            "" => "/",
            path => path,
        };
        let mut target = format!("{path}?v={VERSION}&encoding=json");
        if let Some(name) = compression.name() {
            target.push_str("&compress=");
            target.push_str(name);
        }
        let ours = |pair: &&str| {
            let name = pair.split('=').next().unwrap_or_default();
            !pair.is_empty() && !matches!(name, "v" | "encoding" | "compress")
        };
        for pair in self.uri.query().unwrap_or_default().split('&').filter(ours) {
            target.push('&');
            target.push_str(pair);
        }
        target
    }

    fn is_tls(&self) -> bool {
        self.uri.scheme_str() == Some("wss")
    }

    /// What is behind the first dot of a name of three labels or more. A number has none.
    fn parent(&self) -> Option<&str> {
        let is_number = self.host.starts_with('[') || self.host.parse::<std::net::Ipv4Addr>().is_ok();
        let (_, parent) = self.host.split_once('.').filter(|_| !is_number)?;
        parent.contains('.').then_some(parent)
    }
}

fn build(scheme: Scheme, authority: Authority, target: &str) -> Option<Uri> {
    let target: PathAndQuery = target.parse().ok()?;
    Uri::builder().scheme(scheme).authority(authority).path_and_query(target).build().ok()
}

fn is_under(host: &str, suffix: &str) -> bool {
    let before = host.strip_suffix(suffix);
    !suffix.is_empty() && before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// A host as it is compared.
fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
