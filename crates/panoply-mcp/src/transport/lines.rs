//! Line transport: newline-delimited JSON-RPC, with an error reply to every malformed line.
//!
//! rmcp's own transport ignores unparsable lines, because replies to them can cause an error storm
//! between two faulty peers (rust-sdk #938); a client with a bug then hangs. This transport answers
//! each malformed request with its JSON-RPC error code, but never answers a reply.
//! Memory is bounded: one line, a fixed number of requests in flight, and a limit of unread
//! replies. Beyond the limits the transport stops reading.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::frame::{self, Frame, MissingId};
use super::in_flight::InFlight;
use super::tool_call::{self, Answer, AnswerToolCalls, ToolCall};
use super::writer::{FINAL_WRITE_TIMEOUT, Output};

/// Limits of the line transport.
#[derive(Clone, Copy, Debug)]
pub struct LineLimits {
    /// Maximum bytes of a line. Longer lines are refused and skipped.
    pub line: usize,
    /// Maximum requests in flight. Beyond it the transport stops reading.
    pub in_flight: usize,
}

impl Default for LineLimits {
    fn default() -> Self {
        Self { line: 16 * 1024 * 1024, in_flight: 1024 }
    }
}

/// A session of newline-delimited JSON.
pub(crate) struct LineTransport<R, W> {
    reader: R,
    limits: LineLimits,
    buffer: BytesMut,
    /// Length of the prefix of `buffer` without a line feed.
    scanned: usize,
    /// Inside an overlong line that has been refused.
    skipping: bool,
    /// Whether the last line was answered by this transport.
    answered: bool,
    output: Output<W>,
    writer: JoinHandle<()>,
    in_flight: Arc<InFlight>,
    fast_path: Arc<dyn AnswerToolCalls + Send + Sync>,
    /// Running fast-path calls.
    running: TaskTracker,
    missing_id: MissingId,
    stop: CancellationToken,
    ending: CancellationToken,
}

/// Send failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// The peer closed the output.
    #[error("output is closed")]
    Closed,
    /// The reply could not be encoded; the request gets an internal error instead.
    #[error("reply could not be written as JSON")]
    Encoding(#[from] serde_json::Error),
}

