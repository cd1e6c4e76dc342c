//! Exports in the exact formats that brokers publish: every column, quote, comma, currency and
//! special row, with invented figures. `docs/packs/cgt.md` lists the sources.

use super::*;
use crate::dsl;

pub(super) fn import(broker: Broker, text: &str) -> Imported {
    assert_eq!(Broker::recognise(text), Some(broker), "{text}");
    read(&File::new("export", broker, text))
}

pub(super) fn check(imported: &Imported, lines: &[&str], warnings: &[&str]) {
    let seen: Vec<String> = imported.rows.iter().map(|row| dsl::line(&row.transaction)).collect();
    assert_eq!(seen, lines, "{:#?}", imported.warnings);
    assert_eq!(imported.warnings.len(), warnings.len(), "{:#?}", imported.warnings);
    for (seen, word) in imported.warnings.iter().zip(warnings) {
        assert!(seen.contains(word), "`{word}` is not in: {seen}");
    }
}

#[test]
fn trading_212_2026_export_has_fees_in_two_currencies() {
    let imported = import(
        Broker::Trading212,
        "Action,Time,ISIN,Ticker,Name,Notes,ID,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),Withholding tax,Currency (Withholding tax),Stamp duty reserve tax,Currency (Stamp duty reserve tax),French transaction tax,Currency (French transaction tax),Transaction fee,Finra fee,Currency conversion from amount,Currency (Currency conversion from amount),Currency conversion to amount,Currency (Currency conversion to amount),Currency conversion fee,Currency (Currency conversion fee),Currency (Transaction fee),Currency (Finra fee),Merchant name,Merchant category\n\
         Deposit,2024-05-01 00:10:00.000,,,,,x1,,,,,,,500.00,GBP,,,,,,,,,,,,,,,,,,\n\
         Market buy,2024-05-02 14:30:05.123,US0000000200,ACME,Acme Corp,,x2,10.0000000000,20.00,USD,1.25,,,161.80,GBP,,,,,,,,,,,,,1.80,GBP,,,,\n\
         Limit sell,2024-06-27 15:45:10.456,US0000000200,ACME,Acme Corp,,x3,5.0000000000,30.00,USD,1.28,6.29,GBP,118.09,GBP,,,,,,,,0.05,,,,,1.87,GBP,,USD,,\n\
         Market buy,2024-08-06 09:15:00.321,FR0000000200,REN,Rennes SA,,x4,8.0000000000,41.50,EUR,1.17,,,285.10,GBP,,,,,1.10,EUR,,,,,,,0.40,GBP,,,,\n",
    );
    check(
        &imported,
        &[
            "2024-05-02 BUY ACME 10.0000000000 @ 20.00 USD RATE 1.25 FEES 1.80 GBP",
            "2024-06-27 SELL ACME 2.5 @ 30.00 USD RATE 1.28 FEES 1.87 GBP",
            "2024-06-27 SELL ACME 2.5 @ 30.00 USD RATE 1.28 FEES 0.05 USD RATE 1.28",
            "2024-08-06 BUY REN 4 @ 41.50 EUR RATE 1.17 FEES 0.40 GBP",
            "2024-08-06 BUY REN 4 @ 41.50 EUR RATE 1.17 FEES 1.10 EUR RATE 1.17",
        ],
        &[],
    );
}

#[test]
fn trading_212_2020_export_has_the_currency_in_the_heading() {
    let imported = import(
        Broker::Trading212,
        "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result (GBP),Total (GBP),Withholding tax,Currency (Withholding tax),Charge amount (GBP),Transaction fee (GBP),Finra fee,Currency (Finra fee),Notes,ID\n\
         Market buy,2020-10-12 15:31:09,US0000000011,KLM,\"Kelm Inc\",40.0000000000,12.25,USD,1.29510,,380.84,,,,2.50,,GBP,,E1\n\
         Dividend (Ordinary),2021-03-09 10:05:17,US0000000011,KLM,\"Kelm Inc\",10.0000000000,0.14,USD,Not available,,0.90,0.21,USD,,,,GBP,,\n",
    );
    check(
        &imported,
        &[
            // 40 x 12.25 / 1.2951 + 2.50 = 380.85, the total in pounds but for a penny.
            "2020-10-12 BUY KLM 40.0000000000 @ 12.25 USD RATE 1.29510 FEES 2.50 GBP",
            "2021-03-09 DIVIDEND KLM TOTAL 1.4 USD TAX 0.21 USD",
        ],
        &[],
    );
}

