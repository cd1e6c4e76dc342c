//! Audit of calls: SHA-256 hashes of input and output over canonical JSON (RFC 8785, see
//! `canonical`).

use std::borrow::Cow;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical;
use crate::context::{Caller, Provenance};
use crate::error::ToolError;
use crate::ids::CallId;
use crate::json::{Json, ObjectWriter};
use crate::tenant::TenantId;

/// The audit of one call, as returned in replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Audit {
    /// SHA-256 of the canonical JSON of the input.
    pub in_hash: Arc<str>,
    /// SHA-256 of the canonical JSON of the output without its audit.
    pub out_hash: Arc<str>,
    /// From request to reply, in milliseconds.
    pub latency_ms: u64,
    /// The first eight bytes of `in_hash` as an integer.
    pub seed: u64,
    /// `ok` or `error`.
    pub status: Status,
}

impl Audit {
    /// The same JSON as serde writes, at a third of the cost.
    pub fn to_json(&self) -> Json {
        ObjectWriter::with_capacity(240)
            .ascii("in_hash", &self.in_hash)
            .ascii("out_hash", &self.out_hash)
            .scalar("latency_ms", self.latency_ms)
            .scalar("seed", self.seed)
            .ascii("status", self.status.as_str())
            .finish()
    }
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Success.
    Ok,
    /// Failure.
    Error,
}

impl Status {
    /// The value in the audit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

/// A SHA-256 over canonical JSON.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Fingerprint of a JSON value, and the size of its canonical form in bytes.
    pub fn of(value: &Value) -> Result<(Self, usize), ToolError> {
        let text = serde_json::to_string(value).map_err(|error| {
            ToolError::system("the input could not be serialised as JSON").cause(error)
        })?;
        Self::of_text(&text)
    }

    /// [`Self::of`] for serialised JSON.
    pub fn of_json(json: &Json) -> Result<(Self, usize), ToolError> {
        Self::of_text(json.text())
    }

    fn of_text(text: &str) -> Result<(Self, usize), ToolError> {
        let canonical = canonical::of_text(text)?;
        Ok((Self(Sha256::digest(&canonical).into()), canonical.len()))
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// 64 hexadecimal digits. Computed twice per call, so it avoids the formatter; shared, because
    /// the reply, the audit row and the cache have a copy each.
    pub fn hex(&self) -> Arc<str> {
        let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        str::from_utf8(&digits).unwrap_or_default().into()
    }

    /// The first eight bytes as a big-endian integer: the first sixteen hexadecimal digits as a
    /// number.
    pub const fn seed(&self) -> u64 {
        let bytes = &self.0;
        u64::from_be_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        ])
    }
}

/// RFC 8785 canonical JSON.
pub fn canonical_json(value: &Value) -> Result<Vec<u8>, ToolError> {
    canonical::of_text(Json::of(value)?.text())
}

/// One row of the audit log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct AuditEntry {
    /// Deduplicates the row of a mutation, which both the call and the recovery after a crash may
    /// append. Not part of the stored row.
    pub call_id: Option<CallId>,
    /// When the call was received.
    pub at: Timestamp,
    /// Published name of the tool.
    pub tool: Cow<'static, str>,
    /// Version of the tool's contract.
    pub tool_version: Cow<'static, str>,
    /// The caller's partition.
    pub partition: String,
    /// The client program.
    pub agent_id: String,
    /// The trace id.
    pub trace_id: String,
    /// Address and credential of the caller.
    #[serde(default)]
    pub provenance: Provenance,
    /// Number of events in this row: refused logins of one address are aggregated.
    #[serde(default = "one")]
    pub count: u64,
    /// The audit returned in the reply.
    pub audit: Audit,
    /// Error code of a failed call.
    pub error_code: Option<String>,
    /// Whether the call is a mutation: then the row is durable before the reply is sent.
    pub mutation: bool,
}

const fn one() -> u64 {
    1
}

impl AuditEntry {
    /// The row of an operation outside the call path: a migration or a maintenance command.
    /// `about` says what it did; its hash goes into the row.
    pub fn of_maintenance(
        operation: &str,
        about: &Value,
        at: Timestamp,
    ) -> Result<Self, ToolError> {
        let call_id = CallId::random();
        let (hash, _) = Fingerprint::of(about)?;
        Ok(Self {
            call_id: Some(call_id),
            at,
            tool: operation.to_owned().into(),
            tool_version: env!("CARGO_PKG_VERSION").into(),
            partition: "local".to_owned(),
            agent_id: "panoply".to_owned(),
            trace_id: call_id.to_string(),
            provenance: Provenance::default(),
            count: 1,
            audit: Audit {
                in_hash: hash.hex(),
                out_hash: hash.hex(),
                latency_ms: 0,
                seed: hash.seed(),
                status: Status::Ok,
            },
            error_code: None,
            mutation: true,
        })
    }
}

/// A row read back from the log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Sequence in the chain, from 1.
    pub sequence: u64,
    /// The recorded entry.
    pub entry: AuditEntry,
}

/// Selects rows to read, newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls of this trace.
    pub trace_id: Option<String>,
    /// Only rows that this view includes.
    pub view: AuditView,
    /// Only failed calls.
    pub errors_only: bool,
    /// Only rows before this one.
    pub before: Option<u64>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// Which rows a reader may see.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum AuditView {
    /// All rows, for operators.
    #[default]
    All,
    /// Calls with any credential of a person.
    Person(TenantId),
    /// Calls with one credential.
    Partition(String),
}

