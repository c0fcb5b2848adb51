//! The images that stages start from: looked up all at once, named contexts first.

use llb::Platform;
use stages::diag::Spanned;
use stages::plan::{Facts, ImageConfig, ImageFact, ImageSource as PlannedSource};

use super::Build;
use crate::gateway::bridge::{Image, ImageSource};
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;
use crate::gateway::opts::ContextSource;

impl Build<'_> {
    /// Facts about all images, and the keys of the named contexts that stand in for some of them.
    pub(super) async fn images(
        &self,
        wanted: &[Spanned<String>],
        platform: &Platform,
    ) -> Result<(Facts, Vec<String>), Failure> {
        let looked = join_all(
            wanted
                .iter()
                .map(|image| self.image(&image.value, platform)),
        )
        .await;
        let mut facts = Facts::default();
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
            None => Ok((facts, used)),
        }
    }

    async fn image(
        &self,
        name: &str,
        platform: &Platform,
    ) -> Result<(ImageFact, Option<String>), Failure> {
        let Some((key, context)) = self.opts.contexts.find(name, platform) else {
            let source = ImageSource::Registry(
                name.parse()
                    .map_err(|error: llb::Error| Failure::new(error.to_string()))?,
            );
            let shown = format!("[internal] load metadata for {name}");
            return Ok((self.look(source, platform, &shown).await?, None));
        };
        let shown = format!("[context {key}] load metadata for {name}");
        let fact = match &context.source {
            ContextSource::Scratch => ImageFact {
                source: PlannedSource::Scratch,
                config: ImageConfig::default(),
            },
            ContextSource::Image(image) => {
                self.look(ImageSource::Registry(image.clone()), platform, &shown)
                    .await?
            }
            ContextSource::OciLayout { store, digest } => {
                let source = oci_layout(name, digest, &self.opts.session, store)?;
                self.look(source, platform, &shown).await?
            }
            ContextSource::Local(_) => return Err(no_image(key, "a directory")),
            ContextSource::Input(_) => return Err(no_image(key, "the result of another build")),
            ContextSource::Remote(_) => return Err(no_image(key, "a repository or a file")),
        };
        Ok((fact, Some(key.to_owned())))
    }

    async fn look(
        &self,
        source: ImageSource,
        platform: &Platform,
        shown: &str,
    ) -> Result<ImageFact, Failure> {
        let Image { name, config } = self
            .bridge
            .resolve_image(&source, platform, self.opts.resolve_mode, shown)
            .await?;
        runs_on(&config, platform)?;
        let config = ImageConfig::from_image(&config)
            .map_err(|error| Failure::new(format!("its config cannot be read: {error}")))?;
        let reference = name.to_string();
        let source = match source {
            ImageSource::Registry(_) => PlannedSource::Registry { reference },
            ImageSource::OciLayout { session, store, .. } => PlannedSource::OciLayout {
                reference,
                session,
                store,
            },
        };
        Ok(ImageFact { source, config })
    }
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

fn no_image(key: &str, what: &str) -> Failure {
    Failure::new(format!(
        "the context {key} is {what}: stages start from images, so give docker-image://… or oci-layout://…"
    ))
}

/// The engine takes an image of another platform with a warning: the output would say one platform and hold another.
fn runs_on(config: &[u8], wanted: &Platform) -> Result<(), Failure> {
    #[derive(serde::Deserialize)]
    struct Built {
        #[serde(default)]
        os: String,
        #[serde(default)]
        architecture: String,
    }
    // A config that is none is refused where it is read whole.
    let Ok(Built { os, architecture }) = serde_json::from_slice(config) else {
        return Ok(());
    };
    let other = |has: &str, want: &str| !has.is_empty() && has != want;
    if other(&os, &wanted.os) || other(&architecture, &wanted.architecture) {
        return Err(Failure::new(format!(
            "it is for {os}/{architecture}, and this lane runs on {wanted}: name an image that has {wanted}, or change the lane's `platform`"
        )));
    }
    Ok(())
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
            Ok(())
        );
        assert_eq!(says("{}"), Ok(()));
        let refused = says(r#"{"os":"linux","architecture":"amd64"}"#).unwrap_err();
        assert!(
            refused.contains("linux/amd64") && refused.contains("linux/arm64"),
            "{refused}"
        );
        assert!(says(r#"{"os":"windows","architecture":"arm64"}"#).is_err());
    }
}
