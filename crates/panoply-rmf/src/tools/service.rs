//! Per-call service shared by the tools: active catalog, evidence, data dates, widgets, warnings.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use panoply_contract::hints::{Level, RelatedResource, Warning, WarningKind};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::data_age::DataAge;
use super::locale::Locale;
use crate::catalog::{FundCatalog, nav_dates, returns_dates};
use crate::fund::{Flag, Fund};
use crate::store::FundStore;

/// `_meta` key that names the widget of a result.
pub(crate) const OUTPUT_TEMPLATE_KEY: &str = "openai/outputTemplate";
/// Permission required by every tool.
pub(crate) const READ_PERMISSIONS: &[&str] = &["rmf:read"];
/// A sync changes the pack's data version, which invalidates cached replies.
pub(crate) const CACHE_POLICY: CachePolicy = CachePolicy::Shared(HOUR);
/// Discovery keywords required by the contract.
pub(crate) const KEYWORDS: &[&str] =
    &["RMF", "retirement", "mutual fund", "Thailand", "tax", "NAV", "performance"];

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Factsheets are monthly.
const RETURNS_HALF_LIFE: Duration = DAY.saturating_mul(90);
/// NAVs are daily.
const NAV_HALF_LIFE: Duration = DAY.saturating_mul(30);

/// Widget for fund lists.
pub(crate) const FUND_LIST: WidgetPage = WidgetPage {
    component: "component://rmf-fund-list",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-list-v1.html",
        invoking: "Looking through the RMF funds…",
        invoked: "RMF funds",
    },
};
/// Widget for one fund.
pub(crate) const FUND_CARD: WidgetPage = WidgetPage {
    component: "component://rmf-fund-card",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-card-v1.html",
        invoking: "Opening the fund…",
        invoked: "RMF fund",
    },
};
/// Widget for NAV series.
pub(crate) const PERFORMANCE_CHART: WidgetPage = WidgetPage {
    component: "component://rmf-performance-chart",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-performance-chart-v1.html",
        invoking: "Drawing the NAV…",
        invoked: "NAV history",
    },
};
/// Widget for comparisons.
pub(crate) const FUND_COMPARISON: WidgetPage = WidgetPage {
    component: "component://rmf-fund-comparison",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-comparison-v1.html",
        invoking: "Comparing the funds…",
        invoked: "Comparison of RMF funds",
    },
};

/// Widget for saving plans.
pub(crate) const SAVING_PLAN: WidgetPage = WidgetPage {
    component: "component://rmf-saving-plan",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-saving-plan-v1.html",
        invoking: "Simulating the plan…",
        invoked: "Saving plan",
    },
};

/// A widget: its component name in the contract and its resource.
pub(crate) struct WidgetPage {
    pub(crate) component: &'static str,
    pub(crate) widget: Widget,
}

/// The catalog, locale and date of one call.
pub(crate) struct RmfService {
    pub(crate) catalog: Arc<FundCatalog>,
    pub(crate) locale: Locale,
    today: Date,
}

/// Publisher of all figures.
const PUBLISHER: &str = "Thai SEC Open API";

impl RmfService {
    pub(crate) fn open(store: &FundStore, cx: &CallContext) -> Self {
        Self {
            catalog: store.catalog(),
            locale: Locale(cx.lang),
            today: bangkok_date(cx.timestamp),
        }
    }

    /// Evidence of a reply based on the factsheet returns of these funds. The oldest date counts.
    pub(crate) fn evidence_from_returns(&self, funds: &[&Fund]) -> Evidence {
        let dates = if funds.is_empty() {
            self.catalog.returns_dates()
        } else {
            returns_dates(funds.iter().copied())
        };
        self.evidence_dated(dates.map(|(oldest, _)| oldest), RETURNS_HALF_LIFE)
    }

    /// Evidence of a reply based on the NAV of `date`.
    pub(crate) fn evidence_from_nav(&self, date: Option<Date>) -> Evidence {
        self.evidence_dated(date, NAV_HALF_LIFE)
    }

    fn evidence_dated(&self, date: Option<Date>, half_life: Duration) -> Evidence {
        let evidence = Evidence::from(Source::new(SourceClass::Verified, PUBLISHER));
        match date.and_then(close_of) {
            Some(timestamp) => evidence.as_of(timestamp, half_life),
            None => evidence,
        }
    }

    /// `NAV as of …; returns as of ….`: the two dates differ. Followed by a caution when the
    /// figures are old. Without funds, of all funds.
    pub(crate) fn as_of(&self, funds: &[&Fund]) -> String {
        let locale = self.locale;
        let (nav, returns) = if funds.is_empty() {
            (self.catalog.nav_dates(), self.catalog.returns_dates())
        } else {
            (nav_dates(funds.iter().copied()), returns_dates(funds.iter().copied()))
        };
        let nav = nav.map_or_else(|| locale.missing().to_owned(), |dates| locale.dates(dates));
        let returns = self.returns_as_of(returns);
        let caution = DataAge::of(self, funds).sentence();
        match locale.0 {
            Lang::En => format!("NAV as of {nav}; {returns}.{caution}"),
            Lang::Th => format!("NAV ณ {nav}; {returns}{caution}"),
        }
    }

    /// `returns as of 30 Sep 2025 (factsheets)`.
    pub(crate) fn returns_as_of(&self, dates: Option<(Date, Date)>) -> String {
        let locale = self.locale;
        let date = dates.map_or_else(|| locale.missing().to_owned(), |dates| locale.dates(dates));
        match locale.0 {
            Lang::En => format!("returns as of {date} (factsheets)"),
            Lang::Th => format!("ผลตอบแทน ณ {date} (Fact Sheet)"),
        }
    }

