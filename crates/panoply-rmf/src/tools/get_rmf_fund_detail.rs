//! `get_rmf_fund_detail`: all figures of one fund.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::data_age::DataAge;
use super::fund_detail::FundDetail;
use super::listing::cell;
use super::locale::{Locale, signed_percent};
use super::service::{
    CACHE_POLICY, FUND_CARD, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService, related,
};
use crate::catalog::returns_dates;
use crate::class_names::class_name;
use crate::figures::to_f64;
use crate::fund::Fund;
use crate::period::Period;
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_detail",
    title: "RMF fund in detail",
    description: Description {
        does: "Gives everything known about one Thai Retirement Mutual Fund (RMF): NAV, returns and benchmark over all periods, what it holds, fees, minimums, documents and for whom it is.",
        when: "Use this when someone asks about one RMF by its code. Case, blanks and punctuation in the code do not matter. Do not use it to find funds (use search_rmf_funds), nor for stocks, REITs or funds that are not RMF.",
        returns: "Returns one fund; figures that are not published are null. NAV and returns are of different days, both given. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
        asks: &["Tell me about ABAPAC-RMF", "Show details for B-ASIARMF", "ขอรายละเอียดกองทุน KT25/75RMF"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "a fund by its code",
            params: r#"{"fundCode": "ABAPAC-RMF"}"#,
            expect: Expect::Data(r#"{"fund": {"symbol": "ABAPAC-RMF", "fund_type": "RMF"}}"#),
        },
        Example {
            shows: "a code written carelessly",
            params: r#"{"fundCode": "kt25 75 rmf"}"#,
            expect: Expect::Data(r#"{"fund": {"symbol": "KT25/75RMF"}}"#),
        },
        Example {
            shows: "a code that no fund has",
            params: r#"{"fundCode": "INVALID-CODE"}"#,
            expect: Expect::Error("NOT_FOUND"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(FUND_CARD.widget),
}
.checked();

/// NAVs sent for the widget's sparkline.
const SPARKLINE: usize = 7;

/// Fund to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
}

/// One fund.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// All figures of the fund.
    fund: FundDetail,
    /// Dates and ages of these figures.
    #[serde(rename = "dataAge")]
    data_age: DataAge,
}

pub(crate) struct GetRmfFundDetail {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfFundDetail {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let known =
            Period::ALL.iter().filter(|period| fund.returns.get(**period).is_some()).count();
        let evidence = service
            .evidence_from_nav(fund.nav.latest().map(|point| point.date))
            .complete(known as u64, Period::ALL.len() as u64);
        let sparkline: Vec<Value> = fund
            .nav
            .tail(SPARKLINE)
            .iter()
            .map(|point| json!({"date": point.date.to_string(), "nav": to_f64(point.nav)}))
            .collect();
        let data_age = DataAge::of(&service, &[fund]);
        let output = Output { fund: FundDetail::of(fund), data_age };
        let mut reply = Reply::new(output, sentence(&service, fund), evidence)
            .table(returns_table(&service, fund))
            .meta("navHistory7d", sparkline)
            .meta("className", class_names(fund))
            .related(related(fund))
            .next(NextAction::new(
                "get_rmf_fund_nav_history",
                json!({"fundCode": fund.symbol, "days": 30}),
                service.locale.pick("see how its NAV moved", "ดูการเคลื่อนไหวของ NAV"),
            ));
        if fund.returns.get(Period::Y1).is_some() && crate::peers::group_of(fund).is_some() {
            reply = reply.next(NextAction::new(
                "get_rmf_peer_rank",
                json!({"fundCode": fund.symbol, "period": "1y"}),
                service.locale.pick("see its rank among its peers", "ดูอันดับในกลุ่มเดียวกัน"),
            ));
        }
        Ok(reply.with_provenance(&service, Some(&FUND_CARD), [fund]))
    }
}

fn sentence(service: &RmfService, fund: &Fund) -> String {
    let locale = service.locale;
    let (name, company) = (locale.name(fund), locale.company(fund));
    let risk = fund.risk.get();
    let nav = match (fund.nav.latest(), locale.0) {
        (Some(point), Lang::En) => {
            format!("NAV: {} THB (as of {})", point.nav.normalize(), point.date)
        }
        (Some(point), Lang::Th) => {
            format!("NAV {} บาท ณ {}", locale.nav(Some(point.nav)), locale.date(point.date))
        }
        (None, Lang::En) => "NAV: N/A (no NAV was published yet)".to_owned(),
        (None, Lang::Th) => locale.flag(crate::fund::Flag::NoNav).to_owned(),
    };
    let change = fund
        .nav
        .latest_change()
        .map(|change| format!(" ({})", signed_percent(change.percent)))
        .unwrap_or_default();
    let ytd = locale.percent(fund.returns.get(Period::Ytd));
    let returns = service.returns_as_of(returns_dates([fund]));
    let caution = DataAge::of(service, &[fund]).sentence();
    let suits = match locale.0 {
        Lang::En => suitable_for(fund),
        Lang::Th => {
            suitability(fund).map(|text| format!(" ความเหมาะสม: {text}")).unwrap_or_default()
        }
    };
    let flags: Vec<&str> = fund.flags.iter().map(|flag| locale.flag(*flag)).collect();
    let careful = if flags.is_empty() {
        String::new()
    } else {
        format!(" {} {}.", locale.pick("Note:", "หมายเหตุ:"), flags.join("; "))
    };
    let text = match locale.0 {
        Lang::En => format!(
            "{name} ({}) is managed by {company}. Current {nav}{change}. Risk level: {risk}/8 ({}). YTD return: {ytd}; {returns}.{caution}",
            fund.symbol,
            capitalised(locale.risk(risk))
        ),
        Lang::Th => format!(
            "{} ({name}) บริหารโดย {company} {nav}{change} ระดับความเสี่ยง {risk}/8 ({}) ผลตอบแทนตั้งแต่ต้นปี {ytd}; {returns}{caution}",
            fund.symbol,
            locale.risk(risk)
        ),
    };
    format!("{text}{}{suits}{careful}", more(service, fund))
}

/// Class, fees and master fund, where they are known.
fn more(service: &RmfService, fund: &Fund) -> String {
    let locale = service.locale;
    let mut parts = Vec::new();
    if let Some(class) = crate::peers::group_of(fund) {
        let class = locale.class(class);
        parts.push(format!("{}: {class}", locale.pick("Class", "ประเภท")));
    }
    if let Some(fee) = crate::compare::total_expense(fund) {
        let fee = super::locale::fixed(fee, 2);
        parts.push(format!("{}: {fee}%", locale.pick("Total fees a year", "ค่าธรรมเนียมรวมต่อปี")));
    }
    if let Some(master) = &fund.master_fund {
        parts.push(format!("{}: {master}", locale.pick("Feeder of", "กองทุนหลัก")));
    }
    parts.iter().map(|part| format!(" {part}.")).collect()
}

/// Suitability in English, from risk and class: the SEC's own text is in Thai.
fn suitable_for(fund: &Fund) -> String {
    let risk = Locale(Lang::En).risk(fund.risk.get());
    let class = crate::peers::group_of(fund).and_then(class_name);
    let seeks = class.map(|(english, _)| format!(" and seek exposure to {english}"));
    format!(" Suitable for investors who accept {risk}{}.", seeks.unwrap_or_default())
}

/// The class in words of both languages, for the widget.
fn class_names(fund: &Fund) -> Option<Value> {
    let code = crate::peers::group_of(fund)?;
    let in_words = |lang| Locale(lang).class(code);
    Some(json!({"en": in_words(Lang::En), "th": in_words(Lang::Th)}))
}

/// `High risk`.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Suitability text of the SEC on one line, truncated. In some texts an `n` between Thai letters
/// replaces a lost line break (`\n`).
fn suitability(fund: &Fund) -> Option<String> {
    const MAX_CHARS: usize = 140;
    let thai = |c: Option<&char>| c.is_some_and(|c| ('\u{0E00}'..='\u{0E7F}').contains(c));
    let letters: Vec<char> = fund.suitability.risk_level.as_ref()?.chars().collect();
    let line: String = letters
        .iter()
        .enumerate()
        .map(|(index, letter)| {
            let before = index.checked_sub(1).and_then(|before| letters.get(before));
            let lost_break = *letter == 'n' && thai(before) && thai(letters.get(index + 1));
            if lost_break || letter.is_whitespace() { ' ' } else { *letter }
        })
        .collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= MAX_CHARS {
        return Some(line);
    }
    let cut: String = line.chars().take(MAX_CHARS).collect();
    Some(format!("{}…", cut.trim_end()))
}

fn returns_table(service: &RmfService, fund: &Fund) -> Table {
    let locale = service.locale;
    let columns = [
        locale.pick("period", "ช่วงเวลา"),
        locale.pick("return %", "ผลตอบแทน %"),
        locale.pick("benchmark %", "ดัชนีชี้วัด %"),
    ];
    let with_figure = Period::ALL.into_iter().filter(|period| fund.returns.get(*period).is_some());
    with_figure.fold(Table::new(columns), |table, period| {
        table.row([
            locale.period(period).to_owned(),
            cell(fund.returns.get(period), 2),
            cell(fund.benchmark_return(period), 2),
        ])
    })
}
