//! Options that are understood and cannot be honoured yet. They are refused: a build that drops them would look as if
//! it had done what was asked.

use crate::gateway::opts::{Context, OptError, OptErrors, Opts};

/// Everything that cannot be honoured.
pub(super) fn check(opts: &Opts) -> Result<(), OptErrors> {
    let mut errors = Vec::new();
    let mut refuse = |name: &str, value: &str, problem: &str| {
        errors.push(OptError {
            name: name.to_owned(),
            value: value.to_owned(),
            problem: problem.to_owned(),
        });
    };
    if let Context::Remote { url, .. } = &opts.context {
        refuse(
            "context",
            url,
            "lanekit builds from directories only: fetch it and build from there",
        );
    }
    if let Some(size) = opts.shm_size {
        refuse(
            "shm-size",
            &size.to_string(),
            "lanekit cannot set the size of /dev/shm yet",
        );
    }
    if let Some(namespace) = &opts.cache_namespace {
        refuse(
            "build-arg:BUILDKIT_CACHE_MOUNT_NS",
            namespace,
            "lanekit cannot move cache mounts yet: change their ids in the file",
        );
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(OptErrors(errors))
    }
}
