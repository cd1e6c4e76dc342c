//! A session over lines: one JSON-RPC message a line, and an answer to every line.
//!
//! rmcp's own transport drops what it cannot parse, so a client with a bug hangs.
//! Here each bad line is answered with the code JSON-RPC gives it, the session goes
//! on, and memory is bounded whatever arrives: at most one line, a fixed number of requests in
//! flight, and replies that are not read up to a limit. Past it we stop reading.

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
pub(crate) struct LineTransport<R, W> {
    reader: R,
    limits: LineLimits,
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no line feed.
    scanned: usize,
    /// Inside a line that was too long and has been answered.
    skipping: bool,
    /// Whether the last line led to a reply that was sent from here.
    answered: bool,
    output: Output<W>,
    writer: JoinHandle<()>,
    in_flight: Arc<InFlight>,
    /// Answers most calls without rmcp.
    fast_path: Arc<dyn AnswerToolCalls + Send + Sync>,
    /// Calls answered here whose handlers had to wait.
    running: TaskTracker,
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

/// Requests for lists and documents in flight: their replies are large, and ready at once.
const MAX_LISTS_IN_FLIGHT: usize = 16;
const READ_SIZE: usize = 16 * 1024;
/// A buffer that grew past this for one long line is given back afterwards.
const MAX_RETAINED_BUFFER: usize = 256 * 1024;
/// How long calls in flight may take once the input has ended; rmcp gives its own as long.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// When `stop` is cancelled, input counts as ended; it is cancelled from here when the output
    /// breaks. `ending` is cancelled when the input has ended: from then on rmcp sends replies and
    /// nothing else.
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

    /// The next message for rmcp. Safe to drop at any await: all state is in `self`.
    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.output.wait_for_backlog().await;
            self.in_flight.wait_below(self.limits.in_flight, MAX_LISTS_IN_FLIGHT).await;
            if std::mem::take(&mut self.answered) {
                // A client that sends call after call must not keep the others from their turn.
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

    /// Reads a line into a message for rmcp, or answers it here.
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

    /// Answers a call where it was read, if that can be done; otherwise it is rmcp's.
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
        // A child: the work may stop itself, at its deadline, and is answered all the same.
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
            // The id of a call that was cancelled may be another's by now.
            if !cancelled.is_cancelled() {
                let line = line_or_error(reply, &id);
                // Before the reply goes out: the client may use the id again once it has read it.
                in_flight.end(&id);
                let instead = || frame::backlog_full(&id).to_line(MissingId::Null);
                let _closed = output.send(line, instead).await;
            }
        });
    }

    /// Sends a line from the reading side. It may exceed what may wait, by one line: reading goes
    /// on only when there is room again.
    fn send_line(&mut self, line: &[u8]) {
        self.answered = true;
        // A closed output stops the session by itself.
        let _closed = self.output.send_now(line);
    }

    fn note_version(&mut self, version: Option<rmcp::model::ProtocolVersion>) {
        if let Some(version) = version {
            self.missing_id = MissingId::for_version(version.as_str());
        }
    }

    /// Notes what a message changes here. An id in flight is handed back.
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
                    // No reply is sent to a request that was cancelled, by rmcp or by us.
                    self.in_flight.cancel(id);
                }
                Ok(())
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Ok(()),
        }
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
            if line.len() > MAX_RETAINED_BUFFER {
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
            // A notification is dropped without a word.
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
            tracing::warn!(left = self.running.len(), "calls were still running at the end");
        }
        self.output.close();
        if tokio::time::timeout(FINAL_WRITE_TIMEOUT, &mut self.writer).await.is_err() {
            tracing::warn!("output is not being read; gave up on the last replies");
            self.writer.abort();
        }
        Ok(())
    }
}

/// Whether the reply is a list or a document.
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

/// No reply of ours fails to become JSON; if one does, its caller must not wait for ever.
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
