//! Users, keys, shares, preferences and the mutation log: the same steps on SQLite and PostgreSQL
//! give the same answers.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::audit::AuditEntry;
use panoply_contract::json::Json;
use panoply_contract::mutation::{IdempotencyKey, MutationRecord, StoredReply};
use panoply_contract::permission::Profile;
use panoply_contract::preferences::Preferences;
use panoply_contract::sharing::Share;
use panoply_contract::tenant::{Principal, Tenants};
use panoply_contract::testing::noon;
use panoply_postgres::{PostgresApiKeys, PostgresKernelStore, PostgresUsers};
use panoply_store::keys::NewKey;
use panoply_store::{ApiKeys, KernelDb, KernelStore, SqliteApiKeys, SqliteUsers, Users};

use crate::database::{Database, person};

/// What the steps observe, without the random ids.
fn of_users(users: &dyn Users, keys: &dyn ApiKeys) -> Vec<String> {
    let mut seen = Vec::new();
    let now = noon();
    let later = now + Duration::from_secs(60);
    let subject = Principal::of_subject("https://issuer", "ann");
    let ann = users.add("ann", Some(&subject), now).unwrap();
    users.add("bob", None, now).unwrap();
    seen.push(format!(
        "{:?}",
        users.add("ann", None, now).map_err(|error| error.to_string()).is_err()
    ));
    seen.push(format!(
        "{:?}",
        users.add("no name", None, now).map(|_| ()).map_err(|error| error.to_string())
    ));
    users.join("ann", "desk", now).unwrap();
    users.join("ann", "desk", now).unwrap();
    users.join("bob", "desk", now).unwrap();
    seen.push(format!("{:?}", users.leave("bob", "other").map_err(|error| error.to_string())));
    seen.push(format!("{:?}", users.workspaces(&ann.id).unwrap()));
    let in_desk = users.tenants_of("ann", Some("desk")).unwrap();
    seen.push(format!(
        "{:?}",
        users.tenants_of("bob", Some("none")).map(|_| ()).map_err(|error| error.to_string())
    ));
    let new = |tenants: Tenants, label: &str| NewKey {
        label: label.to_owned(),
        tenants,
        profile: Profile::Agent,
        expires: Some(later),
    };
    let own = keys.create(new(Tenants::of(ann.id.clone()), "own"), now).unwrap().record;
    let desk = keys.create(new(in_desk, "desk"), later).unwrap().record;
    let last = later + Duration::from_secs(1);
    let local = keys.create(new(Tenants::default(), "local"), last).unwrap().record;
    let state = |seen: &mut Vec<String>| {
        for id in [&own.id, &desk.id, &local.id] {
            let found = keys.find(id).unwrap().unwrap();
            let revoked = found.revoked.map(|at| at.to_string());
            seen.push(format!("{} {} {revoked:?}", found.label, found.works_at(now)));
        }
    };
    seen.push(format!("{}", keys.find(&own.id).unwrap().unwrap() == own));
    state(&mut seen);
    users.leave("ann", "desk").unwrap();
    state(&mut seen);
    seen.push(format!(
        "{:?}",
        (keys.revoke("0000", now).unwrap(), keys.revoke(&local.id, now).unwrap())
    ));
    keys.revoke(&local.id, later).unwrap();
    users.set_operator("ann", true).unwrap();
    let account = users.account(&subject, Some("org"), false, now).unwrap().unwrap();
    seen.push(format!(
        "{} {} {}",
        account.operator,
        account.disabled,
        account.tenants.person == ann.id
    ));
    users.remove("ann", later).unwrap();
    state(&mut seen);
    let labels: Vec<String> = keys.list().unwrap().into_iter().map(|key| key.label).collect();
    seen.push(format!("{labels:?}"));
    seen.push(format!(
        "{:?}",
        users.begin_erase("desk", now).map(|_| ()).map_err(|error| error.to_string())
    ));
    users.leave("bob", "desk").unwrap();
    let without = users.workspaces_without_members().unwrap();
    seen.push(format!("{:?}", without.iter().map(|one| &one.name).collect::<Vec<_>>()));
    let listed = users.list().unwrap().into_iter().map(|one| {
        format!(
            "{} {:?} {} {:?} {}",
            one.name, one.kind, one.operator, one.disabled, one.from_token
        )
    });
    seen.extend(listed);
    users.forget(&ann.id).unwrap();
    seen.push(format!(
        "{:?} {}",
        keys.find(&own.id).unwrap().is_none(),
        users.list().unwrap().len()
    ));
    let unknown = Principal::of_subject("https://issuer", "eve");
    seen.push(format!("{}", users.account(&unknown, None, false, now).unwrap().is_none()));
    seen.push(format!("{}", users.account(&unknown, None, true, now).unwrap().is_some()));
    seen
}

