//! TLS by rustls with ring. Certificates are verified against Mozilla's roots, or those of a file.
//!
//! Without channel binding: it would need a parser of certificates, and the name in a verified
//! certificate already keeps a man in the middle out.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use panoply_store::StoreError;

/// Makes TLS connections to servers.
#[derive(Clone)]
pub(crate) struct Rustls(Arc<ClientConfig>);

impl Rustls {
    /// Trusts the certificates of a PEM file, or Mozilla's roots.
    pub(crate) fn trusting(authorities: Option<&Path>) -> Result<Self, StoreError> {
        let mut roots = RootCertStore::empty();
        match authorities {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(file) => {
                let unread = |error: &dyn std::fmt::Display| {
                    StoreError::NotSetUp(format!(
                        "the certificates in `{}` cannot be read: {error}",
                        file.display()
                    ))
                };
                let found = CertificateDer::pem_file_iter(file).map_err(|error| unread(&error))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| unread(&error))?;
                    roots.add(certificate).map_err(|error| unread(&error))?;
                }
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::NotSetUp(format!("TLS cannot be set up: {error}")))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

impl MakeTlsConnect<TcpOrSocket> for Rustls {
    type Stream = Encrypted;
    type TlsConnect = ToServer;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<ToServer> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(ToServer { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

/// The stream that tokio-postgres opens.
type TcpOrSocket = tokio_postgres::Socket;

/// A connection about to be encrypted.
pub(crate) struct ToServer {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<TcpOrSocket> for ToServer {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: TcpOrSocket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, stream).await?;
            Ok(Encrypted(Box::new(stream)))
        })
    }
}

/// An encrypted stream.
pub(crate) struct Encrypted(Box<tokio_rustls::client::TlsStream<TcpOrSocket>>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
