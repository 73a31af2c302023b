//! Heads as they are written and read, without a connection.

use super::super::framing::Framing;
use super::super::head::{self, Head};
use super::*;
use crate::headers::{forward, look};

fn read(method: &Method, text: &str) -> Result<Head, String> {
    head::read(&Bytes::copy_from_slice(text.as_bytes()), method).map_err(|fault| fault.to_string())
}

fn got(text: &str) -> Head {
    read(&Method::POST, text).unwrap()
}

/// How the body of an answer with these headers is framed, and whether its connection may be used again.
fn framed(line: &str, headers: &str) -> (Framing, bool) {
    let head = got(&format!("{line}\r\n{headers}\r\n"));
    (head.framing, head.keeps)
}

#[test]
fn framings() {
    let framed = |headers| framed("HTTP/1.1 200 OK", headers);
    let (length, chunked, close) = (Framing::Length, Framing::chunked, Framing::Close);
    assert_eq!(framed("content-length: 12\r\n"), (length(12), true));
    assert_eq!(framed("Content-Length:0\r\n"), (length(0), true));
    assert_eq!(framed("content-length: 18446744073709551615\r\n"), (length(u64::MAX), true));
    assert_eq!(framed("content-length: 7\r\ncontent-length: 7\r\n"), (length(7), true));
    assert_eq!(framed("transfer-encoding: chunked\r\n"), (chunked(), true));
    assert_eq!(framed("Transfer-Encoding: Chunked \r\n"), (chunked(), true));
    assert_eq!(framed("transfer-encoding: gzip, chunked\r\n"), (chunked(), true));
    assert_eq!(framed("transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n"), (chunked(), true));
    assert_eq!(framed("transfer-encoding: chunked, gzip\r\n"), (close.clone(), false));
    assert_eq!(framed("transfer-encoding: identity\r\ncontent-length: 5\r\n"), (close.clone(), false));
    assert_eq!(framed(""), (close, false));
    // Who says both may mean either, so that nothing behind it is trusted.
    assert_eq!(framed("content-length: 5\r\ntransfer-encoding: chunked\r\n"), (chunked(), false));
    assert_eq!(framed("transfer-encoding: chunked\r\ncontent-length: 5\r\n"), (chunked(), false));
    assert_eq!(
        framed("connection: keep-alive\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n"),
        (chunked(), false)
    );
}

#[test]
fn who_keeps_a_connection() {
    let keeps =
        |version, headers| framed(&format!("HTTP/1.{version} 200 OK"), &format!("content-length: 0\r\n{headers}")).1;
    assert!(keeps(1, ""));
    assert!(keeps(1, "connection: keep-alive\r\n"));
    assert!(keeps(1, "connection: x-foo\r\n"));
    assert!(!keeps(1, "connection: close\r\n"));
    assert!(!keeps(1, "Connection: x-foo , CLOSE\r\n"));
    assert!(!keeps(1, "connection: close, keep-alive\r\n"));
    assert!(!keeps(1, "connection: keep-alive\r\nconnection: close\r\n"));
    assert!(!keeps(1, "connection: close\r\nconnection: keep-alive\r\n"));
    assert!(!keeps(0, ""));
    assert!(keeps(0, "connection: Keep-Alive\r\n"));
    assert!(!keeps(0, "connection: close\r\n"));
}

