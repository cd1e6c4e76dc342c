//! The verdict: what the histories say against what is in the database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use super::Outcome;
use super::client::canary;
use super::cluster::Cluster;
use super::history;

/// A replica recovers the audit entries of others after a minute.
const RECOVERY: Duration = Duration::from_secs(100);

/// Compares histories and database. The replicas are ended first.
pub(super) fn check(cluster: &mut Cluster, folder: &Path, wait_for_recovery: bool) -> Outcome {
    if wait_for_recovery {
        let deadline = Instant::now() + RECOVERY;
        while unrecovered(cluster) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    cluster.stop_replicas();
    let (changes, refused) = history::read(folder);
    let acknowledged = changes.values().filter(|change| change.acknowledged).count();
    let unknown = changes.values().filter(|one| !one.acknowledged && !one.is_refused()).count();
    let unrecovered = unrecovered(cluster);
    let mut outcome = Outcome { acknowledged, unknown, refused, unrecovered, ..Outcome::default() };
    let violations = &mut outcome.violations;
    if acknowledged == 0 {
        violations.push("nothing was acknowledged, so nothing was tested".to_owned());
    }
    if wait_for_recovery && unrecovered > 0 {
        violations.push(format!("{unrecovered} changes have no row in the audit log"));
    }
    let recorded = recorded_traces(cluster);
    let waiting = waiting_keys(cluster);
    for tenant in 0..cluster.tenants() {
        let found = cards(cluster, tenant);
        for (front, count) in &found {
            let change = changes.get(&(tenant, front.clone()));
            let is_recorded = change
                .is_some_and(|one| one.traces.iter().any(|trace| recorded.contains(trace)))
                || waiting.iter().any(|key| key.ends_with(&format!(":{front}")));
            if !front.starts_with(&canary(tenant)) {
                violations.push(format!("`{front}` is with user {tenant}"));
            } else if change.is_none_or(history::Change::is_refused) {
                violations.push(format!("`{front}` is there and was never asked for"));
            } else if *count != 1 {
                violations.push(format!("`{front}` is there {count} times"));
            } else if !is_recorded {
                violations.push(format!("`{front}` has no row in the audit log"));
            }
        }
        let lost = changes.iter().filter(|((owner, front), change)| {
            *owner == tenant && change.acknowledged && !found.contains_key(front)
        });
        violations.extend(lost.map(|((_, front), _)| format!("`{front}` is lost")));
        for ((_, front), change) in
            changes.iter().filter(|((owner, _), one)| *owner == tenant && one.acknowledged)
        {
            if !change.traces.iter().any(|trace| recorded.contains(trace)) {
                violations.push(format!("`{front}` was acknowledged without a row"));
            }
        }
    }
    let (intact, said) = cluster.operator(&["audit", "verify"]);
    if !intact || !said.contains("intact") {
        violations.push(format!("the audit log: {said}"));
    }
    outcome
}

/// The cards of a user: how often each text is there.
fn cards(cluster: &Cluster, tenant: usize) -> BTreeMap<String, u32> {
    let rows = cluster.sql(&format!(
        "SELECT split_part(fields, chr(31), 1), count(*) FROM noema.note WHERE tenant = '{}' GROUP BY 1",
        cluster.tenant_id(tenant)
    ));
    let pairs = rows.lines().filter_map(|line| line.rsplit_once('|'));
    pairs.map(|(front, count)| (front.to_owned(), count.parse().unwrap())).collect()
}

/// The trace ids of successful calls in the audit log.
fn recorded_traces(cluster: &Cluster) -> BTreeSet<String> {
    let sql = "SELECT trace_id FROM kernel.audit WHERE tool = 'create-card' AND status = 'ok'";
    cluster.sql(sql).lines().map(str::to_owned).collect()
}

/// The keys of changes whose audit entry waits to be recovered.
fn waiting_keys(cluster: &Cluster) -> Vec<String> {
    let sql = "SELECT key FROM kernel.mutation WHERE NOT audited AND key IS NOT NULL";
    cluster.sql(sql).lines().map(str::to_owned).collect()
}

fn unrecovered(cluster: &Cluster) -> usize {
    cluster.sql("SELECT count(*) FROM kernel.mutation WHERE NOT audited").parse().unwrap()
}
