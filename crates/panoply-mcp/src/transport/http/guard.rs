//! Host and Origin checks: protection against DNS rebinding.
//!
//! A web page can make a browser send requests to a server on the same machine by resolving its
//! own name to 127.0.0.1. The browser still sends the real name and page in `Host` and `Origin`,
//! so both are checked.

use std::net::{IpAddr, SocketAddr};

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use rmcp::model::ErrorCode;

use super::reply;

/// Allowed hosts and origins.
pub(super) struct Guard {
    hosts: Vec<HostRule>,
    origins: Vec<OriginRule>,
    /// Whether any IP address is allowed as a host: an IP address cannot be rebound.
    any_address: bool,
}

#[derive(Debug, Eq, PartialEq)]
struct HostRule {
    host: String,
    port: PortRule,
}

#[derive(Debug, Eq, PartialEq)]
struct OriginRule {
    scheme: String,
    host: HostRule,
}

#[derive(Debug, Eq, PartialEq)]
enum PortRule {
    Any,
    Only(u16),
}

/// Invalid host rule.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a host; write `tools.example.com` or `tools.example.com:8443`")]
pub struct BadHostRule(pub String);

/// Invalid origin rule.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an origin; write `https://app.example.com`, with `:*` for any port")]
pub struct BadOriginRule(pub String);

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    /// Allows the names of the listen address and the configured rules.
    pub(super) fn new(
        address: SocketAddr,
        hosts: &[String],
        origins: &[String],
    ) -> Result<Self, super::HttpError> {
        let loopback = |port: fn(u16) -> PortRule| {
            LOOPBACK
                .iter()
                .map(move |host| HostRule { host: (*host).to_owned(), port: port(address.port()) })
        };
        let hosts_here = loopback(|_| PortRule::Any).collect();
        let mut guard = Self { hosts: hosts_here, origins: Vec::new(), any_address: false };
        if address.ip().is_loopback() {
            // Only the own port: pages of other servers on this machine are foreign.
            let own = loopback(PortRule::Only);
            let scheme = || "http".to_owned();
            guard.origins.extend(own.map(|host| OriginRule { scheme: scheme(), host }));
        } else if address.ip().is_unspecified() {
            guard.any_address = true;
        } else {
            guard.hosts.push(HostRule { host: written(address.ip()), port: PortRule::Any });
        }
        for text in hosts {
            guard.hosts.push(HostRule::parse(text).ok_or_else(|| BadHostRule(text.clone()))?);
        }
        for text in origins {
            guard.origins.push(OriginRule::parse(text).ok_or_else(|| BadOriginRule(text.clone()))?);
        }
        Ok(guard)
    }

    /// Rules of the admin address: any IP address as host, and no origin.
    pub(super) fn for_operators(
        address: SocketAddr,
        hosts: &[String],
    ) -> Result<Self, super::HttpError> {
        let guard = Self::new(address, hosts, &[])?;
        Ok(Self { origins: Vec::new(), any_address: true, ..guard })
    }

    /// Returns the allowed origin of a browser request, or the refusal.
    pub(super) fn check<B>(
        &self,
        request: &Request<B>,
    ) -> Result<Option<HeaderValue>, Box<Response>> {
        if !self.host_is_allowed(request.uri(), request.headers()) && !is_probe(request) {
            return Err(Box::new(forbidden("Host", request.headers().get(HOST))));
        }
        match self.origin(request.headers()) {
            Ok(origin) => Ok(origin.cloned()),
            Err(()) => Err(Box::new(forbidden("Origin", request.headers().get(ORIGIN)))),
        }
    }

    fn host_is_allowed(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let (host, second) = (named.next(), named.next());
        // An absolute URI in the request line takes precedence over `Host`; HTTP/2 has only that.
        let from_uri = uri.authority().map(Authority::as_str);
        let from_header = host.map(|host| host.to_str().unwrap_or_default());
        let any_named = from_uri.is_some() || from_header.is_some();
        let all_allowed =
            from_uri.into_iter().chain(from_header).all(|host| self.allows_host(host));
        any_named && second.is_none() && all_allowed
    }

    fn allows_host(&self, text: &str) -> bool {
        let Some((host, port)) = split_authority(text) else { return false };
        let is_address = || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.hosts.iter().any(|rule| rule.allows(&host, port, None))
            || (self.any_address && is_address())
    }

    /// `Ok(None)` without an `Origin` header.
    fn origin<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, ()> {
        let mut named = headers.get_all(ORIGIN).iter();
        let Some(origin) = named.next() else { return Ok(None) };
        let allowed = named.next().is_none()
            && origin
                .to_str()
                .is_ok_and(|text| self.allows_origin(text) || is_own(text, headers.get(HOST)));
        if allowed { Ok(Some(origin)) } else { Err(()) }
    }

    fn allows_origin(&self, text: &str) -> bool {
        let Some((scheme, rest)) = text.split_once("://") else { return false };
        let Some((host, port)) = split_authority(rest) else { return false };
        let scheme = scheme.to_ascii_lowercase();
        self.origins.iter().any(|rule| {
            rule.scheme == scheme && rule.host.allows(&host, port, default_port(&scheme))
        })
    }
}