#[test]
fn answers_that_have_no_body() {
    for (method, line) in [
        (Method::HEAD, "HTTP/1.1 200 OK"),
        (Method::GET, "HTTP/1.1 204 No Content"),
        (Method::GET, "HTTP/1.1 304 Not Modified"),
    ] {
        for framing in ["content-length: 9\r\n", "transfer-encoding: chunked\r\n", ""] {
            let head = read(&method, &format!("{line}\r\n{framing}\r\n")).unwrap();
            assert_eq!((head.framing, head.keeps), (Framing::Length(0), true), "{line} {framing}");
        }
    }
    // What it would have been is the client's to know.
    assert_eq!(
        read(&Method::HEAD, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").unwrap().headers["content-length"],
        "9"
    );
}

#[test]
fn lengths_that_are_none() {
    for length in ["+5", "-5", "5,5", "5, 5", "5 5", "0x5", "5.0", "", "18446744073709551616", "５"] {
        let error = read(&Method::GET, &format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n")).unwrap_err();
        assert_eq!(error, "what came is no answer: its length is malformed", "{length:?}");
    }
    let error = read(&Method::GET, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n").unwrap_err();
    assert_eq!(error, "what came is no answer: it has two lengths");
}

#[test]
fn what_is_no_head() {
    for text in [
        "\r\n\r\n",
        "220 ftp.example.org ready\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: value\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: 1\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: \0\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: 1\rb: 2\r\n\r\n",
        // Its head ends before the end that was looked for.
        "HTTP/1.1 200 OK\r\ncontent-length: 4\n\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\ncontent-length: 4\n\r\nabcd\r\n\r\n",
    ] {
        assert!(read(&Method::GET, text).is_err(), "{text:?}");
    }
    // Without a reason, and with no space before it.
    assert_eq!(got("HTTP/1.1 200\r\n\r\n").status, 200);
    assert_eq!(got("HTTP/1.1 599 \r\n\r\n").status, 599);
}

#[test]
fn as_many_headers_as_a_request_may_have() {
    let with = |count| format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-a: b\r\n".repeat(count));
    assert_eq!(got(&with(256)).headers.get_all("x-a").iter().count(), 256);
    assert_eq!(read(&Method::GET, &with(257)).unwrap_err(), "what came is no answer: it has too many headers");
}

#[test]
fn what_is_the_connections_own_goes_no_further() {
    let head = got(
        "HTTP/1.1 200 OK\r\nconnection: x-foo, Content-Type, keep-alive,, X-BAR\r\nx-foo: 1\r\nx-bar: 2\r\n\
        keep-alive: timeout=5\r\nproxy-authenticate: a\r\nproxy-connection: b\r\nupgrade: h2c\r\ntrailer: x\r\nte: y\r\n\
        transfer-encoding: chunked\r\nX-Tidegate-Held: 5\r\nx-tidegate-other: 6\r\n\
        content-type: text/plain\r\nset-cookie: a\r\nset-cookie: b\r\nx-baz: 3\r\nx-foo: 4\r\n\r\n",
    );
    let mut left: Vec<_> = head.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    left.sort_unstable();
    assert_eq!(left, [("content-type", "text/plain"), ("set-cookie", "a"), ("set-cookie", "b"), ("x-baz", "3")]);
}

#[test]
fn one_length_goes_to_the_client_or_none() {
    let lengths = |headers: &str| {
        let head = got(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n"));
        head.headers.get_all("content-length").iter().count()
    };
    assert_eq!(lengths("content-length: 7\r\n"), 1);
    assert_eq!(lengths("content-length: 7\r\ncontent-length: 7\r\n"), 1);
    assert_eq!(lengths("content-length: 7\r\ntransfer-encoding: chunked\r\n"), 0);
}

#[test]
fn values_pass_as_they_are() {
    let text = b"HTTP/1.1 200 OK\r\nx-a: \xe4\xff\x80 \t\xc3\xa9\r\nx-b:  inner  space  \r\nx-c:\r\n\r\n";
    let head = head::read(&Bytes::from_static(text), &Method::GET).unwrap();
    assert_eq!(head.headers["x-a"].as_bytes(), b"\xe4\xff\x80 \t\xc3\xa9");
    assert_eq!((&head.headers["x-b"], &head.headers["x-c"]), (&"inner  space".parse().unwrap(), &"".parse().unwrap()));
}

fn written(api: &str, parts: &Parts, length: Option<u64>) -> String {
    let mut out = Vec::new();
    head::write(&mut out, &base(api), parts, length);
    String::from_utf8(out).unwrap()
}

#[test]
fn hosts_and_prefixes() {
    for (api, line, host) in [
        ("https://api.telegram.org", "/a?b=c", "api.telegram.org"),
        ("https://api.telegram.org:443/", "/a?b=c", "api.telegram.org"),
        ("http://localhost:80", "/a?b=c", "localhost"),
        ("http://localhost:443", "/a?b=c", "localhost:443"),
        ("https://localhost:80", "/a?b=c", "localhost:80"),
        ("http://127.0.0.1:8081/x/y/", "/x/y/a?b=c", "127.0.0.1:8081"),
        ("http://[::1]:8081/x", "/x/a?b=c", "[::1]:8081"),
        ("http://user:secret@h:1", "/a?b=c", "h:1"),
    ] {
        let head = written(api, &parts("GET", "/a?b=c", &[]), Some(0));
        assert_eq!(head, format!("GET {line} HTTP/1.1\r\nhost: {host}\r\n\r\n"), "{api}");
    }
}

#[test]
fn framing_of_requests() {
    let end = |method: &str, length| {
        let head = written("http://h", &parts(method, "/", &[]), length);
        head.strip_prefix(&format!("{method} / HTTP/1.1\r\nhost: h\r\n")).unwrap().to_owned()
    };
    for method in ["POST", "PUT", "PATCH"] {
        assert_eq!(end(method, Some(0)), "content-length: 0\r\n\r\n");
    }
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        assert_eq!(end(method, Some(0)), "\r\n");
    }
    assert_eq!(end("DELETE", Some(3)), "content-length: 3\r\n\r\n");
    assert_eq!(end("POST", Some(u64::MAX)), "content-length: 18446744073709551615\r\n\r\n");
    assert_eq!(end("GET", None), "transfer-encoding: chunked\r\n\r\n");
}

#[test]
fn what_a_client_says_of_its_own_connection_is_never_written() {
    let mut parts = parts(
        "POST",
        "/bot1:a/sendMessage",
        &[
            ("host", "evil"),
            ("content-length", "99"),
            ("connection", "keep-alive, x-foo"),
            ("x-foo", "1"),
            ("transfer-encoding", "chunked"),
            ("expect", "100-continue"),
            ("te", "trailers"),
            ("upgrade", "websocket"),
            ("proxy-authorization", "Basic abc"),
            ("x-tidegate-class", "final"),
            ("content-type", "text/plain"),
            ("x-a", "1"),
            ("x-a", "2"),
        ],
    );
    let seen = look(&parts.headers);
    forward(&mut parts.headers, &seen).unwrap();
    assert_eq!(
        written("http://h", &parts, Some(5)),
        "POST /bot1:a/sendMessage HTTP/1.1\r\nhost: h\r\ncontent-type: text/plain\r\nx-a: 1\r\nx-a: 2\r\n\
            content-length: 5\r\n\r\n"
    );
}
