//! What all calls to one platform share.

use std::sync::{Arc, PoisonError, RwLock};

use hyper::Uri;
use hyper::header::HeaderValue;
use tidegate_core::policy::{Platform, Policy, Row, RowId};
use tidegate_tokio::Clock;
use tokio::sync::watch;

use super::hold::AnswerTimes;
use crate::bots::{Bots, Unproven};
use crate::settings::Bounds;
use crate::upstream::Base;

/// The way to a platform, its policy and its bots.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) base: Base,
    pub(crate) bots: Bots,
    pub(crate) unproven: Arc<Unproven>,
    pub(crate) times: AnswerTimes,
    surfaces: RwLock<Arc<Surfaces>>,
    /// Rung when held calls had better look whether they may still go.
    bell: watch::Sender<()>,
}

/// A policy, and the names of its rows as header values.
#[derive(Debug)]
pub(crate) struct Surfaces {
    pub(crate) policy: Arc<Policy>,
    gates: Vec<HeaderValue>,
}

impl Surfaces {
    fn new(policy: Arc<Policy>) -> Self {
        let any = match policy.platform {
            Platform::Telegram => HeaderValue::from_static("telegram"),
            Platform::Discord => HeaderValue::from_static("discord"),
        };
        let name = |row: &Row| HeaderValue::from_str(&format!("{}/{}", policy.name, row.gate)).unwrap_or(any.clone());
        Self { gates: policy.rows.iter().map(name).collect(), policy }
    }

    pub(super) fn gate(&self, row: RowId) -> Option<HeaderValue> {
        self.gates.get(usize::from(row.0)).cloned()
    }
}

impl AsRef<Edge> for Edge {
    fn as_ref(&self) -> &Edge {
        self
    }
}

impl Edge {
    /// `None` where the address names no host.
    pub(crate) fn new(api: &Uri, policy: &Arc<Policy>, clock: Clock, bounds: &Bounds) -> Option<Self> {
        Some(Self {
            base: Base::new(policy.platform, api)?,
            bots: Bots::new(Arc::clone(policy), clock, bounds),
            unproven: Unproven::new(bounds.unproven_failures),
            times: AnswerTimes::default(),
            surfaces: RwLock::new(Arc::new(Surfaces::new(Arc::clone(policy)))),
            bell: watch::Sender::new(()),
        })
    }

    pub(crate) fn surfaces(&self) -> Arc<Surfaces> {
        Arc::clone(&self.surfaces.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another policy from now on.
    pub(crate) fn set_policy(&self, policy: Arc<Policy>) {
        self.bots.set_policy(&policy);
        *self.surfaces.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Surfaces::new(policy));
    }

    /// Wakes all held calls, so that they look whether they may still go.
    pub(crate) fn ring(&self) {
        self.bell.send_replace(());
    }

    pub(super) fn bell(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }
}
