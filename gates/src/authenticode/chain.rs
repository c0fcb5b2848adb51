//! Which key made a signature, and which certificate vouches for which.

use super::Broken;
use super::cert::Cert;
use super::message::Message;

/// Who signed: the signer's certificate and those that vouch for it, each for the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain(pub Vec<Link>);

/// A certificate of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Whose key it is: `CN=Example,O=Example Ltd,C=DE`.
    pub subject: String,
    /// The SHA-256 of the certificate, in hex: its thumbprint.
    pub thumbprint: String,
}

/// Checks that a signer's key made a signature, and follows who vouches for the signer as far as
/// the certificates in the signature go.
///
/// # Errors
/// [`Broken`] when it does not hold or cannot be checked.
pub fn check(message: &Message<'_>) -> Result<Chain, Broken> {
    let wrong = |why: &str| Broken::Wrong(why.to_owned());
    let signer = &message.signer;
    message.hash.clone()?;
    let (hash, algorithm) = (signer.hash.clone()?, signer.algorithm.clone()?);
    if algorithm.hash.is_some_and(|own| own != hash) {
        return Err(wrong("it names two hashes for one signature"));
    }
    // The signature of a time stamp brings certificates too; those of others need not be read.
    let certificates: Vec<Cert<'_>> = message
        .certificates
        .iter()
        .filter_map(|whole| Cert::read(whole).ok())
        .collect();
    let mut own = certificates
        .iter()
        .filter(|cert| cert.issuer == signer.issuer && cert.serial == signer.serial);
    let (Some(leaf), None) = (own.next(), own.next()) else {
        return Err(Broken::Unread(
            "it does not bring the certificate of its signer, or one that can be read".to_owned(),
        ));
    };
    if hash.digest(message.content) != signer.digest {
        return Err(wrong("its content is not what the signer signed"));
    }
    if !leaf.made(algorithm, hash, &signer.attributes, signer.signature)? {
        return Err(wrong("the key of its certificate did not make it"));
    }
    if !leaf.code_signing {
        return Err(wrong("its certificate is not for signing code"));
    }
    let mut chain = vec![leaf];
    while let Some(last) = chain.last().copied()
        && last.issuer != last.name
    {
        let named: Vec<&Cert<'_>> = certificates
            .iter()
            .filter(|cert| cert.name == last.issuer && cert.authority)
            .filter(|cert| !chain.iter().any(|link| link.whole == cert.whole))
            .collect();
        if named.is_empty() {
            break;
        }
        let mut vouches = None;
        for cert in &named {
            if last.is_of(cert)? {
                vouches = Some(*cert);
                break;
            }
        }
        let Some(next) = vouches else {
            let why = format!(
                "{} did not issue the certificate of {}",
                named[0].subject(),
                last.subject()
            );
            return Err(Broken::Wrong(why));
        };
        chain.push(next);
    }
    let link = |cert: &Cert<'_>| Link {
        subject: cert.subject(),
        thumbprint: cert.thumbprint(),
    };
    Ok(Chain(chain.into_iter().map(link).collect()))
}
