//! Approval of drafts by elicitation: an agent calls, a person decides about exactly what is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::audit::{AuditFilter, Status};
use panoply_contract::compliance::error_code;
use panoply_contract::consent::{Answer, Elicitor, Question};
use panoply_contract::context::Caller;
use panoply_contract::dialect::{ERROR_KEY, Envelope};
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::permission::Profile;
use panoply_contract::testing::{FixedClock, call_as_owner, call_with, kernel_in_memory, noon};
use panoply_noema::tools::{pack, sample};
use serde_json::{Value, json};

/// A person who always answers the same, and something that happens while they think.
struct Person {
    answer: Answer,
    asked: AtomicUsize,
    meanwhile: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Person {
    fn who(answer: Answer) -> Arc<Self> {
        Self::after(answer, || Box::pin(std::future::ready(())))
    }

    fn after(
        answer: Answer,
        meanwhile: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { answer, asked: AtomicUsize::new(0), meanwhile: Box::new(meanwhile) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Elicitor for Person {
    fn ask(&self, question: Question, _: Duration) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            assert!(question.message.contains("“capital of Thailand?”"), "{}", question.message);
            assert!(question.message.contains("1 draft card "), "{}", question.message);
            (self.meanwhile)().await;
            self.answer
        })
    }
}

struct House {
    kernel: Arc<Kernel>,
    clock: Arc<FixedClock>,
    draft: Value,
}

impl House {
    async fn new() -> Self {
        let clock = FixedClock::at(noon());
        let pack = pack(Arc::new(sample::store().unwrap()));
        let kernel = kernel_in_memory(vec![pack], clock.clone(), Settings::default()).unwrap();
        let card =
            json!({"deckId": "deck_456", "front": "capital of Thailand?", "back": "Bangkok"});
        let made = data(&call_as_owner(&kernel, "create-card", card).await);
        let draft = made.pointer("/note/cardIds/0").cloned().unwrap();
        Self { kernel, clock, draft }
    }

    async fn approve(&self, profile: Profile, person: Option<Arc<Person>>, key: &str) -> Envelope {
        let input = json!({"cardIds": [self.draft]});
        call_with(&self.kernel, "approve-drafts", input, |cx| {
            cx.caller = Caller::local(profile);
            cx.elicitor = person.map(|person| person as Arc<dyn Elicitor>);
            cx.idempotency_key = Some(key.to_owned());
        })
        .await
    }

    async fn is_draft(&self) -> bool {
        let card = call_as_owner(&self.kernel, "get-card", json!({"cardId": self.draft})).await;
        data(&card).pointer("/schedule/state") == Some(&json!("draft"))
    }

