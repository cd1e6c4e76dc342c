//! Finding tools by everyday words. The judged tasks were written from docs/tools.md by somebody
//! who had not seen the search. `tuning.json` was looked at while the search terms were written;
//! of `held.json` only the totals were, three times.

use panoply::app::App;
use panoply::config::Config;
use panoply::env_vars::Environment;
use panoply_contract::dialect::Envelope;
use panoply_contract::testing::call_as_owner;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

#[derive(Deserialize)]
struct Task {
    query: String,
    lang: String,
    accept: Vec<String>,
}

#[test]
fn search_tools_finds_the_right_tool_among_the_first_three() {
    let config = Config::load(&Environment::default(), None).unwrap();
    let app = App::in_memory(&config).unwrap();
    let runtime = Runtime::new().unwrap();
    let sets = [
        ("tuning", include_str!("search_tasks/tuning.json"), 0.95),
        ("held", include_str!("search_tasks/held.json"), 0.85),
    ];
    for (name, tasks, least) in sets {
        let tasks: Vec<Task> = serde_json::from_str(tasks).unwrap();
        for lang in ["en", "th"] {
            let tasks: Vec<&Task> = tasks.iter().filter(|task| task.lang == lang).collect();
            let missed: Vec<String> = tasks
                .iter()
                .filter_map(|task| {
                    let input = json!({"query": task.query, "limit": 3});
                    let reply = runtime.block_on(call_as_owner(&app.kernel, "search-tools", input));
                    let found = names(&reply);
                    let right = found.iter().any(|tool| task.accept.contains(tool));
                    (!right).then(|| format!("{}: {found:?}", task.query))
                })
                .collect();
            let share = 1.0 - missed.len() as f64 / tasks.len() as f64;
            println!("{name} {lang}: {share:.3} of {}", tasks.len());
            assert!(share >= least, "{name} {lang}: {share:.3}\n{}", missed.join("\n"));
        }
    }
}

fn names(reply: &Envelope) -> Vec<String> {
    let Envelope::Result { structured: Some(structured), .. } = reply else { panic!("{reply:?}") };
    let structured = structured.value();
    let matches = structured["data"]["matches"].as_array().unwrap();
    matches.iter().map(|found: &Value| found["name"].as_str().unwrap().to_owned()).collect()
}
