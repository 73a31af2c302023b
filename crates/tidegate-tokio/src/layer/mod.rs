//! A `tower::Layer` that governs any HTTP client.
//!
//! ```text
//! request ─▶ Classify ─▶ governor: held ─▶ inner service ─▶ Judge ─▶ response
//!               │ None       │ refused, dropped,      ▲       │ 429, may be repeated
//!               ▼            ▼ superseded             └───────┘
//!         inner service   GovernError
//! ```
//!
//! The layer needs nothing of a client but `tower_service::Service`. [`Classify`] says what a request is to the governor,
//! [`Judge`] what a response means; [`Telegram`] and [`Discord`] are both, for `http::Request` and `http::Response`.
//!
//! ```
//! use std::convert::Infallible;
//! use std::future::{Ready, ready};
//! use std::sync::Arc;
//! use std::task::{Context, Poll};
//!
//! use tidegate_core::governor::Governor;
//! use tidegate_core::policy::Policy;
//! use tidegate_tokio::layer::{GovernError, GovernorLayer, Telegram};
//! use tidegate_tokio::{Clock, Driver};
//! use tower_layer::Layer as _;
//! use tower_service::Service;
//!
//! type Request = http::Request<Vec<u8>>;
//!
//! /// Stands for hyper, reqwest, or what else a program sends with.
//! #[derive(Clone)]
//! struct Client;
//!
//! impl Service<Request> for Client {
//!     type Response = http::Response<()>;
//!     type Error = Infallible;
//!     type Future = Ready<Result<Self::Response, Infallible>>;
//!     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
//!         Poll::Ready(Ok(()))
//!     }
//!     fn call(&mut self, _: Request) -> Self::Future {
//!         ready(Ok(http::Response::new(())))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One driver for each bot token.
//! let policy = Arc::new(Policy::load("telegram", &[])?);
//! let driver = Driver::new(Governor::new(Arc::clone(&policy), false), Clock::new(1.0), |_note| {});
//! driver.spawn_timer();
//! let mut client = GovernorLayer::new(driver, Telegram::new(policy)).layer(Client);
//!
//! let body = br#"{"chat_id": 5, "text": "hello"}"#.to_vec();
//! let request = http::Request::post("http://localhost/bot1:token/sendMessage").body(body)?;
//! match client.call(request).await {
//!     Ok(response) => assert!(response.status().is_success()),
//!     Err(GovernError::Refused(refused)) => println!("come back in {:?}", refused.retry_after),
//!     Err(other) => return Err(other.into()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a request cannot say by itself it carries in its extensions: a [`Class`](tidegate_core::governor::Class), a
//! [`MaxHold`], a [`Peer`](tidegate_core::Peer). None of them is sent.
//!
//! Not seen here, unlike in the proxy: what stands in a response's *body*. Telegram's `migrate_to_chat_id` and a flood wait
//! inside a 400 are such; tell the driver of them (`Input::Migrate`, `Input::Cooldown`) where a program reads them.

mod classify;
mod discord;
mod error;
mod govern;
mod header;
mod telegram;

#[cfg(test)]
mod tests;

pub use self::classify::{Classify, Judge, MaxHold, Verdict};
pub use self::discord::Discord;
pub use self::error::{GovernError, Refused};
pub use self::govern::{Governed, GovernorDriver, GovernorLayer};
pub use self::telegram::Telegram;
