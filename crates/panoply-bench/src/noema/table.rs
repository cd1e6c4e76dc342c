//! One line for each figure: ours, the goal, and what Anki takes for the same.

use super::peer::Peer;
use super::stopwatch::Elapsed;
use crate::report;

/// What a figure may be at most, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    None,
    /// Of the processor: for what waits for nobody.
    Cpu(f64),
    /// By the clock: for what waits for the disk, or works on all cores.
    Clock(f64),
}

pub(super) struct Table {
    peer: Option<Peer>,
}

impl Table {
    /// Begins with the heading.
    pub(super) fn new(peer: Option<Peer>) -> Self {
        report::remark(&format!(
            "{:<58} {:>9} {:>9}  {:<16} {:>9} {:>9} {:>12}",
            "milliseconds", "CPU", "clock", "goal", "Anki CPU", "clock", "Anki / ours"
        ));
        Self { peer }
    }

    /// A figure of ours, and the name of the same thing in the peer's report.
    pub(super) fn row(&self, name: &str, ours: Elapsed, goal: Goal, peer_name: &str) {
        let verdict = match goal {
            Goal::None => String::new(),
            Goal::Cpu(goal) => format!("{goal} CPU {}", met(ours.cpu <= goal)),
            Goal::Clock(goal) => format!("{goal} clock {}", met(ours.wall <= goal)),
        };
        let peer_name = self.peer.as_ref().and_then(|peer| peer.time_work(peer_name));
        let new = peer_name.map_or_else(String::new, |peer_name| {
            let ratio = match goal {
                Goal::None | Goal::Cpu(_) => peer_name.cpu / ours.cpu,
                Goal::Clock(_) => peer_name.wall / ours.wall,
            };
            format!(" {:>9.3} {:>9.3} {ratio:>11.2}×", peer_name.cpu, peer_name.wall)
        });
        report::remark(&format!(
            "{name:<58} {:>9.3} {:>9.3}  {verdict:<16}{new}",
            ours.cpu, ours.wall
        ));
    }

    /// Millions a second, which should be many.
    pub(super) fn rate(&self, name: &str, millions: f64, goal: f64) {
        let verdict = met(millions >= goal);
        report::remark(&format!("{name:<58} {millions:>8.2}M {:>9}  {goal} M {verdict}", ""));
    }
}

const fn met(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}
