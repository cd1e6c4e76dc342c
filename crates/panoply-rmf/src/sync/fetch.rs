//! Fetches the register of funds, then each fund's factsheet and NAVs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::Value;

use super::client::{Client, SyncError};
use super::fields::text;
use super::schema::{check_profiles, check_specifications};
use crate::fund::{Company, Status};

/// Class name of a fund with a single class.
pub(super) const MAIN: &str = "main";

/// A fund of the register with its RMF share classes.
#[derive(Clone, Debug)]
pub(super) struct Project {
    pub(super) id: String,
    /// Code of the fund as a whole.
    pub(super) code: String,
    pub(super) name: Option<String>,
    pub(super) name_th: Option<String>,
    pub(super) company: Company,
    pub(super) status: Status,
    pub(super) registered: Option<Date>,
    pub(super) policy_th: Option<String>,
    pub(super) management_style: Option<String>,
    /// Master fund of a feeder fund, and its country.
    pub(super) master_fund: Option<String>,
    pub(super) master_country: Option<String>,
    /// Names of the classes that are RMF.
    pub(super) classes: Vec<String>,
    /// ISIN by class name.
    pub(super) isins: BTreeMap<String, String>,
}

/// Fetches all RMFs that are registered or in their initial offering.
pub(super) fn fetch_universe(client: &mut Client<'_>) -> Result<Vec<Project>, SyncError> {
    let specifications = client.rows(SPECIFICATIONS, &[])?;
    check_specifications(&specifications).map_err(|problem| invalid(SPECIFICATIONS, problem))?;
    let is_rmf: BTreeSet<(String, String)> = specifications
        .iter()
        .filter(|row| text(row, "spec_code").as_deref() == Some("RMF"))
        .filter_map(|row| Some((text(row, "proj_id")?, class_of(row))))
        .collect();
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    for status in ["Registered", "IPO"] {
        let profiles = client.rows(PROFILES, &[("fund_status", status)])?;
        check_profiles(&profiles).map_err(|problem| invalid(PROFILES, problem))?;
        for row in &profiles {
            let Some(id) = text(row, "proj_id") else { continue };
            let class = class_of(row);
            // A fund may be RMF as a whole or per class.
            let named = is_rmf.contains(&(id.clone(), class.clone()));
            if named || is_rmf.contains(&(id.clone(), MAIN.to_owned())) {
                let project = projects.entry(id.clone()).or_insert_with(|| project(id, row));
                if !project.classes.contains(&class) {
                    project.isins.extend(
                        text(row, "fund_class_isin_code").map(|isin| (class.clone(), isin)),
                    );
                    project.classes.push(class);
                }
            }
        }
    }
    Ok(projects.into_values().collect())
}

const SPECIFICATIONS: &str = "/v2/fund/general-info/specifications";
const PROFILES: &str = "/v2/fund/general-info/profiles";

fn invalid(path: &str, problem: String) -> SyncError {
    SyncError::InvalidResponse { path: path.to_owned(), problem }
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
        master_fund: text(row, "feederfund_master_fund"),
        master_country: text(row, "feederfund_country"),
        classes: Vec::new(),
        isins: BTreeMap::new(),
        id,
    }
}

/// Share class of a row; rows without a class belong to the main class.
pub(super) fn class_of(row: &Value) -> String {
    text(row, "fund_class_name").unwrap_or_else(|| MAIN.to_owned())
}

/// Date range of NAVs to fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct NavRange {
    pub(super) from: Date,
    pub(super) to: Date,
}

/// API rows of one project, unprocessed.
#[derive(Debug, Default)]
pub(super) struct ProjectRows {
    pub(super) performance: Vec<Value>,
    pub(super) benchmarks: Vec<Value>,
    pub(super) risk: Vec<Value>,
    pub(super) fees: Vec<Value>,
    pub(super) statistics: Vec<Value>,
    pub(super) allocation: Vec<Value>,
    pub(super) holdings: Vec<Value>,
    pub(super) minimums: Vec<Value>,
    pub(super) dividends: Vec<Value>,
    pub(super) urls: Vec<Value>,
    pub(super) nav: Vec<Value>,
}

/// Fetches the factsheet and NAVs of one project.
pub(super) fn fetch_project(
    client: &mut Client<'_>,
    project: &Project,
    range: NavRange,
) -> Result<ProjectRows, SyncError> {
    let mut latest = |part: &str| {
        let path = format!("/v2/fund/factsheet/{part}");
        client.rows(&path, &[("proj_id", &project.id), ("latest", "true")])
    };
    let mut rows = ProjectRows {
        performance: latest("performance")?,
        benchmarks: latest("benchmarks")?,
        risk: latest("risk-spectrum")?,
        fees: latest("fees")?,
        statistics: latest("statistics")?,
        allocation: latest("asset-allocation")?,
        holdings: latest("top5-holdings")?,
        minimums: latest("subscription-redemption-minimums")?,
        dividends: latest("dividend-policy")?,
        urls: latest("urls")?,
        nav: Vec::new(),
    };
    let (from, to) = (range.from.to_string(), range.to.to_string());
    let arguments =
        [("proj_id", project.id.as_str()), ("start_nav_date", &from), ("end_nav_date", &to)];
    rows.nav = client.rows("/v2/fund/daily-info/nav", &arguments)?;
    // Other clients of this API report that it sometimes ignores the range. A row without a valid
    // date stays, for the schema to reject.
    rows.nav.retain(|row| {
        super::fields::day(row, "nav_date").is_none_or(|day| range.from <= day && day <= range.to)
    });
    Ok(rows)
}
