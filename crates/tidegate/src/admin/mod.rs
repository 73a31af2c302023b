//! The operators' port: a page, health, metrics and status. It trusts nobody.

mod gateway;
mod guard;
mod metrics;
mod status;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse};
use axum::routing::{get, post};
use axum::serve::Listener;
use axum::{Json, Router, middleware};
use serde_json::{Value, json};
use tidegate_core::bot::ShardKey;
use tidegate_core::shard::Status;
use tokio::net::TcpListener;

use tidegate_proxy::{Context, Socket};

use crate::app::App;

const PAGE: &str = include_str!("page.html");
/// The page runs its own script and talks to its own port only.
const PAGE_POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";

/// Serves operators until the process ends.
pub(crate) async fn serve(app: Arc<App>, listener: TcpListener) {
    let door = Door { listener, context: Arc::clone(&app.proxy.context) };
    if let Err(error) = axum::serve(door, router(app)).await {
        tracing::error!(%error, "the admin port is not served");
    }
}

/// Its connections end as those of bots do: with all that was said heard.
struct Door {
    listener: TcpListener,
    context: Arc<Context>,
}

impl Listener for Door {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        let (stream, client) = Listener::accept(&mut self.listener).await;
        (Socket::new(stream, Arc::clone(&self.context)), client)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|| async { ([(CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(PAGE)) }))
        .route("/metrics", get(metrics))
        .route("/v1/status", get(|State(app): State<Arc<App>>| async move { Json(status::status(&app)) }))
        .route("/v1/discord/{bot}/shards/{id}/restart", post(restart))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .fallback(|| async {
            (
                StatusCode::NOT_FOUND,
                "served here: / /metrics /healthz /readyz /v1/status and POST /v1/discord/{bot}/shards/{id}/restart\n",
            )
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], metrics::text(&app))
}

/// Re-arms a shard that stopped, or ends its wait.
async fn restart(State(app): State<Arc<App>>, Path((bot, id)): Path<(String, u32)>) -> (StatusCode, Json<Value>) {
    let shards = app.gateway.restart(&bot, id);
    if shards.is_empty() {
        let reason = "no bot with this application id has such a shard here";
        return (StatusCode::NOT_FOUND, Json(json!({"error": reason})));
    }
    let one = |(key, status, restarted): &(ShardKey, Status, bool)| json!({"shard": [key.id, key.count], "state": gateway::name(*status), "restarted": restarted});
    (StatusCode::OK, Json(json!({"shards": shards.iter().map(one).collect::<Vec<Value>>()})))
}

async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.proxy.context.drain.has_begun() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}
