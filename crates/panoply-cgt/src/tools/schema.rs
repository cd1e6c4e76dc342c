//! JSON schema of a transaction as an object. Aliases of members are accepted but not advertised.
//! Nothing is `required`: the parser reports what is missing with its element, hint and example,
//! where schema validation would say only that a member is absent.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::dsl::grammar::FORMS;

/// Characters of a member; the parser says what is wrong with a shorter one.
const MAX_TEXT: u32 = 200;

/// Transactions in the list of tools: the members that most have.
pub(super) fn listed() -> Value {
    let text = json!({"type": "string"});
    json!({"anyOf": [text, {"type": "array", "items": {"type": "object", "properties": {
        "date": text, "action": text, "ticker": text, "quantity": text, "price": text, "fees": text,
    }}}]})
}

/// Transactions in the list of tools, with every member documented.
pub(super) fn listed_in_full() -> Value {
    let actions: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
    let text = |description: &str| json!({"type": "string", "description": description});
    let items = json!({
        "type": "object",
        "description": "Amounts: pounds, or {amount, currency, rate}",
        "properties": {
            "date": text("YYYY-MM-DD"),
            "action": {"type": "string", "enum": actions},
            "ticker": {"type": "string"},
            "quantity": {"type": "string"},
            "price": text("Per share"),
            "fees": {"type": "string"},
            "total": text("DIVIDEND, INTEREST, ACCUMULATION, CAPRETURN, EQUALISATION, SCRIP, SPOUSE_IN"),
            "tax": text("Withheld"),
            "cost": text("OPENING"),
            "ratio": text("SPLIT, UNSPLIT: number; RESTRUCT, BONUS: old:new"),
            "into": text("Other holding: DEMERGER, TAKEOVER, RENAME"),
            "value": text("Market value: CAPRETURN, DEMERGER, TAKEOVER, NEGLIGIBLE"),
            "remaining": text("Value of what remains: DEMERGER"),
            "cash": text("TAKEOVER"),
            "currency": text("Of plain amounts; default GBP"),
            "class": text("SECURITY; gilt and qcb are exempt"),
            "isin": text("SECURITY"),
        },
    });
    json!({"anyOf": [{"type": "string"}, {"type": "array", "items": items}]})
}

/// A transaction as an object.
pub(super) struct TransactionObject;

/// An amount: plain pounds, or an object with its currency.
struct MoneyObject;

impl JsonSchema for MoneyObject {
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": ["string", "number"], "maxLength": MAX_TEXT, "description": "Pounds; NIL for an intended zero."},
                {
                    "type": "object",
                    "description": "Needs amount and currency.",
                    "properties": {
                        "amount": {"type": ["string", "number"], "maxLength": MAX_TEXT, "description": "Number."},
                        "currency": {"type": "string", "maxLength": MAX_TEXT, "description": "ISO 4217 code; GBX is pence."},
                        "rate": {"type": ["string", "number"], "maxLength": MAX_TEXT, "description": "Units per pound; HMRC's month by default."},
                    },
                },
            ],
        })
    }
}

impl JsonSchema for TransactionObject {
    fn schema_name() -> Cow<'static, str> {
        "Transaction".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let actions: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
        let mut money = |what: &str| {
            let mut schema = generator.subschema_for::<MoneyObject>();
            schema.insert("description".to_owned(), what.into());
            schema
        };
        json_schema!({
            "type": "object",
            "description": "Needs date, action, ticker and what the action uses.",
            "properties": {
                "date": {"type": "string", "maxLength": MAX_TEXT, "description": "YYYY-MM-DD."},
                "action": {"type": "string", "maxLength": MAX_TEXT, "description": format!("In any case, one of {}.", actions.join(", "))},
                "ticker": {"type": "string", "maxLength": MAX_TEXT, "description": "Holding, in any case."},
                "quantity": {"type": ["string", "number"], "maxLength": MAX_TEXT, "description": "Shares; not for DIVIDEND, INTEREST, SECURITY, SPLIT, UNSPLIT, RESTRUCT, BONUS, RENAME, NEGLIGIBLE."},
                "price": money("Per share: BUY, SELL, RIGHTS."),
                "fees": money("BUY, SELL, RIGHTS, CAPRETURN."),
                "total": money("DIVIDEND, INTEREST, ACCUMULATION, CAPRETURN, EQUALISATION, SCRIP, SPOUSE_IN."),
                "tax": money("Withheld: DIVIDEND, INTEREST, ACCUMULATION."),
                "cost": money("OPENING."),
                "ratio": {"type": ["string", "number"], "maxLength": MAX_TEXT, "description": "SPLIT, UNSPLIT: a number; RESTRUCT, BONUS: old:new."},
                "into": {"type": "string", "maxLength": MAX_TEXT, "description": "The other holding: DEMERGER, TAKEOVER, RENAME."},
                "value": money("Market value: CAPRETURN, DEMERGER, TAKEOVER, NEGLIGIBLE."),
                "remaining": money("Market value of what remains: DEMERGER."),
                "cash": money("TAKEOVER."),
                "currency": {"type": "string", "maxLength": MAX_TEXT, "description": "Of plain amounts; GBP by default."},
                "class": {"type": "string", "maxLength": MAX_TEXT, "description": "SECURITY: listed, unlisted, crypto, other, gilt or qcb."},
                "isin": {"type": "string", "maxLength": MAX_TEXT, "description": "SECURITY: ISIN; excess reportable income is added by it."},
                "income": {"type": "string", "maxLength": MAX_TEXT, "description": "SECURITY: dividend, or interest for a bond fund."},
                "country": {"type": "string", "maxLength": MAX_TEXT, "description": "SECURITY: two letters, when it is not that of the ISIN."},
                "name": {"type": "string", "maxLength": MAX_TEXT, "description": "SECURITY: name."},
            },
        })
    }
}
