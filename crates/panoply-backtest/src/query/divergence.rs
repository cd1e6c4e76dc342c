//! The first event in which two runs differ.
//!
//! Content hashes of chunks locate the chunk, so only one chunk of each run is read. Ids do not count:
//! they differ between runs of the same strategy.

use super::reader::{SealedRun, StoredEvent};
use crate::error::LogError;
use crate::event::Guid;
use crate::scan::Token;
use crate::scan::outline::Outline;
use crate::sealed::digest::{self, Digest};
use crate::sealed::directory::CHUNK_EVENTS;
use crate::store::{BlobKey, BlobKind};

/// Where two runs differ first.
pub struct Divergence {
    /// Number of leading events that agree.
    pub common: u32,
    /// The next event of the first run; `None` if it has no more.
    pub first: Option<StoredEvent>,
    /// The next event of the second run; `None` if it has no more.
    pub second: Option<StoredEvent>,
    /// Whether one run has events that the other lacks, after which they agree again.
    pub additional: Option<Additional>,
}

/// Events that only one run has, before both go on with the same event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Additional {
    /// This many in the first run.
    InFirst(u32),
    /// This many in the second run.
    InSecond(u32),
}

/// Events among which the next common one is searched.
const LOOKAHEAD: u32 = 64;

/// A property whose value differs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PropertyDifference {
    /// Names joined by dots.
    pub path: String,
    /// JSON in the first event; `None` if it is absent.
    pub first: Option<String>,
    /// JSON in the second event; `None` if it is absent.
    pub second: Option<String>,
}

impl SealedRun {
    /// The first difference from another run; `None` if all events agree.
    pub fn divergence(&self, other: &Self) -> Result<Option<Divergence>, LogError> {
        let chunks = self.digest()?.common_chunks(other.digest()?.as_ref());
        let chunks = u32::try_from(chunks).unwrap_or(u32::MAX);
        let (own_events, other_events) = (self.head().events, other.head().events);
        let from = chunks.saturating_mul(CHUNK_EVENTS).min(own_events).min(other_events);
        for seq in from..own_events.max(other_events) {
            let event = |run: &Self| {
                if seq < run.head().events { run.event(seq).map(Some) } else { Ok(None) }
            };
            let (first, second) = (event(self)?, event(other)?);
            if content(first.as_ref()) != content(second.as_ref()) {
                let additional = additional((self, first.as_ref()), (other, second.as_ref()), seq)?;
                return Ok(Some(Divergence { common: seq, first, second, additional }));
            }
        }
        Ok(None)
    }

    fn digest(&self) -> Result<std::sync::Arc<Digest>, LogError> {
        self.cached(BlobKey::new(BlobKind::Digest, 0, 0), Digest::read)
    }
}

/// Whether the next event of one run comes a little later in the other.
fn additional(
    (own, first): (&SealedRun, Option<&StoredEvent>),
    (other, second): (&SealedRun, Option<&StoredEvent>),
    seq: u32,
) -> Result<Option<Additional>, LogError> {
    let is_at = |run: &SealedRun, seq: u32, wanted: Option<&StoredEvent>| match wanted {
        Some(_) if seq < run.head().events => {
            Ok::<_, LogError>(content(Some(&run.event(seq)?)) == content(wanted))
        }
        _ => Ok(false),
    };
    for count in 1..=LOOKAHEAD {
        let ahead = seq.saturating_add(count);
        if is_at(other, ahead, first)? {
            return Ok(Some(Additional::InSecond(count)));
        }
        if is_at(own, ahead, second)? {
            return Ok(Some(Additional::InFirst(count)));
        }
    }
    Ok(None)
}

fn content(event: Option<&StoredEvent>) -> Option<Vec<u8>> {
    let event = event?;
    let mut out = Vec::new();
    digest::content(event.row()?, &Outline::of(event.properties()), &mut out);
    Some(out)
}

impl Divergence {
    /// The properties that differ, if both runs have an event.
    pub fn properties(&self) -> Vec<PropertyDifference> {
        let (Some(first), Some(second)) = (&self.first, &self.second) else { return Vec::new() };
        let (first, second) = (leaves(first.properties()), leaves(second.properties()));
        let of = |all: &[(String, String)], path: &str| {
            all.iter().find(|(own, _)| own == path).map(|(_, json)| json.clone())
        };
        let mut paths: Vec<&String> = first.iter().chain(&second).map(|(path, _)| path).collect();
        paths.sort_unstable();
        paths.dedup();
        let differing = paths.into_iter().map(|path| PropertyDifference {
            path: path.clone(),
            first: of(&first, path),
            second: of(&second, path),
        });
        differing.filter(|own| own.first != own.second).collect()
    }
}

/// All values of properties that are neither objects nor ids, by path.
fn leaves(json: &str) -> Vec<(String, String)> {
    let (mut names, mut found) = (Vec::new(), Vec::new());
    for member in Outline::of(json).members {
        names.truncate(member.depth);
        names.push(member.name);
        match member.value {
            Token::Object(_) => {}
            Token::Text(text) if Guid::parse(text).is_some() => {}
            Token::Text(text) => found.push((names.join("."), format!("\"{text}\""))),
            token => found.push((names.join("."), token.json().unwrap_or_default().to_owned())),
        }
    }
    found
}
