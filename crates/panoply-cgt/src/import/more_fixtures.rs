//! Exports in formats known from public importers and test files, with invented figures. Sources:
//! KapJI/capital-gains-calculator (transaction history, Morgan Stanley, Sharesight, its own CSV,
//! equity awards v1), BittyTax (interactive investor, Coinbase), nickl111/hl2qif and Interactive
//! Brokers' reporting guide (activity statement).

use super::fixtures::{check, import};
use super::*;

#[test]
fn ibkr_transaction_history_states_amounts_in_the_base_currency() {
    let imported = import(
        Broker::InteractiveBrokers,
        "Statement,Header,Field Name,Field Value\nStatement,Data,Title,Transaction History\nSummary,Header,Field Name,Field Value\nSummary,Data,Base Currency,GBP\n\
         Transaction History,Header,Date,Account,Description,Transaction Type,Symbol,Quantity,Price,Gross Amount ,Commission,Net Amount\n\
         Transaction History,Data,2025-11-03,U***1,VT(US9220427424) Cash Dividend USD 0.50 per Share,Dividend,VT,-,-,20.0,-,20.0\n\
         Transaction History,Data,2025-11-03,U***1,VT(US9220427424) Cash Dividend - US Tax,Foreign Tax Withholding,VT,-,-,-3.0,-,-3.0\n\
         Transaction History,Data,2025-10-01,U***1,Net Amount in Base,Forex Trade Component,GBP.USD,0.8,1.32,-0.0003,-,-0.0003\n\
         Transaction History,Data,2025-08-15,U***1,SOME ETF,Sell,CNX1,-2.0,1001.00,2002.0,-3.0,1999.0\n\
         Transaction History,Data,2025-03-15,U***1,APPLE INC,Buy,AAPL,4.0,250.0,-800.0,-0.8,-800.8\n\
         Transaction History,Data,2025-01-01,U***1,Electronic Fund Transfer,Deposit,-,-,-,5000.0,-,5000.0\n",
    );
    check(
        &imported,
        &[
            "2025-03-15 BUY AAPL 4.0 @ 200 GBP FEES 0.8 GBP",
            "2025-08-15 SELL CNX1 2.0 @ 1001 GBP FEES 3.0 GBP",
            "2025-11-03 DIVIDEND VT TOTAL 20.0 GBP TAX 3.0 GBP",
        ],
        &["1 trades of currency"],
    );
}

#[test]
fn ibkr_activity_statement_has_orders_and_dividends() {
    let imported = import(
        Broker::InteractiveBrokers,
        "Statement,Header,Field Name,Field Value\nAccount Information,Header,Field Name,Field Value\nAccount Information,Data,Account,U1234567\n\
         Trades,Header,DataDiscriminator,Asset Category,Currency,Symbol,Date/Time,Quantity,T. Price,C. Price,Proceeds,Comm/Fee,Basis,Realized P/L,MTM P/L,Code\n\
         Trades,Data,Order,Stocks,USD,BRK B,\"2024-01-15, 10:30:00\",10,360.5,361,-3605,-1.05,3606.05,0,5,O\n\
         Trades,Data,Order,Stocks,USD,BRK B,\"2024-06-20, 11:00:00\",\"-1,000\",400,400,400000,-2,-3606,5,0,C\n\
         Trades,SubTotal,,Stocks,USD,BRK B,,-990,,,396395,-3.05,,,,\n\
         Trades,Data,Order,Equity and Index Options,USD,AAPL 19JAN24 150 C,\"2024-01-15, 10:30:00\",1,5,5,-500,-1,501,0,0,O\n\
         Dividends,Header,Currency,Date,Description,Amount\nDividends,Data,USD,2024-05-16,AAPL(US0378331005) Cash Dividend USD 0.25 per Share (Ordinary Dividend),25\nDividends,Data,Total,,,25\n\
         Withholding Tax,Header,Currency,Date,Description,Amount,Code\nWithholding Tax,Data,USD,2024-05-16,AAPL(US0378331005) Cash Dividend USD 0.25 per Share - US Tax,-3.75,\n\
         Corporate Actions,Header,Asset Category,Currency,Report Date,Date/Time,Description,Quantity,Proceeds,Value,Realized P/L,Code\nCorporate Actions,Data,Stocks,USD,2024-06-10,\"2024-06-07, 20:25:00\",NVDA Split 10 for 1,90,0,0,0,\n",
    );
    check(
        &imported,
        &[
            "2024-01-15 BUY BRK.B 10 @ 360.5 USD FEES 1.05 USD",
            "2024-05-16 DIVIDEND AAPL TOTAL 25 USD TAX 3.75 USD",
            "2024-06-20 SELL BRK.B 1000 @ 400 USD FEES 2 USD",
        ],
        &["NVDA Split 10 for 1", "1 trades of equity and index options"],
    );
    assert_eq!(imported.origins[0].account.as_deref(), Some("U1234567"));
}

