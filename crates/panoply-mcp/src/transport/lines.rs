//! A session over lines: one JSON-RPC message a line, and an answer to every line.
//!
//! rmcp's own transport drops what it cannot parse, so a client with a bug hangs.
//! Here each bad line is answered with the code JSON-RPC gives it, the session goes
//! on, and memory is bounded whatever arrives: at most one line, one queue of
//! replies and a fixed number of requests in flight.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::frame::{self, Frame, MissingId};
use super::in_flight::InFlight;
use super::writer::write_lines;

/// What the transport accepts.
#[derive(Clone, Copy, Debug)]
pub struct LineLimits {
    /// The longest line in bytes. A longer one is refused and skipped.
    pub line: usize,
    /// How many requests may wait for their reply. Past it we stop reading.
    pub in_flight: usize,
}

impl Default for LineLimits {
    fn default() -> Self {
        Self { line: 16 * 1024 * 1024, in_flight: 1024 }
    }
}

/// A session over lines of JSON.
pub(crate) struct LineTransport<R> {
    reader: R,
    limits: LineLimits,
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no line feed.
    scanned: usize,
    /// Inside a line that was too long and has been answered.
    skipping: bool,
    /// An error reply that waits for room in the queue. It lives here because rmcp
    /// drops the future of `receive` whenever something else happens first.
    refusal: Option<Bytes>,
    replies: mpsc::Sender<Bytes>,
    writer: JoinHandle<()>,
    in_flight: Arc<InFlight>,
    missing_id: MissingId,
    stop: CancellationToken,
    ending: CancellationToken,
}

/// Why a reply could not be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// The peer closed the other end.
    #[error("output is closed")]
    Closed,
    /// A reply that is not JSON; the request is answered with an internal error instead.
    #[error("reply could not be written as JSON")]
    Encoding(#[from] serde_json::Error),
}

const QUEUED_REPLIES: usize = 256;
const READ_SIZE: usize = 16 * 1024;
/// A buffer that grew past this for one long line is given back afterwards.
const KEPT_BUFFER: usize = 256 * 1024;
/// How long closing waits for a peer that does not read.
const LAST_WRITE: Duration = Duration::from_millis(500);

impl<R: AsyncRead + Send + Unpin + 'static> LineTransport<R> {
    /// Starts the one writer of `output`. When `stop` is cancelled, input counts as
    /// ended; it is cancelled from here when the output breaks. `ending` is cancelled when
    /// the input has ended: from then on rmcp sends replies and nothing else.
    pub(crate) fn new<W>(
        input: R,
        output: W,
        limits: LineLimits,
        stop: CancellationToken,
        ending: CancellationToken,
    ) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (replies, queue) = mpsc::channel(QUEUED_REPLIES);
        let writer = tokio::spawn(write_lines(output, queue, stop.clone()));
        Self {
            reader: input,
            limits,
            buffer: BytesMut::new(),
            scanned: 0,
            skipping: false,
            refusal: None,
            replies,
            writer,
            in_flight: Arc::default(),
            missing_id: MissingId::default(),
            stop,
            ending,
        }
    }

    /// The next message for rmcp. Safe to drop at any await: all state is in `self`.
    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.send_refusal().await?;
            self.in_flight.wait_below(self.limits.in_flight).await;
            let line = match self.buffered_line() {
                Some(line) => line,
                None => match self.fill().await {
                    Filled::Some => continue,
                    // The last line may lack its line feed.
                    Filled::End if !self.buffer.is_empty() && !self.skipping => {
                        self.scanned = 0;
                        self.buffer.split().freeze()
                    }
                    Filled::End => return None,
                },
            };
            if let Some(message) = self.accept(&line) {
                return Some(message);
            }
        }
    }

    /// Reads a line into a message, or into a refusal.
    fn accept(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() || line == b"\xef\xbb\xbf" {
            return None;
        }
        let rejection = match frame::parse(line) {
            Frame::Message(message) => match self.admit(&message) {
                Ok(()) => return Some(*message),
                Err(id) => frame::duplicate(&id),
            },
            Frame::Rejected(rejection) => rejection,
            Frame::Stray => return None,
        };
        tracing::debug!(code = rejection.code.0, reason = rejection.message, "refused a line");
        self.refusal = Some(rejection.to_line(self.missing_id));
        None
    }

    /// Notes what a message changes here. An id in flight is handed back.
    fn admit(&mut self, message: &ClientJsonRpcMessage) -> Result<(), RequestId> {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Some(version) = request.request.get_meta().protocol_version() {
                    self.missing_id = MissingId::for_version(version.as_str());
                }
                self.in_flight.begin(&request.id)
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // rmcp sends no reply to a request that was cancelled.
                    self.in_flight.end(id);
                }
                Ok(())
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(()),
        }
    }

    async fn send_refusal(&mut self) -> Option<()> {
        if self.refusal.is_some() {
            let room = self.replies.reserve().await.ok()?;
            if let Some(line) = self.refusal.take() {
                room.send(line);
            }
        }
        Some(())
    }

    /// Takes the next whole line out of the buffer, and refuses one that grew too long.
    fn buffered_line(&mut self) -> Option<Bytes> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            let Some(found) = unseen.iter().position(|byte| *byte == b'\n') else {
                self.scanned = self.buffer.len();
                self.skip_if_long();
                return None;
            };
            let line = self.buffer.split_to(self.scanned + found + 1);
            self.scanned = 0;
            if line.len() > KEPT_BUFFER {
                // Otherwise the tail would keep the whole allocation alive.
                self.buffer = BytesMut::from(&self.buffer[..]);
            }
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if line.len() > self.limits.line {
                self.refuse_long(&line);
                return None;
            }
            return Some(line.freeze());
        }
    }

    /// Drops the part of a line that can no longer become a message.
    fn skip_if_long(&mut self) {
        if self.buffer.len() > self.limits.line && !self.skipping {
            let head = std::mem::take(&mut self.buffer);
            self.refuse_long(&head);
            self.skipping = true;
        }
        if self.skipping {
            self.buffer.clear();
            self.scanned = 0;
        }
    }

    fn refuse_long(&mut self, head: &[u8]) {
        let rejection = frame::too_long(head, self.limits.line);
        self.refusal = Some(rejection.to_line(self.missing_id));
    }

    async fn fill(&mut self) -> Filled {
        if self.refusal.is_some() {
            return Filled::Some;
        }
        self.buffer.reserve(READ_SIZE);
        match self.reader.read_buf(&mut self.buffer).await {
            Ok(0) => Filled::End,
            Ok(_) => Filled::Some,
            Err(error) => {
                tracing::warn!(%error, "input failed");
                Filled::End
            }
        }
    }
}

