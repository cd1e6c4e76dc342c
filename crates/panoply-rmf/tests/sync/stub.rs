//! Stub of the Thai SEC's Open API, version 2: its wire format over given funds.
//!
//! Fees are invented: no public snapshot has real ones. The stub reproduces the irregularities of
//! the real API: dates in several formats, numbers as strings, `-` for missing, padded currencies.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use panoply_rmf::fund::Fund;
use panoply_rmf::period::Period;
use panoply_rmf::sync::{Http, Response, TransportError};
use serde_json::{Value, json};

const UPDATED: &str = "2025-11-14T16:58:54Z";
pub(crate) const KEY: &str = "test-key";

/// API stub over some funds.
pub(crate) struct Stub {
    pub(crate) endpoints: BTreeMap<String, Vec<Value>>,
    /// All requests, in order.
    pub(crate) requests: Vec<String>,
    /// Status codes to respond with first.
    pub(crate) failures: Vec<u16>,
    /// Number of calls after which the connection fails.
    pub(crate) fails_after: Option<usize>,
    /// Changes a response to path and call number.
    pub(crate) tamper: Option<Tamper>,
}

/// Changes the response to a path; the number counts calls from 1.
pub(crate) type Tamper = Box<dyn FnMut(&str, usize, Response) -> Response + Send>;

impl Stub {
    pub(crate) fn over(funds: &[Fund]) -> Self {
        let mut stub = Self {
            endpoints: BTreeMap::new(),
            requests: Vec::new(),
            failures: Vec::new(),
            fails_after: None,
            tamper: None,
        };
        for fund in funds {
            stub.add(fund);
        }
        stub
    }

    /// Rows of an endpoint, for tests to modify.
    pub(crate) fn rows(&mut self, endpoint: &str) -> &mut Vec<Value> {
        self.endpoints.entry(format!("/v2/fund/{endpoint}")).or_default()
    }

    fn add(&mut self, fund: &Fund) {
        let class = class(fund);
        let status =
            if fund.status == panoply_rmf::fund::Status::Registered { "Registered" } else { "IPO" };
        let code = if class == "main" {
            fund.symbol.clone()
        } else {
            fund.symbol.split(['(', '-']).next().unwrap().to_owned()
        };
        self.rows("general-info/profiles").push(json!({
            "unique_id": fund.company.id, "comp_name_th": "", "comp_name_en": fund.company.name,
            "proj_id": fund.fund_id, "regis_id": "", "proj_name_th": fund.name_th, "proj_name_en": fund.name,
            "proj_abbr_name": code, "fund_status": status, "init_date": null,
            "regis_date": fund.registered.map(|date| format!("{date}T00:00:00+07:00")), "cancel_date": null,
            "invest_country_flag": "1", "proj_retail_type": "R", "policy_desc": fund.policy_th,
            "management_style": fund.management_style, "feederfund_master_fund": null,
            "feederfund_country": null, "fund_class_name": class, "fund_class_detail": null,
            "fund_class_tax_incentive_type": null, "fund_class_isin_code": null, "last_upd_date": UPDATED,
        }));
        self.rows("general-info/specifications").push(json!({
            "proj_id": fund.fund_id, "fund_class_name": class, "spec_code": "RMF",
            "spec_desc": "กองทุนรวมเพื่อการเลี้ยงชีพ", "last_upd_date": UPDATED,
        }));
        let sheet = |row: Value| -> Value {
            let mut row = row;
            row["start_date"] = "2025-10-31".into();
            row["end_date"] = Value::Null;
            row["prospectus_type"] = "Monthly".into();
            row["last_upd_date"] = UPDATED.into();
            row
        };
        let suits = fund
            .suitability
            .risk_level
            .as_ref()
            .map(|text| base64::engine::general_purpose::STANDARD.encode(text));
        self.rows("factsheet/risk-spectrum").push(sheet(json!({
            "proj_id": fund.fund_id, "risk_spectrum": format!("RS{}", fund.risk), "risk_spectrum_desc": suits,
        })));
        for (kind, values) in
            [("ผลตอบแทนกองทุนรวม", &fund.returns), ("ผลตอบแทนตัวชี้วัด", &fund.benchmark.returns)]
        {
            for period in Period::ALL {
                if let Some(value) = values.get(period) {
                    self.rows("factsheet/performance").push(sheet(json!({
                        "proj_id": fund.fund_id, "fund_class_name": class, "performance_type_desc": kind,
                        "reference_period": period.sec_name(), "performance_value": value.to_string(),
                    })));
                }
            }
        }
        self.rows("factsheet/performance").push(sheet(json!({
            "proj_id": fund.fund_id, "fund_class_name": class,
            "performance_type_desc": "ความผันผวนของกองทุนรวม", "reference_period": "1 year",
            "performance_value": "14.20",
        })));
        self.rows("factsheet/statistics").push(sheet(json!({
            "proj_id": fund.fund_id, "fund_class_name": class, "portfolio_turnover_ratio": "-",
            "maximum_drawdown": "-12.34", "sharpe_ratio": "0.51", "tracking_error": "-",
        })));
        self.rows("factsheet/fees").push(sheet(json!({
            "proj_id": fund.fund_id, "fund_class_name": class,
            "fee_type_desc": "ค่าธรรมเนียมและค่าใช้จ่ายรวมทั้งหมด", "rate": "2.14", "actual_value": 1.07,
            "fee_other_desc": null,
        })));
        if let Some(name) = &fund.benchmark.name {
            self.rows("factsheet/benchmarks").push(sheet(json!({
                "proj_id": fund.fund_id, "group_seq": 1, "benchmark": name, "benchmark_remark": null,
            })));
        }
        for (index, part) in fund.allocation.iter().flatten().enumerate() {
            self.rows("factsheet/asset-allocation").push(sheet(json!({
                "proj_id": fund.fund_id, "asset_seq": index + 1, "asset_name": part.asset_class,
                "asset_ratio": part.percent.to_string(),
            })));
        }
        self.rows("factsheet/subscription-redemption-minimums").push(sheet(json!({
            "proj_id": fund.fund_id, "fund_class_name": class, "minimum_sub_ipo": "1,000.00",
            "minimum_sub_ipo_cur": "THB   ", "minimum_sub": 500, "minimum_sub_cur": "THB   ",
            "minimum_redempt": "-", "minimum_redempt_cur": "THB   ", "minimum_redempt_unit": "",
            "lowbal_val": null, "lowbal_val_cur": "THB", "lowbal_unit": "",
        })));
        self.rows("factsheet/dividend-policy").push(sheet(json!({
            "proj_id": fund.fund_id, "fund_class_name": class, "dividend_policy": "N",
        })));
        self.rows("factsheet/urls").push(json!({
            "proj_id": fund.fund_id, "fund_class_name": class, "prospectus_type": "Monthly",
            "amc_url_factsheet": null, "pdf_factsheet": fund.documents.factsheet,
            "as_of_date": "2025-10-31", "last_upd_date": UPDATED,
        }));
        for point in fund.nav.points() {
            self.add_nav(fund, &point.date.to_string(), json!(point.nav.to_string()));
        }
    }

