//! Files that `getFile` names: made up, of the size that their id asks for.

use serde_json::{Value, json};

/// Bytes of a file whose id names no size.
pub(crate) const SIZE_DEFAULT: u64 = 1024;
/// Bots download up to 20 MB (<https://core.telegram.org/bots/api#getfile>).
pub(crate) const SIZE_MAX: u64 = 20 << 20;

/// The size a file id or path asks for: `size_5000` is 5,000 bytes.
pub(crate) fn size_bytes(name: &str) -> u64 {
    let digits = name.split_once("size_").map_or("", |(_, rest)| rest.split('.').next().unwrap_or_default());
    digits.parse().unwrap_or(SIZE_DEFAULT)
}

/// The `File` object, or the text of a 400.
pub(crate) fn object(file_id: &str) -> Result<Value, &'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if file_id.len() > 200 || !file_id.bytes().all(plain) {
        return Err("Bad Request: wrong file_id or the file is temporarily unavailable");
    }
    let size = size_bytes(file_id);
    if size > SIZE_MAX {
        return Err("Bad Request: file is too big");
    }
    Ok(json!({
        "file_id": file_id,
        "file_unique_id": format!("u{file_id}"),
        "file_size": size,
        "file_path": format!("documents/{file_id}.bin"),
    }))
}
