//! Clients whose configuration is not written: what to do by hand.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::clients::LocalServer;
use super::word_of;
use crate::cli::{Client, Setup};
use crate::failure::Failure;
use crate::out::{BOLD, Out};

pub(super) fn print(
    client: Client,
    setup: &Setup,
    servers: &[(String, LocalServer)],
) -> Result<ExitCode, Failure> {
    if setup.write || setup.remove || setup.file.is_some() {
        let word = word_of(client);
        let (what, step) = match client {
            Client::Chatgpt => ("has no file to write", "follow the steps"),
            _ => ("keeps its servers in YAML, which is not edited", "copy what it prints"),
        };
        return Err(Failure::usage(format!("`{word}` {what}"))
            .hint(format!("run `panoply setup {word}` and {step}")));
    }
    let mut out = Out::new();
    match client {
        Client::Goose => {
            out.line(format_args!(
                "{BOLD}Goose{BOLD:#}: put this into `~/.config/goose/config.yaml`.\n"
            ))?;
            out.line("extensions:")?;
            for (name, server) in servers {
                out.line(format_args!("  {}:", json!(name)))?;
                for (member, value) in goose(name, server) {
                    out.line(format_args!("    {member}: {value}"))?;
                }
            }
        }
        Client::Continue => {
            out.line(format_args!(
                "{BOLD}Continue{BOLD:#}: put this into `~/.continue/config.yaml`.\n"
            ))?;
            out.line("mcpServers:")?;
            for (name, server) in servers {
                out.line(format_args!("  - name: {}", json!(name)))?;
                out.line(format_args!("    command: {}", json!(server.program)))?;
                out.line(format_args!("    args: {}", json!(server.arguments)))?;
                out.line(format_args!("    env: {}", variables(server)))?;
            }
        }
        _ => chatgpt(setup, &mut out)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Members of an extension of Goose. JSON values are YAML values.
fn goose(name: &str, server: &LocalServer) -> Vec<(&'static str, Value)> {
    vec![
        ("name", json!(name)),
        ("type", json!("stdio")),
        ("enabled", json!(true)),
        ("cmd", json!(server.program)),
        ("args", json!(server.arguments)),
        ("envs", variables(server)),
        ("timeout", json!(300)),
    ]
}

fn variables(server: &LocalServer) -> Value {
    match &server.home {
        Some(home) => json!({crate::env_vars::HOME.name: home}),
        None => json!({}),
    }
}

/// ChatGPT is a remote service: it needs a reachable URL.
fn chatgpt(setup: &Setup, out: &mut Out) -> Result<(), Failure> {
    let served: String = setup.packs.iter().map(|pack| format!(" {pack}")).collect();
    let url = setup.url.clone().unwrap_or_else(|| "https://tools.example.com/mcp".to_owned());
    let host = url
        .split("://")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .unwrap_or("tools.example.com");
    out.line(format_args!(
        "{BOLD}ChatGPT{BOLD:#} takes the address of a server that it can reach over HTTPS.\n"
    ))?;
    out.line("1. Choose who logs people in: set the three settings of an OAuth issuer (docs/operating.md).")?;
    out.line(format_args!("2. Serve:  panoply http{served} --allowed-host {host}"))?;
    out.line(format_args!(
        "3. Put a reverse proxy or tunnel with TLS in front of it, so that {url}"
    ))?;
    out.line("   leads to http://127.0.0.1:8642/mcp.")?;
    out.line(
        "4. In ChatGPT: Settings, Apps & Connectors, Advanced settings: switch on developer mode.",
    )?;
    out.line(format_args!(
        "5. Create a connector named `{}` with the URL {url} and OAuth.",
        setup.name
    ))?;
    Ok(())
}
