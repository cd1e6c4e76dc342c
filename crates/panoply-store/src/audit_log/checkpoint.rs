//! Signed checkpoints: statements of the chain's head that can be stored outside this machine.
//!
//! A checkpoint is a C2SP signed note (<https://c2sp.org/signed-note>) with the lines of a
//! C2SP tlog-checkpoint: the origin, the last sequence, its hash in base64, and `time` as an
//! extension line. The hash is that of a chain, not the root of a Merkle tree. Keys are written as
//! Go's `sumdb/note` does: `<name>+<id>+<base64>`, private ones after `PRIVATE+KEY+`.
//!
//! A holder of the private key and the log can sign another history. A checkpoint is evidence only
//! if it was copied off the machine earlier, or if the key is stored elsewhere.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use jiff::Timestamp;
use rusqlite::OptionalExtension as _;
use sha2::{Digest as _, Sha256};

use super::row::ChainHash;
use super::verify::{self, Head};
use crate::error::StoreError;
use crate::sqlite;

/// The algorithm byte of Ed25519 in the specification of signed notes.
const ED25519: u8 = 1;
const PRIVATE: &str = "PRIVATE+KEY+";
/// A key file has about one hundred bytes.
const MAX_KEY_FILE_BYTES: u64 = 4096;

/// The head of the chain at a point in time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checkpoint {
    /// The name of the log, which is the name of its key.
    pub origin: String,
    /// The last row and its hash.
    pub head: Head,
    /// When it was signed.
    pub at: Timestamp,
}

/// Signs checkpoints.
pub struct SigningKey {
    name: String,
    key: ed25519_dalek::SigningKey,
}

/// Verifies checkpoints.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey {
    name: String,
    key: VerifyingKey,
}

