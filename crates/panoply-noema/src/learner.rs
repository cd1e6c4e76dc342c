//! The learner's settings, which hold for the whole collection.

use serde::{Deserialize, Serialize};

use crate::fsrs::Zone;

/// Settings of the learner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearnerSettings {
    /// Time zone of study days; `None` for the one of the machine.
    pub time_zone: Option<Zone>,
}
