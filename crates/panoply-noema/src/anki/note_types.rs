//! Note types of packages: JSON in schema 11, protocol buffers in schema 18.
//!
//! What we do not use ourselves is kept under the names of the JSON and written back.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::proto::{self, FieldConfig, NotetypeConfig, TemplateConfig};
use super::tables::all;
use crate::error::Result;
use crate::ids::NoteTypeId;
use crate::note::{NoteType, Template, TypeConfig};

type Object = Map<String, Value>;

/// A note type in JSON.
#[derive(Deserialize)]
pub(super) struct Model {
    name: String,
    #[serde(rename = "type", default)]
    kind: i64,
    #[serde(rename = "flds", default)]
    fields: Vec<Field>,
    #[serde(rename = "tmpls", default)]
    templates: Vec<ModelTemplate>,
    #[serde(default)]
    css: String,
    #[serde(flatten)]
    other: Object,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    #[serde(default)]
    ord: Option<i64>,
    #[serde(flatten)]
    other: Object,
}

#[derive(Deserialize)]
struct ModelTemplate {
    name: String,
    #[serde(default)]
    ord: Option<i64>,
    #[serde(default)]
    qfmt: String,
    #[serde(default)]
    afmt: String,
    #[serde(flatten)]
    other: Object,
}

/// Keys that are generated or refer to other objects of the author's collection.
const NOT_KEPT: [&str; 8] = ["id", "mod", "usn", "did", "req", "tags", "vers", "ord"];

fn kept(mut object: Object) -> Object {
    // A field and a template keep their id, a type gets ours.
    object.retain(|key, _| !NOT_KEPT.contains(&key.as_str()));
    object
}

impl Model {
    pub(super) fn note_type(mut self, id: NoteTypeId) -> NoteType {
        self.fields.sort_by_key(|field| field.ord);
        self.templates.sort_by_key(|template| template.ord);
        let mut note_type = NoteType {
            id,
            name: self.name,
            cloze: self.kind == 1,
            fields: Vec::new(),
            templates: Vec::new(),
            css: self.css,
            config: TypeConfig { other: kept(self.other), ..TypeConfig::default() },
        };
        for field in self.fields {
            note_type.fields.push(field.name);
            note_type.config.fields.push(field.other);
        }
        for ModelTemplate { name, qfmt: question, afmt: answer, mut other, .. } in self.templates {
            other.remove("did");
            note_type.templates.push(Template { name, question, answer });
            note_type.config.templates.push(other);
        }
        note_type
    }
}

/// Reads the note types of schema 18.
pub(super) fn read_proto(connection: &Connection) -> Result<Vec<NoteType>> {
    let mut fields: BTreeMap<i64, Vec<(String, Object)>> = BTreeMap::new();
    let sql = "SELECT ntid, name, config FROM fields ORDER BY ntid, ord";
    let rows = all(connection, sql, |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    for (note_type, name, config) in rows {
        let config = field_object(&proto::decode(&config, "fields")?);
        fields.entry(note_type).or_default().push((name, config));
    }
    let mut templates: BTreeMap<i64, Vec<(Template, Object)>> = BTreeMap::new();
    let sql = "SELECT ntid, name, config FROM templates ORDER BY ntid, ord";
    let rows = all(connection, sql, |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    for (note_type, name, config) in rows {
        let config: TemplateConfig = proto::decode(&config, "templates")?;
        let object = template_object(&config);
        let template = Template { name, question: config.question, answer: config.answer };
        templates.entry(note_type).or_default().push((template, object));
    }
    let rows = all(connection, "SELECT id, name, config FROM notetypes ORDER BY id", |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
    })?;
    let note_type = |(id, name, config): (i64, String, Vec<u8>)| {
        let config: NotetypeConfig = proto::decode(&config, "notetypes")?;
        let (fields, field_configs) = fields.remove(&id).unwrap_or_default().into_iter().unzip();
        let (templates, template_configs) =
            templates.remove(&id).unwrap_or_default().into_iter().unzip();
        let other = type_object(&config);
        Ok(NoteType {
            id: NoteTypeId(id),
            name,
            cloze: config.kind == 1,
            fields,
            templates,
            css: config.css,
            config: TypeConfig { other, fields: field_configs, templates: template_configs },
        })
    };
    rows.into_iter().map(note_type).collect()
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

fn type_object(config: &NotetypeConfig) -> Object {
    let mut other = object(json!({
        "sortf": config.sort_field, "latexPre": config.latex_pre, "latexPost": config.latex_post,
        "latexsvg": config.latex_svg, "originalStockKind": config.original_stock_kind,
    }));
    if let Some(id) = config.original_id {
        other.insert("originalId".to_owned(), id.into());
    }
    other
}

fn field_object(config: &FieldConfig) -> Object {
    object(json!({
        "sticky": config.sticky, "rtl": config.rtl, "font": config.font_name, "size": config.font_size,
        "description": config.description, "plainText": config.plain_text, "collapsed": config.collapsed,
        "excludeFromSearch": config.exclude_from_search, "id": config.id, "tag": config.tag,
        "preventDeletion": config.prevent_deletion,
    }))
}

fn template_object(config: &TemplateConfig) -> Object {
    object(json!({
        "bqfmt": config.question_in_browser, "bafmt": config.answer_in_browser,
        "bfont": config.browser_font_name, "bsize": config.browser_font_size, "id": config.id,
    }))
}

/// Writes a note type as JSON, with its id in Anki.
pub(super) fn to_json(note_type: &NoteType, id: i64, seconds: i64) -> Value {
    let with = |mut own: Object, kept: Option<&Object>| {
        own.extend(kept.cloned().unwrap_or_default());
        Value::Object(own)
    };
    let config = &note_type.config;
    let fields: Vec<Value> = note_type
        .fields
        .iter()
        .enumerate()
        .map(|(ord, name)| {
            let own = json!({"name": name, "ord": ord, "sticky": false, "rtl": false, "font": "Arial", "size": 20});
            with(object(own), config.fields.get(ord))
        })
        .collect();
    let templates: Vec<Value> = note_type
        .templates
        .iter()
        .enumerate()
        .map(|(ord, template)| {
            let own = json!({"name": template.name, "ord": ord, "qfmt": template.question, "afmt": template.answer, "did": null, "bqfmt": "", "bafmt": ""});
            with(object(own), config.templates.get(ord))
        })
        .collect();
    let required: Vec<Value> =
        (0..note_type.templates.len()).map(|ord| json!([ord, "any", [0]])).collect();
    let own = json!({
        "id": id, "name": note_type.name, "type": i64::from(note_type.cloze), "mod": seconds,
        "usn": -1, "sortf": 0, "did": null, "tmpls": templates, "flds": fields, "css": note_type.css,
        "latexPre": LATEX_PRE, "latexPost": "\\end{document}", "latexsvg": false, "req": required, "tags": [], "vers": [],
    });
    with(object(own), Some(&config.other))
}

const LATEX_PRE: &str = "\\documentclass[12pt]{article}\n\\special{papersize=3in,5in}\n\\usepackage[utf8]{inputenc}\n\\usepackage{amssymb,amsmath}\n\\pagestyle{empty}\n\\setlength{\\parindent}{0in}\n\\begin{document}\n";
