//! The registry of all tools by name and alias, with their schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::compliance::{self, Line, Violation};
use crate::context::Caller;
use crate::dialect::Dialect;
use crate::lazy_schema::LazySchema;
use crate::meters::Meter;
use crate::mutation::MutationLog;
use crate::pack::{DataVersion, Pack, PackInfo};
use crate::pipeline::Lanes;
use crate::prompt::Prompt;
use crate::resource::{Completer, ResourceProvider};
use crate::spec::{Category, ToolSpec};
use crate::tool::AnyTool;

/// The tools of all packs. Immutable after startup.
pub struct Registry {
    packs: Vec<PackEntry>,
    tools: Vec<ToolEntry>,
    /// Names and aliases.
    by_name: HashMap<&'static str, ToolIndex>,
}

/// A registered pack.
pub struct PackEntry {
    /// Its name and purpose.
    pub info: PackInfo,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    pub(crate) dialect: Arc<dyn Dialect>,
    pub(crate) resources: Vec<Arc<dyn ResourceProvider>>,
    pub(crate) completers: Vec<Arc<dyn Completer>>,
    pub(crate) data_version: Option<DataVersion>,
    pub(crate) mutation_log: Option<Arc<dyn MutationLog>>,
    pub(crate) blocks: bool,
    pub(crate) lanes: Lanes,
}

/// Index of a tool. Only the registry creates one, so it is always valid.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ToolIndex(pub(crate) usize);

/// A registered tool. Only the pipeline can call it.
pub struct ToolEntry {
    /// Its spec.
    pub spec: &'static ToolSpec,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// Description text for agents.
    pub description: String,
    /// Its counters.
    pub meter: Meter,
    pub(crate) index: ToolIndex,
    pub(crate) pack_index: usize,
    pub(crate) input: LazySchema,
    pub(crate) data: LazySchema,
    output: LazySchema,
    pub(crate) handler: Arc<dyn AnyTool>,
}

impl ToolEntry {
    /// Published input schema.
    pub fn input_schema(&self) -> &Value {
        self.input.schema()
    }

    /// Published output schema.
    pub fn output_schema(&self) -> &Value {
        self.output.schema()
    }
}

impl Registry {
    /// Registers these packs, or returns all violations.
    pub fn new(packs: Vec<Pack>) -> Result<Self, Vec<Violation>> {
        let mut registry = Self { packs: Vec::new(), tools: Vec::new(), by_name: HashMap::new() };
        let violations: Vec<Violation> =
            packs.into_iter().flat_map(|pack| registry.register(pack)).collect();
        if violations.is_empty() { Ok(registry) } else { Err(violations) }
    }

    /// Adds a pack and returns its violations; a tool with violations is not registered.
    pub fn register(&mut self, pack: Pack) -> Vec<Violation> {
        let pack_index = self.packs.len();
        let Pack {
            info,
            dialect,
            tools,
            resources,
            prompts,
            completers,
            data_version,
            mutation_log,
            blocks,
        } = pack;
        let mut violations = Vec::new();
        if self.packs.iter().any(|other| other.info.name == info.name) {
            violations.push(Violation::new(
                info.name,
                Line::UniqueName,
                "a pack of this name is already registered",
            ));
        }
        for handler in tools {
            let entry = self.entry(handler, info.name, pack_index, &dialect);
            let found = self.violations(&entry);
            if found.is_empty() {
                self.insert(entry);
            }
            violations.extend(found);
        }
        self.packs.push(PackEntry {
            info,
            prompts,
            dialect,
            resources,
            completers,
            data_version,
            mutation_log,
            blocks,
            lanes: Lanes::new(),
        });
        violations
    }

    /// The tool with this name or alias.
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.by_name.get(name).map(|index| self.at(*index))
    }

    /// All tools in registration order.
    pub fn get_all(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// The tools of a category.
    pub fn get_by_category(&self, category: Category) -> impl Iterator<Item = &ToolEntry> {
        self.tools.iter().filter(move |entry| entry.spec.category == category)
    }

    /// The tools with a tag.
    pub fn get_by_tag<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a ToolEntry> {
        self.tools.iter().filter(move |entry| entry.spec.tags.contains(&tag))
    }

    /// Violations of a registered tool that are detectable without calling it.
    pub fn validate(&self, entry: &ToolEntry) -> Vec<Violation> {
        compliance::static_violations(entry.spec, entry.input_schema(), entry.output_schema())
    }

    /// Every pack.
    pub fn packs(&self) -> &[PackEntry] {
        &self.packs
    }

    /// Tool names similar to a mistyped `name`, limited to tools the caller may call.
    pub fn suggest_similar(&self, name: &str, caller: &Caller) -> Vec<&'static str> {
        let candidates =
            self.tools.iter().filter(|entry| caller.grants.allow_all(entry.spec.permissions));
        suggest_similar(name, candidates.map(|entry| entry.spec.name))
    }

    #[expect(clippy::indexing_slicing, reason = "an index is made by `entry` for this list only")]
    pub(crate) fn at(&self, index: ToolIndex) -> &ToolEntry {
        &self.tools[index.0]
    }

    pub(crate) fn pack_of(&self, entry: &ToolEntry) -> Option<&PackEntry> {
        self.packs.get(entry.pack_index)
    }

    fn entry(
        &self,
        handler: Arc<dyn AnyTool>,
        pack: &'static str,
        pack_index: usize,
        dialect: &Arc<dyn Dialect>,
    ) -> ToolEntry {
        let spec = handler.spec();
        let (input, data) = (Arc::clone(&handler), Arc::clone(&handler));
        let (output, dialect) = (Arc::clone(&handler), Arc::clone(dialect));
        ToolEntry {
            spec,
            pack,
            description: spec.description.text(),
            meter: Meter::default(),
            index: ToolIndex(self.tools.len()),
            pack_index,
            input: LazySchema::new(move || input.input_schema()),
            data: LazySchema::new(move || data.output_schema()),
            output: LazySchema::new(move || dialect.output_schema(output.output_schema())),
            handler,
        }
    }

    /// Violations of a tool. Schemas are checked in debug builds only: they are derived from types,
    /// so the tests cover them.
    fn violations(&self, entry: &ToolEntry) -> Vec<Violation> {
        let spec = entry.spec;
        let taken = std::iter::once(&spec.name)
            .chain(spec.aliases)
            .filter(|name| self.by_name.contains_key(*name))
            .map(|name| format!("the name `{name}` is taken"))
            .map(|message| Violation::new(spec.name, Line::UniqueName, message));
        let mut violations: Vec<Violation> = taken.collect();
        if cfg!(debug_assertions) {
            violations.extend(self.validate(entry));
            for (schema, line) in
                [(&entry.input, Line::Parameters), (&entry.data, Line::ToolResult)]
            {
                if let Err(error) = schema.compile() {
                    let message = format!("the schema does not compile: {error}");
                    violations.push(Violation::new(spec.name, line, message));
                }
            }
        }
        violations
    }

    fn insert(&mut self, entry: ToolEntry) {
        self.by_name.insert(entry.spec.name, entry.index);
        self.by_name.extend(entry.spec.aliases.iter().map(|alias| (*alias, entry.index)));
        self.tools.push(entry);
    }
}

pub use self::suggest_similar as nearest;

/// Up to three `candidates` similar to `name`, most similar first.
pub fn suggest_similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // Truncate long names: the edit distance is quadratic.
    let wanted: String = name.chars().take(80).flat_map(char::to_lowercase).collect();
    let mut scored: Vec<(f64, &str)> = candidates
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|entry| entry.spec.name)).finish()
    }
}