/// Limit of list and resource requests in flight, whose replies are large and ready at once.
const MAX_LISTS_IN_FLIGHT: usize = 16;
const READ_SIZE: usize = 16 * 1024;
/// A larger read buffer is released after its line.
const MAX_RETAINED_BUFFER: usize = 256 * 1024;
/// Drain timeout of calls in flight after the input has ended; rmcp has the same.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Cancelling `stop` ends the input; the transport cancels it when the output fails. The
    /// transport cancels `ending` at the end of the input: from then on rmcp sends only replies.
    pub(crate) fn new(
        input: R,
        output: W,
        limits: LineLimits,
        fast_path: Arc<dyn AnswerToolCalls + Send + Sync>,
        stop: CancellationToken,
        ending: CancellationToken,
    ) -> Self {
        let (output, writer) = Output::new(output, stop.clone());
        Self {
            reader: input,
            limits,
            buffer: BytesMut::new(),
            scanned: 0,
            skipping: false,
            answered: false,
            output,
            writer,
            in_flight: Arc::default(),
            fast_path,
            running: TaskTracker::new(),
            missing_id: MissingId::default(),
            stop,
            ending,
        }
    }

    /// Returns the next message for rmcp. Cancel-safe: all state is in `self`.
    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.output.wait_for_backlog().await;
            self.in_flight.wait_below(self.limits.in_flight, MAX_LISTS_IN_FLIGHT).await;
            if std::mem::take(&mut self.answered) {
                // Yield: a client that sends calls without pause must not starve other tasks.
                tokio::task::consume_budget().await;
            }
            let line = match self.buffered_line() {
                Some(line) => line,
                None => match self.fill().await {
                    ReadOutcome::Some => continue,
                    // The last line may lack its line feed.
                    ReadOutcome::End if !self.buffer.is_empty() && !self.skipping => {
                        self.scanned = 0;
                        self.buffer.split().freeze()
                    }
                    ReadOutcome::End => return None,
                },
            };
            if let Some(message) = self.accept(&line) {
                return Some(message);
            }
        }
    }

    /// Parses a line into a message for rmcp, or answers it.
    fn accept(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() || line == b"\xef\xbb\xbf" {
            return None;
        }
        let rejection = match frame::parse(line) {
            Frame::Call(call) => match self.in_flight.begin(&call.id) {
                Some(cancel) => return self.take_call(call, cancel),
                None => frame::duplicate_id(&call.id),
            },
            Frame::Message(message) => match self.admit(&message) {
                Ok(()) => return Some(*message),
                Err(id) => frame::duplicate_id(&id),
            },
            Frame::Rejected(rejection) => rejection,
            Frame::UnsolicitedReply => return None,
        };
        tracing::debug!(code = rejection.code.0, reason = rejection.message, "refused a line");
        self.send_line(&rejection.to_line(self.missing_id));
        None
    }

    /// Answers a call on the fast path if possible; otherwise returns it for rmcp.
    fn take_call(
        &mut self,
        call: ToolCall,
        cancel: CancellationToken,
    ) -> Option<ClientJsonRpcMessage> {
        if !self.fast_path.accepts(&call, None) {
            let message = call.into_message();
            if let JsonRpcMessage::Request(request) = &message {
                self.note_version(request.request.get_meta().protocol_version());
            }
            return Some(message);
        }
        let id = call.id.clone();
        // A child token: a call that cancels itself at its deadline is still answered.
        let mut answer = self.fast_path.answer(call, None, cancel.child_token(), None);
        match tool_call::poll_once(&mut answer) {
            Some(reply) => {
                self.send_line(&line_or_error(reply, &id));
                self.in_flight.end(&id);
            }
            None => self.answer_in_task(answer, id, cancel),
        }
        None
    }

    fn answer_in_task(&self, answer: Answer, id: RequestId, cancelled: CancellationToken) {
        let (output, in_flight) = (self.output.clone(), Arc::clone(&self.in_flight));
        self.running.spawn(async move {
            let reply = answer.await;
            // The id of a cancelled call may have been reused.
            if !cancelled.is_cancelled() {
                let line = line_or_error(reply, &id);
                // Release the id before sending: the client may reuse it once it has the reply.
                in_flight.end(&id);
                let instead = || frame::backlog_full(&id).to_line(MissingId::Null);
                let _closed = output.send(line, instead).await;
            }
        });
    }

    /// Sends a line from the reading side. It may exceed the buffer limit by one line; reading
    /// resumes below the limit.
    fn send_line(&mut self, line: &[u8]) {
        self.answered = true;
        // A closed output ends the session.
        let _closed = self.output.send_now(line);
    }

    fn note_version(&mut self, version: Option<rmcp::model::ProtocolVersion>) {
        if let Some(version) = version {
            self.missing_id = MissingId::for_version(version.as_str());
        }
    }

    /// Registers a request or cancellation. Returns a duplicate id as the error.
    fn admit(&mut self, message: &ClientJsonRpcMessage) -> Result<(), RequestId> {
        match message {
            JsonRpcMessage::Request(request) => {
                self.note_version(request.request.get_meta().protocol_version());
                if is_list(&request.request) {
                    self.in_flight.begin_list(&request.id)
                } else {
                    self.in_flight.begin(&request.id).map(drop)
                }
                .ok_or_else(|| request.id.clone())
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // Cancelled requests get no reply, neither from rmcp nor from the fast path.
                    self.in_flight.cancel(id);
                }
                Ok(())
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(()),
        }
    }

    /// Takes the next complete line out of the buffer; refuses an overlong one.
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
            if line.len() > MAX_RETAINED_BUFFER {
                // The tail would otherwise keep the whole allocation alive.
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

    /// Discards the buffered part of an overlong line.
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
        self.send_line(&rejection.to_line(self.missing_id));
    }

    async fn fill(&mut self) -> ReadOutcome {
        self.buffer.reserve(READ_SIZE);
        match self.reader.read_buf(&mut self.buffer).await {
            Ok(0) => ReadOutcome::End,
            Ok(_) => ReadOutcome::Some,
            Err(error) => {
                tracing::warn!(%error, "input failed");
                ReadOutcome::End
            }
        }
    }
}

enum ReadOutcome {
    Some,
    End,
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
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
        let (output, in_flight) = (self.output.clone(), Arc::clone(&self.in_flight));
        async move {
            let encoded = encode(&item);
            drop(item);
            if let Some(id) = &answered {
                in_flight.end(id);
            }
            let line = encoded.map_err(SendError::Encoding)?;
            // A notification is dropped silently.
            let unread = |id: &RequestId| frame::backlog_full(id).to_line(MissingId::Null);
            let instead = || answered.as_ref().map(unread).unwrap_or_default();
            output.send(line, instead).await.map_err(|_closed| SendError::Closed)
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
        self.running.close();
        if tokio::time::timeout(DRAIN_TIMEOUT, self.running.wait()).await.is_err() {
            tracing::warn!(left = self.running.len(), "shutdown timeout with calls in flight");
        }
        self.output.close();
        if tokio::time::timeout(FINAL_WRITE_TIMEOUT, &mut self.writer).await.is_err() {
            tracing::warn!("output is not being read; last replies dropped");
            self.writer.abort();
        }
        Ok(())
    }
}

/// Whether the reply is a list or a resource.
fn is_list(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::ListToolsRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::GetPromptRequest(_)
    )
}

fn answered_id(item: &ServerJsonRpcMessage) -> Option<RequestId> {
    match item {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

fn encode(item: &ServerJsonRpcMessage) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(item)?;
    line.push(b'\n');
    Ok(line)
}

/// Appends the line feed. An encoding failure, which is a bug, becomes an internal error.
fn line_or_error(reply: serde_json::Result<Vec<u8>>, id: &RequestId) -> Vec<u8> {
    match reply {
        Ok(mut line) => {
            line.push(b'\n');
            line
        }
        Err(error) => {
            tracing::error!(%error, %id, "a reply could not be written as JSON");
            frame::encoding_failed(id).to_line(MissingId::Null).to_vec()
        }
    }
}

#[cfg(test)]
mod tests;
