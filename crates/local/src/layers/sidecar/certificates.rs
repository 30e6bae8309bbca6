//! A certificate authority created for one deployment and then discarded: it signs one certificate for each side, and its key is never
//! written.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

use crate::error::LocalError;

/// A certificate for each of two names, issued by one authority.
pub(super) struct Certificates {
    pub identities: [Identity; 2],
}

/// What one side presents, and what it verifies the peer with. All PEM (RFC 7468).
pub(super) struct Identity {
    /// Certificate, then key (PKCS #8).
    pub certificate_and_key: String,
    pub authority: String,
}

impl Certificates {
    /// ECDSA on P-256, as the certificate authorities of Istio and Linkerd issue.
    pub fn make(names: [&str; 2]) -> Result<Certificates, LocalError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = distinguished_name("loadline");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let [first, second] = names.map(|name| identity(name, &authority));
        Ok(Certificates { identities: [first?, second?] })
    }
}

fn identity(name: &str, authority: &CertifiedIssuer<KeyPair>) -> Result<Identity, LocalError> {
    let mut params = CertificateParams::new([name.to_owned()])?;
    params.distinguished_name = distinguished_name(name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok(Identity { certificate_and_key: certificate.pem() + &key.serialize_pem(), authority: authority.pem() })
}

fn distinguished_name(name: &str) -> DistinguishedName {
    let mut called = DistinguishedName::new();
    called.push(DnType::CommonName, name);
    called
}
