//! The one writer of a session: replies leave whole, in order, and are flushed.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Writes what is queued until the queue ends. Cancels `stop` when the output breaks.
pub(super) async fn write_lines<W>(
    output: W,
    mut queue: mpsc::Receiver<Bytes>,
    stop: CancellationToken,
) where
    W: AsyncWrite + Unpin,
{
    let mut output = BufWriter::with_capacity(64 * 1024, output);
    let mut lines = Vec::new();
    while queue.recv_many(&mut lines, 64).await > 0 {
        if let Err(error) = write_batch(&mut output, &lines).await {
            // A client that went away is no fault of ours: we end as if it closed our input.
            tracing::info!(%error, "output is closed");
            stop.cancel();
            return;
        }
        lines.clear();
    }
}

async fn write_batch<W: AsyncWrite + Unpin>(output: &mut W, lines: &[Bytes]) -> io::Result<()> {
    for line in lines {
        output.write_all(line).await?;
    }
    output.flush().await
}
