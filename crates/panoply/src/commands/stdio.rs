//! `panoply stdio`: serves the client that started the program. Standard output carries only MCP.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use panoply_contract::context::Caller;
use panoply_contract::permission::Profile;
use panoply_mcp::McpServer;
use panoply_mcp::lifecycle::{self, Parent};
use panoply_mcp::presentation::InputErrors;
use tokio_util::sync::CancellationToken;

use super::{LogReader, Session, start_log};
use crate::app::App;
use crate::cli::Stdio;
use crate::config::Config;
use crate::failure::Failure;
use crate::out::notice;

pub(super) fn run(stdio: &Stdio, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?.with_flags(&stdio.serving);
    serve("panoply", &config, stdio.profile.into())
}

/// Serves one pack, for `cgt-mcp`.
pub(crate) fn serve_one(
    name: &'static str,
    pack: &str,
    session: &Session,
) -> Result<ExitCode, Failure> {
    let mut config = session.config()?;
    config.packs = vec![pack.to_owned()];
    // The pack's specification has JSON-RPC errors.
    if config.presentation.input_errors == InputErrors::Auto {
        config.presentation.input_errors = InputErrors::Protocol;
    }
    serve(name, &config, Profile::Owner)
}

fn serve(name: &'static str, config: &Config, profile: Profile) -> Result<ExitCode, Failure> {
    let _log = start_log(config, LogReader::Operator)?;
    if std::io::stdin().is_terminal() {
        notice(
            "This is a server for a client that starts it: it waits for JSON-RPC on standard input.",
        );
        notice("Connect a client with `panoply setup`, or try `panoply call`. Ctrl-C ends it.");
    }
    let stop = CancellationToken::new();
    super::serve(async |signals| {
        lifecycle::stop_on_request(signals, stop.clone(), Parent::Watched);
        let mut app = App::open(config)?;
        app.start_audit_maintenance(config);
        let server =
            McpServer::new(app.kernel.clone(), name).with_presentation(config.presentation);
        server.with_local_caller(Caller::local(profile)).serve_stdio(stop).await;
        app.close();
        Ok(ExitCode::SUCCESS)
    })?
}
