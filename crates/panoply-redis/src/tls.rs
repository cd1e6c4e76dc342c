//! TLS by rustls with ring, for `rediss://`. Certificates are verified against Mozilla's roots, or
//! those of a file. The TLS of the `redis` crate would read the roots of the system with five more
//! crates.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connection::SettingsError;

/// Makes TLS connections.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

impl Tls {
    /// Trusts the certificates of a PEM file, or Mozilla's roots.
    pub(crate) fn trusting(authorities: Option<&Path>) -> Result<Self, SettingsError> {
        let mut roots = RootCertStore::empty();
        match authorities {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(file) => add_certificates(&mut roots, file)
                .map_err(|reason| SettingsError::Authorities { file: file.to_owned(), reason })?,
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| SettingsError::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Encrypts a connection to a host.
    pub(crate) async fn encrypt(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

fn add_certificates(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let found = CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())?;
    for certificate in found {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(())
}
