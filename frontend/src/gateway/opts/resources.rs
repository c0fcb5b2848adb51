//! The limits of memory and processors that a caller puts on the steps.

use std::str::FromStr;

use llb::proto::pb::LinuxResources;

use super::Reader;

/// The highest number of a processor or a node of memory that engines take (BuildKit's `util/cpuset`).
const HIGHEST: u16 = 8192;

/// The limits, if any is given; by the names that clients and engines have for them
/// (BuildKit's `frontend/dockerui/attr.go`).
pub(super) fn read(from: &mut Reader) -> Option<LinuxResources> {
    let limits = LinuxResources {
        memory: from.parsed("memory", above_zero).unwrap_or_default(),
        memory_swap: from.parsed("memswap", swap).unwrap_or_default(),
        cpu_shares: from.parsed("cpushares", above_zero).unwrap_or_default(),
        cpu_period: from.parsed("cpuperiod", above_zero).unwrap_or_default(),
        cpu_quota: from.parsed("cpuquota", above_zero).unwrap_or_default(),
        cpuset_cpus: from.parsed("cpusetcpus", set).unwrap_or_default(),
        cpuset_mems: from.parsed("cpusetmems", set).unwrap_or_default(),
    };
    (limits != LinuxResources::default()).then_some(limits)
}

fn above_zero<T: FromStr + PartialOrd + Default>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number > T::default());
    number.ok_or_else(|| "is not a number above 0".to_owned())
}

fn swap(text: &str) -> Result<i64, String> {
    match text {
        "-1" => Ok(-1),
        _ => above_zero(text)
            .map_err(|_| "is neither a number of bytes nor -1, for no limit".to_owned()),
    }
}

/// Numbers of processors or nodes: `0-3,6`.
fn set(text: &str) -> Result<String, String> {
    let number = |text: &str| text.trim().parse::<u16>().ok().filter(|n| *n <= HIGHEST);
    let is_range = |part: &str| match part.split_once('-') {
        Some((first, last)) => number(first)
            .zip(number(last))
            .is_some_and(|(first, last)| first <= last),
        None => number(part).is_some(),
    };
    if text.split(',').all(is_range) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "is not a list of numbers up to {HIGHEST} and ranges, such as 0-3,6"
        ))
    }
}
