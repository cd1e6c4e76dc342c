//! Conversion between Anki's presets and deck options.
//!
//! Field names and numbers are those of Anki 26: JSON in legacy packages, protocol buffers in the
//! latest format. Anki stores steps in minutes, deck options in seconds.

use serde_json::{Value, json};

use super::proto::{DeckConfig, widen};
use crate::deck::{DeckOptions, LeechAction};
use crate::fsrs::Parameters;

/// Id and modification time of Anki's default preset while it is unchanged.
const DEFAULT_UNCHANGED: (i64, i64) = (1, 0);
/// Anki's own limit.
const MAX_INTERVAL_DAYS: u32 = 36_500;

/// Whether this is Anki's unchanged default preset, which does not override our defaults.
pub(super) fn is_default(id: i64, modified: i64) -> bool {
    (id, modified) == DEFAULT_UNCHANGED
}

/// Reads a preset of a legacy package.
pub(super) fn from_json(preset: &Value) -> DeckOptions {
    let defaults = DeckOptions::default();
    let number = |path: &str| preset.pointer(path).and_then(Value::as_f64);
    let count =
        |path: &str, default: u32| number(path).map_or(default, crate::numbers::round_to_u32);
    let numbers = |path: &str| -> Option<Vec<f64>> {
        let list = preset.pointer(path)?.as_array()?;
        Some(list.iter().filter_map(Value::as_f64).collect())
    };
    let weights = ["/fsrsParams6", "/fsrsParams5", "/fsrsWeights"].map(numbers);
    Preset {
        name: preset.get("name").and_then(Value::as_str).unwrap_or_default(),
        retention: number("/desiredRetention"),
        learning: numbers("/new/delays").unwrap_or_else(|| vec![1.0, 10.0]),
        relearning: numbers("/lapse/delays").unwrap_or_else(|| vec![10.0]),
        maximum_interval: count("/rev/maxIvl", defaults.maximum_interval),
        new_per_day: count("/new/perDay", defaults.new_per_day),
        reviews_per_day: count("/rev/perDay", defaults.reviews_per_day),
        leech_threshold: count("/lapse/leechFails", defaults.leech_threshold),
        leech_tags_only: number("/lapse/leechAction") == Some(1.0),
        buries: ["/new/bury", "/rev/bury"]
            .iter()
            .any(|path| preset.pointer(path).and_then(Value::as_bool).unwrap_or(false)),
        weights: weights.into_iter().flatten().find(|weights| !weights.is_empty()),
    }
    .options()
}

/// Reads a preset of a package in the latest format.
pub(super) fn from_proto(name: &str, config: &DeckConfig) -> DeckOptions {
    let widened = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(widen).collect() };
    let weights = [&config.fsrs_params_6, &config.fsrs_params_5, &config.fsrs_params_4];
    Preset {
        name,
        retention: Some(widen(config.desired_retention)),
        learning: widened(&config.learn_steps),
        relearning: widened(&config.relearn_steps),
        maximum_interval: config.maximum_review_interval,
        new_per_day: config.new_per_day,
        reviews_per_day: config.reviews_per_day,
        leech_threshold: config.leech_threshold,
        leech_tags_only: config.leech_action == 1,
        buries: config.bury_new || config.bury_reviews,
        weights: weights.into_iter().find(|weights| !weights.is_empty()).map(|it| widened(it)),
    }
    .options()
}

/// The common fields, in Anki's units.
struct Preset<'a> {
    name: &'a str,
    retention: Option<f64>,
    learning: Vec<f64>,
    relearning: Vec<f64>,
    maximum_interval: u32,
    new_per_day: u32,
    reviews_per_day: u32,
    leech_threshold: u32,
    leech_tags_only: bool,
    buries: bool,
    weights: Option<Vec<f64>>,
}

impl Preset<'_> {
    /// Clamps every value to our limits: packages are untrusted.
    fn options(self) -> DeckOptions {
        let seconds = |minutes: Vec<f64>| -> Vec<f64> {
            let usable = minutes.into_iter().filter(|minutes| (0.0..=525_600.0).contains(minutes));
            usable.map(|minutes| (minutes * 60.0).round().max(1.0)).take(20).collect()
        };
        let retention = self.retention.filter(|retention| *retention > 0.0).unwrap_or(0.9);
        let longest =
            if self.maximum_interval == 0 { MAX_INTERVAL_DAYS } else { self.maximum_interval };
        DeckOptions {
            desired_retention: retention.clamp(0.7, 0.99),
            learning_steps: seconds(self.learning),
            relearning_steps: seconds(self.relearning),
            maximum_interval: longest.min(MAX_INTERVAL_DAYS),
            new_per_day: self.new_per_day.min(9999),
            reviews_per_day: self.reviews_per_day.min(9999),
            leech_threshold: self.leech_threshold.min(99),
            leech_action: if self.leech_tags_only {
                LeechAction::Tag
            } else {
                LeechAction::Suspend
            },
            bury_siblings: self.buries,
            parameters: self.weights.and_then(|weights| Parameters::new(&weights).ok()),
            preset: Some(self.name.to_owned()).filter(|name| !name.is_empty()),
            ..DeckOptions::default()
        }
    }
}

/// Writes a preset for a legacy package.
pub(super) fn to_json(id: i64, name: &str, options: &DeckOptions, modified: i64) -> Value {
    let minutes = |steps: &[f64]| -> Vec<f64> { steps.iter().map(|step| step / 60.0).collect() };
    let weights: Vec<f64> = options.parameters.clone().map(Vec::from).unwrap_or_default();
    json!({
        "id": id, "mod": modified, "name": name, "usn": -1, "maxTaken": 60, "autoplay": true, "timer": 0, "replayq": true,
        "new": {"bury": options.bury_siblings, "delays": minutes(&options.learning_steps), "initialFactor": 2500,
            "ints": [1, 4, 0], "order": 1, "perDay": options.new_per_day},
        "rev": {"bury": options.bury_siblings, "ease4": 1.3, "ivlFct": 1.0, "maxIvl": options.maximum_interval,
            "perDay": options.reviews_per_day, "hardFactor": 1.2},
        "lapse": {"delays": minutes(&options.relearning_steps), "leechAction": i64::from(options.leech_action == LeechAction::Tag),
            "leechFails": options.leech_threshold, "minInt": 1, "mult": 0.0},
        "dyn": false, "fsrsParams6": weights, "desiredRetention": options.desired_retention,
    })
}
