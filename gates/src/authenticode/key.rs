//! Keys, and whether one made a signature. The arithmetic is that of RustCrypto's crates.

use der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use der::{Decode as _, Tag};
use rsa::signature::hazmat::PrehashVerifier as _;
use rsa::{BoxedUint, PublicKey, pss};
use sha2::{Sha256, Sha384, Sha512};

use super::Broken;
use super::algorithm::{Algorithm, CURVE, Hash, PSS, RSA, Scheme};
use super::message::{Fields, bits, value};

/// The public half of a key.
pub(super) enum Key {
    /// RSA, for PKCS #1 1.5 and for PSS.
    Rsa(PublicKey),
    /// RSA for PSS alone.
    Pss(PublicKey),
    /// A point of P-256.
    P256(p256::ecdsa::VerifyingKey),
    /// A point of P-384.
    P384(p384::ecdsa::VerifyingKey),
}

impl Key {
    /// Reads a certificate's `SubjectPublicKeyInfo`: `[algorithm, bits]`.
    ///
    /// # Errors
    /// [`Broken::Unread`] when it is of a kind that is not checked here, too short or too long.
    pub(super) fn read(whole: &[u8]) -> Result<Self, Broken> {
        let mut info = Fields::of(whole)?;
        let mut algorithm = info.sequence()?;
        let kind = algorithm.oid()?.to_string();
        let bits = bits(info.whole()?)?;
        match kind.as_str() {
            RSA => rsa(bits).map(Self::Rsa),
            PSS => rsa(bits).map(Self::Pss),
            CURVE => Self::point(algorithm.oid()?, bits),
            other => Err(Broken::Unread(format!(
                "of the algorithm {other}, which is not checked here; RSA, P-256 and P-384 are"
            ))),
        }
    }

    fn point(curve: ObjectIdentifier, bits: &[u8]) -> Result<Self, Broken> {
        let no_point = |_| Broken::Unread("no point of its curve".to_owned());
        match curve.to_string().as_str() {
            "1.2.840.10045.3.1.7" => p256::ecdsa::VerifyingKey::from_sec1_bytes(bits)
                .map(Self::P256)
                .map_err(no_point),
            "1.3.132.0.34" => p384::ecdsa::VerifyingKey::from_sec1_bytes(bits)
                .map(Self::P384)
                .map_err(no_point),
            other => Err(Broken::Unread(format!(
                "on the curve {other}, which is not checked here; P-256 and P-384 are"
            ))),
        }
    }

    /// Whether it made this signature of bytes with this digest.
    ///
    /// # Errors
    /// [`Broken::Wrong`] when no key of this kind signs that way.
    pub(super) fn made(
        &self,
        algorithm: Algorithm,
        hash: Hash,
        bytes: &[u8],
        signature: &[u8],
    ) -> Result<bool, Broken> {
        let digest = hash.digest(bytes);
        Ok(match (self, algorithm.scheme) {
            (Self::Rsa(key), Scheme::Rsa) => match hash {
                Hash::Sha256 => key.pkcs1v15_verify_prehash::<Sha256>(&digest, signature),
                Hash::Sha384 => key.pkcs1v15_verify_prehash::<Sha384>(&digest, signature),
                Hash::Sha512 => key.pkcs1v15_verify_prehash::<Sha512>(&digest, signature),
            }
            .is_ok(),
            (Self::Rsa(key) | Self::Pss(key), Scheme::Pss(salt)) => {
                let Ok(signature) = pss::Signature::try_from(signature) else {
                    return Ok(false);
                };
                let key = key.clone();
                match hash {
                    Hash::Sha256 => pss::VerifyingKey::<Sha256>::new_with_salt_len(key, salt)
                        .verify_prehash(&digest, &signature),
                    Hash::Sha384 => pss::VerifyingKey::<Sha384>::new_with_salt_len(key, salt)
                        .verify_prehash(&digest, &signature),
                    Hash::Sha512 => pss::VerifyingKey::<Sha512>::new_with_salt_len(key, salt)
                        .verify_prehash(&digest, &signature),
                }
                .is_ok()
            }
            (Self::P256(key), Scheme::Ecdsa) => pair::<32>(signature)
                .and_then(|(r, s)| p256::ecdsa::Signature::from_scalars(r, s).ok())
                .is_some_and(|signature| key.verify_prehash(&digest, &signature).is_ok()),
            (Self::P384(key), Scheme::Ecdsa) => pair::<48>(signature)
                .and_then(|(r, s)| p384::ecdsa::Signature::from_scalars(r, s).ok())
                .is_some_and(|signature| key.verify_prehash(&digest, &signature).is_ok()),
            (_, scheme) => {
                return Err(Broken::Wrong(format!(
                    "it signed with {scheme}, which it is not for"
                )));
            }
        })
    }
}

fn rsa(bits: &[u8]) -> Result<PublicKey, Broken> {
    let mut fields = Fields::of(bits)?;
    let mut number = || {
        let number = UintRef::from_der(fields.whole()?)?;
        Ok::<_, Broken>(BoxedUint::from_be_slice_vartime(number.as_bytes()))
    };
    let (n, e) = (number()?, number()?);
    // Below that they can be broken, and above that they cost time.
    PublicKey::new_with_size_limits(n, e, 2048..=8192).map_err(|e| Broken::Unread(e.to_string()))
}

/// The two numbers of an ECDSA signature (RFC 3279), each filled up to the size of the curve's.
fn pair<const SIZE: usize>(signature: &[u8]) -> Option<([u8; SIZE], [u8; SIZE])> {
    let both = value(AnyRef::from_der(signature).ok()?, Tag::Sequence).ok()?;
    let mut fields = Fields::new(both).ok()?;
    let mut number = || {
        let number = UintRef::from_der(fields.whole().ok()?).ok()?;
        let mut filled = [0; SIZE];
        let at = SIZE.checked_sub(number.as_bytes().len())?;
        filled[at..].copy_from_slice(number.as_bytes());
        Some(filled)
    };
    let numbers = (number()?, number()?);
    fields.end().ok()?;
    Some(numbers)
}