    /// Tool, status and code of each row about questions and approvals, oldest first.
    async fn rows(&self) -> Vec<(String, Status, Option<String>)> {
        let rows = self
            .kernel
            .audit()
            .read(AuditFilter { limit: 100, ..AuditFilter::default() })
            .await
            .unwrap();
        let rows = rows.into_iter().rev().map(|row| row.entry);
        let about = |tool: &str| ["elicitation/create", "approve-drafts"].contains(&tool);
        rows.filter(|entry| about(&entry.tool))
            .map(|entry| (entry.tool, entry.audit.status, entry.error_code))
            .collect()
    }
}

fn hint(reply: &Envelope) -> String {
    let Envelope::Result { meta, .. } = reply else { panic!("{reply:?}") };
    let error = meta.value(ERROR_KEY);
    error.pointer("/error/hint").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn data(reply: &Envelope) -> Value {
    let Envelope::Result { structured: Some(json), is_error: false, .. } = reply else {
        panic!("{reply:?}");
    };
    json.value().get("data").cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_person_who_accepts_approves_the_draft_once_and_the_log_says_how() {
    let house = House::new().await;
    let person = Person::who(Answer::Accepted);
    let first = house.approve(Profile::Agent, Some(Arc::clone(&person)), "k").await;
    assert_eq!(data(&first)["changed"], 1);
    assert!(!house.is_draft().await);
    // A retry with the same key brings the same reply, and nobody is asked again.
    let again = house.approve(Profile::Agent, Some(Arc::clone(&person)), "k").await;
    assert_eq!(data(&again), data(&first));
    assert_eq!(person.asked(), 1);
    let asked = ("elicitation/create".to_owned(), Status::Ok, None);
    let approved = ("approve-drafts".to_owned(), Status::Ok, None);
    assert_eq!(house.rows().await, [asked, approved.clone(), approved]);
}

#[tokio::test]
async fn every_other_answer_changes_nothing_and_says_what_to_do() {
    let cases = [
        (Answer::Declined, "APPROVAL_DECLINED"),
        (Answer::Cancelled, "APPROVAL_CANCELLED"),
        (Answer::Unanswered, "APPROVAL_UNANSWERED"),
        (Answer::Undelivered, "APPROVAL_UNDELIVERED"),
        (Answer::Stale, "APPROVAL_STALE"),
    ];
    for (answer, code) in cases {
        let house = House::new().await;
        let reply = house.approve(Profile::Agent, Some(Person::who(answer)), "k").await;
        assert_eq!(error_code(&reply).as_deref(), Some(code));
        assert!(house.is_draft().await, "{code}");
        let hint = hint(&reply);
        let names_ways = hint.contains("panoply call approve-drafts") && hint.contains("owner");
        assert!(names_ways || answer == Answer::Stale, "{code}: {hint}");
        let rows = house.rows().await;
        let codes: Vec<_> =
            rows.iter().map(|(tool, _, code)| (tool.as_str(), code.as_deref())).collect();
        assert_eq!(codes, [("elicitation/create", Some(code)), ("approve-drafts", Some(code))]);
        // The key is free again: the owner's decision later counts.
        let accepted =
            house.approve(Profile::Agent, Some(Person::who(Answer::Accepted)), "k").await;
        assert_eq!(data(&accepted)["changed"], 1, "{code}");
    }
}

#[tokio::test]
async fn without_a_person_to_ask_the_refusal_names_the_ways() {
    let house = House::new().await;
    let reply = house.approve(Profile::Agent, None, "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("FORBIDDEN"));
    let hint = hint(&reply);
    for way in ["elicitation", "console", "panoply call approve-drafts", "owner's key"] {
        assert!(hint.contains(way), "{hint}");
    }
}

#[tokio::test]
async fn a_reader_cannot_have_a_person_asked() {
    let house = House::new().await;
    let person = Person::who(Answer::Accepted);
    let reply = house.approve(Profile::Reader, Some(Arc::clone(&person)), "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("FORBIDDEN"));
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn a_card_that_changed_after_it_was_shown_is_not_approved() {
    let house = House::new().await;
    let (kernel, draft) = (Arc::clone(&house.kernel), house.draft.clone());
    let person = Person::after(Answer::Accepted, move || {
        let (kernel, draft) = (Arc::clone(&kernel), draft.clone());
        Box::pin(async move {
            let change = json!({"cardId": draft, "fields": {"Back": "not what was agreed to"}});
            data(&call_as_owner(&kernel, "update-card", change).await);
        })
    });
    let reply = house.approve(Profile::Agent, Some(person), "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("APPROVAL_STALE"));
    assert!(house.is_draft().await);
}

#[tokio::test]
async fn a_person_may_think_longer_than_the_deadline_of_the_tool() {
    let house = House::new().await;
    let clock = Arc::clone(&house.clock);
    let person = Person::after(Answer::Accepted, move || {
        clock.advance(Duration::from_secs(200));
        Box::pin(std::future::ready(()))
    });
    assert_eq!(data(&house.approve(Profile::Agent, Some(person), "k").await)["changed"], 1);
}

#[tokio::test]
async fn a_caller_has_one_open_question_at_a_time() {
    let house = Arc::new(House::new().await);
    let other = Arc::clone(&house);
    let person = Person::after(Answer::Declined, move || {
        let house = Arc::clone(&other);
        Box::pin(async move {
            let second =
                house.approve(Profile::Agent, Some(Person::who(Answer::Accepted)), "2").await;
            assert_eq!(error_code(&second).as_deref(), Some("APPROVAL_PENDING"));
        })
    });
    let first = house.approve(Profile::Agent, Some(person), "1").await;
    assert_eq!(error_code(&first).as_deref(), Some("APPROVAL_DECLINED"));
    assert!(house.is_draft().await);
}
