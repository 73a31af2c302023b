//! Errors for whom it is not known which platform is meant.

use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, VIA};
use hyper::{Response, StatusCode};

use super::body::Body;

/// A response with an error in the shapes of all platforms.
pub fn json(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes::Bytes::from(shaped(status.as_u16(), message))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(VIA, HeaderValue::from_static("1.1 tidegate"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// An error in the shapes of all platforms, for whom it is not known which is meant.
pub fn shaped(status: u16, message: &str) -> String {
    let body = serde_json::json!({
        "ok": false, "error_code": status, "description": message, "message": message, "code": 0,
    });
    body.to_string()
}