#[test]
fn trading_212_splits_span_two_rows() {
    let headings = "Action,Time (UTC),ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),ID\n";
    let close = "Stock split close,2024-09-02T07:00:00+00:00,US0000000012,FOO,\"Foo plc\",30.0000000000,9.00,GBP,,0.00,\"GBP\",270.00,\"GBP\",c1\n";
    let open = "Stock split open,2024-09-02T07:00:00+00:00,US0000000012,FOO,\"Foo plc\",90.0000000000,3.00,GBP,,,,270.00,\"GBP\",o1\n";
    let whole = import(Broker::Trading212, &format!("{headings}{close}{open}"));
    check(&whole, &["2024-09-02 RESTRUCT FOO RATIO 30:90"], &[]);
    let half = import(Broker::Trading212, &format!("{headings}{close}"));
    check(&half, &[], &["a split of FOO without its opening row"]);
    let other = import(Broker::Trading212, &format!("{headings}{open}"));
    check(&other, &[], &["a split of FOO without its closing row"]);
}

#[test]
fn freetrade_dividends_are_gross() {
    let imported = import(
        Broker::Freetrade,
        "Title,Type,Timestamp,Account Currency,Total Amount,Buy / Sell,Ticker,ISIN,Price per Share in Account Currency,Stamp Duty,Quantity,Venue,Order ID,Order Type,Instrument Currency,Total Shares Amount,Price per Share,FX Rate,Base FX Rate,FX Fee (BPS),FX Fee Amount,Dividend Ex Date,Dividend Pay Date,Dividend Eligible Quantity,Dividend Amount Per Share,Dividend Gross Distribution Amount,Dividend Net Distribution Amount,Dividend Withheld Tax Percentage,Dividend Withheld Tax Amount\n\
         Orbis,DIVIDEND,2023-09-15T16:02:00.000Z,GBP,3.34,,ORBS,US0000000013,,,12.50000000,,,,USD,,,,0.80410000,0,0.00,2023-09-01,2023-09-15,12.50000000,0.40000000,5.00,4.25,15,0.75\n\
         Tidal,ORDER,2022-03-04T15:10:11.101Z,GBP,41.19,BUY,TIDL,US0000000014,82.20000000,0.00,0.50000000,Drivewealth,A1,MARKET,USD,54.80,109.60000000,1.33333333,1.33930000,45,0.09,,,,,,,,\n\
         Brook,ORDER,2021-11-16T15:08:13.802Z,GBP,7.47,SELL,BROK,US0000000015,7.50000000,0.00,1.00000000,\"New York Stock Exchange, Inc.\",A2,MARKET,USD,10.05,10.05000000,1.34000000,1.33400000,45,0.03,,,,,,,,\n\
         Brook,FREESHARE_ORDER,2021-11-15T16:06:09.405Z,GBP,7.25,BUY,BROK,US0000000015,7.25125000,0.00,1.00000000,New York Stock Exchange,A3,,USD,9.70,9.70000000,1.33770000,1.33770000,45,0.00,,,,,,,,\n\
         Interest,INTEREST_FROM_CASH,2023-11-14T00:00:00.000Z,GBP,1.02,,,,,,,,,,,,,,,,,,,,,,,,\n",
    );
    check(
        &imported,
        &[
            "2021-11-15 BUY BROK 1.00000000 @ 7.25125000 GBP",
            "2021-11-16 SELL BROK 1.00000000 @ 7.50000000 GBP FEES 0.03 GBP",
            "2022-03-04 BUY TIDL 0.50000000 @ 82.20000000 GBP FEES 0.09 GBP",
            "2023-09-15 DIVIDEND ORBS TOTAL 5.00 USD TAX 0.75 USD",
            "2023-11-14 INTEREST CASH TOTAL 1.02 GBP",
        ],
        &["a free share"],
    );
}

