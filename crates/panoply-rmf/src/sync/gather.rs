//! What to ask the API: the register of funds once, then each fund's factsheet and NAVs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::Value;

use super::client::{Client, SyncError};
use super::fields::text;
use crate::fund::{Company, Status};

/// What the API calls the only class of a fund.
pub(super) const MAIN: &str = "main";

/// A fund of the register with its share classes.
#[derive(Clone, Debug)]
pub(super) struct Project {
    /// The SEC's id.
    pub(super) id: String,
    /// The code of the fund as a whole.
    pub(super) code: String,
    /// Its English name.
    pub(super) name: Option<String>,
    /// Its Thai name.
    pub(super) name_th: Option<String>,
    /// The company that manages it.
    pub(super) company: Company,
    /// Its status.
    pub(super) status: Status,
    /// When it was registered.
    pub(super) registered: Option<Date>,
    /// What it invests in, in Thai.
    pub(super) policy_th: Option<String>,
    /// How it is managed.
    pub(super) management_style: Option<String>,
    /// The names of its classes that are RMF.
    pub(super) classes: Vec<String>,
}

/// Every RMF that is registered or offered.
pub(super) fn universe(client: &mut Client<'_>) -> Result<Vec<Project>, SyncError> {
    let specifications = client.rows("/v2/fund/general-info/specifications", &[])?;
    let is_rmf: BTreeSet<(String, String)> = specifications
        .iter()
        .filter(|row| text(row, "spec_code").as_deref() == Some("RMF"))
        .filter_map(|row| Some((text(row, "proj_id")?, class_of(row))))
        .collect();
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    for status in ["Registered", "IPO"] {
        let profiles = client.rows("/v2/fund/general-info/profiles", &[("fund_status", status)])?;
        for row in &profiles {
            let Some(id) = text(row, "proj_id") else { continue };
            let class = class_of(row);
            // A fund may be RMF as a whole or class by class.
            let named = is_rmf.contains(&(id.clone(), class.clone()));
            if named || is_rmf.contains(&(id.clone(), MAIN.to_owned())) {
                let project = projects.entry(id.clone()).or_insert_with(|| project(id, row));
                if !project.classes.contains(&class) {
                    project.classes.push(class);
                }
            }
        }
    }
    Ok(projects.into_values().collect())
}

fn project(id: String, row: &Value) -> Project {
    Project {
        code: text(row, "proj_abbr_name").unwrap_or_else(|| id.clone()),
        name: text(row, "proj_name_en"),
        name_th: text(row, "proj_name_th"),
        company: Company {
            id: text(row, "unique_id").unwrap_or_default(),
            name: text(row, "comp_name_en").unwrap_or_default(),
        },
        status: text(row, "fund_status")
            .and_then(|status| Status::parse(&status))
            .unwrap_or(Status::Registered),
        registered: super::fields::day(row, "regis_date"),
        policy_th: text(row, "policy_desc"),
        management_style: text(row, "management_style"),
        classes: Vec::new(),
        id,
    }
}

/// The class a row is about; rows that name none are about the only one.
pub(super) fn class_of(row: &Value) -> String {
    text(row, "fund_class_name").unwrap_or_else(|| MAIN.to_owned())
}

/// The days of NAV to ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) from: Date,
    pub(super) to: Date,
}

/// Rows about one project, as they came.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) performance: Vec<Value>,
    pub(super) benchmarks: Vec<Value>,
    pub(super) risk: Vec<Value>,
    pub(super) fees: Vec<Value>,
    pub(super) statistics: Vec<Value>,
    pub(super) allocation: Vec<Value>,
    pub(super) minimums: Vec<Value>,
    pub(super) dividends: Vec<Value>,
    pub(super) urls: Vec<Value>,
    pub(super) nav: Vec<Value>,
}

/// Everything about one project.
pub(super) fn gather(
    client: &mut Client<'_>,
    project: &Project,
    asked: Asked,
) -> Result<Gathered, SyncError> {
    let mut latest = |part: &str| {
        let path = format!("/v2/fund/factsheet/{part}");
        client.rows(&path, &[("proj_id", &project.id), ("latest", "true")])
    };
    let mut gathered = Gathered {
        performance: latest("performance")?,
        benchmarks: latest("benchmarks")?,
        risk: latest("risk-spectrum")?,
        fees: latest("fees")?,
        statistics: latest("statistics")?,
        allocation: latest("asset-allocation")?,
        minimums: latest("subscription-redemption-minimums")?,
        dividends: latest("dividend-policy")?,
        urls: latest("urls")?,
        nav: Vec::new(),
    };
    let (from, to) = (asked.from.to_string(), asked.to.to_string());
    let range =
        [("proj_id", project.id.as_str()), ("start_nav_date", &from), ("end_nav_date", &to)];
    gathered.nav = client.rows("/v2/fund/daily-info/nav", &range)?;
    // Some clients report that a range is now and then ignored.
    gathered.nav.retain(|row| {
        super::fields::day(row, "nav_date").is_some_and(|day| asked.from <= day && day <= asked.to)
    });
    Ok(gathered)
}
