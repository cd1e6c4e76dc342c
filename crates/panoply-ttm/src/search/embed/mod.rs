//! External embedders as an alternative to LSI: a static model in a folder, or a service.
//!
//! Output is validated before use. If an embedder fails, LSI vectors are used and the reply says
//! so.

#[cfg(feature = "tools")]
mod endpoint;
mod static_model;
mod tokenizer;

use std::fmt::Debug;

#[cfg(feature = "tools")]
pub use self::endpoint::Endpoint;
pub use self::static_model::StaticModel;

/// Maps texts to vectors with similar directions for similar meanings.
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Returns the name used in replies.
    fn id(&self) -> String;

    /// Returns one vector per text, in order.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why an embedder failed. The text is shown in replies: no URL, path or key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct EmbedError(pub String);

/// Validates vectors: one per text, equal lengths (`length`, if known), finite values.
pub(super) fn checked(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    length: Option<usize>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let wrong = |problem: String| Err(EmbedError(problem));
    if vectors.len() != texts {
        return wrong(format!("it returned {} vectors for {texts} texts", vectors.len()));
    }
    let expected = length.or_else(|| vectors.first().map(Vec::len)).unwrap_or(0);
    for vector in &vectors {
        if vector.is_empty() || vector.len() != expected {
            return wrong(format!(
                "it returned a vector of {} numbers where {expected} were expected",
                vector.len()
            ));
        }
        if vector.iter().any(|number| !number.is_finite()) {
            return wrong("it returned a vector with a non-finite value".to_owned());
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incompatible_vectors_are_rejected() {
        let error = |vectors: Vec<Vec<f32>>, length| checked(vectors, 2, length).unwrap_err().0;
        assert_eq!(error(vec![vec![1.0]], None), "it returned 1 vectors for 2 texts");
        assert_eq!(
            error(vec![vec![1.0, 0.0], vec![1.0]], None),
            "it returned a vector of 1 numbers where 2 were expected"
        );
        assert_eq!(
            error(vec![vec![1.0], vec![1.0]], Some(3)),
            "it returned a vector of 1 numbers where 3 were expected"
        );
        assert!(error(vec![vec![], vec![]], None).contains("0 numbers"));
        assert!(error(vec![vec![1.0], vec![f32::NAN]], None).contains("non-finite"));
        assert!(checked(vec![vec![1.0], vec![2.0]], 2, Some(1)).is_ok());
    }
}
