//! A result of several platforms: one part for each lane of a group.

use std::collections::BTreeMap;

use llb::Platform;
use serde_json::{Value, json};
use stages::plan::Request;

use super::{Solved, attest, platform_fields, verdicts};
use crate::gateway::bridge::{Built, Refs};
use crate::gateway::error::Failure;

/// Whether the result has parts by platform: as the caller says, else where a group is built.
pub(super) fn parts(asked: Option<bool>, requests: &[Request]) -> Result<bool, Failure> {
    match asked {
        Some(false) if requests.len() > 1 => Err(Failure::new(
            "multi-platform=false: the group has lanes of several platforms; name one of them with --platform",
        )),
        Some(asked) => Ok(asked),
        None => Ok(requests.iter().any(|request| request.group.is_some())),
    }
}

/// Puts the parts together. Each was solved behind the gates of its lane, so nothing goes out before all of them passed.
pub(super) fn together(parts: Vec<Solved>) -> Result<Built, Failure> {
    let mut refs = BTreeMap::new();
    let mut metadata = BTreeMap::new();
    let mut platforms = Vec::new();
    let mut why = Vec::new();
    for part in &parts {
        let id = part.platform.to_string();
        if refs.insert(id.clone(), part.result.clone()).is_some() {
            return Err(Failure::new(format!("two lanes make the part for {id}")));
        }
        metadata.insert(format!("containerimage.config/{id}"), part.config.clone());
        metadata.insert(
            format!("frontend.lanekit.keys/{}", part.lane),
            part.keys.clone(),
        );
        platforms.push(entry(&part.platform));
        if let Some(summary) = &part.summary {
            metadata.insert(
                format!("frontend.lanekit.gates/{}", part.lane),
                summary.clone(),
            );
        }
        // Keys of annotations have no build number (`exptypes/annotations.go`).
        let plain = part.platform.clone().os_version("").to_string();
        for (name, value) in &part.annotations {
            let key = format!("annotation-manifest[{plain}].{name}");
            metadata.insert(key, value.clone().into_bytes());
        }
        for reason in &part.unpublishable {
            why.push(format!("lane `{}`: {reason}", part.lane));
        }
    }
    metadata.insert(
        "refs.platforms".to_owned(),
        json!({ "Platforms": platforms }).to_string().into_bytes(),
    );
    let tag = tag(&parts)?;
    if let Some(tag) = tag.filter(|_| why.is_empty()) {
        metadata.insert("frontend.lanekit.tag".to_owned(), tag.into_bytes());
    }
    if parts.iter().any(|part| part.output) {
        metadata.insert(
            "frontend.lanekit.publishable".to_owned(),
            verdicts::publishable(&why),
        );
    }
    let attestations = parts.iter();
    let attestations = attestations.map(|part| (&part.platform, part.attestations.clone()));
    Ok(Built {
        result: Refs::Several(refs),
        metadata,
        attestations: attest::by_platform(attestations),
    })
}

/// One platform of `refs.platforms` (`exporter/containerimage/exptypes`).
pub(super) fn entry(platform: &Platform) -> Value {
    json!({ "ID": platform.to_string(), "Platform": platform_fields(platform) })
}

