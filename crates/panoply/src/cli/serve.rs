//! Commands that start a server.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use panoply_contract::kernel::Offer;

use super::keys::KeyProfile;

/// `panoply stdio`.
#[derive(Debug, Args)]
pub struct Stdio {
    /// Packs, listing and mode.
    #[command(flatten)]
    pub serving: Serving,
    /// What the client that starts this program may do
    #[arg(long, value_enum, default_value = "owner")]
    pub profile: KeyProfile,
}

/// What both servers can be told.
#[derive(Debug, Default, Args)]
pub struct Serving {
    /// Packs to serve [default: all]
    #[arg(value_name = "PACK")]
    pub packs: Vec<String>,
    /// Which tools to list; those not listed can still be found and called [default: core]
    #[arg(long, value_enum)]
    pub tools: Option<ToolsOffer>,
    /// Hide and refuse every tool that changes data
    #[arg(long)]
    pub read_only: bool,
}

/// `panoply http`.
#[derive(Debug, Args)]
pub struct Http {
    /// Packs, listing and mode.
    #[command(flatten)]
    pub serving: Serving,
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:8642]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// A second address for /healthz, /readyz and /metrics, which needs no key
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub admin_addr: Option<SocketAddr>,
    /// Go on accepting for so long after SIGTERM, while /readyz says no [default: 0]
    #[arg(long, value_name = "SECONDS")]
    pub lame_duck: Option<u64>,
    /// A name this server is reached by, such as tools.example.com; may be repeated
    #[arg(long, value_name = "HOST")]
    pub allowed_host: Vec<String>,
    /// A web page's origin that may use it, such as https://app.example.com; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub allowed_origin: Vec<String>,
}

/// Which tools a server lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsOffer {
    /// The core tools of each pack
    Core,
    /// Everything
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
