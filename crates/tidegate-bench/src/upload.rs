//! A 50 MB upload through the built program.

use std::net::SocketAddr;

use anyhow::{Result, ensure};

use crate::http::load::Client;
use crate::http::program::Program;
use crate::proxy::{on_one_thread, platform};
use crate::spread::Spread;

/// Bytes of the file.
const FILE: usize = 50_000_000;
/// Measured uploads.
const TIMES: usize = 5;
const BOUNDARY: &str = "c1ea2b9f0d";

/// Measures and prints.
pub fn report() -> Result<()> {
    let grown = on_one_thread(async {
        let program = Program::tidegate(platform().await?, &[], &[])?;
        // The first call of a token and the first upload make what stays.
        upload(program.address, 1_000_000).await?;
        let mut grown = Vec::new();
        for _ in 0..TIMES {
            let before = program.resident(false)?;
            program.forget_peak()?;
            upload(program.address, FILE).await?;
            grown.push(program.resident(true)?.saturating_sub(before) as f64 / 1e6);
        }
        Ok(grown)
    })?;
    println!("an upload of {FILE} bytes, {TIMES} times: resident memory at its peak over that before it");
    println!("  {:.2} MB", Spread::of(grown));
    Ok(())
}

async fn upload(address: SocketAddr, file: usize) -> Result<()> {
    let fields = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"chat_id\"\r\n\r\n42\r\n--{BOUNDARY}\r\n\
         content-disposition: form-data; name=\"document\"; filename=\"tides.csv\"\r\ncontent-type: text/csv\r\n\r\n"
    );
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    let head = format!(
        "POST /bot110000000:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX/sendDocument HTTP/1.1\r\nhost: tidegate.test\r\n\
         x-tidegate-max-hold: 60s\r\ncontent-type: multipart/form-data; boundary={BOUNDARY}\r\n\
         content-length: {}\r\n\r\n{fields}",
        fields.len() + file + end.len()
    );
    let mut client = Client::connect(address).await?;
    client.send(head.as_bytes()).await?;
    let piece = vec![b'7'; 64 << 10];
    let mut left = file;
    while left > 0 {
        let length = left.min(piece.len());
        client.send(&piece[..length]).await?;
        left -= length;
    }
    client.send(end.as_bytes()).await?;
    let status = client.answer().await?;
    ensure!(status == 200, "the upload was answered {status}");
    Ok(())
}
