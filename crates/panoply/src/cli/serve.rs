//! Commands that start a server.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use panoply_contract::kernel::Offer;

use super::keys::KeyProfile;

/// `panoply stdio`.
#[derive(Debug, Args)]
pub struct Stdio {
    /// Flags shared by both servers.
    #[command(flatten)]
    pub serving: Serving,
    /// Permissions of the client
    #[arg(long, value_enum, default_value = "owner")]
    pub profile: KeyProfile,
}

/// Flags shared by both servers.
#[derive(Debug, Default, Args)]
pub struct Serving {
    /// Packs to serve [default: all]
    #[arg(value_name = "PACK")]
    pub packs: Vec<String>,
    /// Tools to list; unlisted tools can still be searched and called [default: core]
    #[arg(long, value_enum)]
    pub tools: Option<ToolsOffer>,
    /// Hide and refuse all tools that change data
    #[arg(long)]
    pub read_only: bool,
}

/// `panoply http`.
#[derive(Debug, Args)]
pub struct Http {
    /// Flags shared by both servers.
    #[command(flatten)]
    pub serving: Serving,
    /// Listen address; port 0 picks a free port [default: 127.0.0.1:8642]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Second address for /healthz, /readyz and /metrics, without authentication
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub admin_addr: Option<SocketAddr>,
    /// Keep accepting for this time after SIGTERM, with /readyz at 503 [default: 0]
    #[arg(long, value_name = "SECONDS")]
    pub lame_duck: Option<u64>,
    /// Additional allowed host name, such as tools.example.com; may be repeated
    #[arg(long, value_name = "HOST")]
    pub allowed_host: Vec<String>,
    /// Allowed origin of web pages, such as https://app.example.com; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub allowed_origin: Vec<String>,
}

/// Tools that a server lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsOffer {
    /// Core tools of each pack
    Core,
    /// All tools
    All,
    /// Only `search-tools` and `describe-tool`
    Lazy,
}

impl From<ToolsOffer> for Offer {
    fn from(offer: ToolsOffer) -> Self {
        match offer {
            ToolsOffer::Core => Self::Core,
            ToolsOffer::All => Self::All,
            ToolsOffer::Lazy => Self::Lazy,
        }
    }
}