    /// Adds a NAV row.
    pub(crate) fn add_nav(&mut self, fund: &Fund, date: &str, nav: Value) {
        self.rows("daily-info/nav").push(json!({
            "proj_id": fund.fund_id, "unique_id": fund.company.id, "fund_class_name": class(fund),
            "nav_date": date, "net_asset": fund.net_assets.map(|assets| assets.to_string()), "last_val": nav, "sell_price": nav,
            "buy_price": nav, "sell_swap_price": nav, "buy_swap_price": nav, "last_upd_date": UPDATED,
        }));
    }

    fn respond(
        &mut self,
        path: &str,
        query: &BTreeMap<String, String>,
    ) -> Result<Response, TransportError> {
        if self.fails_after.is_some_and(|calls| self.requests.len() >= calls) {
            return Err(TransportError("connection refused".to_owned()));
        }
        self.requests.push(format!("{path} {}", query.get("proj_id").map_or("", String::as_str)));
        if !self.failures.is_empty() {
            let status = self.failures.remove(0);
            return Ok(Response {
                status,
                retry_after: Some(Duration::from_secs(1)),
                body: String::new(),
            });
        }
        let found: Vec<&Value> = self
            .endpoints
            .get(path)
            .into_iter()
            .flatten()
            .filter(|row| {
                ["proj_id", "fund_class_name", "fund_status"]
                    .iter()
                    .all(|name| query.get(*name).is_none_or(|wanted| row[*name] == wanted.as_str()))
            })
            .filter(|row| {
                let day = row["nav_date"].as_str().unwrap_or_default();
                query.get("start_nav_date").is_none_or(|from| day >= from.as_str())
                    && query.get("end_nav_date").is_none_or(|to| day <= to.as_str())
            })
            .collect();
        if found.is_empty() {
            return Ok(Response { status: 204, ..Response::default() });
        }
        let size: usize = query.get("page_size").map_or(100, |size| size.parse().unwrap());
        let from: usize = query
            .get("next_cursor")
            .map_or(0, |cursor| cursor.trim_start_matches('c').parse().unwrap());
        let next =
            if from + size < found.len() { format!("c{}", from + size) } else { String::new() };
        let items: Vec<&Value> = found.into_iter().skip(from).take(size).collect();
        let body =
            json!({"message": "success", "page_size": size, "next_cursor": next, "items": items});
        let response = Response { status: 200, retry_after: None, body: body.to_string() };
        let call = self.requests.len();
        Ok(match &mut self.tamper {
            Some(tamper) => tamper(path, call, response),
            None => response,
        })
    }
}

/// Class name of a fund in the API.
fn class(fund: &Fund) -> String {
    if fund.share_classes.len() > 1 { fund.symbol.clone() } else { "main".to_owned() }
}

impl Http for Stub {
    fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, TransportError> {
        let query =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.respond(path, &query)
    }
}

/// Serves a stub on a free local port and returns its base URL.
pub(crate) fn serve(stub: Arc<Mutex<Stub>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let stub = Arc::clone(&stub);
            std::thread::spawn(move || serve_connection(stream, &stub));
        }
    });
    address
}

fn serve_connection(stream: TcpStream, stub: &Mutex<Stub>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut key = String::new();
        let mut length = 0;
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).unwrap_or(0) == 0 || header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "ocp-apim-subscription-key" => value.trim().clone_into(&mut key),
                "content-length" => length = value.trim().parse().unwrap_or(0),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        let _ = reader.read_exact(&mut body);
        let target = line.split_whitespace().nth(1).unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let response = if key == KEY {
            stub.lock().unwrap().respond(path, &query).unwrap_or_default()
        } else {
            Response { status: 401, retry_after: None, body: r#"{"statusCode":401}"#.to_owned() }
        };
        let retry = response
            .retry_after
            .map_or_else(String::new, |wait| format!("Retry-After: {}\r\n", wait.as_secs()));
        let head = format!(
            "HTTP/1.1 {} X\r\nContent-Type: application/json\r\n{retry}Content-Length: {}\r\n\r\n",
            response.status,
            response.body.len()
        );
        if stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(response.body.as_bytes()))
            .is_err()
        {
            return;
        }
    }
}
