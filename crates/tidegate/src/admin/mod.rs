//! The operators' port.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::serve::Shared;

/// Serves operators until the process ends.
pub(crate) async fn serve(_shared: Arc<Shared>, listener: TcpListener) {
    let router = Router::new().route("/healthz", get(|| async { "ok\n" }));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "the admin port is not served");
    }
}
