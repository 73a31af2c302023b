//! A reverse proxy of the same flavour without any gate: the same server, the same client, the same pool, one thread.

use std::convert::Infallible;
use std::time::Duration;

use anyhow::Result;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

type Upstream = Client<HttpsConnector<HttpConnector>, Incoming>;

/// Serves until the process is ended. Its first line is its address.
#[expect(clippy::print_stdout, reason = "whoever started it reads the address there")]
pub fn run(upstream: &str) -> Result<()> {
    let upstream: Authority = upstream.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{} .", listener.local_addr()?);
        let client = client()?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream, client.clone(), upstream.clone()));
        }
    })
}

fn client() -> Result<Upstream> {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let tls = tls.with_webpki_roots().with_no_client_auth();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(Duration::from_secs(10)));
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .http1_max_headers(256)
        .build(connector))
}

async fn serve(stream: TcpStream, client: Upstream, upstream: Authority) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (client, upstream) = (client.clone(), upstream.clone());
        async move { Ok::<_, Infallible>(pass(&client, &upstream, request).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(75))
        .max_headers(256)
        .max_buf_size(100 << 10);
    // Whoever asks sees that it ended.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

/// Passes a request on as it came. There is no answer for one that fails: nobody who measures sends such a one.
async fn pass(client: &Upstream, upstream: &Authority, request: Request<Incoming>) -> Response<Incoming> {
    let (mut head, body) = request.into_parts();
    let mut target = head.uri.into_parts();
    (target.scheme, target.authority) = (Some(Scheme::HTTP), Some(upstream.clone()));
    match Uri::from_parts(target) {
        Ok(uri) => head.uri = uri,
        Err(_) => return std::future::pending().await,
    }
    head.headers.remove(HOST);
    match client.request(Request::from_parts(head, body)).await {
        Ok(response) => response,
        Err(_) => std::future::pending().await,
    }
}
