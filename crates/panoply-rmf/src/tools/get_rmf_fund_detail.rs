//! `get_rmf_fund_detail`: everything about one fund.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

use super::answer::{Desk, Dressed, FUND_CARD, KEPT, KEYWORDS, READ, related};
use super::fund_detail::FundDetail;
use super::listing::cell;
use super::words::signed_percent;
use crate::figures::to_f64;
use crate::fund::Fund;
use crate::period::Period;
use crate::store::Shelf;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_detail",
    title: "RMF fund in detail",
    description: Description {
        does: "Gives everything known about one Thai Retirement Mutual Fund (RMF): NAV, returns and benchmark over all periods, what it holds, fees, minimums, documents and for whom it is.",
        when: "Use this when someone asks about one RMF by its code. Case, blanks and punctuation in the code do not matter. Do not use it to find funds (use search_rmf_funds), nor for stocks, REITs or funds that are not RMF.",
        returns: "Returns one fund; figures that are not published are null. NAV and returns are of different days, both given.",
        asks: &["Tell me about ABAPAC-RMF", "Show details for B-ASIARMF", "ขอรายละเอียดกองทุน KT25/75RMF"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: KEPT,
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

/// How many NAVs go along for a sparkline.
const SPARKLINE: usize = 7;

/// Which fund.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 60))]
    fund_code: String,
}

/// One fund.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Everything known about it.
    fund: FundDetail,
}

/// See the module.
pub(crate) struct GetRmfFundDetail {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for GetRmfFundDetail {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let desk = Desk::open(&self.shelf, cx);
        let fund = desk.fund(&params.fund_code)?;
        let known =
            Period::ALL.iter().filter(|period| fund.returns.get(**period).is_some()).count();
        let evidence = desk
            .resting_on_nav(fund.nav.latest().map(|point| point.date))
            .complete(known as u64, Period::ALL.len() as u64);
        let sparkline: Vec<Value> = fund
            .nav
            .tail(SPARKLINE)
            .iter()
            .map(|point| json!({"date": point.date.to_string(), "nav": to_f64(point.nav)}))
            .collect();
        let mut reply =
            Reply::new(Output { fund: FundDetail::of(fund) }, sentence(&desk, fund), evidence)
                .table(returns_table(&desk, fund))
                .meta("navHistory7d", sparkline)
                .related(related(fund))
                .next(NextAction::new(
                    "get_rmf_fund_nav_history",
                    json!({"fundCode": fund.symbol, "days": 30}),
                    desk.words.pick("see how its NAV moved", "ดูการเคลื่อนไหวของ NAV"),
                ));
        if fund.returns.get(Period::Y1).is_some() && crate::peers::group_of(fund).is_some() {
            reply = reply.next(NextAction::new(
                "get_rmf_peer_rank",
                json!({"fundCode": fund.symbol, "period": "1y"}),
                desk.words.pick("see where it stands among its peers", "ดูอันดับในกลุ่มเดียวกัน"),
            ));
        }
        Ok(reply.dressed(&desk, Some(&FUND_CARD), [fund]))
    }
}

fn sentence(desk: &Desk, fund: &Fund) -> String {
    let words = desk.words;
    let (name, company) = (words.name(fund), &fund.company.name);
    let risk = fund.risk.get();
    let nav = match (fund.nav.latest(), words.0) {
        (Some(point), Lang::En) => {
            format!("NAV {} THB as of {}", words.nav(Some(point.nav)), words.date(point.date))
        }
        (Some(point), Lang::Th) => {
            format!("NAV {} บาท ณ {}", words.nav(Some(point.nav)), words.date(point.date))
        }
        (None, _) => words.flag(crate::fund::Flag::NoNav).to_owned(),
    };
    let change = fund
        .nav
        .latest_change()
        .map(|change| format!(" ({})", signed_percent(change.percent)))
        .unwrap_or_default();
    let ytd = words.percent(fund.returns.get(Period::Ytd));
    let returns = desk.returns_as_of(fund.returns_as_of);
    let suits = suitability(fund).map(|text| match words.0 {
        Lang::En => format!(" Suitability (Thai SEC): {text}."),
        Lang::Th => format!(" ความเหมาะสม: {text}"),
    });
    let flags: Vec<&str> = fund.flags.iter().map(|flag| words.flag(*flag)).collect();
    let careful = if flags.is_empty() {
        String::new()
    } else {
        format!(" {} {}.", words.pick("Note:", "หมายเหตุ:"), flags.join("; "))
    };
    let text = match words.0 {
        Lang::En => format!(
            "{} ({name}) is managed by {company}. Current {nav}{change}. Risk level: {risk}/8 ({}). YTD return: {ytd}; {returns}.",
            fund.symbol,
            words.risk(risk)
        ),
        Lang::Th => format!(
            "{} ({name}) บริหารโดย {company} {nav}{change} ระดับความเสี่ยง {risk}/8 ({}) ผลตอบแทนตั้งแต่ต้นปี {ytd}; {returns}",
            fund.symbol,
            words.risk(risk)
        ),
    };
    format!("{text}{}{careful}", suits.unwrap_or_default())
}

/// The first hundred or so characters of the SEC's suitability text, on one line. Some texts
/// have an `n` between Thai letters where a line break was lost on the way.
fn suitability(fund: &Fund) -> Option<String> {
    const LONGEST: usize = 140;
    let thai = |c: Option<&char>| c.is_some_and(|c| ('\u{0E00}'..='\u{0E7F}').contains(c));
    let letters: Vec<char> = fund.suitability.risk_level.as_ref()?.chars().collect();
    let line: String = letters
        .iter()
        .enumerate()
        .map(|(place, letter)| {
            let before = place.checked_sub(1).and_then(|before| letters.get(before));
            let lost_break = *letter == 'n' && thai(before) && thai(letters.get(place + 1));
            if lost_break || letter.is_whitespace() { ' ' } else { *letter }
        })
        .collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= LONGEST {
        return Some(line);
    }
    let cut: String = line.chars().take(LONGEST).collect();
    Some(format!("{}…", cut.trim_end()))
}

fn returns_table(desk: &Desk, fund: &Fund) -> Table {
    let words = desk.words;
    let columns = [
        words.pick("period", "ช่วงเวลา"),
        words.pick("return %", "ผลตอบแทน %"),
        words.pick("benchmark %", "ดัชนีชี้วัด %"),
    ];
    let with_figure = Period::ALL.into_iter().filter(|period| fund.returns.get(*period).is_some());
    with_figure.fold(Table::new(columns), |table, period| {
        table.row([
            words.period(period).to_owned(),
            cell(fund.returns.get(period), 2),
            cell(fund.benchmark.returns.get(period), 2),
        ])
    })
}