/// Whether the origin equals the requested host (the console). The host has been checked, so a
/// rebound name does not reach this check.
fn is_own(origin: &str, host: Option<&HeaderValue>) -> bool {
    let Some((scheme, rest)) = origin.split_once("://") else { return false };
    let default = default_port(&scheme.to_ascii_lowercase());
    let asked = host.and_then(|host| host.to_str().ok()).and_then(split_authority);
    match (split_authority(rest), asked, default) {
        (Some((from, port)), Some((to, asked)), Some(default)) => {
            from == to && port.unwrap_or(default) == asked.unwrap_or(default)
        }
        _ => false,
    }
}

/// Adds the CORS headers.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static(
        "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After",
    );
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

/// Orchestrators probe by arbitrary addresses, and the reply reveals nothing.
fn is_probe<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && matches!(request.uri().path(), "/healthz" | "/readyz")
}

/// Answers a CORS preflight.
pub(super) fn preflight<B>(request: &Request<B>) -> Option<Response> {
    let asks = request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if !asks {
        return None;
    }
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    // Clients send custom `Mcp-Param-*` headers, so all requested headers are granted.
    if let Some(wanted) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    Some(response)
}

fn forbidden(header: &str, value: Option<&HeaderValue>) -> Response {
    tracing::warn!(header, ?value, "refused a request; possible DNS rebinding");
    let message = format!(
        "this `{header}` is not allowed here; see --allowed-{}",
        header.to_ascii_lowercase()
    );
    reply::refusal(StatusCode::FORBIDDEN, ErrorCode::INVALID_REQUEST, message)
}

impl HostRule {
    fn parse(text: &str) -> Option<Self> {
        let any = text.strip_suffix(":*");
        let (host, port) = split_authority(any.unwrap_or(text))?;
        match (any, port) {
            (Some(_), Some(_)) => None,
            (_, None) => Some(Self { host, port: PortRule::Any }),
            (None, Some(port)) => Some(Self { host, port: PortRule::Only(port) }),
        }
    }

    fn allows(&self, host: &str, port: Option<u16>, default: Option<u16>) -> bool {
        let port_fits = match self.port {
            PortRule::Any => true,
            PortRule::Only(only) => port.or(default) == Some(only),
        };
        self.host == host && port_fits
    }
}

