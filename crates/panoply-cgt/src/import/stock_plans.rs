//! Morgan Stanley at Work: the Releases and Withdrawals reports, with dates such as `25-Mar-2021`.
//! The plan stands for the ticker.

use jiff::civil::Date;

use super::builder::{ImportBuilder, Trade, amount};
use super::sheet::{Record, Sheet};
use super::vanguard::slug;

pub(super) fn matches(head: &str) -> bool {
    head.contains("Order Number,Plan,Type,Order Status,Price,Quantity")
        || head.contains("Vest Date,Order Number,Plan,Type,Status,Price,Quantity")
}

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(text, &["order number", "plan", "type", "price", "quantity"])
    else {
        return builder
            .not_recognised("expected the headings Order Number, Plan, Type, Price, Quantity");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (plan, kind) = (get("Plan"), get("Type"));
        if record.width() <= 2 {
            continue;
        }
        builder.record("", "", "", "");
        match kind {
            _ if plan.eq_ignore_ascii_case("cash") => builder.skip("cash"),
            "Sale" => sale(&sheet, record, builder),
            "Release" | "Released Shares" => release(&sheet, record, builder),
            other => builder.warn(record.line, format!("`{other}` is not understood and left out")),
        }
    }
}

fn date_in(sheet: &Sheet, record: &Record) -> Option<Date> {
    let found = ["Execution Date", "Vest Date", "Date"].map(|name| sheet.exact(record, name));
    found.into_iter().find(|text| !text.is_empty()).and_then(month_name_date)
}

/// `25-Mar-2021`.
fn month_name_date(text: &str) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let mut parts = text.trim().split('-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| month.to_lowercase().starts_with(name))? + 1;
    Date::new(year.parse().ok()?, i8::try_from(month).ok()?, day.parse().ok()?).ok()
}

/// Released shares are acquired at their market value, on which income tax was paid. The full
/// report states the shares after those withheld for tax as net share proceeds.
fn release(sheet: &Sheet, record: &Record, builder: &mut ImportBuilder) {
    let get = |name: &str| sheet.get(record, name);
    let net = get("Net Share Proceeds");
    let is_net = amount(net).is_some_and(|number| !number.is_zero()) && !net.contains('$');
    let trade = Trade {
        date: date_in(sheet, record),
        ticker: &slug(get("Plan")),
        sells: false,
        quantity: if is_net { net } else { get("Quantity") },
        price: get("Price"),
        currency: "USD",
        fees: Vec::new(),
        rate: "",
    };
    builder.trade(record.line, &trade);
}

/// The net amount is after the fee.
fn sale(sheet: &Sheet, record: &Record, builder: &mut ImportBuilder) {
    let get = |name: &str| sheet.get(record, name);
    let gross = amount(get("Price"))
        .zip(amount(get("Quantity")))
        .and_then(|(price, quantity)| price.checked_mul(quantity.abs()));
    let fee = gross.zip(amount(get("Net Amount"))).map(|(gross, net)| gross - net);
    let fee = fee.filter(|fee| fee.is_sign_positive()).map(|fee| fee.round_dp(2).to_string());
    let trade = Trade {
        date: date_in(sheet, record),
        ticker: &slug(get("Plan")),
        sells: true,
        quantity: get("Quantity"),
        price: get("Price"),
        currency: "USD",
        fees: vec![(fee.as_deref().unwrap_or_default(), "USD")],
        rate: "",
    };
    builder.trade(record.line, &trade);
}
