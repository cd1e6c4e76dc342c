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
    /// Member or table that holds the servers.
    pub(in crate::commands) section: &'static str,
    /// Syntax of the file.
    pub(super) format: Format,
    shape: Shape,
    /// Instruction after writing the file.
    pub(super) then: &'static str,
}

/// Syntax of a configuration file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Format {
    /// JSON, with comments and trailing commas where the client allows them.
    Json,
    /// TOML.
    Toml,
}

/// Members of an entry.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `command`, `args` and `env`.
    Plain,
    /// The same with a `type`.
    Typed(&'static str),
    /// Copilot CLI lists the tools it may use.
    Copilot,
    /// OpenCode has the arguments in `command`, and `environment`.
    OpenCode,
}

/// Clients whose file can be written.
pub(in crate::commands) const WITH_FILE: [Client; 14] = [
    Client::Claude,
    Client::ClaudeCode,
    Client::Codex,
    Client::Gemini,
    Client::Copilot,
    Client::Cursor,
    Client::Vscode,
    Client::VscodeInsiders,
    Client::Windsurf,
    Client::Zed,
    Client::Cline,
    Client::LmStudio,
    Client::Junie,
    Client::Opencode,
];

const MCP_SERVERS: &str = "mcpServers";
const RESTART: &str = "start it again";

impl ClientFile {
    /// Returns the file of a client; `None` for those that are configured otherwise.
    pub(in crate::commands) fn of(client: Client, environment: &Environment) -> Option<Self> {
        let below = |folder: Option<PathBuf>, file: &str| folder.map(|folder| folder.join(file));
        let user = |file: &str| below(environment.user_folder(), file);
        let settings = |file: &str| below(environment.settings_folder(), file);
        let dot_config = |file: &str| below(environment.dot_config_folder(), file);
        let json = |title, path, section, shape, then| {
            Some(Self { title, path, section, format: Format::Json, shape, then })
        };
        let plain = |title, path, then| json(title, path, MCP_SERVERS, Shape::Plain, then);
        match client {
            Client::Claude => plain(
                "Claude Desktop",
                settings("Claude/claude_desktop_config.json"),
                "quit Claude Desktop and start it again",
            ),
            Client::ClaudeCode => {
                let typed = Shape::Typed("stdio");
                json("Claude Code", user(".claude.json"), MCP_SERVERS, typed, RESTART)
            }
            Client::Codex => Some(Self {
                title: "Codex",
                path: user(".codex/config.toml"),
                section: "mcp_servers",
                format: Format::Toml,
                shape: Shape::Plain,
                then: RESTART,
            }),
            Client::Gemini => plain("Gemini CLI", user(".gemini/settings.json"), RESTART),
            Client::Copilot => {
                let path = user(".copilot/mcp-config.json");
                json("Copilot CLI", path, MCP_SERVERS, Shape::Copilot, RESTART)
            }
            Client::Cursor => plain(
                "Cursor",
                user(".cursor/mcp.json"),
                "open Cursor's settings, Tools & MCP, and switch it on",
            ),
            Client::Vscode => Self::vscode("VS Code", settings("Code/User/mcp.json")),
            Client::VscodeInsiders => {
                Self::vscode("VS Code Insiders", settings("Code - Insiders/User/mcp.json"))
            }
            Client::Windsurf => plain(
                "Windsurf",
                user(".codeium/windsurf/mcp_config.json"),
                "refresh the list of MCP servers in Cascade",
            ),
            Client::Zed => {
                let path = dot_config("zed/settings.json");
                json("Zed", path, "context_servers", Shape::Plain, "look for it in the agent panel")
            }
            Client::Cline => plain("Cline", settings(CLINE), "open MCP Servers in Cline"),
            Client::LmStudio => plain("LM Studio", user(".lmstudio/mcp.json"), RESTART),
            Client::Junie => plain("JetBrains Junie", user(".junie/mcp/mcp.json"), RESTART),
            Client::Opencode => {
                let path = dot_config("opencode/opencode.json");
                json("OpenCode", path, "mcp", Shape::OpenCode, RESTART)
            }
            Client::Goose | Client::Continue | Client::Chatgpt => None,
        }
    }

    fn vscode(title: &'static str, path: Option<PathBuf>) -> Option<Self> {
        Some(Self {
            title,
            path,
            section: "servers",
            format: Format::Json,
            shape: Shape::Typed("stdio"),
            then: "run `MCP: List Servers` and start it",
        })
    }

    /// Builds the entry of a stdio server. Members that the user added, such as variables, are
    /// preserved.
    pub(super) fn entry(&self, server: &LocalServer, there: Option<&Value>) -> Value {
        let mut entry = there.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut set = |name: &str, value: Value| entry.insert(name.to_owned(), value);
        match self.shape {
            Shape::Plain => None,
            Shape::Typed(kind) => set("type", kind.into()),
            Shape::Copilot => {
                set("type", "local".into());
                set("tools", json!(["*"]))
            }
            Shape::OpenCode => {
                set("type", "local".into());
                set("enabled", true.into())
            }
        };
        let variables = if let Shape::OpenCode = self.shape {
            let command = std::iter::once(&server.program).chain(&server.arguments);
            set("command", command.map(String::as_str).collect());
            "environment"
        } else {
            set("command", server.program.clone().into());
            set("args", json!(server.arguments));
            "env"
        };
        if let Some(home) = &server.home {
            let variables = entry.entry(variables).or_insert_with(|| Value::Object(Map::new()));
            if let Some(variables) = variables.as_object_mut() {
                variables.insert(crate::env_vars::HOME.name.to_owned(), home.clone().into());
            }
        }
        Value::Object(entry)
    }

    /// Whether the client was ever started here: the folder of its file exists.
    pub(in crate::commands) fn is_installed(&self) -> bool {
        let folder = self.path.as_deref().and_then(Path::parent);
        // The file of Claude Code is in the user's folder itself, which always exists.
        let in_user_folder = self.path.as_ref().is_some_and(|path| path.ends_with(".claude.json"));
        let is_there = |path: &Path| path.exists();
        if in_user_folder {
            self.path.as_deref().is_some_and(is_there)
        } else {
            folder.is_some_and(is_there)
        }
    }
}

const CLINE: &str =
    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

/// The program that an entry starts, by any of the shapes.
pub(in crate::commands) fn program_of(entry: &Value) -> Option<&Path> {
    let command = entry.get("command")?;
    command.as_str().or_else(|| command.get(0)?.as_str()).map(Path::new)
}

/// Whether an entry starts this program, under whatever name.
pub(super) fn is_ours(entry: &Value) -> bool {
    program_of(entry).and_then(Path::file_stem).is_some_and(|name| name == "panoply")
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

    #[test]
    fn entry_is_recognised_in_every_shape() {
        for client in WITH_FILE {
            let client = ClientFile::of(client, &Environment::default()).unwrap();
            let server = LocalServer::new(Path::new("/bin/panoply"), &[], None);
            assert!(is_ours(&client.entry(&server, None)), "{}", client.title);
        }
        assert!(!is_ours(&json!({"command": "/bin/other"})));
        assert!(!is_ours(&json!({"url": "https://x.example/panoply"})));
    }
}