    /// Dates of the whole catalog as JSON.
    pub(crate) fn data_as_of(&self) -> Value {
        let (nav, returns) = (self.catalog.nav_dates(), self.catalog.returns_dates());
        json!({
            "navFrom": nav.map(|(first, _)| first.to_string()),
            "nav": nav.map(|(_, last)| last.to_string()),
            "returns": returns.map(|(_, last)| last.to_string()),
        })
    }

    /// Finds a fund, or returns an error with suggestions.
    pub(crate) fn fund(&self, code: &str) -> Result<&Fund, ToolError> {
        if code.trim().is_empty() {
            return Err(self.locale.empty_code());
        }
        self.catalog.find(code).map_err(|unknown| self.locale.unknown_fund(unknown))
    }

    /// Warnings about stale data and about figures shared between share classes.
    pub(crate) fn warnings<'a>(&self, funds: impl IntoIterator<Item = &'a Fund>) -> Vec<Warning> {
        let locale = self.locale;
        let funds: Vec<&Fund> = funds.into_iter().collect();
        let shared: Vec<String> = funds
            .iter()
            .filter(|fund| fund.shares_figures())
            .map(|fund| fund.symbol.clone())
            .collect();
        let mut warnings = Vec::new();
        if !shared.is_empty() {
            warnings.push(Warning {
                kind: WarningKind::Validation,
                severity: Level::Medium,
                message: locale.flag(Flag::ShareClassFiguresShared).to_owned(),
                related_ids: shared,
                suggested_fix: Some(
                    locale
                        .pick(
                            "run `panoply rmf sync`, which takes each class's own",
                            "รัน `panoply rmf sync` เพื่อใช้ตัวเลขของแต่ละชนิด",
                        )
                        .to_owned(),
                ),
                auto_fixable: None,
            });
        }
        if !funds.is_empty() {
            warnings.extend(self.age_warning(&funds));
        }
        warnings
    }

    fn age_warning(&self, dated: &[&Fund]) -> Option<Warning> {
        DataAge::of(self, dated).notice().map(|notice| Warning {
            kind: WarningKind::Validation,
            severity: Level::High,
            message: notice.to_owned(),
            related_ids: Vec::new(),
            suggested_fix: Some(
                self.locale
                    .pick("run `panoply rmf sync` on the server", "รัน `panoply rmf sync` ที่เซิร์ฟเวอร์")
                    .to_owned(),
            ),
            auto_fixable: None,
        })
    }

    /// Current date in Thailand.
    pub(crate) const fn today(&self) -> Date {
        self.today
    }
}

/// Common parts of this pack's replies.
pub(crate) trait ReplyExt {
    /// Adds the widget, data dates and warnings about `funds`. List tools pass no funds: their
    /// `dataAge` and `dataFlags` carry the same information in fewer bytes.
    fn with_provenance<'a>(
        self,
        service: &RmfService,
        page: Option<&WidgetPage>,
        funds: impl IntoIterator<Item = &'a Fund> + Clone,
    ) -> Self;
}

impl<T: Serialize> ReplyExt for Reply<T> {
    fn with_provenance<'a>(
        mut self,
        service: &RmfService,
        page: Option<&WidgetPage>,
        funds: impl IntoIterator<Item = &'a Fund> + Clone,
    ) -> Self {
        let mut meta = Map::new();
        if let Some(page) = page {
            meta.insert(OUTPUT_TEMPLATE_KEY.to_owned(), page.component.into());
        }
        meta.append(&mut self.notes.meta);
        meta.insert("dataAsOf".to_owned(), service.data_as_of());
        self.notes.meta = meta;
        self.notes.warnings.extend(service.warnings(funds));
        self
    }
}

/// Fund as a related resource.
pub(crate) fn related(fund: &Fund) -> RelatedResource {
    RelatedResource {
        kind: "fund".to_owned(),
        id: format!("rmf://fund/{}", percent_encoded(&fund.symbol)),
        label: fund.symbol.clone(),
        relevance: 1.0,
        metadata: Map::new(),
    }
}

/// Characters escaped in a URI segment.
const PERCENT_ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Percent-encodes a code for a URI.
pub(crate) fn percent_encoded(code: &str) -> String {
    utf8_percent_encode(code, PERCENT_ENCODE_SET).to_string()
}

/// Thailand is UTC+7 all year.
pub(crate) fn bangkok_date(timestamp: jiff::Timestamp) -> Date {
    timestamp.to_zoned(bangkok()).date()
}

/// Pricing time of a day, 18:00 in Bangkok.
fn close_of(date: Date) -> Option<jiff::Timestamp> {
    date.at(18, 0, 0, 0).to_zoned(bangkok()).ok().map(|close| close.timestamp())
}

fn bangkok() -> TimeZone {
    TimeZone::fixed(Offset::constant(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bangkok_date_is_utc_plus_seven() {
        let evening: jiff::Timestamp = "2025-12-31T17:00:00Z".parse().unwrap();
        assert_eq!(bangkok_date(evening).to_string(), "2026-01-01");
    }

    #[test]
    fn fund_codes_are_percent_encoded_in_uris() {
        assert_eq!(percent_encoded("KT25/75RMF"), "KT25%2F75RMF");
        assert_eq!(percent_encoded("SCBRMNDQ(A)"), "SCBRMNDQ%28A%29");
    }
}
