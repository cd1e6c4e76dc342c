//! Configuration files of MCP clients and the shape of their entries.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::Client;
use crate::env_vars::Environment;

/// A client with a configuration file.
#[derive(Debug)]
pub(in crate::commands) struct ClientFile {
    /// Display name.
    pub(in crate::commands) title: &'static str,
    /// Path of the file; `None` when the user's folder is unknown.
    pub(in crate::commands) path: Option<PathBuf>,
    /// JSON member that holds the servers.
    pub(in crate::commands) section: &'static str,
    /// Whether entries have a `type`.
    typed: bool,
    /// Instruction after writing the file.
    pub(super) then: &'static str,
}

pub(in crate::commands) const WITH_FILE: [Client; 3] =
    [Client::Claude, Client::Cursor, Client::Vscode];

impl ClientFile {
    /// Returns the file of a client; ChatGPT has none and takes a URL.
    pub(in crate::commands) fn of(client: Client, environment: &Environment) -> Option<Self> {
        let in_settings =
            |below: &str| environment.settings_folder().map(|folder| folder.join(below));
        match client {
            Client::Claude => Some(Self {
                title: "Claude Desktop",
                path: in_settings("Claude/claude_desktop_config.json"),
                section: "mcpServers",
                typed: false,
                then: "quit Claude Desktop and start it again",
            }),
            Client::Cursor => Some(Self {
                title: "Cursor",
                path: environment.user_folder().map(|home| home.join(".cursor/mcp.json")),
                section: "mcpServers",
                typed: false,
                then: "open Cursor's settings, Tools & MCP, and switch it on",
            }),
            Client::Vscode => Some(Self {
                title: "VS Code",
                path: in_settings("Code/User/mcp.json"),
                section: "servers",
                typed: true,
                then: "run `MCP: List Servers` in VS Code and start it",
            }),
            Client::Chatgpt => None,
        }
    }

    /// Builds the entry of a stdio server. Members that the user added, such as variables, are
    /// preserved.
    pub(super) fn entry(&self, server: &LocalServer, there: Option<&Value>) -> Value {
        let mut entry = there.and_then(Value::as_object).cloned().unwrap_or_default();
        if self.typed {
            entry.insert("type".to_owned(), "stdio".into());
        }
        entry.insert("command".to_owned(), server.program.clone().into());
        entry.insert("args".to_owned(), json!(server.arguments));
        if let Some(home) = &server.home {
            let variables = entry.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Some(variables) = variables.as_object_mut() {
                variables.insert(crate::env_vars::HOME.name.to_owned(), home.clone().into());
            }
        }
        Value::Object(entry)
    }
}

/// Command line of the server.
#[derive(Debug)]
pub(super) struct LocalServer {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Set when a flag or variable chose it: the client does not inherit the environment.
    pub(super) home: Option<String>,
}

impl LocalServer {
    pub(super) fn new(program: &Path, packs: &[String], home: Option<&Path>) -> Self {
        let arguments = std::iter::once("stdio".to_owned()).chain(packs.iter().cloned());
        Self {
            program: program.display().to_string(),
            arguments: arguments.collect(),
            home: home.map(|home| home.display().to_string()),
        }
    }
}

/// Client configuration of an HTTP server.
pub(in crate::commands) fn http_configuration(name: &str, url: &str, key_needed: bool) -> Value {
    let mut entry = json!({"type": "http", "url": url});
    if let (true, Some(entry)) = (key_needed, entry.as_object_mut()) {
        entry.insert("headers".to_owned(), json!({"Authorization": "Bearer YOUR_KEY"}));
    }
    let mut servers = Map::new();
    servers.insert(name.to_owned(), entry);
    json!({"mcpServers": servers})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_preserves_members_added_by_the_user() {
        let client = ClientFile::of(Client::Vscode, &Environment::default()).unwrap();
        let there = json!({"command": "old", "env": {"X": "1"}, "disabled": true});
        let server = LocalServer::new(Path::new("/p"), &["cgt".to_owned()], Some(Path::new("/h")));
        assert_eq!(
            client.entry(&server, Some(&there)),
            json!({
                "command": "/p",
                "env": {"X": "1", "PANOPLY_HOME": "/h"},
                "disabled": true,
                "type": "stdio",
                "args": ["stdio", "cgt"],
            })
        );
    }
}
