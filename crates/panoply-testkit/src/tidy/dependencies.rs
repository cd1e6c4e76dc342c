//! Who may depend on what: the invariants of ARCHITECTURE.md that are arrows between crates.
//!
//! A new dependency is a design decision. Add it to the table with the commit that needs it, and
//! say there what it saves and what it pulls in.

use super::Problem;

/// One crate and what it depends on directly, in production.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The crate's name.
    pub name: String,
    /// Its direct dependencies, build dependencies included, dev-dependencies not.
    pub dependencies: Vec<String>,
    /// What only its tests and benches use.
    pub dev_dependencies: Vec<String>,
}

/// Each crate of the house and all that it may use. Crates that are not here are packs.
const TABLE: &[(&str, &[&str])] = &[
    // The kernel: no I/O, no clock, no transport, no database.
    (
        "panoply-contract",
        &[
            "crossbeam-channel",
            "foldhash",
            "futures",
            "governor",
            "jiff",
            "jsonschema",
            "moka",
            "schemars",
            "serde",
            "serde_json",
            "serde_json_canonicalizer",
            "sha2",
            "strsim",
            "thiserror",
            "tokio",
            "tokio-util",
            "tracing",
            "uuid",
        ],
    ),
    (
        "panoply-mcp",
        &[
            "axum",
            "base64",
            "bytes",
            "futures",
            "governor",
            // MACs of states that a client carries; jsonwebtoken brings it along already.
            "hmac",
            "http",
            "http-body-util",
            "hyper",
            "hyper-util",
            "jiff",
            "jsonwebtoken",
            "panoply-contract",
            "rmcp",
            "serde",
            "serde_json",
            "sha2",
            "subtle",
            "thiserror",
            "tokio",
            "tokio-util",
            "tower",
            "tracing",
            "tracing-subscriber",
            "uuid",
        ],
    ),
    (
        "panoply-store",
        &[
            "base64",
            "cc",
            // Signs checkpoints of the audit log; jsonwebtoken brings it along.
            "ed25519-dalek",
            // Packs sealed segments of the audit log; zip brings it along.
            "flate2",
            "futures",
            "getrandom",
            "jiff",
            "libsqlite3-sys",
            "panoply-contract",
            "percent-encoding",
            "rusqlite",
            "rustix",
            "serde",
            "serde_json",
            "sha2",
            "thiserror",
            "tokio",
            "tracing",
        ],
    ),
    // The stores on PostgreSQL. It knows the packs whose data it keeps; only the binary knows it.
    (
        "panoply-postgres",
        &[
            // Connections with a limit and a time to wait for one; three small crates.
            "deadpool-postgres",
            "futures",
            "getrandom",
            "jiff",
            "panoply-backtest",
            "panoply-cgt",
            "panoply-contract",
            "panoply-noema",
            "panoply-store",
            "panoply-ttm",
            "rusqlite",
            // TLS; ureq brings both along.
            "rustls",
            "serde_json",
            "sha2",
            "tokio",
            // The protocol, pipelined; eleven crates of its own.
            "tokio-postgres",
            "tokio-rustls",
            "tracing",
            "webpki-roots",
        ],
    ),
    // Rate limits shared by replicas.
    (
        "panoply-redis",
        &[
            "futures",
            "panoply-contract",
            // The protocol, pipelined on one connection; eleven crates, seven of them for URLs.
            "redis",
            // TLS; ureq brings both along.
            "rustls",
            "thiserror",
            "tokio",
            "tokio-rustls",
            "tracing",
            "uuid",
            "webpki-roots",
        ],
    ),
    (
        "panoply",
        &[
            "anstream",
            "axum",
            "clap",
            "clap_complete",
            "clap_mangen",
            "futures",
            "jiff",
            "mimalloc",
            "panoply-api",
            "panoply-contract",
            "panoply-mcp",
            "panoply-postgres",
            "panoply-redis",
            "panoply-store",
            "rustix",
            "serde",
            "serde_json",
            "sha2",
            "thiserror",
            "tiny-skia",
            "tokio",
            "tokio-util",
            "toml",
            "toml_edit",
            "tracing",
            "ttf-parser",
            "ureq",
            "uuid",
            // Data packs; the noema pack brings it along.
            "zip",
        ],
    ),
    // GraphQL and gRPC, as routes for the server that panoply-mcp runs.
    (
        "panoply-api",
        &[
            "async-graphql",
            "axum",
            "governor",
            "http",
            // A body with a time limit that keeps its trailers; axum brings it along already.
            "http-body",
            "panoply-contract",
            "prost",
            "prost-types",
            "protox",
            "serde",
            "serde_json",
            "thiserror",
            "tokio",
            "tonic",
            "tonic-health",
            "tonic-prost",
            "tonic-prost-build",
            "tonic-reflection",
            "uuid",
        ],
    ),
    ("panoply-testkit", &["serde", "serde_json"]),
];