#[test]
fn hargreaves_lansdown_trade_in_the_description_is_ignored() {
    let imported = import(
        Broker::HargreavesLansdown,
        "Transaction Summary, , , ,\nClient Name:,Anonymous User, , ,\nClient Number:,1234567, , ,\nValuation as at,01-06-2026 09:30, , ,\n\n\
         Trade date,Settle date,Reference,Description,Unit cost (p),Quantity,Value (£),\n\
         \"02/05/2026\",\"02/05/2026\",\"MANAGE FEE\",\"HL Fund & Share Account To A/C 01C\",\"n/a\",\"n/a\",\"-2.10\"\n\
         \"18/03/2026\",\"20/03/2026\",\"S100200302\",\"World UCITS ETF 500 @  1900.00\",\"1,900.000\",\"500\",\"9,488.05\"\n\
         \"17/03/2026\",\"19/03/2026\",\"B100200301\",\"World UCITS ETF 1200 @  1850.5\",\"1,850.500\",\"1,200\",\"-22,217.95\"\n",
    );
    check(
        &imported,
        &[
            "2026-03-17 BUY WORLD-UCITS-ETF 1200 @ 18.505 GBP FEES 11.95 GBP",
            "2026-03-18 SELL WORLD-UCITS-ETF 500 @ 19 GBP FEES 11.95 GBP",
        ],
        &[],
    );
}

#[test]
fn revolut_tax_rows_and_fees_in_the_total() {
    let imported = import(
        Broker::Revolut,
        "Date,Ticker,Type,Quantity,Price per share,Total Amount,Currency,FX Rate\n\
         2021-02-08T10:00:00.321Z,,CASH TOP-UP,,,USD 9000,USD,1.3714\n\
         2021-02-08T14:35:20.654321Z,ORBS,BUY - MARKET,3.12345678,USD 160.08,USD 500,USD,1.3714\n\
         2021-03-01T04:20:50.654321Z,,CUSTODY FEE,,,USD -0.05,USD,1.3920\n\
         2021-08-10T10:30:52.654321Z,ORBS,STOCK SPLIT,6.25000000,,USD 0,USD,1.3850\n\
         2021-10-05T14:00:25.654321Z,TIDL,BUY - LIMIT,25,USD 61.20,\"USD 1,531.85\",USD,1.3622\n\
         2025-11-14T12:40:45.654321Z,TIDL,DIVIDEND,,,USD 8.40,USD,1.3122\n\
         2025-11-14T12:40:46.654321Z,TIDL,DIVIDEND TAX (CORRECTION),,,USD -1.26,USD,1.3122\n\
         2025-11-17T12:40:46.654321Z,TIDL,DIVIDEND TAX (CORRECTION),,,USD -1,USD,1.3407\n\
         2025-03-22T10:40:30.654321Z,ORBS,TRANSFER FROM REVOLUT TRADING LTD TO REVOLUT SECURITIES EUROPE UAB,7.6,,USD 0,USD,1.2934\n",
    );
    check(
        &imported,
        &[
            "2021-02-08 BUY ORBS 3.12345678 @ 160.08 USD RATE 1.3714",
            "2021-10-05 BUY TIDL 25 @ 61.20 USD RATE 1.3622 FEES 1.85 USD RATE 1.3622",
            "2025-11-14 DIVIDEND TIDL TOTAL 8.40 USD TAX 1.26 USD",
        ],
        &["a split of ORBS that added 6.25000000 shares", "count as fees", "matches no dividend"],
    );
}

