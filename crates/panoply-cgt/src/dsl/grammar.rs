//! Syntax and an example of each action of the transaction language.

/// Syntax of an action.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Action keyword.
    pub word: &'static str,
    /// Syntax after the date; brackets mark optional parts.
    pub form: &'static str,
    /// A working line.
    pub example: &'static str,
    /// Meaning.
    pub means: &'static str,
}

/// All actions.
pub const FORMS: [Form; 21] = [
    Form {
        word: "BUY",
        form: "BUY ticker quantity @ price [currency] [RATE rate] [FEES amount [currency] [RATE rate]]",
        example: "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD",
        means: "shares bought at a price each; fees add to the cost",
    },
    Form {
        word: "SELL",
        form: "SELL ticker quantity @ price [currency] [RATE rate] [FEES amount [currency] [RATE rate]]",
        example: "2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD",
        means: "shares sold at a price each; fees come off the proceeds",
    },
    Form {
        word: "DIVIDEND",
        form: "DIVIDEND ticker TOTAL amount [currency] [RATE rate] [TAX amount [currency] [RATE rate]]",
        example: "2024-07-01 DIVIDEND AAPL TOTAL 12 USD TAX 1.80 USD",
        means: "cash paid out; it is income and leaves the cost alone",
    },
    Form {
        word: "INTEREST",
        form: "INTEREST ticker TOTAL amount [currency] [RATE rate] [TAX amount [currency] [RATE rate]]",
        example: "2024-07-31 INTEREST TR68 TOTAL 87.50",
        means: "interest of a bond, gilt or account; it is income and leaves the cost alone",
    },
    Form {
        word: "ACCUMULATION",
        form: "ACCUMULATION ticker quantity TOTAL amount [currency] [RATE rate] [TAX amount [currency] [RATE rate]]",
        example: "2024-05-31 ACCUMULATION VWRP 200 TOTAL 85.40",
        means: "income reinvested inside a fund, or excess reportable income; it adds to the cost",
    },
    Form {
        word: "CAPRETURN",
        form: "CAPRETURN ticker quantity TOTAL amount [currency] [RATE rate] [FEES amount [currency] [RATE rate]] [VALUE amount [currency] [RATE rate]]",
        example: "2024-03-01 CAPRETURN VOD 500 TOTAL 9000 VALUE 21000",
        means: "capital distribution, or proceeds of rights sold nil paid; up to £3,000, or 5 % of the value before it, it comes off the cost, otherwise it is a part disposal and VALUE, what the shares were worth just after it, is required",
    },
    Form {
        word: "EQUALISATION",
        form: "EQUALISATION ticker quantity TOTAL amount [currency] [RATE rate]",
        example: "2024-03-01 EQUALISATION VWRL 500 TOTAL 25",
        means: "part of the price of fund units refunded with the first distribution; it comes off the cost",
    },
    Form {
        word: "RIGHTS",
        form: "RIGHTS ticker quantity @ price [currency] [RATE rate] [FEES amount [currency] [RATE rate]]",
        example: "2024-03-01 RIGHTS NG 100 @ 6.45",
        means: "shares taken up in a rights issue or open offer; they join the holding with their cost and are not matched with sales",
    },
    Form {
        word: "BONUS",
        form: "BONUS ticker RATIO held:new",
        example: "2024-03-01 BONUS FOO RATIO 10:1",
        means: "so many free shares for so many held",
    },
    Form {
        word: "SCRIP",
        form: "SCRIP ticker quantity TOTAL amount [currency] [RATE rate]",
        example: "2024-03-01 SCRIP NG 12 TOTAL 115.20",
        means: "shares taken instead of a cash dividend: bought for the cash equivalent, which is income",
    },
    Form {
        word: "DEMERGER",
        form: "DEMERGER ticker INTO ticker quantity VALUE amount [currency] [RATE rate] REMAINING amount [currency] [RATE rate]",
        example: "2022-07-18 DEMERGER GSK INTO HLN 1000 VALUE 3100 REMAINING 13900",
        means: "shares of another company received for the same holding; its cost is divided by the values of the shares received and of those that remain",
    },
    Form {
        word: "TAKEOVER",
        form: "TAKEOVER ticker INTO ticker quantity [CASH amount [currency] [RATE rate]] [VALUE amount [currency] [RATE rate]]",
        example: "2012-03-01 TAKEOVER OLD INTO NEW 40000 CASH 80000 VALUE 240000",
        means: "the whole holding exchanged for shares of another company, and perhaps cash; VALUE is what the shares received were worth",
    },
    Form {
        word: "RENAME",
        form: "RENAME ticker TO ticker",
        example: "2022-06-09 RENAME FB TO META",
        means: "the same shares under a new ticker from that day on",
    },
    Form {
        word: "NEGLIGIBLE",
        form: "NEGLIGIBLE ticker VALUE amount [currency] [RATE rate]",
        example: "2024-03-01 NEGLIGIBLE THG VALUE NIL",
        means: "claim that the holding has become of negligible value: a deemed sale and reacquisition at that value",
    },
    Form {
        word: "SPLIT",
        form: "SPLIT ticker RATIO number",
        example: "2024-06-10 SPLIT NVDA RATIO 10",
        means: "each share became that many",
    },
    Form {
        word: "UNSPLIT",
        form: "UNSPLIT ticker RATIO number",
        example: "2023-02-01 UNSPLIT LLOY RATIO 10",
        means: "that many shares became one",
    },
    Form {
        word: "RESTRUCT",
        form: "RESTRUCT ticker RATIO old:new",
        example: "2022-05-03 RESTRUCT ABDN RATIO 8:7",
        means: "that many old shares became that many new ones",
    },
    Form {
        word: "SPOUSE_OUT",
        form: "SPOUSE_OUT ticker quantity",
        example: "2024-02-01 SPOUSE_OUT VOD 100",
        means: "shares given to the spouse or civil partner, at no gain and no loss",
    },
    Form {
        word: "SPOUSE_IN",
        form: "SPOUSE_IN ticker quantity TOTAL amount [currency] [RATE rate]",
        example: "2024-02-01 SPOUSE_IN VOD 100 TOTAL 85.50",
        means: "shares received from the spouse or civil partner, at what they had cost",
    },
    Form {
        word: "OPENING",
        form: "OPENING ticker quantity COST amount [currency] [RATE rate]",
        example: "2020-04-06 OPENING VOD 1000 COST 1250",
        means: "a Section 104 holding known from earlier records",
    },
    Form {
        word: "SECURITY",
        form: "SECURITY ticker [CLASS class] [ISIN isin] [INCOME dividend|interest] [COUNTRY code] [NAME words]",
        example: "2024-01-01 SECURITY VWRP CLASS listed ISIN IE00BK5BQT80 NAME Vanguard FTSE All-World",
        means: "facts about the holding: class listed (default), unlisted, crypto, other, or gilt and qcb, which are exempt; excess reportable income is added by the ISIN; INCOME interest for bond funds; the name ends the line",
    },
];

/// Finds an action, ignoring case. `CAP_RETURN` is a legacy spelling.
pub fn form_of(word: &str) -> Option<&'static Form> {
    let word = if word.eq_ignore_ascii_case("CAP_RETURN") { "CAPRETURN" } else { word };
    FORMS.iter().find(|form| form.word.eq_ignore_ascii_case(word))
}
