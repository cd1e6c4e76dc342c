//! Every tool there is, under every name it answers to, with its schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::compiled::Compiled;
use crate::compliance::{self, Line, Violation};
use crate::context::Caller;
use crate::dialect::Dialect;
use crate::meters::Meter;
use crate::mutation::MutationLog;
use crate::pack::{DataVersion, Pack, PackInfo};
use crate::pipeline::Lanes;
use crate::prompt::Prompt;
use crate::resource::{Completer, ResourceProvider};
use crate::spec::{Category, ToolSpec};
use crate::tool::AnyTool;

/// The tools of all packs. Built once, then only read.
pub struct Registry {
    packs: Vec<PackEntry>,
    tools: Vec<ToolEntry>,
    /// Names and aliases.
    by_name: HashMap<&'static str, ToolIndex>,
}

/// A pack as the registry keeps it.
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

/// Where a tool stands in the registry. Only the registry makes one, so it always leads somewhere.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ToolIndex(pub(crate) usize);

/// A tool as the registry keeps it: a description. Only the pipeline can call it.
pub struct ToolEntry {
    /// What it declares.
    pub spec: &'static ToolSpec,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// The description as agents read it.
    pub description: String,
    /// Its counters.
    pub meter: Meter,
    pub(crate) index: ToolIndex,
    pub(crate) pack_index: usize,
    pub(crate) input: Compiled,
    pub(crate) data: Compiled,
    output: Compiled,
    pub(crate) handler: Arc<dyn AnyTool>,
}

impl ToolEntry {
    /// The portable schema of its input.
    pub fn input_schema(&self) -> &Value {
        self.input.schema()
    }

    /// The portable schema of its structured reply.
    pub fn output_schema(&self) -> &Value {
        self.output.schema()
    }
}

impl Registry {
    /// A registry of these packs, or everything that is wrong with them.
    pub fn new(packs: Vec<Pack>) -> Result<Self, Vec<Violation>> {
        let mut registry = Self { packs: Vec::new(), tools: Vec::new(), by_name: HashMap::new() };
        let violations: Vec<Violation> =
            packs.into_iter().flat_map(|pack| registry.register(pack)).collect();
        if violations.is_empty() { Ok(registry) } else { Err(violations) }
    }

    /// Adds a pack and says what is wrong with it; a tool with violations is left out.
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
                "a pack of this name is there already",
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

    /// The tool of this name or alias.
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.by_name.get(name).map(|index| self.at(*index))
    }

    /// Every tool, in the order of registration.
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

    /// What a registered tool breaks of the contract that can be seen without calling it.
    pub fn validate(&self, entry: &ToolEntry) -> Vec<Violation> {
        compliance::static_violations(entry.spec, entry.input_schema(), entry.output_schema())
    }

    /// Every pack.
    pub fn packs(&self) -> &[PackEntry] {
        &self.packs
    }

    /// The names nearest to `name`, for a caller who mistyped; tools the caller may not call
    /// are not given away.
    pub fn nearest(&self, name: &str, caller: &Caller) -> Vec<&'static str> {
        let candidates =
            self.tools.iter().filter(|entry| caller.grants.allow_all(entry.spec.permissions));
        nearest(name, candidates.map(|entry| entry.spec.name))
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
            input: Compiled::new(move || input.input_schema()),
            data: Compiled::new(move || data.output_schema()),
            output: Compiled::new(move || dialect.output_schema(output.output_schema())),
            handler,
        }
    }

    /// What is wrong with a tool. Schemas are checked in builds with debug assertions only: they
    /// come from types, so a build that passes its tests has none that is wrong.
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

/// Up to three of `candidates` that look like `name`, nearest first.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // Long names are cut: the distance takes time proportional to the product of both lengths.
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
