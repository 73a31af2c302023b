use std::fmt::Write as _;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{OTHER, TOKEN, call, get, post, raw, read, start};

/// A multipart body: fields before the file, the file, fields after it.
fn multipart(before: &[(&str, &str)], file_bytes: usize, after: &[(&str, &str)]) -> Vec<u8> {
    let field = |(name, value): &(&str, &str)| {
        format!("--xYz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").into_bytes()
    };
    let mut body: Vec<u8> = before.iter().flat_map(field).collect();
    body.extend_from_slice(b"--xYz\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a.bin\"\r\n");
    body.extend_from_slice(b"Content-Type: application/octet-stream\r\n\r\n");
    body.resize(body.len() + file_bytes, b'\n');
    body.extend_from_slice(b"\r\n");
    body.extend(after.iter().flat_map(field));
    body.extend_from_slice(b"--xYz--\r\n");
    body
}

const MULTIPART: &str = "multipart/form-data; boundary=xYz";

#[tokio::test]
async fn arguments_are_read_wherever_they_stand() {
    let handle = start(1.0).await;
    let path = format!("/bot{TOKEN}/sendMessage");
    let text = |reply: crate::client::Reply| reply.json()["result"]["text"].as_str().map(str::to_owned);
    let reply = get(&handle, &format!("{path}?chat_id=-5&text=in+the%20query%21")).await;
    assert_eq!(text(reply).as_deref(), Some("in the query!"));
    let reply = post(&handle, &path, "application/x-www-form-urlencoded", b"chat_id=-5&text=form+%26").await.unwrap();
    assert_eq!(text(reply).as_deref(), Some("form &"));
    let reply =
        post(&handle, &path, "application/json; charset=utf-8", br#"{"chat_id":-5,"text":"json"}"#).await.unwrap();
    assert_eq!(text(reply).as_deref(), Some("json"));
    // A body under GET, and an upper-case method in the test environment.
    let body = "chat_id=-5&text=body";
    let request = format!(
        "GET /bot{TOKEN}/test/SENDMESSAGE HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(text(raw(&handle, request.as_bytes()).await.unwrap()).as_deref(), Some("body"));
    assert_eq!(handle.stats().by_method["sendMessage"].accepted, 4);
}

#[tokio::test]
async fn a_long_query_is_taken() {
    let handle = start(1.0).await;
    let text = "%D1%8F".repeat(4096);
    let reply = get(&handle, &format!("/bot{TOKEN}/sendMessage?chat_id=-5&text={text}")).await;
    assert_eq!(reply.json()["result"]["text"].as_str().map(|text| text.chars().count()), Some(4096));
}

#[tokio::test]
async fn fields_of_an_upload_may_come_before_or_after_the_file() {
    let handle = start(1.0).await;
    let path = format!("/bot{TOKEN}/sendDocument");
    let args = [("chat_id", "-5"), ("caption", "#1")];
    for body in
        [multipart(&args, 3_000_000, &[]), multipart(&[], 3_000_000, &args), multipart(&args[..1], 0, &args[1..])]
    {
        let reply = post(&handle, &path, MULTIPART, &body).await.unwrap();
        assert_eq!(reply.json()["result"]["caption"], "#1", "{}", reply.text());
    }
    let reply = post(&handle, &path, MULTIPART, b"--xYz\r\nnonsense").await.unwrap();
    assert_eq!((reply.status, reply.json()["error_code"].as_u64()), (400, Some(400)));
}

#[tokio::test]
async fn a_chunked_upload_is_taken() {
    let handle = start(1.0).await;
    let body = multipart(&[], 200_000, &[("chat_id", "-5")]);
    let mut stream = TcpStream::connect(handle.addr).await.unwrap();
    let head = format!(
        "POST /bot{TOKEN}/sendDocument HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    for chunk in body.chunks(7001) {
        let mut size = String::new();
        write!(size, "{:x}\r\n", chunk.len()).unwrap();
        stream.write_all(size.as_bytes()).await.unwrap();
        stream.write_all(chunk).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let reply = read(&mut stream).await.unwrap();
    assert_eq!(reply.json()["result"]["document"]["file_name"], "file.bin", "{}", reply.text());
}

#[tokio::test]
async fn a_body_too_long_is_refused_before_it_is_sent() {
    let handle = start(1.0).await;
    let head = format!(
        "POST /bot{TOKEN}/sendDocument HTTP/1.1\r\nHost: x\r\nContent-Type: {MULTIPART}\r\nContent-Length: 99000000\r\n\r\n"
    );
    assert_eq!(raw(&handle, head.as_bytes()).await.unwrap().status, 413);
}

#[tokio::test]
async fn bad_requests_are_answered_in_telegrams_shape_and_the_connection_lives() {
    let handle = start(1.0).await;
    let mut stream = TcpStream::connect(handle.addr).await.unwrap();
    let mut ask = async |method: &str, path: &str, body: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = read(&mut stream).await.unwrap();
        (reply.status, reply.json()["description"].as_str().unwrap_or_default().to_owned())
    };
    let send = format!("/bot{TOKEN}/sendMessage");
    assert_eq!(ask("POST", &send, "[1]").await, (400, "Bad Request: can't parse request as JSON object".into()));
    assert_eq!(ask("POST", &send, "{").await.0, 400);
    assert_eq!(ask("PUT", &send, "").await, (405, "Method Not Allowed".into()));
    assert_eq!(ask("POST", "/bot1:short/getMe", "").await, (404, "Not Found".into()));
    assert_eq!(ask("POST", &format!("/bot{TOKEN}/nonsense"), "").await, (404, "Not Found: method not found".into()));
    assert_eq!(ask("GET", "/", "").await, (404, "Not Found".into()));
    assert_eq!(ask("GET", &format!("/bot{TOKEN}"), "").await.0, 404);
    assert_eq!(ask("GET", &format!("/bot{}/getMe", TOKEN.replace(':', "%3A")), "").await.0, 200);
}

#[tokio::test]
async fn a_bot_introduces_itself_and_files_come_down() {
    let handle = start(1.0).await;
    let me = call(&handle, "GetMe", json!({})).await.json();
    assert_eq!(
        me["result"],
        json!({"id": 123456, "is_bot": true, "first_name": "Sandbox", "username": "sandbox_123456_bot",
            "can_join_groups": true, "can_read_all_group_messages": false, "supports_inline_queries": false,
            "can_connect_to_business": false, "has_main_web_app": false})
    );
    let file = call(&handle, "getFile", json!({"file_id": "size_3000000"})).await.json();
    let path = file["result"]["file_path"].as_str().unwrap().to_owned();
    let reply = get(&handle, &format!("/file/bot{TOKEN}/{path}")).await;
    assert_eq!((reply.status, reply.body.len()), (200, 3_000_000));
    assert_eq!(get(&handle, &format!("/file/bot{TOKEN}/nowhere")).await.status, 404);
    assert_eq!(
        call(&handle, "getFile", json!({"file_id": "size_30000000"})).await.json()["description"],
        "Bad Request: file is too big"
    );
}

#[tokio::test]
async fn each_bot_has_budgets_of_its_own() {
    let handle = start(1.0).await;
    for token in [TOKEN, OTHER] {
        for _ in 0..20 {
            assert_eq!(get(&handle, &format!("/bot{token}/sendMessage?chat_id=-5&text=x")).await.status, 200);
        }
        assert_eq!(get(&handle, &format!("/bot{token}/sendMessage?chat_id=-5&text=x")).await.status, 429);
    }
}
