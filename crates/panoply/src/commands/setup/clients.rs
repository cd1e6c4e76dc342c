//! Where each client keeps its servers, and what an entry looks like there.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::Client;
use crate::env_vars::Environment;

/// A client whose servers are in a file.
#[derive(Debug)]
pub(in crate::commands) struct ClientFile {
    /// The client's name for people.
    pub(in crate::commands) title: &'static str,
    /// Its file; `None` when we do not know the user's folder.
    pub(in crate::commands) path: Option<PathBuf>,
    /// The member of the file that holds the servers.
    pub(in crate::commands) section: &'static str,
    /// Whether entries say what kind of server they are.
    typed: bool,
    /// What to do once the file is written.
    pub(super) then: &'static str,
}

/// The clients that have a file.
pub(in crate::commands) const WITH_FILE: [Client; 3] =
    [Client::Claude, Client::Cursor, Client::Vscode];

impl ClientFile {
    /// The file of a client; ChatGPT has none, it is told a URL.
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

    /// The entry for a server that the client starts. What a user added to an entry of ours,
    /// such as variables, stays.
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

/// How a client starts us.
#[derive(Debug)]
pub(super) struct LocalServer {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Set when a flag or variable chose it: the client does not know our environment.
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

/// What a client's configuration says about a server that is reached over HTTP.
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
    fn an_entry_keeps_what_a_user_added_to_it() {
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
