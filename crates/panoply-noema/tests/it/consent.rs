//! Approval of drafts by elicitation: the person decides about exactly the content shown.

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

/// An elicitor with a fixed answer that runs `meanwhile` before it answers.
struct Person {
    answer: Answer,
    asked: AtomicUsize,
    meanwhile: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Person {
    fn with_answer(answer: Answer) -> Arc<Self> {
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

struct Fixture {
    kernel: Arc<Kernel>,
    clock: Arc<FixedClock>,
    draft: Value,
}

impl Fixture {
    async fn new() -> Self {
        let clock = FixedClock::at(noon());
        let pack = pack(sample::store().unwrap());
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

    /// Tool, status and code of the audit rows about elicitation and approval, oldest first.
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
            .map(|entry| (entry.tool.into_owned(), entry.audit.status, entry.error_code))
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
async fn accepted_elicitation_approves_once_and_is_audited() {
    let fixture = Fixture::new().await;
    let person = Person::with_answer(Answer::Accepted);
    let first = fixture.approve(Profile::Agent, Some(Arc::clone(&person)), "k").await;
    assert_eq!(data(&first)["changed"], 1);
    assert!(!fixture.is_draft().await);
    // A retry with the same key returns the stored reply without another question.
    let again = fixture.approve(Profile::Agent, Some(Arc::clone(&person)), "k").await;
    assert_eq!(data(&again), data(&first));
    assert_eq!(person.asked(), 1);
    let asked = ("elicitation/create".to_owned(), Status::Ok, None);
    let approved = ("approve-drafts".to_owned(), Status::Ok, None);
    assert_eq!(fixture.rows().await, [asked, approved.clone(), approved]);
}

#[tokio::test]
async fn other_answers_change_nothing_and_return_a_hint() {
    let cases = [
        (Answer::Declined, "APPROVAL_DECLINED"),
        (Answer::Cancelled, "APPROVAL_CANCELLED"),
        (Answer::Unanswered, "APPROVAL_UNANSWERED"),
        (Answer::Undelivered, "APPROVAL_UNDELIVERED"),
        (Answer::Stale, "APPROVAL_STALE"),
    ];
    for (answer, code) in cases {
        let fixture = Fixture::new().await;
        let reply = fixture.approve(Profile::Agent, Some(Person::with_answer(answer)), "k").await;
        assert_eq!(error_code(&reply).as_deref(), Some(code));
        assert!(fixture.is_draft().await, "{code}");
        let hint = hint(&reply);
        let names_ways = hint.contains("panoply call approve-drafts") && hint.contains("owner");
        assert!(names_ways || answer == Answer::Stale, "{code}: {hint}");
        let rows = fixture.rows().await;
        let codes: Vec<_> =
            rows.iter().map(|(tool, _, code)| (tool.as_str(), code.as_deref())).collect();
        assert_eq!(codes, [("elicitation/create", Some(code)), ("approve-drafts", Some(code))]);
        // The key is released, so the owner's later decision applies.
        let accepted =
            fixture.approve(Profile::Agent, Some(Person::with_answer(Answer::Accepted)), "k").await;
        assert_eq!(data(&accepted)["changed"], 1, "{code}");
    }
}

#[tokio::test]
async fn refusal_without_elicitation_lists_alternatives() {
    let fixture = Fixture::new().await;
    let reply = fixture.approve(Profile::Agent, None, "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("FORBIDDEN"));
    let hint = hint(&reply);
    for way in ["elicitation", "console", "panoply call approve-drafts", "owner's key"] {
        assert!(hint.contains(way), "{hint}");
    }
}

#[tokio::test]
async fn reader_profile_cannot_trigger_elicitation() {
    let fixture = Fixture::new().await;
    let person = Person::with_answer(Answer::Accepted);
    let reply = fixture.approve(Profile::Reader, Some(Arc::clone(&person)), "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("FORBIDDEN"));
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn card_changed_after_elicitation_is_not_approved() {
    let fixture = Fixture::new().await;
    let (kernel, draft) = (Arc::clone(&fixture.kernel), fixture.draft.clone());
    let person = Person::after(Answer::Accepted, move || {
        let (kernel, draft) = (Arc::clone(&kernel), draft.clone());
        Box::pin(async move {
            let change = json!({"cardId": draft, "fields": {"Back": "not what was agreed to"}});
            data(&call_as_owner(&kernel, "update-card", change).await);
        })
    });
    let reply = fixture.approve(Profile::Agent, Some(person), "k").await;
    assert_eq!(error_code(&reply).as_deref(), Some("APPROVAL_STALE"));
    assert!(fixture.is_draft().await);
}

#[tokio::test]
async fn elicitation_may_outlast_the_tool_deadline() {
    let fixture = Fixture::new().await;
    let clock = Arc::clone(&fixture.clock);
    let person = Person::after(Answer::Accepted, move || {
        clock.advance(Duration::from_secs(200));
        Box::pin(std::future::ready(()))
    });
    assert_eq!(data(&fixture.approve(Profile::Agent, Some(person), "k").await)["changed"], 1);
}

#[tokio::test]
async fn caller_has_one_open_question_at_a_time() {
    let fixture = Arc::new(Fixture::new().await);
    let other = Arc::clone(&fixture);
    let person = Person::after(Answer::Declined, move || {
        let fixture = Arc::clone(&other);
        Box::pin(async move {
            let second = fixture
                .approve(Profile::Agent, Some(Person::with_answer(Answer::Accepted)), "2")
                .await;
            assert_eq!(error_code(&second).as_deref(), Some("APPROVAL_PENDING"));
        })
    });
    let first = fixture.approve(Profile::Agent, Some(person), "1").await;
    assert_eq!(error_code(&first).as_deref(), Some("APPROVAL_DECLINED"));
    assert!(fixture.is_draft().await);
}
