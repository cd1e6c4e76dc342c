//! Tests of users, workspaces and their keys.

use panoply_contract::permission::Profile;
use panoply_contract::testing::noon;

use super::*;
use crate::keys::{ApiKeys as _, NewKey};
use crate::sqlite::SqliteApiKeys;

fn users() -> (tempfile::TempDir, SqliteUsers) {
    let folder = tempfile::tempdir().unwrap();
    let users = SqliteUsers::open(&folder.path().join("keys.db")).unwrap();
    (folder, users)
}

fn key_for(folder: &tempfile::TempDir, tenants: Tenants) -> (SqliteApiKeys, String) {
    let keys = SqliteApiKeys::open(&folder.path().join("keys.db")).unwrap();
    let new = NewKey { label: "k".to_owned(), tenants, profile: Profile::Agent, expires: None };
    let id = keys.create(new, noon()).unwrap().record.id;
    (keys, id)
}

#[test]
fn persons_have_distinct_tenants_and_unique_names() {
    let (_folder, users) = users();
    let ann = users.add("ann", None, noon()).unwrap();
    let bob = users.add("bob@example.com", None, noon()).unwrap();
    assert_ne!(ann.id, bob.id);
    assert!(!ann.id.as_str().contains("ann"), "{}", ann.id);
    assert!(matches!(users.add("ann", None, noon()), Err(UsersError::Taken(_))));
    for bad in ["", "a b", "../x", &"x".repeat(41)] {
        assert!(matches!(users.add(bad, None, noon()), Err(UsersError::BadName(_))), "{bad:?}");
    }
}

#[test]
fn a_key_stops_working_with_the_membership_and_with_the_user() {
    let (folder, users) = users();
    users.add("ann", None, noon()).unwrap();
    let denied = users.tenants_of("ann", Some("blue"));
    assert!(matches!(denied, Err(UsersError::NotAMember { .. })));
    users.join("ann", "blue", noon()).unwrap();
    users.join("ann", "blue", noon()).unwrap();
    let tenants = users.tenants_of("ann", Some("blue")).unwrap();
    assert_ne!(tenants.person, tenants.workspace);
    let (keys, shared) = key_for(&folder, tenants.clone());
    let (_, own) = key_for(&folder, users.tenants_of("ann", None).unwrap());
    let works = |id: &str| keys.find(id).unwrap().unwrap().works_at(noon());
    assert_eq!(keys.find(&shared).unwrap().unwrap().tenants, tenants);
    assert_eq!((works(&shared), works(&own)), (true, true));
    users.leave("ann", "blue").unwrap();
    assert_eq!((works(&shared), works(&own)), (false, true));
    users.remove("ann", noon()).unwrap();
    assert!(!works(&own));
}

#[test]
fn a_subject_gets_an_account_only_where_that_is_allowed() {
    let (_folder, users) = users();
    let ann = Principal::of_subject("https://i", "ann");
    assert_eq!(users.account(&ann, None, false, noon()).unwrap(), None);
    let made = users.account(&ann, None, true, noon()).unwrap().unwrap();
    assert_eq!(users.account(&ann, None, false, noon()).unwrap().unwrap(), made);
    let other = Principal::of_subject("https://other", "ann");
    let other = users.account(&other, None, true, noon()).unwrap().unwrap();
    assert_ne!(made.tenants.person, other.tenants.person);
    let in_team = users.account(&ann, Some("0f0f"), false, noon()).unwrap().unwrap();
    assert_eq!(in_team.tenants.person, made.tenants.person);
    assert_ne!(in_team.tenants.workspace, made.tenants.workspace);
    let added = Principal::of_subject("https://i", "bob");
    let record = users.add("bob", Some(&added), noon()).unwrap();
    let account = users.account(&added, None, false, noon()).unwrap().unwrap();
    assert_eq!(account.tenants, Tenants::of(record.id));
    users.remove("bob", noon()).unwrap();
    assert!(users.account(&added, None, true, noon()).unwrap().unwrap().disabled);
}

#[test]
fn keys_of_an_older_file_act_on_the_local_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.db");
    let old = migrate::open(&file, Durability::Full, &keys::MIGRATIONS[..1]).unwrap();
    old.execute(
        "INSERT INTO api_key (id, hash, label, user_id, profile, created) \
         VALUES ('a', 'b', 'laptop', 'user_a', 'owner', '2026-01-01T00:00:00Z')",
        (),
    )
    .unwrap();
    drop(old);
    let key = SqliteApiKeys::open(&file).unwrap().find("a").unwrap().unwrap();
    assert_eq!(key.tenants, Tenants::default());
    assert!(key.works_at(noon()));
}

#[test]
fn nothing_of_a_forgotten_person_remains_in_the_file() {
    let (folder, users) = users();
    let person = users.add("canary-name", None, noon()).unwrap();
    users.join("canary-name", "blue", noon()).unwrap();
    let (keys, id) = key_for(&folder, users.tenants_of("canary-name", Some("blue")).unwrap());
    users.begin_erase("canary-name", noon()).unwrap();
    assert!(!keys.find(&id).unwrap().unwrap().works_at(noon()));
    users.forget(&person.id).unwrap();
    users.forget(&person.id).unwrap();
    assert!(keys.find(&id).unwrap().is_none());
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|window| window == b"canary-name"));
    }
}