/// Why a key cannot be parsed, read or created.
#[derive(Debug, thiserror::Error)]
pub enum BadKey {
    /// Wrong syntax, or the id does not match the key.
    #[error("this is not a {0}")]
    Malformed(&'static str),
    /// The file cannot be read or written.
    #[error("the key file cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

/// The first invalid checkpoint of a file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("checkpoint {number}: {what}")]
pub struct BadCheckpoint {
    /// Position in the file, from 1.
    pub number: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The head record of a log; `None` for an empty log.
pub fn head(log: &Path) -> Result<Option<Head>, StoreError> {
    let connection = sqlite::open_read_only(log)?;
    connection
        .query_row("SELECT sequence, hash FROM head", (), verify::head)
        .optional()
        .map_err(sqlite::about(log))
}

impl SigningKey {
    /// Reads the key, or creates one with permissions for this user only.
    pub fn open_or_create(file: &Path) -> Result<Self, BadKey> {
        Self::open_or_create_named(file, "panoply-audit")
    }

    /// The same; the name of a new key begins with `prefix`.
    pub fn open_or_create_named(file: &Path, prefix: &str) -> Result<Self, BadKey> {
        if file.try_exists()? {
            return Self::open(file);
        }
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(BadKey::NoRandomness)?;
        let key = ed25519_dalek::SigningKey::from_bytes(&seed);
        let name = default_name(prefix, &key.verifying_key());
        let made = Self { name, key };
        if let Some(folder) = file.parent() {
            sqlite::create_private_folder(folder)?;
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(file) {
            Ok(mut new) => {
                new.write_all(made.private_text().as_bytes())?;
                new.sync_all()?;
                Ok(made)
            }
            // Another process created the file concurrently and may still be writing it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(file),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads an existing key.
    pub fn open(file: &Path) -> Result<Self, BadKey> {
        let mut text = String::new();
        File::open(file)?.take(MAX_KEY_FILE_BYTES).read_to_string(&mut text)?;
        let malformed = BadKey::Malformed("signing key");
        let parsed = text.trim().strip_prefix(PRIVATE).and_then(parse_key);
        let Some((name, id, seed)) = parsed else { return Err(malformed) };
        let key = ed25519_dalek::SigningKey::from_bytes(&seed);
        if key_id(&name, &key.verifying_key()) != id {
            return Err(malformed);
        }
        Ok(Self { name, key })
    }

    /// The public key of this key pair.
    pub fn public(&self) -> PublicKey {
        PublicKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// Signs a checkpoint; returns the signed note.
    pub fn sign(&self, head: Head, at: Timestamp) -> String {
        let checkpoint = Checkpoint { origin: self.name.clone(), head, at };
        self.sign_note(&checkpoint.to_string())
    }

    /// Signs a text whose lines are not empty and all end with a line feed; returns the signed note.
    pub fn sign_note(&self, text: &str) -> String {
        let signature = self.key.sign(text.as_bytes()).to_bytes();
        let mut blob = key_id(&self.name, &self.key.verifying_key()).to_vec();
        blob.extend_from_slice(&signature);
        format!("{text}\n{SIGNATURE}{} {}\n", self.name, STANDARD.encode(blob))
    }

    fn private_text(&self) -> String {
        let id = hex(key_id(&self.name, &self.key.verifying_key()));
        let mut data = vec![ED25519];
        data.extend_from_slice(&self.key.to_bytes());
        format!("{PRIVATE}{}+{id}+{}\n", self.name, STANDARD.encode(data))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// Reads `<name>+<id>+<base64>`, as `panoply audit public-key` prints it.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let malformed = BadKey::Malformed("public key");
        let Some((name, id, bytes)) = parse_key(text.trim()) else { return Err(malformed) };
        match VerifyingKey::from_bytes(&bytes) {
            Ok(key) if key_id(&name, &key) == id => Ok(Self { name, key }),
            Ok(_) | Err(_) => Err(malformed),
        }
    }

    /// The text of a signed note, if this key signed it.
    pub fn verify_note<'a>(&self, note: &'a str) -> Result<&'a str, &'static str> {
        let (text, signatures) = note.split_once("\n\n").ok_or("it is not signed")?;
        // The line feed before the blank line belongs to the text.
        let text = note.get(..=text.len()).unwrap_or(text);
        self.verify_signature(text, &signatures.lines().collect::<Vec<_>>())?;
        Ok(text)
    }

    /// Verifies the signature and parses the checkpoint.
    fn verify(&self, text: &str, signatures: &[&str]) -> Result<Checkpoint, &'static str> {
        self.verify_signature(text, signatures)?;
        Checkpoint::parse(text)
            .filter(|checkpoint| checkpoint.origin == self.name)
            .ok_or("it is signed, but it is not a checkpoint of this log")
    }

    fn verify_signature(&self, text: &str, signatures: &[&str]) -> Result<(), &'static str> {
        let id = key_id(&self.name, &self.key);
        let ours = signatures.iter().filter_map(|line| {
            let (name, blob) = line.strip_prefix(SIGNATURE)?.split_once(' ')?;
            let blob = STANDARD.decode(blob).ok().filter(|_| name == self.name)?;
            let (key, signature) = blob.split_first_chunk::<4>()?;
            (*key == id).then(|| Signature::from_slice(signature).ok()).flatten()
        });
        let signatures: Vec<Signature> = ours.collect();
        if signatures.is_empty() {
            return Err("it is not signed by this key");
        }
        let is_signed = |signature| self.key.verify_strict(text.as_bytes(), signature).is_ok();
        if signatures.iter().any(is_signed) {
            Ok(())
        } else {
            Err("its signature is forged, or it was changed after it was signed")
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = hex(key_id(&self.name, &self.key));
        let mut data = vec![ED25519];
        data.extend_from_slice(self.key.as_bytes());
        write!(f, "{}+{id}+{}", self.name, STANDARD.encode(data))
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, head, at } = self;
        let hash = STANDARD.encode(head.hash.0);
        write!(f, "{origin}\n{}\n{hash}\ntime {at}\n", head.sequence)
    }
}

impl Checkpoint {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (origin, sequence, hash) = (lines.next()?, lines.next()?, lines.next()?);
        let hash = STANDARD.decode(hash).ok()?.try_into().ok()?;
        let at = lines.find_map(|line| line.strip_prefix("time "))?;
        let head = Head { sequence: sequence.parse().ok()?, hash: ChainHash(hash) };
        Some(Self { origin: origin.to_owned(), head, at: at.parse().ok()? })
    }
}

/// Prefix of a signature line: an em dash and a space.
const SIGNATURE: &str = "\u{2014} ";

/// Parses concatenated notes and verifies each.
pub fn read_checkpoints(notes: &str, key: &PublicKey) -> Result<Vec<Checkpoint>, BadCheckpoint> {
    let mut checkpoints = Vec::new();
    let mut lines = notes.lines().peekable();
    loop {
        while lines.next_if(|line| line.is_empty()).is_some() {}
        if lines.peek().is_none() {
            return Ok(checkpoints);
        }
        let mut text = String::new();
        while let Some(line) = lines.next_if(|line| !line.is_empty()) {
            text.push_str(line);
            text.push('\n');
        }
        let _blank = lines.next();
        let mut signatures = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(SIGNATURE)) {
            signatures.push(line);
        }
        let number = checkpoints.len() + 1;
        let checkpoint =
            key.verify(&text, &signatures).map_err(|what| BadCheckpoint { number, what })?;
        checkpoints.push(checkpoint);
    }
}

/// Appends a note to a file and syncs it. A new file is readable by this user only.
pub fn append(file: &Path, note: &str) -> io::Result<()> {
    let is_new = !file.try_exists()?;
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = options.open(file)?;
    // A single write, so that notes of two processes do not interleave.
    open.write_all(format!("{note}\n").as_bytes())?;
    open.sync_all()?;
    let folder = file.parent().filter(|folder| is_new && !folder.as_os_str().is_empty());
    match folder {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Name with the first bytes of the public key, so that each log has its own origin.
fn default_name(prefix: &str, key: &VerifyingKey) -> String {
    let hash = Sha256::digest(key.as_bytes());
    let start: [u8; 4] = std::array::from_fn(|index| hash.get(index).copied().unwrap_or_default());
    format!("{prefix}/{}", hex(start))
}

/// Key id: the first four bytes of SHA-256 over name, line feed, algorithm and key.
fn key_id(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let mut hash = Sha256::new();
    hash.update(name.as_bytes());
    hash.update([b'\n', ED25519]);
    hash.update(key.as_bytes());
    let hash = hash.finalize();
    std::array::from_fn(|index| hash.get(index).copied().unwrap_or_default())
}

fn parse_key(text: &str) -> Option<(String, [u8; 4], [u8; 32])> {
    let mut parts = text.splitn(3, '+');
    let (name, id, data) = (parts.next()?, parts.next()?, parts.next()?);
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    let id = u32::from_str_radix(id, 16).ok().filter(|_| id.len() == 8 && is_name)?;
    let data = STANDARD.decode(data).ok()?;
    let (algorithm, key) = data.split_first()?;
    (*algorithm == ED25519)
        .then(|| Some((name.to_owned(), id.to_be_bytes(), key.try_into().ok()?)))?
}

fn hex(bytes: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(bytes))
}
