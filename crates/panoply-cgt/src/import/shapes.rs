//! Exports in the very shapes that brokers were seen to write: every column, quote, comma,
//! currency and odd row, with figures of our own. `docs/packs/cgt.md` says where each was seen.

use super::*;

fn import(broker: Broker, text: &str) -> Imported {
    assert_eq!(Broker::recognise(text), Some(broker), "{text}");
    read(&File { name: "export", broker, text, awards: None, columns: None })
}

fn check(imported: &Imported, lines: &[&str], warnings: &[&str]) {
    let seen: Vec<String> = imported.rows.iter().map(|row| dsl::line(&row.transaction)).collect();
    assert_eq!(seen, lines, "{:#?}", imported.warnings);
    assert_eq!(imported.warnings.len(), warnings.len(), "{:#?}", imported.warnings);
    for (seen, word) in imported.warnings.iter().zip(warnings) {
        assert!(seen.contains(word), "`{word}` is not in: {seen}");
    }
}

#[test]
fn trading_212_of_2026_with_fees_in_two_currencies() {
    let imported = import(
        Broker::Trading212,
        "Action,Time,ISIN,Ticker,Name,Notes,ID,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),Withholding tax,Currency (Withholding tax),Stamp duty reserve tax,Currency (Stamp duty reserve tax),French transaction tax,Currency (French transaction tax),Transaction fee,Finra fee,Currency conversion from amount,Currency (Currency conversion from amount),Currency conversion to amount,Currency (Currency conversion to amount),Currency conversion fee,Currency (Currency conversion fee),Currency (Transaction fee),Currency (Finra fee),Merchant name,Merchant category\n\
         Deposit,2024-05-01 00:10:00.000,,,,,x1,,,,,,,500.00,GBP,,,,,,,,,,,,,,,,,,\n\
         Market buy,2024-05-02 14:30:05.123,US0000000200,ACME,Acme Corp,,x2,10.0000000000,20.00,USD,1.25,,,161.80,GBP,,,,,,,,,,,,,1.80,GBP,,,,\n\
         Limit sell,2024-06-27 15:45:10.456,US0000000200,ACME,Acme Corp,,x3,5.0000000000,30.00,USD,1.28,6.29,GBP,118.09,GBP,,,,,,,,0.05,,,,,1.87,GBP,,USD,,\n\
         Market buy,2024-08-01 09:05:00.789,FR0000000200,REN,Rennes SA,,x4,20.0000000000,50.00,EUR,1.25,,,803.60,GBP,,,,,3.00,EUR,,,,,,,1.20,GBP,,,,\n",
    );
    check(
        &imported,
        &[
            "2024-05-02 BUY ACME 10.0000000000 @ 20.00 USD FEES 1.80 GBP",
            "2024-06-27 SELL ACME 2.5 @ 30.00 USD FEES 1.87 GBP",
            "2024-06-27 SELL ACME 2.5 @ 30.00 USD FEES 0.05 USD",
            "2024-08-01 BUY REN 10 @ 50.00 EUR FEES 1.20 GBP",
            "2024-08-01 BUY REN 10 @ 50.00 EUR FEES 3.00 EUR",
        ],
        &[],
    );
}

#[test]
fn trading_212_of_2020_with_the_currency_in_the_heading() {
    let imported = import(
        Broker::Trading212,
        "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result (GBP),Total (GBP),Withholding tax,Currency (Withholding tax),Charge amount (GBP),Transaction fee (GBP),Finra fee,Currency (Finra fee),Notes,ID\n\
         Market buy,2020-11-25 14:30:08,US36467W1099,GME,\"GameStop\",100.0000000000,14.75,USD,1.33332,,1106.25,,,,2.50,,GBP,,E1\n\
         Dividend (Ordinary),2021-04-02 10:15:07,US67066G1040,NVDA,\"Nvidia\",10.0000000000,0.14,USD,Not available,,0.90,0.21,USD,,,,GBP,,\n",
    );
    check(
        &imported,
        &[
            "2020-11-25 BUY GME 100.0000000000 @ 14.75 USD FEES 2.50 GBP",
            "2021-04-02 DIVIDEND NVDA TOTAL 1.4 USD TAX 0.21 USD",
        ],
        &[],
    );
}

