//! A minimal HTTP/1.1 client for repeated requests on one connection.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A persistent connection.
pub(crate) struct HttpClient {
    stream: TcpStream,
    head: String,
    received: Vec<u8>,
}

impl HttpClient {
    pub(crate) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n"
        );
        Ok(Self { stream, head, received: Vec::with_capacity(64 * 1024) })
    }

    /// Sends this API key with every request.
    pub(crate) fn with_key(mut self, key: &str) -> Self {
        self.head.push_str(&format!("Authorization: Bearer {key}\r\n"));
        self
    }

    /// Sends a request and returns the body of the reply.
    pub(crate) async fn post(&mut self, body: &str) -> io::Result<&[u8]> {
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.write_all(request.as_bytes()).await?;
        self.received.clear();
        loop {
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(start) = complete_reply(&self.received)? {
                return Ok(self.received.get(start..).unwrap_or_default());
            }
        }
    }
}

/// Offset of the body, once the reply is complete.
fn complete_reply(received: &[u8]) -> io::Result<Option<usize>> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let (head, body) = received.split_at(end + 4);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    if !head.starts_with("http/1.1 200") {
        let body = String::from_utf8_lossy(body);
        return Err(io::Error::other(format!("the server replied {head}{body}")));
    }
    let whole =
        match head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()) {
            Some(length) => body.len() >= length.parse().map_err(io::Error::other)?,
            // A chunked body.
            None => body.ends_with(b"0\r\n\r\n"),
        };
    Ok(whole.then_some(end + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_whole_when_its_last_byte_is_there() {
        let cases: [(&[u8], Option<usize>); 5] = [
            (b"HTTP/1.1 200 OK\r\nContent-Le", None),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", None),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Some(38)),
            (b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n2\r\n{}\r\n", None),
            (b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n2\r\n{}\r\n0\r\n\r\n", Some(25)),
        ];
        for (received, expected) in cases {
            let shown = String::from_utf8_lossy(received);
            assert_eq!(complete_reply(received).unwrap(), expected, "{shown}");
        }
        assert!(complete_reply(b"HTTP/1.1 403 Forbidden\r\n\r\n").is_err());
    }
}
