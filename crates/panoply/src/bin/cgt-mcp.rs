//! `cgt-mcp`: serves only the cgt pack over stdio.
//!
//! It takes no arguments but `--help` and `--version`, because its clients pass none, and exits with
//! status 0 when its input ends and on SIGTERM, SIGINT and SIGHUP.

use std::process::ExitCode;

const ABOUT: &str = "UK Capital Gains Tax on shares, as an MCP server on standard input and output.

Clients start it without arguments, for example in the file of an MCP client:
  {\"mcpServers\": {\"cgt\": {\"command\": \"cgt-mcp\"}}}
It serves the cgt tools until its input ends. The same computation is on the command line as
`panoply cgt`; see `panoply cgt --help`.";

fn main() -> ExitCode {
    panoply::serve_one_pack("cgt-mcp", "cgt", ABOUT)
}