#[test]
fn trading_212_splits_stand_in_two_rows() {
    let headings = "Action,Time (UTC),ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),ID\n";
    let close = "Stock split close,2024-06-10T07:00:00+00:00,US0000000002,FOO,\"Foo Company\",100.0000000000,20.00,GBP,,0.00,\"GBP\",2000.00,\"GBP\",c1\n";
    let open = "Stock split open,2024-06-10T07:00:00+00:00,US0000000002,FOO,\"Foo Company\",1000.0000000000,2.00,GBP,,,,2000.00,\"GBP\",o1\n";
    let whole = import(Broker::Trading212, &format!("{headings}{close}{open}"));
    check(&whole, &["2024-06-10 RESTRUCT FOO RATIO 100:1000"], &[]);
    let half = import(Broker::Trading212, &format!("{headings}{close}"));
    check(&half, &[], &["a split of FOO without its opening row"]);
    let other = import(Broker::Trading212, &format!("{headings}{open}"));
    check(&other, &[], &["a split of FOO without its closing row"]);
}

#[test]
fn freetrade_dividends_count_before_tax() {
    let imported = import(
        Broker::Freetrade,
        "Title,Type,Timestamp,Account Currency,Total Amount,Buy / Sell,Ticker,ISIN,Price per Share in Account Currency,Stamp Duty,Quantity,Venue,Order ID,Order Type,Instrument Currency,Total Shares Amount,Price per Share,FX Rate,Base FX Rate,FX Fee (BPS),FX Fee Amount,Dividend Ex Date,Dividend Pay Date,Dividend Eligible Quantity,Dividend Amount Per Share,Dividend Gross Distribution Amount,Dividend Net Distribution Amount,Dividend Withheld Tax Percentage,Dividend Withheld Tax Amount\n\
         Nasdaq,DIVIDEND,2023-12-22T17:11:00.000Z,GBP,0.93,,NDAQ,US6311031081,,,6.36545916,,,,USD,,,,0.78491703,0,0.00,2023-12-07,2023-12-22,6.36545916,0.22000000,1.40,1.19,15,0.21\n\
         Tesla,ORDER,2022-02-01T15:14:23.014Z,GBP,5.59,BUY,TSLA,US88160R1014,678.77225238,0.00,0.00819126,Drivewealth,A1,MARKET,USD,7.50,915.61000000,1.34403451,1.35011000,45,0.03,,,,,,,,\n\
         ThredUp,ORDER,2021-12-14T15:18:33.892Z,GBP,10.63,SELL,TDUP,US88556E1029,10.68000000,0.00,1.00000000,\"New York Stock Exchange, Inc.\",A2,MARKET,USD,14.14,14.14000000,1.32916445,1.32321000,45,0.05,,,,,,,,\n\
         ThredUp,FREESHARE_ORDER,2021-12-13T16:16:49.475Z,GBP,11.04,BUY,TDUP,US88556E1029,11.03772436,0.00,1.00000000,New York Stock Exchange,A3,,USD,4554.89,14.60000000,1.32265000,1.32265000,45,0.00,,,,,,,,\n\
         Interest,INTEREST_FROM_CASH,2023-10-16T00:00:00.000Z,GBP,9.02,,,,,,,,,,,,,,,,,,,,,,,,\n",
    );
    check(
        &imported,
        &[
            "2021-12-13 BUY TDUP 1.00000000 @ 11.03772436 GBP",
            "2021-12-14 SELL TDUP 1.00000000 @ 10.68000000 GBP FEES 0.05 GBP",
            "2022-02-01 BUY TSLA 0.00819126 @ 678.77225238 GBP FEES 0.03 GBP",
            "2023-12-22 DIVIDEND NDAQ TOTAL 1.40 USD TAX 0.21 USD",
        ],
        &["a free share"],
    );
}

