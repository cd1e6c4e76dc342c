//! Comparison of an amount in the log with the same amount computed from the fills.

use rust_decimal::Decimal;

/// The outcome of repeated comparisons.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Number of comparisons.
    pub compared: u64,
    /// Number of differences.
    pub disagreements: u64,
    /// The first difference.
    pub first: Option<Discrepancy>,
}

/// A difference between the log and the fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrepancy {
    /// The event whose value differs.
    pub seq: u32,
    /// The value computed from the fills.
    pub by_fills: Decimal,
    /// The value in the log.
    pub in_log: Decimal,
}

impl Comparison {
    pub(super) fn add(&mut self, discrepancy: Discrepancy, tolerance: Decimal) {
        self.compared += 1;
        let difference = discrepancy.by_fills.checked_sub(discrepancy.in_log);
        if difference.is_none_or(|difference| difference.abs() > tolerance) {
            self.disagreements += 1;
            self.first.get_or_insert(discrepancy);
        }
    }
}

/// Compares the changes of a reported amount with the realized profit of the fills.
#[derive(Debug, Default)]
pub struct AmountComparison {
    /// Between consecutive reports.
    steps: Comparison,
    /// Between consecutive reports at flat positions.
    when_flat: Comparison,
    pub(super) last: Option<AmountPair>,
    last_flat: Option<AmountPair>,
    digits: u32,
}

/// Both amounts, and the number of fills so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AmountPair {
    pub(super) by_fills: Decimal,
    pub(super) in_log: Decimal,
    pub(super) fills: u64,
}

impl AmountComparison {
    /// The comparison that counts, and whether it covers every report.
    pub const fn verdict(&self) -> (&Comparison, bool) {
        if self.steps.disagreements * 4 <= self.steps.compared {
            (&self.steps, true)
        } else {
            (&self.when_flat, false)
        }
    }

    /// Declares that both amounts start at zero.
    pub(super) const fn start_at_zero(&mut self) {
        if self.last.is_none() {
            let nothing = AmountPair { by_fills: Decimal::ZERO, in_log: Decimal::ZERO, fills: 0 };
            self.last = Some(nothing);
            self.last_flat = Some(nothing);
        }
    }

    pub(super) fn record(&mut self, seq: u32, now: AmountPair, is_flat: bool) {
        self.digits = self.digits.max(now.in_log.scale().min(8));
        if let Some((discrepancy, tolerance)) =
            self.last.and_then(|last| self.change(seq, last, now))
        {
            self.steps.add(discrepancy, tolerance);
        }
        self.last = Some(now);
        if !is_flat {
            return;
        }
        let change = self.last_flat.and_then(|last| self.change(seq, last, now));
        if let Some((discrepancy, tolerance)) = change {
            self.when_flat.add(discrepancy, tolerance);
        }
        self.last_flat = Some(now);
    }

    /// The change of both amounts, and the tolerance for rounding.
    fn change(
        &self,
        seq: u32,
        before: AmountPair,
        now: AmountPair,
    ) -> Option<(Discrepancy, Decimal)> {
        // Each fill's profit and commission may be rounded, and the amount itself.
        let roundings = Decimal::from(2 * now.fills.saturating_sub(before.fills) + 1);
        let unit = Decimal::new(1, self.digits);
        let noise = now.in_log.abs().checked_mul(Decimal::new(1, 10))?;
        let tolerance = unit.checked_mul(roundings)?.checked_add(noise)?;
        let by_fills = now.by_fills.checked_sub(before.by_fills)?;
        let in_log = now.in_log.checked_sub(before.in_log)?;
        Some((Discrepancy { seq, by_fills, in_log }, tolerance))
    }
}
