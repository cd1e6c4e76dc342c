//! What the answers of several tools have in common: evidence, dates, pages, warnings.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use panoply_contract::hints::{Level, RelatedResource, Warning, WarningKind};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::words::Words;
use crate::book::{Book, UnknownFund};
use crate::fund::{Flag, Fund};
use crate::store::Shelf;

/// The key under which the contract names the page that draws a result.
pub(crate) const TEMPLATE: &str = "openai/outputTemplate";
/// What every tool here needs.
pub(crate) const READ: &[&str] = &["rmf:read"];
/// Figures change with a sync; the pack's data version ends cached replies then.
pub(crate) const KEPT: CachePolicy = CachePolicy::Shared(HOUR);
/// The words the contract wants every tool to be found by.
pub(crate) const KEYWORDS: &[&str] =
    &["RMF", "retirement", "mutual fund", "Thailand", "tax", "NAV", "performance"];

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Factsheets come out monthly: three months on, a return is worth half.
const RETURNS_HALF_LIFE: Duration = DAY.saturating_mul(90);
/// NAVs come out daily: a month on, one is worth half.
const NAV_HALF_LIFE: Duration = DAY.saturating_mul(30);
/// Figures older than this deserve a word.
const STALE_DAYS: i32 = 45;

/// Draws a list.
pub(crate) const FUND_LIST: Page = Page {
    component: "component://rmf-fund-list",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-list-v1.html",
        invoking: "Looking through the RMF funds…",
        invoked: "RMF funds",
    },
};
/// Draws one fund.
pub(crate) const FUND_CARD: Page = Page {
    component: "component://rmf-fund-card",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-card-v1.html",
        invoking: "Opening the fund…",
        invoked: "RMF fund",
    },
};
/// Draws a NAV series.
pub(crate) const PERFORMANCE_CHART: Page = Page {
    component: "component://rmf-performance-chart",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-performance-chart-v1.html",
        invoking: "Drawing the NAV…",
        invoked: "NAV history",
    },
};
/// Draws a comparison.
pub(crate) const FUND_COMPARISON: Page = Page {
    component: "component://rmf-fund-comparison",
    widget: Widget {
        resource_uri: "ui://panoply/rmf-fund-comparison-v1.html",
        invoking: "Comparing the funds…",
        invoked: "Comparison of RMF funds",
    },
};

/// A page that draws results: what the contract calls it, and where it is.
pub(crate) struct Page {
    pub(crate) component: &'static str,
    pub(crate) widget: Widget,
}

/// A look at the figures for one call.
pub(crate) struct Desk {
    pub(crate) book: Arc<Book>,
    pub(crate) words: Words,
    today: Date,
}

/// Where all figures come from; `get_rmf_data_status` says by which way.
const PUBLISHER: &str = "Thai SEC Open API";

impl Desk {
    pub(crate) fn open(shelf: &Shelf, cx: &CallContext) -> Self {
        Self { book: shelf.book(), words: Words(cx.lang), today: bangkok_date(cx.timestamp) }
    }

    /// Evidence of an answer that rests on factsheet returns.
    pub(crate) fn resting_on_returns(&self) -> Evidence {
        self.dated(self.book.returns_as_of(), RETURNS_HALF_LIFE)
    }

    /// Evidence of an answer that rests on the NAV of `date`.
    pub(crate) fn resting_on_nav(&self, date: Option<Date>) -> Evidence {
        self.dated(date, NAV_HALF_LIFE)
    }

    fn dated(&self, date: Option<Date>, half_life: Duration) -> Evidence {
        let evidence = Evidence::from(Source::new(SourceClass::Verified, PUBLISHER));
        match date.and_then(close_of) {
            Some(moment) => evidence.as_of(moment, half_life),
            None => evidence,
        }
    }

    /// `NAV as of …; returns as of …`: the two differ.
    pub(crate) fn as_of(&self) -> String {
        let words = self.words;
        let nav = self
            .book
            .nav_dates()
            .map_or_else(|| words.missing().to_owned(), |dates| words.dates(dates));
        let returns = self.returns_as_of(self.book.returns_as_of());
        match words.0 {
            Lang::En => format!("NAV as of {nav}; {returns}."),
            Lang::Th => format!("NAV ณ {nav}; {returns}"),
        }
    }

    /// `returns as of 30 Sep 2025 (factsheets)`.
    pub(crate) fn returns_as_of(&self, date: Option<Date>) -> String {
        let words = self.words;
        let date = date.map_or_else(|| words.missing().to_owned(), |date| words.date(date));
        match words.0 {
            Lang::En => format!("returns as of {date} (factsheets)"),
            Lang::Th => format!("ผลตอบแทน ณ {date} (หนังสือชี้ชวนส่วนสรุป)"),
        }
    }

