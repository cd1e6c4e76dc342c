//! Where vectors can come from besides the built-in index of meanings: a table of words in a
//! file, or a service.
//!
//! Whatever an embedder answers is checked before it is used. One that does not answer, or lies,
//! costs nobody an answer: the built-in vectors take its place, and the reply says so.

#[cfg(feature = "tools")]
mod endpoint;
mod static_model;
mod tokenizer;

use std::fmt::Debug;

#[cfg(feature = "tools")]
pub use self::endpoint::Endpoint;
pub use self::static_model::StaticModel;

/// Turns texts into vectors, so that texts that mean the same point the same way.
pub trait Embedder: Debug + Send + Sync + 'static {
    /// What replies call it.
    fn id(&self) -> String;

    /// A vector for each text, in their order.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why an embedder gave no vectors. The sentence goes into replies: no address, no path, no key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct EmbedError(pub String);

/// Vectors that can be compared with each other: as many as texts, all equally long, all finite.
/// `length` is how long earlier ones were.
pub(super) fn checked(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    length: Option<usize>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let wrong = |problem: String| Err(EmbedError(problem));
    if vectors.len() != texts {
        return wrong(format!("it gave {} vectors for {texts} texts", vectors.len()));
    }
    let expected = length.or_else(|| vectors.first().map(Vec::len)).unwrap_or(0);
    for vector in &vectors {
        if vector.is_empty() || vector.len() != expected {
            return wrong(format!(
                "it gave a vector of {} numbers where {expected} were expected",
                vector.len()
            ));
        }
        if vector.iter().any(|number| !number.is_finite()) {
            return wrong("it gave a vector with something that is no number".to_owned());
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
        assert_eq!(error(vec![vec![1.0]], None), "it gave 1 vectors for 2 texts");
        assert_eq!(
            error(vec![vec![1.0, 0.0], vec![1.0]], None),
            "it gave a vector of 1 numbers where 2 were expected"
        );
        assert_eq!(
            error(vec![vec![1.0], vec![1.0]], Some(3)),
            "it gave a vector of 1 numbers where 3 were expected"
        );
        assert!(error(vec![vec![], vec![]], None).contains("0 numbers"));
        assert!(error(vec![vec![1.0], vec![f32::NAN]], None).contains("no number"));
        assert!(checked(vec![vec![1.0], vec![2.0]], 2, Some(1)).is_ok());
    }
}