#[test]
fn hargreaves_lansdown_repeats_the_trade_in_the_description() {
    let imported = import(
        Broker::HargreavesLansdown,
        "Transaction Summary, , , ,\nClient Name:,Anonymous User, , ,\nClient Number:,1234567, , ,\nValuation as at,09-08-2026 16:40, , ,\n\n\
         Trade date,Settle date,Reference,Description,Unit cost (p),Quantity,Value (£),\n\
         \"04/04/2026\",\"04/04/2026\",\"MANAGE FEE\",\"HL Fund & Share Account To A/C 01C\",\"n/a\",\"n/a\",\"-4.05\"\n\
         \"25/02/2026\",\"27/02/2026\",\"S302087055\",\"World UCITS ETF 1000 @  2500.00\",\"2,500.000\",\"1,000\",\"24,988.05\"\n\
         \"24/02/2026\",\"26/02/2026\",\"B302087054\",\"World UCITS ETF 4563 @  3287.199\",\"3,287.199\",\"4,563\",\"-150,006.84\"\n",
    );
    check(
        &imported,
        &[
            "2026-02-24 BUY WORLD-UCITS-ETF 4563 @ 32.87199 GBP FEES 11.95 GBP",
            "2026-02-25 SELL WORLD-UCITS-ETF 1000 @ 25 GBP FEES 11.95 GBP",
        ],
        &[],
    );
}

#[test]
fn revolut_has_tax_in_a_row_of_its_own_and_fees_in_the_total() {
    let imported = import(
        Broker::Revolut,
        "Date,Ticker,Type,Quantity,Price per share,Total Amount,Currency,FX Rate\n\
         2021-01-04T10:00:00.123Z,,CASH TOP-UP,,,USD 20000,USD,1.3805\n\
         2021-01-04T14:39:38.123456Z,MSFT,BUY - MARKET,4.49357418,USD 222.54,USD 1000,USD,1.3632\n\
         2021-02-01T04:24:54.123456Z,,CUSTODY FEE,,,USD -0.09,USD,1.3740\n\
         2021-07-20T10:34:52.123456Z,NVDA,STOCK SPLIT,5.72912688,,USD 0,USD,1.3647\n\
         2021-11-02T14:02:25.123456Z,TSM,BUY - LIMIT,88,USD 112.50,\"USD 9,901.85\",USD,1.3648\n\
         2025-12-18T12:50:45.123456Z,QCOM,DIVIDEND,,,USD 36.12,USD,1.3407\n\
         2025-12-18T12:50:46.123456Z,QCOM,DIVIDEND TAX (CORRECTION),,,USD -5.42,USD,1.3407\n\
         2025-12-19T12:50:46.123456Z,QCOM,DIVIDEND TAX (CORRECTION),,,USD -1,USD,1.3407\n\
         2025-03-22T10:48:36.123456Z,NVDA,TRANSFER FROM REVOLUT TRADING LTD TO REVOLUT SECURITIES EUROPE UAB,7.6,,USD 0,USD,1.2934\n",
    );
    check(
        &imported,
        &[
            "2021-01-04 BUY MSFT 4.49357418 @ 222.54 USD",
            "2021-11-02 BUY TSM 88 @ 112.50 USD FEES 1.85 USD",
            "2025-12-18 DIVIDEND QCOM TOTAL 36.12 USD TAX 5.42 USD",
        ],
        &[
            "a split of NVDA that brought 5.72912688 shares",
            "count as fees",
            "belongs to no dividend",
        ],
    );
}

#[test]
fn vanguard_has_dividends_in_the_cash_sheet_only() {
    let cash = "Bob's General investment\n\nCash Transactions\n\nDate,Details,Amount,Balance\n\
         08/03/2022,Deposit for investment purchases,15000,15000\n\
         09/03/2022,\"Bought 1,550 Foo ETF Distributing (FOO)\",-14982.06,17.94\n\
         09/04/2022,DIV: FOO.XLON.GB @ GBP 0.4106,225.83,380.13\n\
         29/07/2022,DIV: FOO.XLON.GB @ GBP 0.3106,170.83,693.83\n\
         29/07/2022,Reversal of DIV: FOO.XLON.GB @ GBP 0.3106,-170.83,523\n\
         29/07/2022,DIV: FOO.XLON.GB @ GBP 0.3106,170.83,693.83\n\
         23/08/2022,Payment by Faster - One-off withdrawal Faster,-270.24,423.59\n\
         02/10/2022,Bought .9232 U.S. Equity Index Fund - Accumulation,-400,23.59\n\
         03/10/2022,Something new,1,24.59\nBalance,23.59\n";
    let investments = "\n\n\nInvestment Transactions\n\nDate,InvestmentName,TransactionDetails,Quantity,Price,Cost\n\
         10/03/2022,Foo ETF Distributing (FOO),\"Bought 1,550 Foo ETF Distributing (FOO)\",1550,9.665845,14982.06\n\
         15/07/2022,Bar ETF - Accumulating (BAR),Sold 1 Bar ETF - Accumulating (BAR),1,104.06,104.06\n\
         04/10/2022,U.S. Equity Index Fund - Accumulation,Bought .9232 U.S. Equity Index Fund - Accumulation,.9232,433.27556, 399.9999\nCost,12545\n";
    let dividends =
        ["2022-04-09 DIVIDEND FOO TOTAL 225.83 GBP", "2022-07-29 DIVIDEND FOO TOTAL 170.83 GBP"];
    check(
        &import(Broker::VanguardUk, &format!("{cash}{investments}")),
        &[
            "2022-03-10 BUY FOO 1550 @ 9.665845 GBP",
            dividends[0],
            "2022-07-15 SELL BAR 1 @ 104.06 GBP",
            dividends[1],
            "2022-10-04 BUY U-S-EQUITY-INDEX-FUND-ACCUMULATION 0.9232 @ 433.27556 GBP",
        ],
        &["`Something new` is not understood"],
    );
    // Without the other sheet the trades are read from here.
    check(
        &import(Broker::VanguardUk, cash),
        &[
            "2022-03-09 BUY FOO 1550 @ 9.66584516129 GBP",
            dividends[0],
            dividends[1],
            "2022-10-02 BUY U-S-EQUITY-INDEX-FUND-ACCUMULATION 0.9232 @ 433.275563258232 GBP",
        ],
        &["`Something new` is not understood"],
    );
}

