//! Child processes of the benchmarks: one measurement or one server each, because the log is
//! global to a process and memory is measured per process.

use std::future::Future;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pipeline::{self, Request};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::http_client::HttpClient;
use crate::servers::{self, Instrumentation};
use crate::{Outcome, echo};

/// Starts this program, or the baseline server, as a child.
pub(crate) fn spawn(work: &[&str]) -> Outcome<Child> {
    let ours = std::env::current_exe()?;
    let program = if work.contains(&"bare") { ours.with_file_name("bare-rmcp") } else { ours };
    Ok(Command::new(program)
        .arg("child")
        .args(work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // The child's log.
        .stderr(Stdio::null())
        .spawn()?)
}

/// Runs the work that the parent requested.
pub(crate) fn run(work: &[&str]) -> Outcome {
    match work {
        ["pipeline", variant, batches, calls] => {
            crate::pipeline::measure(variant, batches.parse()?, calls.parse()?)
        }
        ["ttm-first-search"] => crate::ttm::first_search(),
        ["cgt", count] => crate::cgt::measure(count.parse()?),
        ["serve", server, transport] => on_runtime(serve(server, transport))?,
        ["backtest", home, queries] => crate::backtest::measure_questions(home, queries),
        ["count", what, calls] => on_one_thread(count(what, calls.parse()?))?,
        _ => Err("unknown work".into()),
    }
}

fn on_runtime<T>(work: impl Future<Output = T>) -> Outcome<T> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work))
}

/// On one thread, so that instruction counts are reproducible.
pub(crate) fn on_one_thread<T>(work: impl Future<Output = T>) -> Outcome<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}

async fn serve(server: &str, transport: &str) -> Outcome {
    let home = tempfile::tempdir()?;
    let (kernel, _log) = match server {
        "panoply" => servers::kernel(Instrumentation::PRODUCTION, home.path())?,
        _ => servers::kernel(Instrumentation::BARE, home.path())?,
    };
    let (address, served) = match (server, transport) {
        ("panoply", "stdio") => {
            servers::panoply_stdio(kernel).await;
            return Ok(());
        }
        ("bare", "stdio") => {
            // The faster of rmcp's two stdio transports.
            let (input, output) = rmcp::transport::stdio_pipes();
            servers::bare_lines(input, output).await;
            return Ok(());
        }
        ("panoply", "http") => servers::panoply_http(kernel).await?,
        ("bare", "http") => servers::bare_http().await?,
        _ => return Err("unknown server".into()),
    };
    let (mut input, mut output) = rmcp::transport::stdio();
    output.write_all(format!("{address}\n").as_bytes()).await?;
    output.flush().await?;
    // The parent ends the measurement by closing standard input.
    let mut nothing = [0];
    tokio::select! {
        () = served => {}
        _ = input.read(&mut nothing) => {}
    }
    Ok(())
}

/// Makes `calls` calls of one kind, for an instruction counter.
async fn count(what: &str, calls: u64) -> Outcome {
    let home = tempfile::tempdir()?;
    match what {
        _ if what.starts_with("ttm-") => crate::ttm::count(what, calls).await,
        "pipeline" => count_calls(Instrumentation::BARE, echo::NAME, calls).await,
        "hit" => count_calls(Instrumentation::BARE, echo::CACHED_NAME, calls).await,
        "audited" => {
            count_calls(Instrumentation { audit: true, log: false }, echo::NAME, calls).await
        }
        "logged" => {
            count_calls(Instrumentation { audit: false, log: true }, echo::NAME, calls).await
        }
        "lines-panoply" | "lines-bare" => {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (input, output) = tokio::io::split(theirs);
            if what == "lines-bare" {
                tokio::spawn(servers::bare_lines(input, output));
            } else {
                let (kernel, _) = servers::kernel(Instrumentation::BARE, home.path())?;
                tokio::spawn(servers::panoply_lines(kernel, input, output));
            }
            let (read, mut write) = tokio::io::split(ours);
            let mut lines = BufReader::new(read).lines();
            write.write_all(HANDSHAKE.as_bytes()).await?;
            lines.next_line().await?;
            for id in 0..calls {
                write.write_all(format!("{}\n", call_message(id)).as_bytes()).await?;
                expect_answer(lines.next_line().await?.unwrap_or_default().as_bytes())?;
            }
            Ok(())
        }
        "http-panoply" | "http-bare" => {
            let (address, served) = if what == "http-bare" {
                servers::bare_http().await?
            } else {
                let (kernel, _) = servers::kernel(Instrumentation::BARE, home.path())?;
                servers::panoply_http(kernel).await?
            };
            tokio::spawn(served);
            let mut client = HttpClient::connect(address).await?;
            for id in 0..calls {
                expect_answer(client.post(&call_message(id)).await?)?;
            }
            Ok(())
        }
        _ => Err("unknown work".into()),
    }
}

