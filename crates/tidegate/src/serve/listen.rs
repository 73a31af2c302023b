//! One listener per thread, all on the same port.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

const BACKLOG: i32 = 1024;

/// As many listeners as there are threads. Where the system spreads connections over listeners of one port (Linux), each
/// thread has its own; elsewhere they share one.
pub(super) fn listeners(address: SocketAddr, threads: usize) -> io::Result<Vec<TcpListener>> {
    // Another process of the same user could share the port unnoticed; this finds it.
    let first = bind(address, false)?;
    if !cfg!(target_os = "linux") || threads == 1 {
        let mut all = vec![first];
        while all.len() < threads {
            all.push(all[0].try_clone()?);
        }
        return Ok(all);
    }
    let address = first.local_addr()?;
    drop(first);
    (0..threads).map(|_| bind(address, true)).collect()
}

fn bind(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    #[cfg(target_os = "linux")]
    socket.set_reuse_port(shared)?;
    #[cfg(not(target_os = "linux"))]
    let _ = shared;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