/// Beginnings of the partitions of the local tenant, see
/// [`Tenants::partition`](crate::tenant::Tenants::partition). Its owner, who has the home, sees
/// refused logins too.
pub const LOCAL_PARTITIONS: [&str; 4] = ["local", "key:", "sub:", "unauthenticated"];

impl AuditView {
    /// The view of a caller: an operator sees all rows, an owner those of the own person, others
    /// those of the own credential.
    pub fn of(caller: &Caller) -> Self {
        if caller.operator {
            Self::All
        } else if caller.grants.allow("audit:admin") {
            Self::Person(caller.tenants.person.clone())
        } else {
            Self::Partition(caller.partition.clone())
        }
    }

    /// Whether the view includes rows of this partition.
    pub fn includes(&self, partition: &str) -> bool {
        match self {
            Self::All => true,
            Self::Person(person) if person.is_local() => {
                LOCAL_PARTITIONS.iter().any(|start| partition.starts_with(start))
            }
            Self::Person(person) => partition.starts_with(person.as_str()),
            Self::Partition(own) => partition == own,
        }
    }
}

/// Destination of audit entries, implemented by the store. An append must not block the caller
/// unless the entry is of a mutation.
pub trait AuditLog: Send + Sync + 'static {
    /// Whether an entry could be written now. Checked before a mutation runs: a change that cannot
    /// be recorded must not be made.
    fn ready(&self) -> Result<(), ToolError>;

    /// Appends an entry. For a mutation the future completes when the row is durable.
    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>>;

    /// Reads rows, newest first.
    fn read(&self, filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>>;

    /// Writes queued rows. Later appends are refused. Blocks; called once, on shutdown.
    fn close(&self) {}
}

/// In-memory log for tests and programs without a home.
#[derive(Clone, Debug, Default)]
pub struct MemoryAuditLog(Arc<std::sync::Mutex<Vec<AuditRow>>>);

impl AuditLog for MemoryAuditLog {
    fn ready(&self) -> Result<(), ToolError> {
        Ok(())
    }

    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        let mut rows = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_repeated =
            entry.call_id.is_some() && rows.iter().any(|row| row.entry.call_id == entry.call_id);
        if is_repeated {
            return Box::pin(std::future::ready(Ok(())));
        }
        let sequence = rows.len() as u64 + 1;
        rows.push(AuditRow { sequence, entry });
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self, filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        let rows = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let wanted = |row: &&AuditRow| {
            filter.tool.as_ref().is_none_or(|tool| *tool == row.entry.tool)
                && filter.trace_id.as_ref().is_none_or(|trace| *trace == row.entry.trace_id)
                && filter.view.includes(&row.entry.partition)
                && (!filter.errors_only || row.entry.audit.status == Status::Error)
                && filter.before.is_none_or(|before| row.sequence < before)
        };
        let found = rows.iter().rev().filter(wanted).take(filter.limit).cloned().collect();
        Box::pin(std::future::ready(Ok(found)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn canonical(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        String::from_utf8(canonical_json(&value).unwrap()).unwrap()
    }

    #[test]
    fn canonical_json_matches_rfc_8785_section_3_2_2() {
        let input = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical(input), expected);
    }

    #[test]
    fn key_order_matches_rfc_8785_section_3_2_3() {
        let input = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
        let sorted: Vec<String> = canonical(input).split("\":\"").map(str::to_owned).collect();
        let order =
            ["Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew"];
        for (place, start) in order.iter().enumerate() {
            assert!(sorted[place + 1].starts_with(start), "place {place}: {}", sorted[place + 1]);
        }
    }

    #[test]
    fn numbers_match_rfc_8785_appendix_b() {
        // Bit patterns and texts from the RFC's table, without NaN and infinities.
        let cases: [(u64, &str); 24] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        ];
        for (bits, expected) in cases {
            let value = Value::from(f64::from_bits(bits));
            assert_eq!(
                String::from_utf8(canonical_json(&value).unwrap()).unwrap(),
                expected,
                "bits: {bits:#018x}"
            );
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = "[a-c\\\\\"\u{0}-\u{20}\u{7f}\u{80}é€\u{fb33}😀]{0,4}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-9_007_199_254_740_994..9_007_199_254_740_994_i64).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((text, inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_json_matches_the_reference_implementation(value in any_json()) {
            let reference = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(String::from_utf8(canonical_json(&value).unwrap()).unwrap(), reference);
        }
    }

    #[test]
    fn audit_json_equals_that_of_serde() {
        for status in [Status::Ok, Status::Error] {
            let audit = Audit {
                in_hash: "ab".repeat(32).into(),
                out_hash: "cd".repeat(32).into(),
                latency_ms: u64::MAX,
                seed: 7,
                status,
            };
            assert_eq!(audit.to_json(), Json::of(&audit).unwrap());
        }
    }

    #[test]
    fn fingerprints_are_independent_of_key_order() {
        let (first, _) = Fingerprint::of(&json!({"a": 1, "b": [1, 2]})).unwrap();
        let (second, _) =
            Fingerprint::of(&serde_json::from_str(r#"{"b":[1,2],"a":1.0}"#).unwrap()).unwrap();
        assert_eq!(first, second);
    }

    #[test]
    fn the_seed_is_the_first_sixteen_hex_digits_as_a_number() {
        // SHA-256 of "{}", as printed by sha256sum: 44136fa355b3678a1146ad16f7e8649e…
        let (fingerprint, size) = Fingerprint::of(&json!({})).unwrap();
        assert_eq!(
            fingerprint.hex().as_ref(),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
        assert_eq!(fingerprint.seed(), 0x4413_6fa3_55b3_678a);
        assert_eq!(size, 2);
    }
}
