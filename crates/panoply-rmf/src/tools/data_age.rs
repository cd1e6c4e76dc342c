//! Dates and ages of the figures in a reply, in structured content and as text.

use jiff::civil::Date;
use panoply_contract::prelude::*;

use super::service::RmfService;
use super::wire::Day;
use crate::catalog::{STALE_DAYS, nav_dates, returns_dates};
use crate::fund::Fund;

/// Age of returns in days from which they are called old: two monthly factsheets were missed.
const STALE_RETURNS_DAYS: i32 = 92;

/// Dates and ages of the figures in this reply.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DataAge {
    /// Earliest and latest date of the NAVs.
    nav: Option<[Day; 2]>,
    /// Earliest and latest date that the returns are stated for.
    returns: Option<[Day; 2]>,
    /// Age of the newest NAV, in days.
    nav_age_days: Option<i32>,
    /// Age of the newest returns, in days.
    returns_age_days: Option<i32>,
    /// Whether figures are old, of another calendar year, or kept from an earlier sync: say so.
    stale: bool,
    #[serde(skip)]
    notice: Option<String>,
}

impl DataAge {
    /// Age of these funds' figures; of all funds when there are none.
    pub(crate) fn of(service: &RmfService, funds: &[&Fund]) -> Self {
        let (nav, returns) = if funds.is_empty() {
            (service.catalog.nav_dates(), service.catalog.returns_dates())
        } else {
            (nav_dates(funds.iter().copied()), returns_dates(funds.iter().copied()))
        };
        let age = |dates: Option<(Date, Date)>| {
            dates.map(|(_, last)| (service.today() - last).get_days())
        };
        let days = |dates: Option<(Date, Date)>| dates.map(|(a, b)| [Day(a), Day(b)]);
        let notice = notice(service, funds, age(nav), age(returns), returns);
        Self {
            nav: days(nav),
            returns: days(returns),
            nav_age_days: age(nav),
            returns_age_days: age(returns),
            stale: notice.is_some(),
            notice,
        }
    }

    /// Latest date of the returns; rows leave it out.
    pub(crate) fn returns_date(&self) -> Option<Date> {
        self.returns.map(|[_, last]| last.0)
    }

    /// Notice with a leading blank, or nothing.
    pub(crate) fn sentence(&self) -> String {
        self.notice.as_ref().map(|notice| format!(" {notice}")).unwrap_or_default()
    }

    /// What to tell the user, if anything.
    pub(crate) fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }
}

fn notice(
    service: &RmfService,
    funds: &[&Fund],
    nav_age: Option<i32>,
    returns_age: Option<i32>,
    returns: Option<(Date, Date)>,
) -> Option<String> {
    let locale = service.locale;
    let mut parts = Vec::new();
    let old_nav = nav_age.filter(|days| *days > STALE_DAYS);
    let old_returns = returns_age.filter(|days| *days > STALE_RETURNS_DAYS);
    parts.extend(old_nav.map(|days| match locale.0 {
        Lang::En => format!("the newest NAV is {days} days old"),
        Lang::Th => format!("NAV ล่าสุดมีอายุ {days} วัน"),
    }));
    parts.extend(old_returns.map(|days| match locale.0 {
        Lang::En => format!("returns are {days} days old"),
        Lang::Th => format!("ผลตอบแทนมีอายุ {days} วัน"),
    }));
    let another_year = returns.filter(|(_, last)| last.year() != service.today().year());
    parts.extend(another_year.map(|(_, last)| match locale.0 {
        Lang::En => format!("YTD is of {}", last.year()),
        Lang::Th => format!("YTD คือปี {}", locale.year(last.year())),
    }));
    let kept: Vec<&str> = funds
        .iter()
        .filter(|fund| fund.quarantine.is_some())
        .map(|fund| fund.symbol.as_str())
        .collect();
    if !kept.is_empty() {
        let codes = kept.join(", ");
        parts.push(match locale.0 {
            Lang::En => {
                format!("{codes}: newer figures failed a check, these are the previous ones")
            }
            Lang::Th => format!("{codes}: ตัวเลขใหม่ไม่ผ่านการตรวจสอบ จึงใช้ตัวเลขเดิม"),
        });
    }
    let said = parts.join("; ");
    (!said.is_empty()).then(|| match locale.0 {
        Lang::En => format!("Caution: {said}."),
        Lang::Th => format!("ระวัง: {said}"),
    })
}
