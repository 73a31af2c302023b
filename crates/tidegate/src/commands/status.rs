//! `tidegate status`: what a running tidegate says of itself, as a table.

mod table;

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use anyhow::{Context as _, bail};

const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: u64 = 64 << 20;

/// Asks the admin port at `admin` and prints what it says.
pub(crate) fn run(admin: &str, as_json: bool) -> anyhow::Result<()> {
    let body = fetch(admin)?;
    if as_json {
        println!("{}", body.trim_end());
        return Ok(());
    }
    print!("{}", table::table(&serde_json::from_str(&body).context("the answer is no JSON")?));
    Ok(())
}

fn fetch(admin: &str) -> anyhow::Result<String> {
    let uri: hyper::Uri = admin.parse().with_context(|| format!("\"{admin}\" is no address"))?;
    if uri.scheme_str().is_some_and(|scheme| scheme != "http") {
        bail!("\"{admin}\": only http:// is known here");
    }
    let host = uri.host().with_context(|| format!("\"{admin}\" names no host"))?;
    let port = uri.port_u16().unwrap_or(8788);
    let named = (host.trim_matches(['[', ']']), port).to_socket_addrs();
    let address = named.with_context(|| format!("{host} (port {port}) cannot be looked up"))?.next();
    let address = address.with_context(|| format!("{host} has no address"))?;
    let unreachable = || format!("no tidegate answers at {host}:{port}; is it running?");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).with_context(unreachable)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let token = std::env::var("TIDEGATE_ADMIN_TOKEN");
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET /v1/status HTTP/1.0\r\nHost: {host}:{port}\r\n{authorization}Connection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer).with_context(unreachable)?;
    let (head, body) = answer.split_once("\r\n\r\n").with_context(unreachable)?;
    match head.split_whitespace().nth(1) {
        Some("200") => Ok(body.to_owned()),
        // The page and what is beside it are not served by the listener for bots, and only that one names itself.
        _ if head.lines().any(|line| line.eq_ignore_ascii_case("via: 1.1 tidegate")) => bail!(
            "{host}:{port} is the port for bots (listen); --admin wants the operators' (admin, by default \
             http://127.0.0.1:8788)"
        ),
        Some("401") => bail!("the admin port wants its token: set TIDEGATE_ADMIN_TOKEN"),
        _ => bail!("it answered {}: {}", head.lines().next().unwrap_or_default(), body.trim()),
    }
}
