//! Embedder settings: the table `[pack.ttm.embedder]` of the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::settings::Endpoint;
use crate::search::{self, Embedder, StaticModel};

/// Origin of the vectors.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EmbedderChoice {
    /// Built-in latent semantic indexing.
    #[default]
    Lsi,
    /// Static model of Model2Vec: a folder with `model.safetensors` and `tokenizer.json`.
    File(Folder),
    /// Service with OpenAI's `POST /v1/embeddings`.
    Endpoint(Endpoint),
}

/// Folder of a static model.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Path of the folder.
    pub folder: PathBuf,
}

impl EmbedderChoice {
    /// Returns all configuration errors.
    pub(super) fn errors(&self) -> Vec<String> {
        match self {
            Self::Lsi => Vec::new(),
            Self::File(Folder { folder }) if folder.is_dir() => Vec::new(),
            Self::File(Folder { folder }) => {
                vec![format!("`embedder.folder`: there is no folder `{}`", folder.display())]
            }
            Self::Endpoint(endpoint) => endpoint.errors("embedder"),
        }
    }

    /// Creates the embedder; `None` for LSI. `secret` looks up an environment variable.
    pub(super) fn make(
        &self,
        secret: impl Fn(&str) -> Option<String>,
    ) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Lsi => None,
            Self::File(Folder { folder }) => Some(Arc::new(StaticModel::at(folder.clone()))),
            Self::Endpoint(endpoint) => {
                let key = endpoint.key_env.as_deref().and_then(secret);
                let timeout = endpoint.timeout();
                let made = search::Endpoint::new(&endpoint.base_url, &endpoint.model, key, timeout);
                Some(Arc::new(made))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn made(choice: Value) -> Result<Option<String>, String> {
        let choice: EmbedderChoice =
            serde_json::from_value(choice).map_err(|error| error.to_string())?;
        match choice.errors().as_slice() {
            [] => Ok(choice.make(|_| Some("sk".to_owned())).map(|embedder| embedder.id())),
            wrong => Err(wrong.join("; ")),
        }
    }

    #[test]
    fn lsi_embedder_needs_no_setting() {
        assert_eq!(EmbedderChoice::default(), EmbedderChoice::Lsi);
        assert_eq!(made(json!({"kind": "lsi"})), Ok(None));
    }

    #[test]
    fn embedder_can_be_a_folder_or_a_service() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("potion");
        std::fs::create_dir(&path).unwrap();
        let chosen = made(json!({"kind": "file", "folder": path}));
        assert_eq!(chosen, Ok(Some("file:potion".to_owned())));
        let service = json!({"kind": "endpoint", "base_url": "http://[::1]/v1", "model": "bge-m3"});
        assert_eq!(made(service), Ok(Some("endpoint:bge-m3".to_owned())));
    }

    #[test]
    fn every_invalid_embedder_setting_is_reported() {
        let service =
            json!({"kind": "endpoint", "base_url": "ftp://x", "model": " ", "timeout_seconds": 0});
        let error = made(service).unwrap_err();
        for part in ["not an http address", "`embedder.model` is empty", "not from 1 to 50"] {
            assert!(error.contains(part), "{error}");
        }
        let cases = [
            (json!({"kind": "file", "folder": "/no/such"}), "/no/such"),
            (json!({"kind": "bert"}), "unknown variant `bert`"),
            (json!({"kind": "file", "path": "x"}), "unknown field `path`"),
        ];
        for (choice, expected) in cases {
            assert!(made(choice).unwrap_err().contains(expected), "{expected}");
        }
    }
}