/// The benches compare us with the bare thing, so they may use everything; nobody may use them.
const BENCH: &str = "panoply-bench";
/// What a pack may use of the house.
const FOR_PACKS: [&str; 2] = ["panoply-contract", "panoply-store"];
/// What a pack must leave to the house.
const NOT_FOR_PACKS: [&str; 13] = [
    "anstream",
    "async-graphql",
    "axum",
    "clap",
    "hyper",
    "hyper-util",
    "jsonwebtoken",
    "metrics",
    "rmcp",
    "tonic",
    "tower",
    "tower-http",
    "tracing-subscriber",
];
/// Where the binary meets the packs.
const BINARY: &str = "panoply";

/// Dependencies that the table does not allow.
pub fn refused(manifests: &[Manifest]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.name != BENCH) {
        for dependency in &manifest.dependencies {
            if let Some(why) = refusal(manifests, &manifest.name, dependency) {
                problems.push(Problem::of(&manifest.name, format!("`{dependency}`: {why}")));
            }
        }
        let packs = manifest.dev_dependencies.iter().filter(|name| is_pack(manifests, name));
        for pack in packs.filter(|_| is_pack(manifests, &manifest.name)) {
            problems.push(Problem::of(
                &manifest.name,
                format!("`{pack}`: packs never meet, not even in tests"),
            ));
        }
    }
    problems
}

/// Lines of the table that no manifest needs any more.
pub fn stale(manifests: &[Manifest]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, allowed) in TABLE {
        let Some(manifest) = manifests.iter().find(|manifest| manifest.name == *name) else {
            problems.push(Problem::of(name, "it is in the table but not in the workspace"));
            continue;
        };
        let unused =
            allowed.iter().filter(|&&one| !manifest.dependencies.iter().any(|used| used == one));
        problems
            .extend(unused.map(|one| Problem::of(name, format!("`{one}`: allowed, but not used"))));
    }
    problems
}

fn refusal(manifests: &[Manifest], name: &str, dependency: &str) -> Option<&'static str> {
    if matches!(dependency, BENCH | "panoply-testkit") {
        return Some("it is for tests only");
    }
    if let Some((_, allowed)) = TABLE.iter().find(|(known, _)| *known == name) {
        let through_registry = name == BINARY && is_pack(manifests, dependency);
        let listed = allowed.contains(&dependency) || through_registry;
        return (!listed).then_some("it is not in the table of tidy/dependencies.rs");
    }
    if FOR_PACKS.contains(&dependency) {
        return None;
    }
    if is_pack(manifests, dependency) {
        return Some("packs never depend on packs; they meet in the binary");
    }
    if dependency.starts_with("panoply") || NOT_FOR_PACKS.contains(&dependency) {
        return Some("a pack leaves this to the house");
    }
    None
}

fn is_pack(manifests: &[Manifest], name: &str) -> bool {
    let ours = manifests.iter().any(|manifest| manifest.name == name);
    ours && name != BENCH && !TABLE.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, dependencies: &[&str], dev_dependencies: &[&str]) -> Manifest {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Manifest {
            name: name.to_owned(),
            dependencies: owned(dependencies),
            dev_dependencies: owned(dev_dependencies),
        }
    }

    #[test]
    fn only_the_arrows_of_the_architecture_are_allowed() {
        let cases = [
            ("panoply-contract", "axum", false),
            ("panoply-contract", "rusqlite", false),
            ("panoply-contract", "serde", true),
            ("panoply-mcp", "rmcp", true),
            ("panoply-mcp", "panoply-rmf", false),
            ("panoply", "panoply-rmf", true),
            ("panoply", "rmcp", false),
            ("panoply-rmf", "panoply-contract", true),
            ("panoply-rmf", "rust_decimal", true),
            ("panoply-rmf", "panoply-cgt", false),
            ("panoply-rmf", "panoply-mcp", false),
            ("panoply-rmf", "rmcp", false),
            ("panoply-rmf", "panoply-testkit", false),
        ];
        for (name, dependency, allowed) in cases {
            let mut manifests =
                vec![manifest("panoply-rmf", &[], &[]), manifest("panoply-cgt", &[], &[])];
            manifests.push(manifest(name, &[dependency], &[]));
            let found = refused(&manifests);
            assert_eq!(found.is_empty(), allowed, "{name} -> {dependency}: {found:?}");
        }
    }

    #[test]
    fn a_line_that_nobody_needs_is_stale() {
        let mut manifests: Vec<Manifest> =
            TABLE.iter().map(|(name, allowed)| manifest(name, allowed, &[])).collect();
        assert_eq!(stale(&manifests), []);
        let first = manifests.first_mut().unwrap();
        let dropped = first.dependencies.remove(0);
        let found = stale(&manifests);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains(&dropped));
    }

    #[test]
    fn packs_do_not_meet_in_tests_either() {
        let manifests = [
            manifest("panoply-rmf", &[], &["panoply-testkit"]),
            manifest("panoply-cgt", &[], &["panoply-rmf"]),
        ];
        let found = refused(&manifests);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "panoply-cgt");
    }
}