async fn count_calls(instrumentation: Instrumentation, tool: &str, calls: u64) -> Outcome {
    let home = tempfile::tempdir()?;
    let (kernel, _log) = servers::kernel(instrumentation, home.path())?;
    let input = json!({"text": "hello"});
    for _ in 0..calls {
        call(&kernel, tool, &input).await?;
    }
    Ok(())
}

/// One call through the pipeline, as a transport makes it.
pub(crate) async fn call(kernel: &Arc<Kernel>, tool: &str, input: &Value) -> Outcome {
    match envelope(kernel, tool, input).await {
        Envelope::Result { is_error: false, .. } => Ok(()),
        refused => succeeded(refused).map(|_| ()),
    }
}

/// The `data` member of a reply in the unified envelope.
pub(crate) async fn data(kernel: &Arc<Kernel>, tool: &str, input: &Value) -> Outcome<Value> {
    let reply = answer(kernel, tool, input).await?;
    reply.get("data").cloned().ok_or_else(|| "a reply without data".into())
}

/// Size of a complete reply, including hints and audit.
pub(crate) async fn reply_bytes(kernel: &Arc<Kernel>, tool: &str, input: &Value) -> Outcome<usize> {
    let (text, structured, meta) = succeeded(envelope(kernel, tool, input).await)?;
    let reply = json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": false,
        "_meta": meta,
    });
    Ok(reply.to_string().len())
}

async fn answer(kernel: &Arc<Kernel>, tool: &str, input: &Value) -> Outcome<Value> {
    Ok(succeeded(envelope(kernel, tool, input).await)?.1)
}

async fn envelope(kernel: &Arc<Kernel>, tool: &str, input: &Value) -> Envelope {
    let trace = TraceId::new(uuid::Uuid::new_v4());
    let cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    let request = Request { tool, input: input.clone(), scope: &Scope::All };
    pipeline::call(kernel, request, cx).await
}

/// Text, structured content and `_meta` of a successful reply.
fn succeeded(envelope: Envelope) -> Outcome<(String, Value, Map<String, Value>)> {
    match envelope {
        Envelope::Result { is_error: false, text, structured, meta, .. } => {
            Ok((text, structured.map(|json| json.value()).unwrap_or_default(), meta.to_map()))
        }
        Envelope::Result { text, .. } => Err(text.into()),
        Envelope::Refusal { message, .. } => Err(message.into()),
    }
}

/// Handshake of a stdio session; the server sends one reply.
pub(crate) const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// A `tools/call` request.
pub(crate) fn call_message(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{}","arguments":{{"text":"hello"}}}}}}"#,
        echo::NAME
    )
}

/// Fails for an error reply, which would be faster than a successful one.
pub(crate) fn expect_answer(reply: &[u8]) -> Outcome {
    let good = br#""text":"hello""#;
    if reply.windows(good.len()).any(|window| window == good) {
        Ok(())
    } else {
        Err(format!("not an answer: {}", String::from_utf8_lossy(reply)).into())
    }
}
