//! Flashcards in PostgreSQL, with a working copy in SQLite ([`working_copy`](crate::working_copy)).

mod sqlite;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;
use panoply_noema::error::{NoemaError, Result, StoreFailure};
use panoply_noema::fsrs::Zone;
use panoply_noema::ids::{ActionId, DeckId};
use panoply_noema::store::{NewAction, Store, StoreReader, StoreWriter};
use panoply_store::StoreError;

pub(crate) use self::sqlite::Cards;
use crate::server::Postgres;
use crate::working_copy::Collection;

/// The collection of a tenant.
#[derive(Clone)]
pub struct PostgresCards(Arc<Collection<Cards>>);

impl PostgresCards {
    /// The collection of a tenant; it is created with the first use.
    pub const fn builder(server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Builder {
        Builder { server, tenant, folder, zone: Zone::UTC, secret: None }
    }
}

/// Makes a [`PostgresCards`].
pub struct Builder {
    server: Arc<Postgres>,
    tenant: TenantId,
    folder: PathBuf,
    zone: Zone,
    secret: Option<Vec<u8>>,
}

impl Builder {
    /// Sets the time zone of a learner who has set none.
    #[must_use]
    pub const fn with_default_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets the secret that signs the tokens of a new collection, for samples.
    #[must_use]
    pub fn with_secret(mut self, secret: &[u8]) -> Self {
        self.secret = Some(secret.to_vec());
        self
    }

    /// The store.
    pub fn build(self) -> PostgresCards {
        let Self { server, tenant, folder, zone, secret } = self;
        PostgresCards(Arc::new(Collection::new(Cards { zone, secret }, server, tenant, folder)))
    }
}

impl Store for PostgresCards {
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()> {
        self.0.read(|copy| copy.store.with_reader(read)).map_err(failed)?
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId> {
        let running = self.0.act().map_err(failed)?;
        let store = running.store().map_err(failed)?;
        let written = store.with_writer(action, commit, write);
        let ended = match written.is_ok() && commit {
            true => running.commit(),
            false => running.roll_back(),
        };
        ended.map_err(failed).and(written)
    }

    fn version(&self) -> u64 {
        self.0.data_version()
    }

    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>> {
        let shared =
            SharedCards { cards: self.clone(), decks: decks.to_vec(), view: Mutex::new(None) };
        shared.view()?;
        Ok(Arc::new(shared))
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        self.0.mutation_log()
    }
}

/// Some decks of a collection, read-only: a view of the owner's copy.
struct SharedCards {
    cards: PostgresCards,
    decks: Vec<DeckId>,
    /// The view with the file of the copy that it is of.
    view: Mutex<Option<(PathBuf, Arc<dyn Store>)>>,
}

impl SharedCards {
    /// The view of a copy that is up to date.
    fn view(&self) -> Result<Arc<dyn Store>> {
        let viewed = self.cards.0.read(|copy| {
            let mut held = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            match &*held {
                Some((file, view)) if file == copy.file() => Ok(Arc::clone(view)),
                Some(_) | None => {
                    let view = copy.store.shared(&self.decks)?;
                    *held = Some((copy.file().to_owned(), Arc::clone(&view)));
                    Ok(view)
                }
            }
        });
        viewed.map_err(failed)?
    }
}

impl Store for SharedCards {
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()> {
        self.view()?.with_reader(read)
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId> {
        // The view refuses to be written.
        self.view()?.with_writer(action, commit, write)
    }

    fn version(&self) -> u64 {
        self.cards.version()
    }

    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>> {
        self.view()?.shared(decks)
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(self.cards.clone()).mutation_log()
    }
}

fn failed(error: StoreError) -> NoemaError {
    let message = error.to_string();
    NoemaError::Store(StoreFailure { message, cause: Some(Arc::new(error)) })
}
