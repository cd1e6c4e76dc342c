//! Thai and Latin text: normalisation, words, skeletons.
