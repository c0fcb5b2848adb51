//! The images that stages start from: looked up all at once, named contexts first.

use std::collections::BTreeMap;

use llb::{Copy, FileOp, Local, Metadata, Output, Platform, ResolveMode};
use stages::diag::Spanned;
use stages::file::Pull;
use stages::ignore::Ignore;
use stages::plan::{Facts, ImageConfig, ImageFact, ImageSource as PlannedSource};

use super::files::given;
use super::{Build, remote};
use crate::gateway::bridge::{Image, ImageSource};
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;
use crate::gateway::opts::ContextSource;

impl Build<'_> {
    /// Finds facts about all images. Gives the keys of the named contexts that stand in for some of them.
    pub(super) async fn images(
        &self,
        wanted: &[Spanned<String>],
        platform: &Platform,
        pull: impl Fn(&str) -> Pull,
        facts: &mut Facts,
    ) -> Result<Vec<String>, Failure> {
        let looked = join_all(
            wanted
                .iter()
                .map(|image| self.image(&image.value, platform, pull(&image.value))),
        )
        .await;
        let mut used = Vec::new();
        let mut failures = Vec::new();
        for (image, looked) in wanted.iter().zip(looked) {
            match looked {
                Ok((fact, context)) => {
                    facts.images.insert(image.value.clone(), fact);
                    used.extend(context);
                }
                Err(failure) => failures.push(
                    failure
                        .context(&image.value)
                        .with_lines(self.sources, &image.span),
                ),
            }
        }
        match Failure::all(failures) {
            Some(failure) => Err(failure),
            None => Ok(used),
        }
    }

    async fn image(
        &self,
        name: &str,
        platform: &Platform,
        pull: Pull,
    ) -> Result<(ImageFact, Option<String>), Failure> {
        let Some((key, context)) = self.opts.contexts.find(name, platform) else {
            let source = ImageSource::Registry(
                name.parse()
                    .map_err(|error: llb::Error| Failure::new(error.to_string()))?,
            );
            let shown = format!("[internal] load metadata for {name}");
            // `--pull` is for all images of the build.
            let mode = match (self.opts.resolve_mode, pull) {
                (ResolveMode::Pull, _) | (_, Pull::Always) => ResolveMode::Pull,
                (_, Pull::Missing) => ResolveMode::PreferLocal,
                (mode, Pull::Engine) => mode,
            };
            return Ok((self.look(source, platform, mode, &shown).await?, None));
        };
        let shown = format!("[context {key}] load metadata for {name}");
        let mode = self.opts.resolve_mode;
        let mut fact = match &context.source {
            ContextSource::Scratch => ImageFact {
                source: PlannedSource::Scratch,
                config: ImageConfig::default(),
                os_version: String::new(),
                given: false,
            },
            ContextSource::Image(image) => {
                self.look(ImageSource::Registry(image.clone()), platform, mode, &shown)
                    .await?
            }
            ContextSource::OciLayout { store, digest } => {
                let source = oci_layout(name, digest, &self.opts.session, store)?;
                self.look(source, platform, mode, &shown).await?
            }
            ContextSource::Local(local) => files(
                self.directory(key, local, context.shared_key.as_deref())
                    .await?,
            ),
            ContextSource::Input(input) => self.result(input, &context.metadata)?,
            ContextSource::Remote(url) => {
                let shown = format!("[context {key}] {}", remote::shown(url));
                let keep = self.opts.keep_git_dir;
                files(remote::open(self.bridge, url, keep, shown).await?.files)
            }
        };
        fact.given = true;
        Ok((fact, Some(key.to_owned())))
    }

    /// A directory of the client as a root, without what its ignore file takes out of it. A copy, so that it goes by
    /// its content: the directory itself has a new key in every build.
    async fn directory(
        &self,
        key: &str,
        local: &str,
        shared_key: Option<&str>,
    ) -> Result<Output, Failure> {
        let fit = |error: llb::Error| Failure::new(error.to_string());
        let ignore = self.ignore_of(local, &format!("context {key}")).await?;
        let ignore = Ignore::parse(&ignore.unwrap_or_default());
        let sent = Local::of_session(local, self.opts.session_of(local))
            .map_err(fit)?
            .exclude(ignore.patterns())
            .shared_key_hint(&format!("lanekit-{key}-{}", shared_key.unwrap_or_default()))
            .metadata(Metadata::named(format!("[context {key}] load from client")))
            .build();
        FileOp::new(None)
            .copy(Copy::new(sent, "/", "/").contents())
            .metadata(Metadata::named(format!("[context {key}] files")))
            .build()
            .map_err(fit)
    }

    /// The result of another build, with its image's config if it has one.
    fn result(
        &self,
        input: &str,
        metadata: &BTreeMap<String, Vec<u8>>,
    ) -> Result<ImageFact, Failure> {
        let none = || Failure::new(format!("this build has no input `{input}`"));
        let source = PlannedSource::Files(given(self.inputs, input)?.ok_or_else(none)?);
        let config = match metadata.get("containerimage.config") {
            None => ImageConfig::default(),
            Some(config) => read(config)?,
        };
        Ok(ImageFact {
            source,
            config,
            os_version: String::new(),
            given: false,
        })
    }

    async fn look(
        &self,
        source: ImageSource,
        platform: &Platform,
        mode: ResolveMode,
        shown: &str,
    ) -> Result<ImageFact, Failure> {
        let Image { name, config } = self
            .bridge
            .resolve_image(&source, platform, mode, shown)
            .await?;
        let os_version = runs_on(&config, platform)?;
        let config = read(&config)?;
        let reference = name.to_string();
        let source = match source {
            ImageSource::Registry(_) => PlannedSource::Registry { reference },
            ImageSource::OciLayout { session, store, .. } => PlannedSource::OciLayout {
                reference,
                session,
                store,
            },
        };
        Ok(ImageFact {
            source,
            config,
            os_version,
            given: false,
        })
    }
}

