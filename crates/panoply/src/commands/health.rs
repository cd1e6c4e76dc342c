//! `panoply health`: asks `/readyz` of a running server, for containers and service managers
//! without an HTTP client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use super::Session;
use crate::cli::Health;
use crate::failure::Failure;
use crate::out::Out;

/// Shorter than the default timeout of a container's health check with room for the start.
const TIMEOUT: Duration = Duration::from_secs(4);

pub(super) fn run(health: &Health, session: &Session) -> Result<ExitCode, Failure> {
    let address = match health.address {
        Some(address) => address,
        None => {
            let config = session.config()?;
            config.admin_addr.unwrap_or(config.listen)
        }
    };
    let url = format!("http://{}/readyz", reachable(address));
    let settings = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .proxy(None)
        .build();
    let unreachable = |error: ureq::Error| {
        Failure::work(format!("no server answers at {url}: {error}")).hint(
            "start one with `panoply http`, or give its address: `panoply health 127.0.0.1:8642`",
        )
    };
    let agent: ureq::Agent = settings.into();
    let mut response = agent.get(&url).call().map_err(unreachable)?;
    let body = response.body_mut().read_to_string().map_err(unreachable)?;
    let mut out = Out::new();
    out.line(body.trim_end())?;
    out.finish()?;
    Ok(if response.status() == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A server that listens on every address is asked on loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unspecified_address_is_asked_on_loopback() {
        let cases = [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:2", "[::1]:2"),
            ("10.0.0.7:3", "10.0.0.7:3"),
            ("[fe80::1]:4", "[fe80::1]:4"),
        ];
        for (given, expected) in cases {
            assert_eq!(reachable(given.parse().unwrap()).to_string(), expected, "{given}");
        }
    }
}