#[test]
fn vanguard_dividends_come_from_the_cash_sheet() {
    let cash = "My General Account\n\nCash Transactions\n\nDate,Details,Amount,Balance\n\
         01/02/2022,Deposit for investment purchases,6000,6000\n\
         02/02/2022,\"Bought 1,100 Foo ETF Distributing (FOO)\",-5967.50,32.50\n\
         11/04/2022,DIV: FOO.XLON.GB @ GBP 0.0500,55.00,87.50\n\
         25/07/2022,DIV: FOO.XLON.GB @ GBP 0.0600,66.00,153.50\n\
         25/07/2022,Reversal of DIV: FOO.XLON.GB @ GBP 0.0600,-66.00,87.50\n\
         25/07/2022,DIV: FOO.XLON.GB @ GBP 0.0600,66.00,153.50\n\
         22/08/2022,Payment by Faster - One-off withdrawal Faster,-50.00,103.50\n\
         05/09/2022,Bought .6250 U.S. Equity Index Fund - Accumulation,-100,3.50\n\
         06/09/2022,Something new,1,4.50\nBalance,4.50\n";
    let investments = "\n\n\nInvestment Transactions\n\nDate,InvestmentName,TransactionDetails,Quantity,Price,Cost\n\
         03/02/2022,Foo ETF Distributing (FOO),\"Bought 1,100 Foo ETF Distributing (FOO)\",1100,5.425,5967.50\n\
         12/07/2022,Bar ETF - Accumulating (BAR),Sold 3 Bar ETF - Accumulating (BAR),3,88.10,264.30\n\
         06/09/2022,U.S. Equity Index Fund - Accumulation,Bought .6250 U.S. Equity Index Fund - Accumulation,.6250,160.00, 100.00\nCost,5803\n";
    let dividends =
        ["2022-04-11 DIVIDEND FOO TOTAL 55.00 GBP", "2022-07-25 DIVIDEND FOO TOTAL 66.00 GBP"];
    check(
        &import(Broker::VanguardUk, &format!("{cash}{investments}")),
        &[
            "2022-02-03 BUY FOO 1100 @ 5.425 GBP",
            dividends[0],
            "2022-07-12 SELL BAR 3 @ 88.10 GBP",
            dividends[1],
            "2022-09-06 BUY U-S-EQUITY-INDEX-FUND-ACCUMULATION 0.6250 @ 160.00 GBP",
        ],
        &["`Something new` is not understood"],
    );
    // Without the investment sheet, trades come from the cash sheet.
    check(
        &import(Broker::VanguardUk, cash),
        &[
            "2022-02-02 BUY FOO 1100 @ 5.425 GBP",
            dividends[0],
            dividends[1],
            "2022-09-05 BUY U-S-EQUITY-INDEX-FUND-ACCUMULATION 0.6250 @ 160 GBP",
        ],
        &["`Something new` is not understood"],
    );
}