enum Filled {
    Some,
    End,
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = SendError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Response(response) = &item
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.missing_id = MissingId::for_version(result.protocol_version.as_str());
        }
        let answered = answered_id(&item);
        let replies = self.replies.clone();
        let in_flight = Arc::clone(&self.in_flight);
        async move {
            let sent = match encode(&item) {
                Ok(line) => replies.send(line).await.map_err(|_closed| SendError::Closed),
                Err(error) => Err(SendError::Encoding(error)),
            };
            if let Some(id) = answered {
                in_flight.end(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let stop = self.stop.clone();
        let stopped = pin!(stop.cancelled());
        let message = tokio::select! {
            biased;
            () = stopped => None,
            message = self.next_message() => message,
        };
        if message.is_none() {
            self.ending.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // The writer ends when the last sender is gone, and ours is the last.
        let (replaced, _nobody) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.replies, replaced));
        if tokio::time::timeout(LAST_WRITE, &mut self.writer).await.is_err() {
            tracing::warn!("output is not being read; gave up on the last replies");
            self.writer.abort();
        }
        Ok(())
    }
}

fn answered_id(item: &ServerJsonRpcMessage) -> Option<RequestId> {
    match item {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

fn encode(item: &ServerJsonRpcMessage) -> Result<Bytes, serde_json::Error> {
    let mut line = serde_json::to_vec(item)?;
    line.push(b'\n');
    Ok(Bytes::from(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::ServerHandler;
    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    };
    use rmcp::service::{RequestContext, serve_directly};
    use serde_json::{Value, json};
    use std::collections::HashSet;
    use tokio::io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    };
    use tokio::sync::Notify;

    /// Answers `echo` at once, and `wait` when the test says so.
    #[derive(Clone, Default)]
    struct Fixture {
        go: Arc<Notify>,
    }

    impl ServerHandler for Fixture {
        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            _context: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            if request.name == "wait" {
                self.go.notified().await;
            }
            let text = request.arguments.map(|arguments| Value::Object(arguments).to_string());
            Ok(CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]).into())
        }
    }

    struct Peer {
        input: Option<WriteHalf<DuplexStream>>,
        output: Lines<BufReader<ReadHalf<DuplexStream>>>,
        go: Arc<Notify>,
        served: JoinHandle<()>,
    }

    fn connect(limits: LineLimits) -> Peer {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let (stop, ending) = (CancellationToken::new(), CancellationToken::new());
        let fixture = Fixture::default();
        let go = Arc::clone(&fixture.go);
        let transport = LineTransport::new(read, write, limits, stop, ending);
        let served = tokio::spawn(async move {
            serve_directly(fixture, transport, None).waiting().await.unwrap();
        });
        let (read, write) = tokio::io::split(ours);
        Peer { input: Some(write), output: BufReader::new(read).lines(), go, served }
    }

    impl Peer {
        async fn say(&mut self, text: impl AsRef<[u8]>) {
            self.input.as_mut().unwrap().write_all(text.as_ref()).await.unwrap();
        }

        async fn hear(&mut self) -> Value {
            let line = tokio::time::timeout(Duration::from_secs(30), self.output.next_line());
            serde_json::from_str(&line.await.unwrap().unwrap().unwrap()).unwrap()
        }
    }

    fn call(id: u32, tool: &str) -> String {
        let params = json!({"name": tool, "arguments": {"n": id}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
            + "\n"
    }

    fn code_and_id(reply: &Value) -> (i64, Value) {
        (reply["error"]["code"].as_i64().unwrap_or_default(), reply["id"].clone())
    }

    #[tokio::test]
    async fn a_line_over_the_cap_is_refused_with_its_id_and_skipped() {
        let mut peer = connect(LineLimits { line: 1000, in_flight: 4 });
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":"{}"}}}}"#,
            "x".repeat(50_000)
        );
        peer.say(&long).await;
        peer.say("\n").await;
        peer.say(call(6, "echo")).await;
        assert_eq!(code_and_id(&peer.hear().await), (-32600, json!(5)));
        assert_eq!(peer.hear().await["id"], 6);
    }

    #[tokio::test]
    async fn an_id_in_flight_is_refused_until_it_is_answered() {
        let mut peer = connect(LineLimits::default());
        peer.say(call(1, "wait") + &call(1, "echo")).await;
        assert_eq!(code_and_id(&peer.hear().await), (-32600, json!(1)));
        peer.go.notify_one();
        assert_eq!(peer.hear().await["id"], 1);
        peer.say(call(1, "echo")).await;
        assert_eq!(peer.hear().await["id"], 1);
    }

    #[tokio::test]
    async fn a_cancelled_id_may_be_used_again() {
        let mut peer = connect(LineLimits::default());
        peer.say(call(1, "wait")).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        peer.say(format!("{cancel}\n")).await;
        peer.say(call(1, "echo")).await;
        assert_eq!(peer.hear().await["result"]["content"][0]["text"], r#"{"n":1}"#);
    }

    #[tokio::test]
    async fn more_requests_than_may_be_in_flight_are_all_answered() {
        let mut peer = connect(LineLimits { line: 1000, in_flight: 2 });
        let mut input = peer.input.take().unwrap();
        tokio::spawn(async move {
            for id in 0..500 {
                input.write_all(call(id, "echo").as_bytes()).await.unwrap();
            }
        });
        let mut answered = HashSet::new();
        for _ in 0..500 {
            answered.insert(peer.hear().await["id"].as_u64().unwrap());
        }
        assert_eq!(answered.len(), 500);
    }

    #[tokio::test]
    async fn a_last_line_without_line_feed_is_read_and_the_end_waits_for_its_reply() {
        let mut peer = connect(LineLimits::default());
        peer.say(call(1, "wait") + call(2, "echo").trim_end()).await;
        peer.input.take().unwrap().shutdown().await.unwrap();
        assert_eq!(peer.hear().await["id"], 2);
        peer.go.notify_one();
        assert_eq!(peer.hear().await["id"], 1);
        peer.served.await.unwrap();
    }

    #[tokio::test]
    async fn a_closed_output_ends_the_session() {
        let mut peer = connect(LineLimits::default());
        let mut input = peer.input.take().unwrap();
        drop(peer.output);
        // Both halves share the pipe; the first write of a reply finds it shut only when both are gone.
        input.write_all(call(1, "echo").as_bytes()).await.unwrap();
        drop(input);
        tokio::time::timeout(Duration::from_secs(30), peer.served).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn errors_omit_the_id_once_a_new_protocol_version_is_agreed() {
        let mut peer = connect(LineLimits::default());
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        peer.say(format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        ))
        .await;
        assert_eq!(peer.hear().await["result"]["protocolVersion"], "2025-11-25");
        peer.say("{\n").await;
        assert_eq!(peer.hear().await.get("id"), None);
    }
}
