//! The memory use of this process, and its limit.

use std::sync::OnceLock;
use std::time::Duration;

use pendula::report::Reporter;

use crate::cli::report::answer;
use crate::cli::status::Status;

/// The interval between checks of the memory use. What the process can allocate in between is small compared with any
/// sensible limit.
const PERIOD: Duration = Duration::from_millis(10);

/// A field of the kernel's status file of this process, in bytes.
pub(crate) fn own(field: &str) -> Option<u64> {
    kilobytes("/proc/self/status", field)
}

fn kilobytes(file: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The memory of the host in bytes, or the limit of the control group if it is lower.
fn of_host() -> Option<u64> {
    let has = kilobytes("/proc/meminfo", "MemTotal")?;
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let left = groups.iter().filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok());
    Some(left.fold(has, u64::min))
}

/// The limit of this process, once it is set.
static LIMIT: OnceLock<u64> = OnceLock::new();

/// The memory in bytes that this process may use, if that is known.
pub(crate) fn limit() -> Option<u64> {
    LIMIT.get().copied()
}

/// Ends the process with an error when it uses more memory than `limit` bytes, by default half of the host's memory. If
/// the system does not report the memory use, only an explicit limit is an error.
pub(crate) fn watch(limit: Option<u64>, reporter: &Reporter) -> anyhow::Result<()> {
    if own("VmRSS").is_none() {
        anyhow::ensure!(limit.is_none(), "--memory-limit: this system does not report the memory use of a process");
        return Ok(());
    }
    let Some(most) = limit.or_else(|| of_host().map(|all| all / 2)) else { return Ok(()) };
    LIMIT.get_or_init(|| most);
    let default = if limit.is_none() { ", half of the host's memory" } else { "" };
    let help = "use smaller inputs, or allow more memory with `--memory-limit`";
    let message = move || format!("out of memory: more than {}{default}; {help}", size(most));
    // The current memory use is checked at once, not only at the thread's first check.
    anyhow::ensure!(own("VmRSS").is_none_or(|now| now <= most), message());
    let reporter = reporter.clone();
    std::thread::Builder::new().name("memory".to_string()).spawn(move || {
        while own("VmRSS").is_none_or(|now| now <= most) {
            std::thread::sleep(PERIOD);
        }
        crate::cli::status::restore_terminal();
        answer::failure(&reporter, &anyhow::anyhow!(message()));
        crate::cli::status::exit(Status::Fault)
    })?;
    Ok(())
}

const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/// A number of bytes in a readable unit.
fn size(bytes: u64) -> String {
    let unit = (bytes.max(1).ilog2() / 10).min(UNITS.len() as u32 - 1);
    let number = bytes as f64 / 1024f64.powi(unit as i32);
    let digits = usize::from(unit > 0 && number < 100.0);
    format!("{number:.digits$} {}", UNITS[unit as usize])
}

/// Parses a number of bytes: `4G`, `512MiB`, `1.5g`, `100000`. A unit is a power of 1024.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "not a size: a number with a unit, such as 512M or 4G".to_string();
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = unit.to_ascii_lowercase();
    let power = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().replace('_', "").parse().map_err(|_| wrong())?;
    let bytes = number * 1024f64.powi(power);
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// The same, where nothing is a size, too.
pub(crate) fn parse_size_or_zero(text: &str) -> Result<u64, String> {
    let number = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if number.parse() == Ok(0.0) { Ok(0) } else { parse_size(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let read = [("4G", 4 << 30), ("512MiB", 512 << 20), ("1.5k", 1536), ("100_000", 100_000), ("7 tb", 7 << 40)];
        for (text, bytes) in read {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1G", "0", "4X", "1e99", "nan", "inf", "4 Gi G"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!([100, 1536, 12 << 30, 100 << 20].map(size), ["100 bytes", "1.5 KiB", "12.0 GiB", "100 MiB"]);
    }
}
