//! `/metrics`: the kernel's counters in the Prometheus text format.
//!
//! The counters live in the registry, one set per tool, so the number of series is fixed at
//! startup and cannot grow by calls of unknown names.

use std::fmt::{self, Write};

use panoply_contract::error::ErrorClass;
use panoply_contract::kernel::Kernel;
use panoply_contract::meters::{BUCKETS_MICROS, MeterSnapshot};

/// Renders all metrics.
pub fn render(kernel: &Kernel) -> String {
    let tools: Vec<Counted> = kernel
        .registry()
        .get_all()
        .iter()
        .map(|entry| Counted {
            pack: entry.pack,
            tool: entry.spec.name,
            counts: entry.meter.snapshot(),
        })
        .collect();
    let mut page = String::with_capacity(tools.len() * 2048);
    // Writing to a String cannot fail.
    let _infallible = write_page(&mut page, &tools, kernel.settings().service_version);
    page
}

struct Counted {
    pack: &'static str,
    tool: &'static str,
    counts: MeterSnapshot,
}

fn write_page(page: &mut String, tools: &[Counted], version: &str) -> fmt::Result {
    header(page, "panoply_build_info", "gauge", "Version of the program.")?;
    writeln!(page, "panoply_build_info{{version=\"{version}\"}} 1")?;

    header(page, "panoply_tool_calls_total", "counter", "Calls that ended, well or badly.")?;
    for Counted { pack, tool, counts } in tools {
        writeln!(
            page,
            "panoply_tool_calls_total{{pack=\"{pack}\",tool=\"{tool}\"}} {}",
            counts.calls
        )?;
    }
    header(page, "panoply_tool_errors_total", "counter", "Calls that failed, by class.")?;
    for Counted { pack, tool, counts } in tools {
        for (class, count) in ErrorClass::ALL.iter().zip(counts.errors) {
            let class = class.as_str();
            writeln!(
                page,
                "panoply_tool_errors_total{{pack=\"{pack}\",tool=\"{tool}\",class=\"{class}\"}} {count}"
            )?;
        }
    }
    simple(
        page,
        tools,
        "panoply_tool_rate_limited_total",
        "Calls refused for coming too often.",
        |counts| counts.rate_limited,
    )?;
    simple(
        page,
        tools,
        "panoply_tool_cache_hits_total",
        "Replies served from the cache.",
        |counts| counts.cache_hits,
    )?;
    simple(
        page,
        tools,
        "panoply_tool_cache_misses_total",
        "Cacheable calls that had to run.",
        |counts| counts.cache_misses,
    )?;
    durations(page, tools)
}

fn simple(
    page: &mut String,
    tools: &[Counted],
    name: &str,
    help: &str,
    count: impl Fn(&MeterSnapshot) -> u64,
) -> fmt::Result {
    header(page, name, "counter", help)?;
    for Counted { pack, tool, counts } in tools {
        writeln!(page, "{name}{{pack=\"{pack}\",tool=\"{tool}\"}} {}", count(counts))?;
    }
    Ok(())
}

/// Tools without calls have no histogram: most of the output would be zeros.
fn durations(page: &mut String, tools: &[Counted]) -> fmt::Result {
    const NAME: &str = "panoply_tool_duration_seconds";
    header(page, NAME, "histogram", "Time from request to reply.")?;
    for Counted { pack, tool, counts } in tools.iter().filter(|tool| tool.counts.calls > 0) {
        let mut seen = 0;
        for (count, end) in counts.buckets.iter().zip(BUCKETS_MICROS) {
            seen += count;
            let end = seconds(end);
            writeln!(page, "{NAME}_bucket{{pack=\"{pack}\",tool=\"{tool}\",le=\"{end}\"}} {seen}")?;
        }
        let all: u64 = counts.buckets.iter().sum();
        writeln!(page, "{NAME}_bucket{{pack=\"{pack}\",tool=\"{tool}\",le=\"+Inf\"}} {all}")?;
        writeln!(
            page,
            "{NAME}_sum{{pack=\"{pack}\",tool=\"{tool}\"}} {}",
            counts.total.as_secs_f64()
        )?;
        writeln!(page, "{NAME}_count{{pack=\"{pack}\",tool=\"{tool}\"}} {all}")?;
    }
    Ok(())
}

fn header(page: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn seconds(micros: u64) -> f64 {
    std::time::Duration::from_micros(micros).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use panoply_contract::meters::{CacheUse, Meter};
    use std::time::Duration;

    #[test]
    fn histogram_buckets_are_cumulative_and_match_the_count() {
        let meter = Meter::default();
        meter.count(Duration::from_micros(20), None, CacheUse::Hit, false);
        meter.count(Duration::from_millis(3), Some(ErrorClass::System), CacheUse::Miss, true);
        meter.count(Duration::from_secs(3600), None, CacheUse::None, false);
        let tools = [Counted { pack: "p", tool: "t", counts: meter.snapshot() }];
        let mut page = String::new();
        write_page(&mut page, &tools, "1.2.3").unwrap();
        let value = |start: &str| {
            let line = page
                .lines()
                .find(|line| line.starts_with(start))
                .unwrap_or_else(|| panic!("{start} in {page}"));
            line.rsplit(' ').next().unwrap().to_owned()
        };
        assert_eq!(value("panoply_tool_calls_total{pack=\"p\",tool=\"t\"}"), "3");
        assert_eq!(value("panoply_tool_errors_total{pack=\"p\",tool=\"t\",class=\"system\"}"), "1");
        assert_eq!(value("panoply_tool_rate_limited_total"), "1");
        assert_eq!(value("panoply_tool_cache_hits_total"), "1");
        assert_eq!(
            value("panoply_tool_duration_seconds_bucket{pack=\"p\",tool=\"t\",le=\"0.000025\"}"),
            "1"
        );
        assert_eq!(
            value("panoply_tool_duration_seconds_bucket{pack=\"p\",tool=\"t\",le=\"60\"}"),
            "2"
        );
        assert_eq!(
            value("panoply_tool_duration_seconds_bucket{pack=\"p\",tool=\"t\",le=\"+Inf\"}"),
            "3"
        );
        assert_eq!(value("panoply_tool_duration_seconds_count"), "3");
    }
}