impl OriginRule {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim_end_matches('/').split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let default = default_port(&scheme)?;
        let mut host = HostRule::parse(rest)?;
        // An origin without a port means the default port of the scheme, unless `:*` is given.
        if host.port == PortRule::Any && !rest.ends_with(":*") {
            host.port = PortRule::Only(default);
        }
        Some(Self { scheme, host })
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// Splits into lower-case host and port. Ambiguous input is refused.
fn split_authority(text: &str) -> Option<(String, Option<u16>)> {
    let authority: Authority = text.parse().ok()?;
    let host = authority.host();
    let rest = text.strip_prefix(host)?;
    let port = match rest.strip_prefix(':') {
        Some(digits) => Some(digits.parse().ok()?),
        None if rest.is_empty() => None,
        None => return None,
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, hosts: &[&str], origins: &[&str]) -> Guard {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        Guard::new(address.parse().unwrap(), &owned(hosts), &owned(origins)).unwrap()
    }

    #[test]
    fn host_rules_match_whole_names() {
        let local = guard("127.0.0.1:8642", &["tools.example.com", "p.example.com:8443"], &[]);
        let public = guard("0.0.0.0:8642", &["tools.example.com"], &[]);
        let cases = [
            ("localhost", true, true),
            ("localhost:8642", true, true),
            ("LOCALHOST:1", true, true),
            ("127.0.0.1:8642", true, true),
            ("[::1]:8642", true, true),
            ("tools.example.com", true, true),
            ("p.example.com:8443", true, false),
            ("p.example.com", false, false),
            ("p.example.com:8444", false, false),
            ("192.168.1.7:8642", false, true),
            ("evil.example", false, false),
            ("localhost.evil.example", false, false),
            ("evil-localhost", false, false),
            ("localhost.", false, false),
            ("127.0.0.1.nip.io", false, false),
            ("127.0.0.2", false, true),
            ("2130706433", false, false),
            ("0x7f.1", false, false),
            ("user@localhost", false, false),
            ("localhost:99999", false, false),
            ("localhost:8642x", false, false),
            ("localhost:", false, false),
            ("localhost, evil.example", false, false),
            ("ＬＯＣＡＬＨＯＳＴ", false, false),
            ("xn--lclhost-9db.example", false, false),
            ("", false, false),
        ];
        for (host, by_local, by_public) in cases {
            assert_eq!(local.allows_host(host), by_local, "host: {host:?}, bound to loopback");
            assert_eq!(public.allows_host(host), by_public, "host: {host:?}, bound to all");
        }
    }

    #[test]
    fn origins_are_compared_by_scheme_host_and_port() {
        let local =
            guard("127.0.0.1:8642", &[], &["https://app.example.com", "http://dev.example.com:*"]);
        let public = guard("0.0.0.0:8642", &[], &["https://app.example.com"]);
        let cases = [
            ("http://localhost:8642", true, false),
            ("http://[::1]:8642", true, false),
            ("http://localhost:3000", false, false),
            ("https://localhost", false, false),
            ("http://[::1]:1", false, false),
            ("https://app.example.com", true, true),
            ("https://app.example.com:443", true, true),
            ("https://app.example.com:444", false, false),
            ("http://app.example.com", false, false),
            ("http://dev.example.com:5173", true, false),
            ("https://evil.example", false, false),
            ("https://app.example.com.evil.example", false, false),
            ("https://user@app.example.com", false, false),
            ("https://app.example.com/path", false, false),
            ("file://", false, false),
            ("null", false, false),
            ("", false, false),
        ];
        for (origin, by_local, by_public) in cases {
            assert_eq!(
                local.allows_origin(origin),
                by_local,
                "origin: {origin:?}, bound to loopback"
            );
            assert_eq!(public.allows_origin(origin), by_public, "origin: {origin:?}, bound to all");
        }
    }

    #[test]
    fn every_named_host_of_a_request_must_be_allowed() {
        let guard = guard("127.0.0.1:8642", &[], &[]);
        let cases: [(&str, &[&str], bool); 6] = [
            ("/mcp", &["localhost"], true),
            ("/mcp", &[], false),
            ("/mcp", &["localhost", "localhost"], false),
            ("http://evil.example/mcp", &["localhost"], false),
            ("http://localhost/mcp", &["evil.example"], false),
            ("http://localhost/mcp", &[], true),
        ];
        for (uri, hosts, allowed) in cases {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(HOST, HeaderValue::from_static(host));
            }
            let outcome = guard.host_is_allowed(&uri.parse().unwrap(), &headers);
            assert_eq!(outcome, allowed, "uri: {uri}, hosts: {hosts:?}");
        }
    }

    #[test]
    fn same_origin_pages_are_allowed() {
        let public = guard("0.0.0.0:8642", &["tools.example.com"], &[]);
        let cases = [
            ("192.168.1.7:8642", "http://192.168.1.7:8642", true),
            ("tools.example.com", "https://tools.example.com", true),
            ("tools.example.com:443", "https://tools.example.com", true),
            ("TOOLS.example.com", "https://tools.EXAMPLE.com", true),
            ("tools.example.com", "https://tools.example.com:8443", false),
            ("tools.example.com", "https://evil.example", false),
            ("tools.example.com", "https://tools.example.com.evil.example", false),
            ("tools.example.com", "ftp://tools.example.com", false),
            ("192.168.1.7:8642", "http://192.168.1.7:3000", false),
            ("192.168.1.7:8642", "null", false),
        ];
        for (host, origin, allowed) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static(host));
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            assert_eq!(public.origin(&headers).is_ok(), allowed, "host: {host}, origin: {origin}");
        }
    }

    #[test]
    fn invalid_host_and_origin_rules_are_refused() {
        for text in ["", "a b", "http://x", "x:99999", "x:1:*"] {
            assert_eq!(HostRule::parse(text), None, "host: {text:?}");
        }
        for text in ["", "*", "app.example.com", "ftp://app.example.com", "https://", "null"] {
            assert_eq!(OriginRule::parse(text), None, "origin: {text:?}");
        }
    }
}
