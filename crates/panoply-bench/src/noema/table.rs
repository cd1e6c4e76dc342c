//! Table of results: our time, the goal, and Anki's time.

use super::peer::Peer;
use super::stopwatch::Elapsed;
use crate::report;

/// The goal of a time, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    None,
    /// CPU time, for operations that do not wait.
    Cpu(f64),
    /// Wall-clock time, for operations that wait for the disk or use all cores.
    Clock(f64),
}

pub(super) struct Table {
    peer: Option<Peer>,
}

impl Table {
    /// Prints the heading.
    pub(super) fn new(peer: Option<Peer>) -> Self {
        report::remark(&format!(
            "{:<58} {:>9} {:>9}  {:<16} {:>9} {:>9} {:>12}",
            "milliseconds", "CPU", "clock", "goal", "Anki CPU", "clock", "Anki / ours"
        ));
        Self { peer }
    }

    /// Prints one time; `peer_name` is the operation in the peer's report.
    pub(super) fn row(&self, name: &str, ours: Elapsed, goal: Goal, peer_name: &str) {
        let verdict = match goal {
            Goal::None => String::new(),
            Goal::Cpu(goal) => format!("{goal} CPU {}", report::verdict(ours.cpu <= goal)),
            Goal::Clock(goal) => format!("{goal} clock {}", report::verdict(ours.wall <= goal)),
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

    /// Prints a rate in millions per second; larger is better.
    pub(super) fn rate(&self, name: &str, millions: f64, goal: f64) {
        let verdict = report::verdict(millions >= goal);
        report::remark(&format!("{name:<58} {millions:>8.2}M {:>9}  {goal} M {verdict}", ""));
    }
}