#[test]
fn flex_summary_rows_and_cancelled_trades_are_ignored() {
    let imported = import(
        Broker::InteractiveBrokers,
        "\"BOF\",\"U1\",\"query\",\"2\"\n\"BOS\",\"TRNT\",\"Trades; trade date basis\"\n\
         \"ClientAccountID\",\"CurrencyPrimary\",\"AssetClass\",\"Symbol\",\"DateTime\",\"TradeDate\",\"Quantity\",\"TradePrice\",\"Taxes\",\"IBCommission\",\"IBCommissionCurrency\",\"Buy/Sell\",\"LevelOfDetail\"\n\
         \"U1\",\"USD\",\"STK\",\"AAPL\",\"20240115;093000\",\"20240115\",\"10\",\"150\",\"0\",\"-1\",\"USD\",\"BUY\",\"ORDER\"\n\
         \"U1\",\"USD\",\"STK\",\"AAPL\",\"20240115;093000\",\"20240115\",\"10\",\"150\",\"0\",\"-1\",\"USD\",\"BUY\",\"EXECUTION\"\n\
         \"U1\",\"USD\",\"STK\",\"MSFT\",\"20240116;093000\",\"20240116\",\"4\",\"400\",\"0\",\"-1\",\"USD\",\"BUY\",\"EXECUTION\"\n\
         \"U1\",\"USD\",\"STK\",\"MSFT\",\"20240116;093000\",\"20240116\",\"-4\",\"400\",\"0\",\"1\",\"USD\",\"BUY (Ca.)\",\"EXECUTION\"\n\
         \"EOS\",\"TRNT\",\"4\"\n\
         \"ClientAccountID\",\"CurrencyPrimary\",\"Symbol\",\"Date/Time\",\"Amount\",\"Type\"\n\
         \"U1\",\"USD\",\"AAPL\",\"20240516;202000\",\"25\",\"Dividends\"\n\
         \"U1\",\"USD\",\"AAPL\",\"20240516;202000\",\"-3.75\",\"Withholding Tax\"\n\
         \"U1\",\"USD\",\"\",\"20240516;202000\",\"-1\",\"Other Fees\"\n",
    );
    check(
        &imported,
        &[
            "2024-01-15 BUY AAPL 10 @ 150 USD FEES 1 USD",
            "2024-05-16 DIVIDEND AAPL TOTAL 25 USD TAX 3.75 USD",
        ],
        &[],
    );
    assert_eq!(
        imported.skipped,
        BTreeMap::from([("ORDER of trades".to_owned(), 1), ("Other Fees".to_owned(), 1)])
    );
    let xml = import(
        Broker::InteractiveBrokers,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<FlexQueryResponse queryName=\"q\" type=\"AF\">\n<FlexStatements count=\"1\">\n<FlexStatement accountId=\"U1\">\n<Trades>\n<Trade accountId=\"U1\" symbol=\"AAPL\" assetCategory=\"STK\"\n currency=\"USD\" dateTime=\"2026-01-15;093000\" quantity=\"100\" tradePrice=\"150.25\" ibCommission=\"-1.00\"/>\n</Trades></FlexStatement></FlexStatements></FlexQueryResponse>",
    );
    check(&xml, &["2026-01-15 BUY AAPL 100 @ 150.25 USD FEES 1.00 USD"], &[]);
}

#[test]
fn schwab_csv_and_json_report_lines() {
    let csv = import(
        Broker::Schwab,
        "\"Date\",\"Action\",\"Symbol\",\"Description\",\"Quantity\",\"Price\",\"Fees & Comm\",\"Amount\"\n\
         \"09/12/2023\",\"Sell\",\"BAR\",\"BAR CORP\",\"120\",\"$1,052.20\",\"$0.88\",\"$126263.12\"\n\
         \"06/01/2023\",\"Reinvest Shares\",\"BAR\",\"BAR CORP\",\"1.5\",\"$100.00\",\"\",\"-$150.00\"\n\
         \"05/02/2023\",\"Cancel Buy\",\"BAR\",\"BAR CORP\",\"7\",\"$135\",\"\",\"$945\"\n\
         \"05/02/2023\",\"Buy\",\"BAR\",\"BAR CORP\",\"7\",\"$135\",\"\",\"-$945\"\n\
         \"04/17/2023\",\"Buy\",\"BAR\",\"BAR CORP INC CLASS A\",\"140\",\"$990.1250\",\"$0.50\",\"-$138618.00\"\n\
         \"03/03/2023\",\"MoneyLink Transfer\",\"\",\"Tfr BANK\",\"\",\"\",\"\",\"$139000.00\"\n",
    );
    check(
        &csv,
        &[
            "2023-04-17 BUY BAR 140 @ 990.1250 USD FEES 0.50 USD",
            "2023-06-01 BUY BAR 1.5 @ 100.00 USD",
            "2023-09-12 SELL BAR 120 @ 1052.20 USD FEES 0.88 USD",
        ],
        &[],
    );
    let json = import(
        Broker::Schwab,
        "{\n  \"FromDate\": \"01/01/2023\",\n  \"TotalTransactionsAmount\": \"$9.99\",\n  \"BrokerageTransactions\": [\n    {\n      \"Date\": \"10/21/2024\",\n      \"Action\": \"Sell\",\n      \"Symbol\": \"ACME\",\n      \"Description\": \"ACME INC [A]\",\n      \"Quantity\": \"75\",\n      \"Price\": \"$44.10\",\n      \"Fees & Comm\": \"$0.11\",\n      \"Amount\": \"$3,307.39\",\n      \"ItemIssueId\": \"1\",\n      \"AcctgRuleCd\": \"1\"\n    },\n    {\n      \"Date\": \"01/15/2023\",\n      \"Action\": \"Teleport\",\n      \"Symbol\": \"\"\n    }\n  ]\n}\n",
    );
    check(
        &json,
        &["2024-10-21 SELL ACME 75 @ 44.10 USD FEES 0.11 USD"],
        &["export, line 17: `Teleport`"],
    );
    assert_eq!(json.rows[0].location.to_string(), "export, line 5");
}

