//! The buckets' names as Discord last gave them. Libraries file a route under the name that an answer tells, so a refusal
//! of tidegate's own must tell the same.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use hyper::header::HeaderValue;
use tidegate_core::MethodKey;

/// Routes remembered at once.
const MOST: usize = 4096;
const LONGEST: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Names(Mutex<HashMap<MethodKey, HeaderValue, RandomState>>);

impl Names {
    pub(super) fn keep(&self, route: MethodKey, name: &HeaderValue) {
        let mut names = self.names();
        if name.len() > LONGEST || names.get(&route) == Some(name) {
            return;
        }
        if names.len() >= MOST {
            names.clear();
        }
        // Not a part of the answer that it came in, all of which would be kept.
        if let Ok(name) = HeaderValue::from_bytes(name.as_bytes()) {
            names.insert(route, name);
        }
    }

    pub(super) fn of(&self, route: MethodKey) -> Option<HeaderValue> {
        self.names().get(&route).cloned()
    }

    fn names(&self) -> MutexGuard<'_, HashMap<MethodKey, HeaderValue, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