/// The tag of the whole: every lane must make the same of the group's text.
fn tag(parts: &[Solved]) -> Result<Option<String>, Failure> {
    let mut tags = parts.iter().map(|part| &part.tag);
    let first = tags.next().cloned().flatten();
    if let Some(other) = tags.flatten().find(|tag| Some(*tag) != first.as_ref()) {
        let first = first.unwrap_or_default();
        return Err(Failure::new(format!(
            "the tag of the group is `{first}` by one lane and `{other}` by another: let it name nothing of the lane"
        )));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::bridge::{Attestation, Ref};

    fn part(lane: &str, platform: &str, tag: Option<&str>, why: &[&str]) -> Solved {
        Solved {
            lane: lane.to_owned(),
            result: Ref::scratch(),
            platform: platform.parse().unwrap(),
            config: format!("config of {lane}").into_bytes(),
            keys: Vec::new(),
            summary: None,
            attestations: Vec::new(),
            annotations: BTreeMap::from([("a".to_owned(), lane.to_owned())]),
            tag: tag.map(str::to_owned),
            unpublishable: why.iter().map(|why| (*why).to_owned()).collect(),
            output: true,
        }
    }

    #[test]
    fn each_platform_has_the_statements_and_each_lane_the_summary_of_its_own_gates() {
        let windows = "windows(10.0.20348.1)/amd64";
        let mut parts = vec![
            part("x", "linux/amd64", None, &[]),
            part("y", windows, None, &[]),
            part("z", "linux/arm64", None, &[]),
        ];
        for part in &mut parts[..2] {
            part.summary = Some(format!("gates of {}", part.lane).into_bytes());
            part.attestations = vec![Attestation {
                made: Ref::scratch(),
                path: format!("/{}.json", part.lane),
                predicate_type: "t",
            }];
        }
        let built = together(parts).unwrap();
        let stated: Vec<(&str, Vec<&str>)> = built
            .attestations
            .iter()
            .map(|(id, list)| (&**id, list.iter().map(|one| &*one.path).collect()))
            .collect();
        assert_eq!(
            stated,
            [("linux/amd64", vec!["/x.json"]), (windows, vec!["/y.json"])]
        );
        let Refs::Several(refs) = built.result else {
            panic!()
        };
        assert!(built.attestations.keys().all(|id| refs.contains_key(id)));
        let summary = |lane: &str| {
            let bytes = built
                .metadata
                .get(&format!("frontend.lanekit.gates/{lane}"));
            bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        assert_eq!(summary("x"), Some("gates of x".to_owned()));
        assert_eq!(summary("y"), Some("gates of y".to_owned()));
        assert_eq!(summary("z"), None);
    }

    #[test]
    fn each_platform_has_its_config_and_its_entry() {
        let parts = vec![
            part("x", "linux/amd64", Some("t:1"), &[]),
            part("y", "windows(10.0.20348.1)/amd64", Some("t:1"), &[]),
        ];
        let built = together(parts).unwrap();
        let text = |key: &str| String::from_utf8(built.metadata[key].clone()).unwrap();
        assert_eq!(text("containerimage.config/linux/amd64"), "config of x");
        assert_eq!(text("annotation-manifest[linux/amd64].a"), "x");
        assert_eq!(text("frontend.lanekit.tag"), "t:1");
        assert_eq!(
            text("refs.platforms"),
            r#"{"Platforms":[{"ID":"linux/amd64","Platform":{"architecture":"amd64","os":"linux"}},{"ID":"windows(10.0.20348.1)/amd64","Platform":{"architecture":"amd64","os":"windows","os.version":"10.0.20348.1"}}]}"#
        );
        let Refs::Several(refs) = built.result else {
            panic!()
        };
        assert_eq!(refs.len(), 2);
    }

    #[test]
    fn a_group_has_parts_and_a_lane_has_some_where_the_caller_says_so() {
        let lane = [Request::default()];
        let group = [(); 2].map(|()| Request {
            group: Some("g".to_owned()),
            ..Request::default()
        });
        let asked = |asked, requests: &[Request]| parts(asked, requests).ok();
        assert_eq!(asked(None, &lane), Some(false));
        assert_eq!(asked(Some(true), &lane), Some(true));
        assert_eq!(asked(None, &group[..1]), Some(true));
        assert_eq!(asked(Some(false), &group[..1]), Some(false));
        assert_eq!(asked(Some(true), &group), Some(true));
        assert_eq!(asked(Some(false), &group), None, "one of two would be lost");
    }

    #[test]
    fn a_part_that_may_not_be_published_holds_the_whole_back() {
        let parts = vec![
            part("x", "linux/amd64", None, &["a gate was skipped"]),
            part("y", "linux/arm64", Some("t:1"), &[]),
        ];
        assert!(together(parts.clone()).is_err(), "another tag");
        let mut parts = parts;
        parts[1].tag = None;
        let built = together(parts).unwrap();
        assert!(!built.metadata.contains_key("frontend.lanekit.tag"));
    }
}
