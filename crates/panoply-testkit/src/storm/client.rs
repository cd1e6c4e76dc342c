//! A client: creates cards through the balancer, each until it is acknowledged or given up.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::faults::Random;
use super::history::{Event, History};
use crate::client::HttpReply;

/// Longest wait for a reply. Shorter than the balancer's: a client gives up on a frozen replica.
const REPLY_TIMEOUT: Duration = Duration::from_secs(4);
/// Longest time to go on with a change after the storm.
const LAST_TRIES: Duration = Duration::from_secs(20);
/// Codes after which it is unknown whether the change was made.
const UNKNOWN: [&str; 5] =
    ["STORE_BUSY", "OUTCOME_UNKNOWN", "IDEMPOTENCY_RUNNING", "TIMEOUT", "CANCELLED"];

/// A client of one user.
pub(super) struct Client {
    number: usize,
    address: SocketAddr,
    key: String,
    folder: PathBuf,
    random: Random,
    calls: u64,
    /// What must not have been seen.
    violations: Vec<String>,
}

/// The end of a call.
enum Answer {
    Data(Value),
    /// Refused, with the code.
    Refused(String),
    /// No reply, or not one of the server.
    None(String),
}

impl Client {
    pub(super) fn new(
        number: usize,
        address: SocketAddr,
        key: String,
        folder: &Path,
        seed: u64,
    ) -> Self {
        let random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let folder = folder.to_owned();
        Self { number, address, key, folder, random, calls: 0, violations: Vec::new() }
    }

    /// Works until told to stop; returns what must not have been seen.
    pub(super) fn run(mut self, tenant: usize, stop: &AtomicBool) -> Vec<String> {
        let mut history = History::create(&self.folder, self.number, tenant);
        let mine = canary(tenant);
        let deck = loop {
            let arguments = json!({"name": format!("{mine} {}", self.number)});
            let trace = self.trace();
            let answer = self.call("create-deck", &arguments, Some("deck"), &trace);
            if let Answer::Data(made) = answer {
                break at(&made, "/deck/deckId").clone();
            }
            std::thread::sleep(Duration::from_millis(200));
            if stop.load(Ordering::Relaxed) {
                return self.violations;
            }
        };
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            number += 1;
            let front = format!("{mine} {} {number}", self.number);
            if let Some(card) = self.create(&mut history, &deck, &front, stop) {
                self.read_back(&card, &front);
            }
            if number % 8 == 0 {
                self.look_for_others(&mine);
            }
        }
        self.violations
    }

    /// Creates a card. One in five is tried once only, so that its fate may remain unknown.
    fn create(
        &mut self,
        history: &mut History,
        deck: &Value,
        front: &str,
        stop: &AtomicBool,
    ) -> Option<Value> {
        let once = self.random.below(5) == 0;
        let arguments = json!({"deckId": deck, "front": front, "back": "b"});
        let mut stopped: Option<Instant> = None;
        loop {
            let trace = self.trace();
            history.note(front, Event::Invoke(trace.clone()));
            match self.call("create-card", &arguments, Some(front), &trace) {
                Answer::Data(made) => {
                    history.note(front, Event::Ok);
                    return made.pointer("/note/cardIds/0").cloned();
                }
                Answer::Refused(code) if code == "RATE_LIMITED" => {
                    history.note(front, Event::Fail(code));
                    std::thread::sleep(Duration::from_millis(200));
                }
                Answer::Refused(code) => {
                    if !UNKNOWN.contains(&code.as_str()) {
                        self.violations.push(format!("`{front}` was answered {code}"));
                    }
                    history.note(front, Event::Unknown(code));
                }
                Answer::None(why) => history.note(front, Event::Unknown(why)),
            }
            if stop.load(Ordering::Relaxed) {
                let since = *stopped.get_or_insert_with(Instant::now);
                if since.elapsed() > LAST_TRIES {
                    self.violations.push(format!("`{front}` finds no server after the storm"));
                    return None;
                }
            }
            if once {
                return None;
            }
            let pause = 20 + self.random.below(80) as u64;
            std::thread::sleep(Duration::from_millis(pause));
        }
    }

    /// An acknowledged card is there for every replica, as it was written.
    fn read_back(&mut self, card: &Value, front: &str) {
        let trace = self.trace();
        match self.call("get-card", &json!({"cardId": card}), None, &trace) {
            Answer::Data(found) if *at(&found, "/fields/Front") == json!(front) => {}
            Answer::Data(found) => {
                let found = at(&found, "/fields/Front");
                self.violations.push(format!("{card} is `{front}` and was read as {found}"));
            }
            Answer::Refused(code) if code == "CARD_NOT_FOUND" => {
                self.violations.push(format!("`{front}` was acknowledged and is not found"));
            }
            Answer::Refused(_) | Answer::None(_) => {}
        }
    }

    /// The decks of a user are those of a user.
    fn look_for_others(&mut self, mine: &str) {
        let trace = self.trace();
        if let Answer::Data(found) = self.call("list-decks", &json!({}), None, &trace) {
            let text = found.to_string();
            let all = text.matches("canary-").count();
            let own = text.matches(mine).count();
            if all != own || all == 0 {
                self.violations.push(format!("{mine} sees {all} names, {own} of them its own"));
            }
        }
    }

    /// A trace id that no other call has.
    fn trace(&mut self) -> String {
        self.calls += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", self.number + 1, self.calls)
    }

    fn call(&mut self, tool: &str, arguments: &Value, key: Option<&str>, trace: &str) -> Answer {
        let trace = trace.replace('-', "");
        let mut meta = json!({"traceparent": format!("00-{trace}-00000000000000a1-01")});
        if let (Some(key), Some(members)) = (key, meta.as_object_mut()) {
            // Two clients of a user have keys of their own.
            let key = format!("{}:{key}", self.number);
            members.insert("panoply/idempotencyKey".to_owned(), json!(key));
        }
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let reply = match self.post(&request.to_string()) {
            Ok(reply) => reply,
            Err(error) => return Answer::None(format!("no reply: {}", error.kind())),
        };
        if reply.status != 200 {
            // A balancer without a replica, and a replica without its database, answer 503.
            if !matches!(reply.status, 502..=504) {
                self.violations.push(format!("{tool}: {} {}", reply.status, reply.text()));
            }
            return Answer::None(format!("status {}", reply.status));
        }
        let messages = reply.messages();
        let Some(result) = messages.iter().find(|one| *at(one, "/id") == json!(1)) else {
            return Answer::None("a reply without its end".to_owned());
        };
        if *at(result, "/result/isError") == json!(false) {
            return Answer::Data(at(result, "/result/structuredContent/data").clone());
        }
        let text = at(result, "/result/content/0/text").as_str().unwrap_or_default();
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        let code = at(&body, "/error/code").as_str().map(str::to_owned);
        Answer::Refused(code.unwrap_or_else(|| format!("an error without a code: {messages:?}")))
    }

    fn post(&self, body: &str) -> io::Result<HttpReply> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(2))?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
            self.key,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        HttpReply::parse(&answer).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

/// The value at a JSON pointer; null if there is none.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// What is in every text of a user and in none of another.
pub(super) fn canary(tenant: usize) -> String {
    format!("canary-{tenant}-")
}