fn read(config: &[u8]) -> Result<ImageConfig, Failure> {
    ImageConfig::from_image(config)
        .map_err(|error| Failure::new(format!("its config cannot be read: {error}")))
}

/// An image of a store goes by its digest; the name before it is only shown.
fn oci_layout(
    name: &str,
    digest: &str,
    session: &str,
    store: &str,
) -> Result<ImageSource, Failure> {
    let fit = |error: llb::Error| Failure::new(error.to_string());
    let shown: llb::Reference = name.parse().map_err(fit)?;
    let name = format!("{}@{digest}", shown.repository())
        .parse()
        .map_err(fit)?;
    Ok(ImageSource::OciLayout {
        name,
        session: session.to_owned(),
        store: store.to_owned(),
    })
}

/// Files alone: who starts from them inherits no environment.
fn files(files: Output) -> ImageFact {
    ImageFact {
        source: PlannedSource::Files(files),
        config: ImageConfig::default(),
        os_version: String::new(),
        given: false,
    }
}

/// The engine takes an image of another platform with a warning: the output would say one platform and hold another.
///
/// Gives Windows' build number, empty for none.
fn runs_on(config: &[u8], wanted: &Platform) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Built {
        #[serde(default)]
        os: String,
        #[serde(default)]
        architecture: String,
        #[serde(default, rename = "os.version")]
        os_version: String,
    }
    // A config that is none is refused where it is read whole.
    let Ok(Built {
        os,
        architecture,
        os_version,
    }) = serde_json::from_slice(config)
    else {
        return Ok(String::new());
    };
    let other = |has: &str, want: &str| !has.is_empty() && has != want;
    if other(&os, &wanted.os) || other(&architecture, &wanted.architecture) {
        return Err(Failure::new(format!(
            "it is for {os}/{architecture}, and this lane runs on {wanted}: name an image that has {wanted}, or change the lane's `platform`"
        )));
    }
    Ok(os_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_of_another_platform_is_refused_and_one_that_says_nothing_is_taken() {
        let arm = Platform::new("linux", "arm64");
        let says = |json: &str| runs_on(json.as_bytes(), &arm).map_err(|f| f.message().to_owned());
        assert_eq!(
            says(r#"{"os":"linux","architecture":"arm64","variant":"v8"}"#),
            Ok(String::new())
        );
        assert_eq!(says("{}"), Ok(String::new()));
        let refused = says(r#"{"os":"linux","architecture":"amd64"}"#).unwrap_err();
        assert!(
            refused.contains("linux/amd64") && refused.contains("linux/arm64"),
            "{refused}"
        );
        assert!(says(r#"{"os":"windows","architecture":"arm64"}"#).is_err());
        let windows = runs_on(
            br#"{"os":"windows","architecture":"amd64","os.version":"10.0.20348.2113"}"#,
            &Platform::new("windows", "amd64"),
        );
        assert_eq!(windows.map_err(|_| ()), Ok("10.0.20348.2113".to_owned()));
    }
}
