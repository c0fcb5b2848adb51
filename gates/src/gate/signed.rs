//! The gate `signed`: PE images are signed, the signature is about their bytes, and by whom.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys};
use crate::arch_table::Row;
use crate::authenticode::chain::Chain;
use crate::authenticode::layout::{self, Layout};
use crate::authenticode::{self, Broken, Signature};
use crate::exit::Failure;
use crate::format::magic::{self, Magic};
use crate::glob::Glob;
use crate::input::ReadSeek;
use crate::name::{Name, hex};
use crate::report::{Finding, Inspected, Item};
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Visit};
use crate::seen::Seen;
use crate::walk::Root;

const NONE: Rule = Rule::new("SIG001", "not signed");
const BYTES: Rule = Rule::new("SIG002", "signed with other bytes");
const WRONG: Rule = Rule::new("SIG003", "a signature that does not hold");
const SIGNER: Rule = Rule::new("SIG004", "signed by somebody else");
const UNREAD: Rule = Rule::new("SIG005", "a signature that cannot be checked");
const UNUSED: Rule = Rule::new("SIG006", "a key of the gate that fits nothing");

/// The gate.
pub struct Signed;

impl Check for Signed {
    const NAME: &'static str = "signed";
    const ABOUT: &'static str = "PE images are signed, about their bytes, and by whom";
    const VERSION: u32 = 5;
    const COUNTS: &'static [&'static str] = &["signatures", "signed"];
    const RULES: &'static [Rule] = &[NONE, BYTES, WRONG, SIGNER, UNREAD, UNUSED];
    type Ask = Ask;
    type Demand = Demand;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let of: Vec<Glob> = ask
            .of
            .iter()
            .map(|of| Glob::new(of, row.folds_case()))
            .collect();
        let Part { mut seen, facts } = scan::tree(roots, &Images { of: &of })?.part;
        for image in &facts {
            image.tell(&mut seen);
        }
        for (glob, of) in of.iter().zip(&ask.of) {
            // A tree without any image is for floors to tell.
            let met = of == ALL || facts.iter().any(|image| glob.matches(image.name.bytes()));
            if !met {
                let why = "`of` is about images of which none is there";
                seen.wrong(UNUSED, &Name::from(of.as_str()), why);
            }
        }
        Ok(seen)
    }

    fn judge(report: &Inspected, demand: &Demand) -> Vec<Finding> {
        let mut seen = Seen::default();
        if !demand.signers.is_empty() {
            signers(demand, &report.items, &mut seen);
        }
        seen.findings
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Globs over files: the images that must be signed. All, unless it says otherwise.
    #[serde(default = "everything")]
    pub of: Vec<String>,
}

/// The glob that every name matches.
const ALL: &str = "**";

fn everything() -> Vec<String> {
    vec![ALL.to_owned()]
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        match self.of.is_empty() {
            true => Err("`of` is empty".to_owned()),
            false => Ok(()),
        }
    }
}

/// What *assert* holds against a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Demand {
    /// Who may have signed: each image by one of them.
    pub signers: Vec<Signer>,
}

/// Somebody who may sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Signer {
    /// A glob over the subject of the signer's certificate: `CN=Example Ltd,**`. Anybody can
    /// write a certificate of this name; [`Signer::certificate`] tells whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The SHA-256 of a certificate of the chain, in hex: the signer's own or one that vouches
    /// for it.
    pub certificate: String,
}

impl Keys for Demand {
    fn check(&self) -> Result<(), String> {
        for signer in &self.signers {
            let text = &signer.certificate;
            if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(format!(
                    "`certificate` is no SHA-256 in lower-case hex: `{text}`"
                ));
            }
        }
        Ok(())
    }
}

/// An image and the signatures on it.
struct Image {
    name: Name,
    /// What signatures leave out; none when there is none.
    layout: Option<Layout>,
    signatures: Vec<Signature>,
}

/// What classes of a signed image begin with, one for each certificate of each signature's chain:
/// `chain 9f86… CN=…`, the certificate's SHA-256 and the subject of that signature's signer.
/// Both in one, since what one signature says is nothing to another.
const CHAIN: &str = "chain ";

impl Image {
    fn tell(&self, seen: &mut Seen) {
        let mut classes = BTreeMap::new();
        let held = self.signatures.iter().filter(|s| s.holds());
        let chains = held.filter_map(|s| s.chain.as_ref().ok());
        for (place, Chain(links)) in chains.enumerate() {
            let number = classes.entry("signatures".to_owned()).or_default();
            *number = place as u64 + 1;
            let signer = links.first().map_or("", |leaf| leaf.subject.as_str());
            for link in links {
                classes.insert(format!("{CHAIN}{} {signer}", link.thumbprint), 1);
            }
        }
        if !classes.is_empty() {
            classes.insert("signed".to_owned(), 1);
        }
        seen.item(&self.name, "pe", classes);
    }
}