#[test]
fn interactive_investor_debits_and_credits_are_the_pounds_paid() {
    let imported = import(
        Broker::InteractiveInvestor,
        "Date,Settlement Date,Symbol,Sedol,Quantity,Price,Description,Reference,Debit,Credit,Running Balance\n\
         15/01/2024,17/01/2024,VOD,BH4HKS3,1000,£0.70,VODAFONE GROUP ORD,R1,£709.49,n/a,£100.00\n\
         20/06/2024,24/06/2024,VOD,BH4HKS3,400,£0.75,VODAFONE GROUP ORD,R2,n/a,£294.01,£394.01\n\
         01/07/2024,01/07/2024,VOD,BH4HKS3,n/a,n/a,Div 600 Vodafone,R3,n/a,£27.00,£421.01\n\
         02/07/2024,02/07/2024,n/a,n/a,n/a,n/a,Total Monthly Fee,R4,£4.99,n/a,£416.02\n",
    );
    check(
        &imported,
        &[
            "2024-01-15 BUY VOD 1000 @ 0.70949 GBP",
            "2024-06-20 SELL VOD 400 @ 0.735025 GBP",
            "2024-07-01 DIVIDEND VOD TOTAL 27.00 GBP",
        ],
        &[],
    );
    assert_eq!(imported.origins[0].id.as_deref(), Some("R1"));
}

#[test]
fn coinbase_conversion_is_a_sale_and_a_purchase() {
    let imported = import(
        Broker::Coinbase,
        "Transactions\nUser,A Person\nID,Timestamp,Transaction Type,Asset,Quantity Transacted,Price Currency,Price at Transaction,Subtotal,Total (inclusive of fees and/or spread),Fees and/or Spread,Notes\n\
         1a,2023-01-05 10:00:00 UTC,Buy,BTC,0.5,GBP,£14000.00,£7000.00,£7100.00,£100.00,Bought 0.5 BTC for £7100.00 GBP\n\
         2b,2023-06-05 10:00:00 UTC,Convert,BTC,0.1,GBP,£20000.00,£2000.00,£1980.00,£20.00,Converted 0.1 BTC to 1.32 ETH\n\
         3c,2023-07-05 10:00:00 UTC,Staking Income,ETH,0.01,GBP,£1500.00,£15.00,£15.00,£0.00,\n\
         4d,2023-08-05 10:00:00 UTC,Send,BTC,-0.1,GBP,£22000.00,-£2200.00,-£2200.00,£0.00,Sent 0.1 BTC\n",
    );
    check(
        &imported,
        &[
            "2023-01-05 BUY BTC 0.5 @ 14000 GBP FEES 100.00 GBP",
            "2023-06-05 SELL BTC 0.1 @ 20000 GBP FEES 20.00 GBP",
            "2023-06-05 BUY ETH 1.32 @ 1500 GBP",
            "2023-07-05 BUY ETH 0.01 @ 1500 GBP",
        ],
        &["also income to declare", "own wallets"],
    );
}

#[test]
fn morgan_stanley_releases_and_withdrawals() {
    let releases = import(
        Broker::MorganStanley,
        "Date,Order Number,Plan,Type,Order Status,Price,Quantity,Net Share Proceeds,Net Share Proceeds,Tax Payment Method\n\
         25-Mar-2021,N/A,GSU Class C,Released Shares,Completed,\"$2,045.06\",10.60,$0.00,0.000,N/A\n",
    );
    check(&releases, &["2021-03-25 BUY GSU-CLASS-C 10.60 @ 2045.06 USD"], &[]);
    let withdrawals = import(
        Broker::MorganStanley,
        "Execution Date,Order Number,Plan,Type,Order Status,Price,Quantity,Net Amount,Net Share Proceeds,Tax Payment Method\n\
         01-Apr-2021,HIDDEN,GSU Class C,Sale,Complete,\"$2,110.00\",-2,\"$4,219.95\",0,N/A\n\
         02-Apr-2021,HIDDEN,Cash,Sale,Complete,$1.00,\"-4,218.95\",\"$4,218.95\",0,N/A\n\
         Please note that any sales that occurred on or prior to the stock split are reflected in pre-split.\n",
    );
    check(&withdrawals, &["2021-04-01 SELL GSU-CLASS-C 2 @ 2110.00 USD FEES 0.05 USD"], &[]);
}