#[test]
fn flex_rows_of_other_levels_do_not_count_twice_and_cancelled_trades_not_at_all() {
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
fn schwab_as_csv_and_with_lines_of_json() {
    let csv = import(
        Broker::Schwab,
        "\"Date\",\"Action\",\"Symbol\",\"Description\",\"Quantity\",\"Price\",\"Fees & Comm\",\"Amount\"\n\
         \"08/18/2023\",\"Sell\",\"BAR\",\"BAR CORP\",\"200\",\"$1,140.35\",\"$1.34\",\"$228068.66\"\n\
         \"06/01/2023\",\"Reinvest Shares\",\"BAR\",\"BAR CORP\",\"1.5\",\"$100.00\",\"\",\"-$150.00\"\n\
         \"05/02/2023\",\"Cancel Buy\",\"BAR\",\"BAR CORP\",\"7\",\"$135\",\"\",\"$945\"\n\
         \"05/02/2023\",\"Buy\",\"BAR\",\"BAR CORP\",\"7\",\"$135\",\"\",\"-$945\"\n\
         \"05/01/2023\",\"Buy\",\"BAR\",\"BAR CORP INC CLASS A\",\"300\",\"$135.0075\",\"$1.34\",\"-$40503.61\"\n\
         \"03/01/2022\",\"MoneyLink Transfer\",\"\",\"Tfr BANK\",\"\",\"\",\"\",\"$40503.61\"\n",
    );
    check(
        &csv,
        &[
            "2023-05-01 BUY BAR 300 @ 135.0075 USD FEES 1.34 USD",
            "2023-06-01 BUY BAR 1.5 @ 100.00 USD",
            "2023-08-18 SELL BAR 200 @ 1140.35 USD FEES 1.34 USD",
        ],
        &[],
    );
    let json = import(
        Broker::Schwab,
        "{\n  \"FromDate\": \"01/01/2023\",\n  \"TotalTransactionsAmount\": \"$9.99\",\n  \"BrokerageTransactions\": [\n    {\n      \"Date\": \"11/18/2024\",\n      \"Action\": \"Sell\",\n      \"Symbol\": \"ACME\",\n      \"Description\": \"ACME INC [A]\",\n      \"Quantity\": \"611\",\n      \"Price\": \"$51.90\",\n      \"Fees & Comm\": \"$0.26\",\n      \"Amount\": \"$31,710.64\",\n      \"ItemIssueId\": \"1\",\n      \"AcctgRuleCd\": \"1\"\n    },\n    {\n      \"Date\": \"01/15/2023\",\n      \"Action\": \"Teleport\",\n      \"Symbol\": \"\"\n    }\n  ]\n}\n",
    );
    check(
        &json,
        &["2024-11-18 SELL ACME 611 @ 51.90 USD FEES 0.26 USD"],
        &["export, line 17: `Teleport`"],
    );
    assert_eq!(json.rows[0].place.to_string(), "export, line 5");
}

#[test]
fn schwab_equity_awards_by_themselves() {
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