    /// The same dates for programs.
    pub(crate) fn data_as_of(&self) -> Value {
        let nav = self.book.nav_dates();
        json!({
            "navFrom": nav.map(|(first, _)| first.to_string()),
            "nav": nav.map(|(_, last)| last.to_string()),
            "returns": self.book.returns_as_of().map(|date| date.to_string()),
        })
    }

    /// The fund that `code` means, or an error that helps to find it.
    pub(crate) fn fund(&self, code: &str) -> Result<&Fund, ToolError> {
        if code.trim().is_empty() {
            return Err(empty_code());
        }
        self.book.find(code).map_err(ToolError::from)
    }

    /// What to be careful about: age, and figures that may be another class's.
    pub(crate) fn warnings<'a>(&self, funds: impl IntoIterator<Item = &'a Fund>) -> Vec<Warning> {
        let words = self.words;
        let shared: Vec<String> = funds
            .into_iter()
            .filter(|fund| fund.shares_figures())
            .map(|fund| fund.symbol.clone())
            .collect();
        let mut warnings = Vec::new();
        if !shared.is_empty() {
            warnings.push(Warning {
                kind: WarningKind::Validation,
                severity: Level::Medium,
                message: words.flag(Flag::ShareClassFiguresShared).to_owned(),
                related_ids: shared,
                suggested_fix: Some(
                    "run `panoply rmf sync`, which takes each class's own".to_owned(),
                ),
                auto_fixable: None,
            });
        }
        warnings.extend(self.age_warning());
        warnings
    }

    fn age_warning(&self) -> Option<Warning> {
        let (_, last) = self.book.nav_dates()?;
        let days = (self.today - last).get_days();
        (days > STALE_DAYS).then(|| Warning {
            kind: WarningKind::Validation,
            severity: Level::High,
            message: match self.words.0 {
                Lang::En => format!("the newest NAV is {days} days old"),
                Lang::Th => format!("NAV ล่าสุดมีอายุ {days} วัน"),
            },
            related_ids: Vec::new(),
            suggested_fix: Some("run `panoply rmf sync` on the server".to_owned()),
            auto_fixable: None,
        })
    }

    /// The day it is in Thailand.
    pub(crate) const fn today(&self) -> Date {
        self.today
    }
}

/// What a reply of this pack has beside its data.
pub(crate) trait Dressed {
    /// Adds the page that draws it, dates, and warnings about `funds`; lists name no funds here,
    /// because their `dataFlags` say the same in fewer bytes.
    fn dressed<'a>(
        self,
        desk: &Desk,
        page: Option<&Page>,
        funds: impl IntoIterator<Item = &'a Fund> + Clone,
    ) -> Self;
}

impl<T: Serialize> Dressed for Reply<T> {
    fn dressed<'a>(
        mut self,
        desk: &Desk,
        page: Option<&Page>,
        funds: impl IntoIterator<Item = &'a Fund> + Clone,
    ) -> Self {
        let mut meta = Map::new();
        if let Some(page) = page {
            meta.insert(TEMPLATE.to_owned(), page.component.into());
        }
        meta.append(&mut self.notes.meta);
        meta.insert("dataAsOf".to_owned(), desk.data_as_of());
        self.notes.meta = meta;
        self.notes.warnings.extend(desk.warnings(funds));
        self
    }
}

/// A fund as something the answer is about.
pub(crate) fn related(fund: &Fund) -> RelatedResource {
    RelatedResource {
        kind: "fund".to_owned(),
        id: format!("rmf://fund/{}", percent_encoded(&fund.symbol)),
        label: fund.symbol.clone(),
        relevance: 1.0,
        metadata: Map::new(),
    }
}

/// What a code may show of itself in an address.
const HIDDEN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A code as part of an address.
pub(crate) fn percent_encoded(code: &str) -> String {
    utf8_percent_encode(code, HIDDEN).to_string()
}

/// Thailand keeps UTC+7 all year.
pub(crate) fn bangkok_date(moment: jiff::Timestamp) -> Date {
    moment.to_zoned(bangkok()).date()
}

/// When the funds of a day are priced: its end in Bangkok.
fn close_of(date: Date) -> Option<jiff::Timestamp> {
    date.at(18, 0, 0, 0).to_zoned(bangkok()).ok().map(|close| close.timestamp())
}

fn bangkok() -> TimeZone {
    TimeZone::fixed(Offset::constant(7))
}

/// No code at all.
pub(crate) fn empty_code() -> ToolError {
    ToolError::validation("BAD_REQUEST", "the fund code is empty")
        .hint("give a fund code such as `ABAPAC-RMF`; find codes with `search_rmf_funds`")
}

impl From<UnknownFund> for ToolError {
    fn from(unknown: UnknownFund) -> Self {
        Self::not_found("NOT_FOUND", unknown.to_string())
            .hint(format!(
                "use one of the nearest codes ({}) or find the fund with `search_rmf_funds`",
                unknown.nearest.join(", ")
            ))
            .detail("suggestions", unknown.nearest)
    }
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
