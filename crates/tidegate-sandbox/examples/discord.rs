//! A fake Discord on a port: `cargo run -p tidegate-sandbox --example discord -- 127.0.0.1:8082 0.1`.

use std::error::Error;

use tidegate_sandbox::discord::{Options, serve};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let addr = args.next().as_deref().unwrap_or("127.0.0.1:8082").parse()?;
    let scale = args.next().as_deref().unwrap_or("1").parse()?;
    let handle = serve(addr, Options { scale, ..Options::default() }).await?;
    println!("{}/api/v10/…, {0}/__sandbox/stats", handle.url());
    std::future::pending().await
}
