//! What stands behind `/api` or `/api/vN`.

/// `None` where the path is none of Discord's.
pub(super) fn behind_api(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/api")?;
    let inner = rest.strip_prefix('/')?;
    let (first, further) = inner.split_once('/').unwrap_or((inner, ""));
    let digits = first.strip_prefix('v').unwrap_or_default();
    let version = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some(if version { inner.get(inner.len() - further.len()..)? } else { rest })
}
