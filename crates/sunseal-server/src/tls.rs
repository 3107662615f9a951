// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS 1.3 of server and gateway: certificates from files, and sentences for what is wrong with them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore, ServerConfig};

/// Authorities that the system trusts, where the gateway is not told of one: Debian's file, and that of Fedora.
const SYSTEM_CA: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

fn certificates(path: &Path, option: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let shown = path.display();
    let wanted = format!("{option} names a PEM file with certificates");
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|e| format!("`{shown}` cannot be read ({e}): {wanted}"))?;
    if read.is_empty() {
        return Err(format!("`{shown}` has no certificate in it: {wanted}"));
    }
    Ok(read)
}

fn key(path: &Path, option: &str) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|e| {
        let shown = path.display();
        format!(
            "`{shown}` has no private key ({e}): {option} names a PEM file with one, not encrypted"
        )
    })
}

fn roots(path: &Path, option: &str) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, option)? {
        roots.add(certificate).map_err(|e| {
            let shown = path.display();
            format!("`{shown}` has a certificate that is no authority's ({e}): {option} names the file of one")
        })?;
    }
    Ok(Arc::new(roots))
}

fn pair_fails(cert: &Path, key: &Path, e: &Error) -> String {
    let (cert, key) = (cert.display(), key.display());
    format!(
        "the certificate `{cert}` and the key `{key}` do not go together ({e}): give those that were made together"
    )
}

/// Certificate and key of one side, as PEM files.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The certificate, and those between it and the authority's.
    pub cert: &'a Path,
    /// Private key of the certificate, not encrypted.
    pub key: &'a Path,
}

/// A server's side: its pair, and the authority by which callers must prove who they are, if they must.
pub fn server(pair: Pair<'_>, client_ca: Option<&Path>) -> Result<Arc<ServerConfig>, String> {
    let chain = certificates(pair.cert, "--tls-cert")?;
    let private = key(pair.key, "--tls-key")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| e.to_string())?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let roots = roots(path, "--tls-client-ca")?;
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|e| e.to_string())?)
        }
    };
    let mut config = builder
        .with_single_cert(chain, private)
        .map_err(|e| pair_fails(pair.cert, pair.key, &e))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A caller's side: whom it believes, and the pair by which it proves who it is, if it has one.
pub fn client(ca: Option<&Path>, pair: Option<Pair<'_>>) -> Result<Arc<ClientConfig>, String> {
    let system = || SYSTEM_CA.iter().map(Path::new).find(|path| path.exists());
    let ca =
        ca.or_else(system).ok_or("an https:// server wants --ca, the PEM file of its authority")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| e.to_string())?
        .with_root_certificates(roots(ca, "--ca")?);
    let Some(pair) = pair else { return Ok(Arc::new(builder.with_no_client_auth())) };
    let (chain, private) = (certificates(pair.cert, "--cert")?, key(pair.key, "--key")?);
    let config = builder.with_client_auth_cert(chain, private);
    Ok(Arc::new(config.map_err(|e| pair_fails(pair.cert, pair.key, &e))?))
}

/// Reason for which a handshake or a connection failed, for whoever can act.
pub fn why(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let Some(tls) = tls else { return error.to_string() };
    match tls {
        Error::InvalidCertificate(fault) => match fault {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired: renew it, or set this machine's clock".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet: set the clocks of both machines".to_owned()
            }
            CertificateError::UnknownIssuer => {
                "its certificate is signed by no authority that is trusted here: --ca (of a server --tls-client-ca) names the authority's file".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("its certificate is for another name ({fault})")
            }
            _ => format!("its certificate does not hold ({fault})"),
        },
        Error::AlertReceived(alert) => format!("it ended the TLS handshake ({alert:?}): a client certificate that it trusts may be wanted (--cert, --key)"),
        Error::InvalidMessage(_) => "it does not speak TLS: http:// may be meant".to_owned(),
        _ => tls.to_string(),
    }
}
