//! Image configs: what comes from a base image, and what an output carries.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The part of an OCI image config that runs are made from (image-spec `config.md`, field
/// `config`). Fields that lanekit does not edit are carried along as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ImageConfig {
    /// `NAME=VALUE`, in the order of the base image.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "or_default"
    )]
    pub env: Vec<String>,
    /// Entrypoint.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "or_default"
    )]
    pub entrypoint: Vec<String>,
    /// Command.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "or_default"
    )]
    pub cmd: Vec<String>,
    /// User; empty is root.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "or_default"
    )]
    pub user: String,
    /// Working directory; empty is `/`.
    #[serde(
        default,
        skip_serializing_if = "String::is_empty",
        deserialize_with = "or_default"
    )]
    pub working_dir: String,
    /// Labels.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "or_default"
    )]
    pub labels: BTreeMap<String, String>,
    /// What a Dockerfile that starts from the image would run. No lane does, and no output has them.
    #[serde(default, skip_serializing, deserialize_with = "or_default")]
    pub on_build: Vec<String>,
    /// How many layers the base image has.
    #[serde(skip)]
    pub layers: usize,
    /// Everything else that the base image says.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Go writes `null` for empty lists and maps.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

impl ImageConfig {
    /// Takes the `config` of a whole image config.
    ///
    /// # Errors
    /// What serde says when the bytes are no image config.
    pub fn from_image(json: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Image {
            #[serde(default)]
            config: Option<ImageConfig>,
            #[serde(default)]
            rootfs: Option<RootFs>,
        }
        #[derive(Deserialize)]
        struct RootFs {
            #[serde(default, deserialize_with = "or_default")]
            diff_ids: Vec<IgnoredAny>,
        }
        let image: Image = serde_json::from_slice(json)?;
        let mut config = image.config.unwrap_or_default();
        config.layers = image.rootfs.map_or(0, |rootfs| rootfs.diff_ids.len());
        Ok(config)
    }

    /// Environment by name.
    pub fn env_map(&self) -> BTreeMap<String, String> {
        self.env
            .iter()
            .map(|entry| {
                let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
                (name.to_owned(), value.to_owned())
            })
            .collect()
    }

    /// Gives variables the spelling that they have in `spellings`, by their small letters.
    pub(super) fn respell(&mut self, spellings: &BTreeMap<String, String>) {
        for entry in &mut self.env {
            let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
            if let Some(spelled) = spellings.get(&name.to_lowercase()) {
                *entry = format!("{spelled}={value}");
            }
        }
    }

    /// Sets a variable: in place where it exists, else behind the others.
    pub(super) fn set_env(&mut self, name: &str, value: &str) {
        let entry = format!("{name}={value}");
        let prefix = format!("{name}=");
        match self.env.iter_mut().find(|e| e.starts_with(&prefix)) {
            Some(old) => *old = entry,
            None => self.env.push(entry),
        }
    }

    /// Takes a variable away.
    pub(super) fn unset_env(&mut self, name: &str) {
        let prefix = format!("{name}=");
        self.env
            .retain(|entry| !entry.starts_with(&prefix) && entry != name);
    }

    /// The whole image config for a platform, as the `containerimage.config` metadata wants it;
    /// the engine fills in layers, history and creation time.
    pub fn to_image(&self, platform: &str) -> Vec<u8> {
        let mut parts = platform.split('/');
        let mut image = Map::new();
        let mut put = |key: &str, value: Value| image.insert(key.to_owned(), value);
        // `windows(10.0.20348.2113)`: a build number behind the system's name.
        let os = parts.next().unwrap_or_default();
        match os.split_once('(') {
            Some((os, version)) => {
                put("os", os.into());
                put("os.version", version.trim_end_matches(')').into());
            }
            None => {
                put("os", os.into());
            }
        }
        put("architecture", parts.next().unwrap_or_default().into());
        if let Some(variant) = parts.next() {
            put("variant", variant.into());
        }
        put("config", serde_json::to_value(self).unwrap_or_default());
        let mut rootfs = Map::new();
        rootfs.insert("type".into(), "layers".into());
        rootfs.insert("diff_ids".into(), Value::Array(Vec::new()));
        put("rootfs", Value::Object(rootfs));
        Value::Object(image).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_keeps_what_it_does_not_know() {
        let json =
            br#"{"os":"linux","config":{"Env":["A=1","PATH=/bin"],"Cmd":null,"StopSignal":"9"}}"#;
        let mut config = ImageConfig::from_image(json).unwrap();
        config.set_env("A", "2");
        config.set_env("B", "3");
        assert_eq!(config.env, ["A=2", "PATH=/bin", "B=3"]);
        let image = String::from_utf8(config.to_image("linux/arm64/v8")).unwrap();
        assert!(
            image.contains(r#""StopSignal":"9""#) && image.contains(r#""variant":"v8""#),
            "{image}"
        );
    }

    #[test]
    fn garbage_is_an_error() {
        assert!(ImageConfig::from_image(b"3").is_err());
        assert!(ImageConfig::from_image(b"\xff").is_err());
    }
}