#[test]
fn schwab_equity_awards_alone() {
    let row = |date: &str,
               action: &str,
               quantity: &str,
               fees: &str,
               amount: &str,
               details: &str| {
        format!(
            "{{\"Date\": \"{date}\", \"Action\": \"{action}\", \"Symbol\": \"ACME\", \"Quantity\": {quantity}, \"Description\": \"x\", \"FeesAndCommissions\": {fees}, \"DisbursementElection\": null, \"Amount\": {amount}, \"TransactionDetails\": [{details}]}}"
        )
    };
    let vested = r#"{"Details": {"AwardDate": "01/01/2020", "AwardId": "A1", "VestDate": "01/14/2020", "VestFairMarketValue": "$123.45"}}"#;
    let plan = r#"{"Details": {"PurchaseDate": "02/27/2020", "PurchasePrice": "$91.80", "PurchaseFairMarketValue": "$177.19", "NetSharesDeposited": "150", "SharesWithheld": "50"}}"#;
    let lapse = r#"{"Details": {"AwardId": "A1", "FairMarketValuePrice": "$123.45", "NetSharesDeposited": "7"}}"#;
    let lots = r#"{"Details": {"Type": "RS", "Shares": "3", "SalePrice": "$102.50", "VestDate": "01/14/2020", "VestFairMarketValue": "$123.41"}}, {"Details": {"Type": "RS", "Shares": "2", "SalePrice": "$102.50"}}"#;
    let rows = [
        row("01/15/2020", "Deposit", "\"7\"", "null", "null", vested),
        row("01/14/2020", "Lapse", "\"10\"", "null", "null", lapse),
        row("02/27/2020", "Deposit", "\"200\"", "null", "null", plan),
        row("04/24/2020", "Sale", "\"5\"", "\"$0.49\"", "\"$512.01\"", lots),
        row("05/01/2020", "Dividend", "null", "null", "\"$14.80\"", ""),
        row("05/01/2020", "Tax Withholding", "null", "null", "\"-$2.22\"", ""),
        row("05/02/2020", "Journal", "null", "null", "\"-$2.22\"", ""),
        row("05/03/2020", "Forced Quick Sell", "\"1\"", "null", "null", ""),
    ];
    let text =
        format!("{{\"FromDate\": \"01/01/2020\", \"Transactions\": [\n{}\n]}}", rows.join(",\n"));
    check(
        &import(Broker::Schwab, &text),
        &[
            "2020-01-14 BUY ACME 7 @ 123.45 USD",
            "2020-02-27 BUY ACME 150 @ 177.19 USD",
            "2020-04-24 SELL ACME 3 @ 102.50 USD FEES 0.49 USD",
            "2020-04-24 SELL ACME 2 @ 102.50 USD",
            "2020-05-01 DIVIDEND ACME TOTAL 14.80 USD TAX 2.22 USD",
        ],
        &["line 9: `Forced Quick Sell` is not understood"],
    );
}