/// Reads the signatures of every image that must have one.
struct Images<'g> {
    of: &'g [Glob],
}

impl Visit for Images<'_> {
    type Fact = Image;

    fn wants(&self, head: &[u8], size: u64, _name: &[u8]) -> bool {
        magic::sniff(head, size) == Magic::Pe
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Image>) -> Result<(), Failure> {
        let (name, seen) = (entry.name, &mut part.seen);
        let meant = self.of.iter().any(|glob| glob.matches(name.bytes()));
        if entry.magic != Magic::Pe || !meant {
            seen.counts.other += 1;
            return Ok(());
        }
        let mut image = Image {
            name: name.clone(),
            layout: None,
            signatures: Vec::new(),
        };
        match layout::read(entry.whole()) {
            Err(fault) => seen.fault(rule::DAMAGED, name, "signed PE image", &fault),
            Ok(None) => seen.wrong(NONE, name, "it has no signature"),
            Ok(Some((layout, signatures))) => {
                image.layout = Some(layout);
                for der in signatures {
                    if let Err(broken) = Signature::read(&der, &mut image.signatures) {
                        seen.wrong(rule_of(&broken), name, broken.to_string());
                    }
                }
            }
        }
        part.facts.push(image);
        Ok(())
    }

    fn reads(&self, magic: Magic) -> bool {
        magic == Magic::Pe
    }

    fn read(
        &self,
        name: &Name,
        bytes: &mut dyn ReadSeek,
        part: &mut Part<Image>,
    ) -> Result<(), Failure> {
        let of_this = part.facts.last_mut().filter(|image| image.name == *name);
        let Some((layout, image)) = of_this.and_then(|image| Some((image.layout.take()?, image)))
        else {
            return Ok(());
        };
        authenticode::compare(&layout, bytes, &mut image.signatures)
            .map_err(|error| Failure::io(&name.to_string(), &error))?;
        let proven = image.signatures.iter().any(Signature::holds);
        for signature in &image.signatures {
            match &signature.chain {
                // For systems that know nothing newer; another one says what it cannot.
                Err(Broken::Weak(_)) if proven => {}
                Err(broken) => part.seen.wrong(rule_of(broken), name, broken.to_string()),
                Ok(_) => {}
            }
            if signature.hash.is_some() && !signature.is_right() {
                let why = "its bytes are not those that were signed";
                let (found, signed) = (hex(&signature.actual), hex(&signature.digest));
                part.seen.differs(BYTES, name, found, signed, why);
            }
        }
        Ok(())
    }
}

const fn rule_of(broken: &Broken) -> Rule {
    match broken {
        Broken::Unread(_) | Broken::Weak(_) => UNREAD,
        Broken::Wrong(_) => WRONG,
    }
}

/// Images that none of the named signers signed, and signers that signed nothing.
fn signers(demand: &Demand, items: &[Item], seen: &mut Seen) {
    let mut all: Vec<(&Signer, Option<Glob>, bool)> = demand
        .signers
        .iter()
        .map(|signer| {
            (
                signer,
                signer.subject.as_deref().map(|s| Glob::new(s, true)),
                false,
            )
        })
        .collect();
    // What is not signed at all has been told already.
    for item in items
        .iter()
        .filter(|item| item.classes.contains_key("signed"))
    {
        let links = || {
            let chains = item
                .classes
                .keys()
                .filter_map(|class| class.strip_prefix(CHAIN));
            chains.filter_map(|chain| chain.split_once(' '))
        };
        let mut by = false;
        for (signer, subject, met) in &mut all {
            let named = |(thumbprint, name): (&str, &str)| {
                let fits = subject
                    .as_ref()
                    .is_none_or(|glob| glob.matches(name.as_bytes()));
                thumbprint == signer.certificate && fits
            };
            if links().any(named) {
                *met = true;
                by = true;
            }
        }
        if !by {
            let found: BTreeSet<&str> = links().map(|(_, subject)| subject).collect();
            let found = found.into_iter().collect::<Vec<_>>().join(" and ");
            let expected = demand.signers.iter().map(|signer| match &signer.subject {
                Some(subject) => format!("{subject} of {}", signer.certificate),
                None => signer.certificate.clone(),
            });
            let expected = expected.collect::<Vec<_>>().join(" or ");
            seen.differs(
                SIGNER,
                &item.subject,
                found,
                expected,
                "none of `signers` signed it",
            );
        }
    }
    for (signer, _, met) in &all {
        if !met {
            let why = "`signers` names it, and it signed nothing";
            seen.wrong(UNUSED, &Name::from(signer.certificate.as_str()), why);
        }
    }
}