#[test]
fn sharesight_reports() {
    let trades = import(
        Broker::Sharesight,
        "Test - All Trades Report between 2019-01-01 and 2021-11-27,,,,,,,,,,,,\n,,,,,,,,,,,,\nMarket,Code,Name,Type,Date,Quantity,Price *,Brokerage *,Currency,Exchange Rate,Value,,Comments\n\
         FX,ETH,Ethereum currency account,Buy,01/08/2019,1,1,0,ETH,0.0005,1819.82,All Trades,\n\
         NASDAQ,FOO,FOO Inc,Buy,01/10/2020,20,250,0,USD,1.25,4000.00,All Trades,\n\
         NASDAQ,FOO,FOO Inc,Sell,02/11/2020,-25,300,5,USD,1.31,-5720.95,All Trades,\n,,,,,,,,,,,,\n* Prices and brokerage are specified in market currency.,,,,,,,,,,,,\n",
    );
    check(
        &trades,
        &[
            "2020-10-01 BUY FOO 20 @ 250 USD RATE 1.25",
            "2020-11-02 SELL FOO 25 @ 300 USD RATE 1.31 FEES 5 USD RATE 1.31",
        ],
        &["1 trades of currency accounts"],
    );
    let income = import(
        Broker::Sharesight,
        "Test - Taxable Income Report between 2017-06-14 and 2021-11-27,,,,,,,,\nDividend Payments,,,,,,,,\nCode,Name,Date Paid,Net Dividend,Tax Deducted,Tax Credit,Gross Dividend,Comments,\nFUND1.UKF,Fund #1,10/11/2020,3.00,0.00,0.00,3.00,,\nTotal,,,3.00,0.00,0.00,3.00,,\n\
         Foreign Income,,,,,,,,\nCode,Name,Date Paid,Exchange Rate,Currency,Net Amount,Foreign Tax Deducted,Gross Amount,Comments\nFOO.NASDAQ,FOO Inc,10/10/2020,1.3342,USD,4.25,0.75,5.00,\nTotal,,,,,4.25,0.75,5.00,\n",
    );
    let lines: Vec<String> =
        income.rows.iter().map(|row| crate::dsl::line(&row.transaction)).collect();
    assert!(
        lines.contains(&"2020-10-10 DIVIDEND FOO TOTAL 5.00 USD TAX 0.75 USD".to_owned()),
        "{lines:?}"
    );
    assert!(lines.contains(&"2020-11-10 DIVIDEND FUND1 TOTAL 3.00 GBP".to_owned()), "{lines:?}");
}

#[test]
fn cgt_calc_rows() {
    let imported = import(
        Broker::CgtCalc,
        "date,action,symbol,quantity,price,fees,currency\n2023-02-09,DIVIDEND,OPRA,4200,0.80,0.0,USD\n2022-11-14,SELL,META,19,116.00,0.05,USD\n2022-06-06,STOCK_SPLIT,AMZN,209,0.00,0.00,USD\n",
    );
    check(
        &imported,
        &[
            "2022-11-14 SELL META 19 @ 116.00 USD FEES 0.05 USD",
            "2023-02-09 DIVIDEND OPRA TOTAL 3360 USD",
        ],
        &["a split of AMZN"],
    );
}

#[test]
fn schwab_equity_awards_of_the_first_version() {
    let text = r#"{"transactions": [
        {"typeName": "ShareSaleViewModel", "eventDate": "11/16/2022", "action": "Sale", "symbol": "GOOG", "quantity": "3.5", "totalCommissionsAndFees": "$0.50",
         "transactionDetails": [{"type": "RS", "shares": "3.5", "salePrice": "$98.60", "vestDate": "03/25/2021"}]},
        {"typeName": "DepositViewModel", "eventDate": "03/26/2021", "action": "Deposit", "symbol": "GOOG", "quantity": "10.6",
         "transactionDetails": [{"vestDate": "03/25/2021", "vestFairMarketValue": "$2,045.06"}]}
    ]}"#;
    check(
        &import(Broker::Schwab, text),
        &[
            "2021-03-25 BUY GOOG 10.6 @ 2045.06 USD",
            "2022-11-16 SELL GOOG 3.5 @ 98.60 USD FEES 0.50 USD",
        ],
        &[],
    );
}

#[test]
fn generic_file_in_pence_with_names_debits_and_credits() {
    let columns = Columns {
        ticker: Some("Description".to_owned()),
        dates: DateOrder::DayFirst,
        names: BTreeMap::from([("VODAFONE GROUP ORD".to_owned(), "VOD".to_owned())]),
        ..Columns::default()
    };
    let text = "Date,Action,Description,Quantity,Price (pence),Fees\n15/01/2024,Purchase,VODAFONE GROUP ORD,1000,69.12,5.99\n16/01/2024,Purchase,OTHER COMPANY PLC,10,100,\n";
    let read_with = |columns: &Columns, text| {
        read(&File { columns: Some(columns), ..File::new("export", Broker::Generic, text) })
    };
    check(
        &read_with(&columns, text),
        &[
            "2024-01-15 BUY VOD 1000 @ 0.6912 GBP FEES 5.99 GBP",
            "2024-01-16 BUY OTHER-COMPANY-PLC 10 @ 1 GBP",
        ],
        &[],
    );
    let paid =
        Columns { debit: Some("Debit".to_owned()), credit: Some("Credit".to_owned()), ..columns };
    let text = "Date,Action,Description,Quantity,Price,Debit,Credit\n15/01/2024,Bought,VODAFONE GROUP ORD,1000,69.12,697.19,\n15/06/2024,Sold,VODAFONE GROUP ORD,500,80,,394.01\n";
    check(
        &read_with(&paid, text),
        &["2024-01-15 BUY VOD 1000 @ 0.69719 GBP", "2024-06-15 SELL VOD 500 @ 0.78802 GBP"],
        &[],
    );
}