#[test]
fn users_and_keys_are_as_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.db");
    let expected =
        of_users(&SqliteUsers::open(&file).unwrap(), &SqliteApiKeys::open(&file).unwrap());
    let database = Database::start();
    let postgres = || Arc::clone(&database.postgres);
    assert_eq!(of_users(&PostgresUsers(postgres()), &PostgresApiKeys(postgres())), expected);
}

pub(crate) fn record(
    partition: &str,
    tool: &str,
    key: Option<&str>,
    at: jiff::Timestamp,
) -> MutationRecord {
    let about = serde_json::json!({"tool": tool, "key": key});
    let mut entry = AuditEntry::of_maintenance(tool, &about, at).unwrap();
    entry.partition = partition.to_owned();
    let key = key.map(|key| IdempotencyKey {
        partition: partition.to_owned(),
        tool: tool.to_owned(),
        key: key.to_owned(),
    });
    let data = Json::parse(r#"{"b":1e400,"a":"ไทย"}"#.to_owned()).unwrap();
    let reply = key.is_some().then(|| StoredReply { data, text: "done".to_owned() });
    MutationRecord { key, entry, reply }
}

fn of_kernel(store: &Arc<dyn KernelStore>) -> Vec<String> {
    let mut seen = Vec::new();
    let (ann, bob) = (person(1), person(2));
    let share = |item: &str, owner, recipient| Share {
        pack: "noema".to_owned(),
        item: item.to_owned(),
        owner,
        recipient,
        created: noon(),
    };
    let of_ann = record(&format!("{ann}/key:1"), "share", Some("k1"), noon());
    let one = share("deck_1", ann.clone(), bob.clone());
    seen.push(format!("{:?}", store.add(&one, Some(&of_ann)).unwrap()));
    seen.push(format!("{:?}", store.add(&one, None).unwrap()));
    store.add(&share("deck_0", bob.clone(), ann.clone()), None).unwrap();
    for tenant in [&ann, &bob] {
        seen.push(format!(
            "{:?} {:?}",
            store.granted_by(tenant).unwrap(),
            store.received_by(tenant).unwrap()
        ));
    }
    let preferences = Preferences { study_minutes: Some(20), ..Preferences::default() };
    seen.push(format!("{:?}", store.set(&ann, &preferences, None).unwrap()));
    let of_bob = record(&format!("{bob}/key:2"), "preferences", None, noon());
    seen.push(format!("{:?}", store.set(&ann, &preferences, Some(&of_bob)).unwrap()));
    seen.push(format!("{:?} {:?}", store.get(&ann).unwrap(), store.get(&bob).unwrap()));
    let log = Arc::clone(store).mutation_log();
    let key = of_ann.key.clone().unwrap();
    seen.push(format!("{}", log.find(&key, noon()).unwrap().as_ref() == Some(&of_ann)));
    let day_later = noon() + Duration::from_secs(24 * 3600);
    seen.push(format!("{}", log.find(&key, day_later).unwrap().is_none()));
    seen.push(format!(
        "{}",
        log.find_call(of_bob.entry.call_id.unwrap()).unwrap() == Some(of_bob.clone())
    ));
    let twice = record(&format!("{ann}/key:1"), "share", Some("k1"), noon());
    seen.push(format!("{}", log.commit(&twice).is_err()));
    let other = record(&format!("{bob}/key:1"), "share", Some("k1"), noon());
    seen.push(format!("{}", log.commit(&other).is_ok()));
    let tools: Vec<String> =
        log.unaudited().unwrap().iter().map(|one| one.entry.tool.to_string()).collect();
    seen.push(format!("{tools:?}"));
    store.forget_person(&ann).unwrap();
    seen.push(format!("{:?} {:?}", store.get(&ann).unwrap(), store.granted_by(&bob).unwrap()));
    seen.push(format!("{}", log.find(&key, noon()).unwrap().is_none()));
    seen.push(format!("{}", log.unaudited().unwrap().len()));
    seen
}

#[test]
fn shares_preferences_and_mutations_are_as_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = KernelDb::open(&folder.path().join("kernel.db")).unwrap().0;
    let expected = of_kernel(&(sqlite as Arc<dyn KernelStore>));
    let database = Database::start();
    let store: Arc<dyn KernelStore> = Arc::new(PostgresKernelStore(Arc::clone(&database.postgres)));
    assert_eq!(of_kernel(&store), expected);
}
