//! `panoply users erase`: deletes a person with all data.
//!
//! Order: access ends; a marker keeps calls that were admitted before from making the folder again;
//! the data go; the erasure is recorded; last, name and keys go. A run that is killed can be
//! repeated from any point. The audit chain is not touched: its rows have the random id of the
//! tenant, and with the name nothing links the two any more.

use std::fs;
use std::io;

use jiff::Timestamp;
use panoply_contract::tenant::TenantId;
use panoply_store::{Home, Users};
use serde_json::json;

use super::super::backup;
use super::failed;
use crate::failure::Failure;
use crate::stores;

/// Erases the person of this name.
pub(super) fn erase(
    home: &Home,
    users: &dyn Users,
    name: &str,
    now: Timestamp,
) -> Result<TenantId, Failure> {
    let person = users.begin_erase(name, now).map_err(failed)?.id;
    mark(home, &person).and_then(|()| delete(home, &person)).map_err(|error| {
        Failure::work(format!("the data of `{name}` cannot be deleted: {error}"))
            .hint("free the folder `tenants` of the home, then run the command again")
    })?;
    let erase = |server: &stores::database::Server| server.erase(&person);
    stores::database::server()
        .map_or(Ok(()), erase)
        .and_then(|()| stores::kernel(home))
        .and_then(|kernel_store| kernel_store.forget_person(&person))
        .map_err(|error| Failure::work(error.chain()))?;
    backup::record(home, "panoply users erase", &json!({"tenant": person.as_str()}))?;
    users.forget(&person).map_err(|error| Failure::work(error.chain()))?;
    Ok(person)
}

fn mark(home: &Home, person: &TenantId) -> io::Result<()> {
    fs::create_dir_all(home.tenants_folder())?;
    let marker = fs::File::create(home.erased_marker(person))?;
    marker.sync_all()?;
    fs::File::open(home.tenants_folder())?.sync_all()
}

/// A running server may create a file in the folder while it is being deleted, so a failure is
/// tried again.
fn delete(home: &Home, person: &TenantId) -> io::Result<()> {
    let folder = home.tenant(person);
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(folder.folder()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Ok(()) => return Ok(()),
            Err(error) if tries == 10 => return Err(error),
            Err(_) => {
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        }
    }
}
