//! API keys.

use std::sync::Arc;

use jiff::Timestamp;
use panoply_contract::permission::Profile;
use panoply_contract::tenant::{TenantId, Tenants};
use panoply_store::keys::{CreatedKey, KeyRecord, NewKey};
use panoply_store::{ApiKeys, StoreError};
use tokio_postgres::Row;

use crate::errors::{self, unreadable};
use crate::server::Postgres;
use crate::values;

/// The API keys in a database.
pub struct PostgresApiKeys(pub Arc<Postgres>);

impl ApiKeys for PostgresApiKeys {
    fn create(&self, new: NewKey, now: Timestamp) -> Result<CreatedKey, StoreError> {
        let CreatedKey { record, text } = new.create(now)?;
        let values = values![
            record.id.clone(),
            record.hash.clone(),
            record.label.clone(),
            record.user_id.clone(),
            record.profile.as_str(),
            record.created.to_string(),
            record.expires.map(|expires| expires.to_string()),
            stored(&record.tenants.person),
            stored(&record.tenants.workspace),
        ];
        let sql = "INSERT INTO kernel.api_key \
             (id, hash, label, user_id, profile, created, expires, person, workspace) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        self.0.run(|server| async move {
            let transaction = server.begin(None).await?;
            transaction.execute(sql, values).await?;
            transaction.commit().await
        })?;
        Ok(CreatedKey { record, text })
    }

    fn find(&self, id: &str) -> Result<Option<KeyRecord>, StoreError> {
        let values = values![id.to_owned()];
        let rows = self.0.run(|server| async move {
            let sql = format!("{SELECT} WHERE api_key.id = $1");
            server.connection().await?.query(&sql, values).await
        })?;
        rows.first().map(record).transpose()
    }

    fn list(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let rows = self.0.run(|server| async move {
            let sql = format!("{SELECT} ORDER BY api_key.created, api_key.id");
            server.connection().await?.query(&sql, values![]).await
        })?;
        rows.iter().map(record).collect()
    }

    fn revoke(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let values = values![id.to_owned(), now.to_string()];
        let sql = "UPDATE kernel.api_key SET revoked = coalesce(revoked, $2) WHERE id = $1";
        self.0.run(|server| async move {
            let transaction = server.begin(None).await?;
            let changed = transaction.execute(sql, values).await?;
            transaction.commit().await?;
            Ok(changed > 0)
        })
    }
}

/// One query, so that a lookup sees key, user and membership of one moment.
const SELECT: &str = "SELECT api_key.id, api_key.hash, api_key.label, api_key.user_id, \
     api_key.profile, api_key.created, api_key.expires, \
     coalesce(api_key.revoked, tenant.disabled, \
         CASE WHEN api_key.workspace IS DISTINCT FROM api_key.person AND member.person IS NULL \
              THEN api_key.created END), \
     api_key.person, api_key.workspace \
     FROM kernel.api_key LEFT JOIN kernel.tenant ON tenant.id = api_key.person \
     LEFT JOIN kernel.member ON member.person = api_key.person \
        AND member.workspace = api_key.workspace";

/// The local tenant is stored as NULL.
fn stored(tenant: &TenantId) -> Option<String> {
    (!tenant.is_local()).then(|| tenant.as_str().to_owned())
}

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    let profile: String = get(row, 4)?;
    Ok(KeyRecord {
        id: get(row, 0)?,
        hash: get(row, 1)?,
        label: get(row, 2)?,
        user_id: get(row, 3)?,
        profile: Profile::parse(&profile)
            .ok_or_else(|| unreadable(format!("unknown profile `{profile}`")))?,
        created: time(row, 5)?.ok_or_else(|| unreadable("a key without a time"))?,
        expires: time(row, 6)?,
        revoked: time(row, 7)?,
        tenants: Tenants { person: tenant(row, 8)?, workspace: tenant(row, 9)? },
    })
}

/// A column of a row.
pub(crate) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(
    row: &'a Row,
    column: usize,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(errors::statement)
}

/// A tenant; NULL is the local one.
pub(crate) fn tenant(row: &Row, column: usize) -> Result<TenantId, StoreError> {
    let Some(text) = get::<Option<String>>(row, column)? else { return Ok(TenantId::local()) };
    TenantId::parse(&text).ok_or_else(|| unreadable(format!("`{text}` is not a tenant")))
}

/// An optional time.
pub(crate) fn time(row: &Row, column: usize) -> Result<Option<Timestamp>, StoreError> {
    let text: Option<String> = get(row, column)?;
    text.map(|text| text.parse().map_err(unreadable)).transpose()
}
