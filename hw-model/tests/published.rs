//! The model beside published figures.

use pendula_hw_model::Technology;
use pendula_hw_model::published::{ROWS, Role, compared, markdown};

#[test]
fn figures_that_were_not_used_are_met() {
    let all = compared();
    // A row whose technology or circuit is missing would be left out.
    assert_eq!(all.len(), ROWS.len());
    let validating: Vec<_> = all.iter().filter(|c| matches!(c.row.role, Role::Validates { .. })).collect();
    // Those whose level is tested, and not only how it scales with widths.
    let levels = || validating.iter().filter(|c| matches!(c.row.role, Role::Validates { level: true, .. }));
    let close = levels().filter(|c| c.is_close()).count();
    assert!(levels().count() >= 6, "{}", levels().count());
    assert!(close >= 4, "{close}");
    for c in validating {
        let Role::Validates { reason, .. } = c.row.role else { continue };
        assert_eq!(c.is_close(), reason.is_empty(), "{} on {:?}: {}", c.row.what, c.row.technologies, c.ratio());
    }
}

#[test]
fn what_was_put_in_comes_back() {
    for c in compared().iter().filter(|c| matches!(c.row.role, Role::Fitted(_))) {
        let (low, _, high) = c.row.published;
        let near = c.nominal >= 0.8 * low && c.nominal <= 1.2 * high;
        assert!(near, "{} on {:?}: {}", c.row.what, c.row.technologies, c.ratio());
    }
}

#[test]
fn rows_are_sound() {
    for row in ROWS {
        let (low, middle, high) = row.published;
        assert!(0.0 < low && low <= middle && middle <= high, "{}", row.what);
        assert!(["", "J"].contains(&row.unit));
        assert!(row.technologies.iter().all(|name| Technology::preset(name).is_some()), "{}", row.what);
    }
    let page = markdown();
    assert_eq!(page.matches("\n| ").count(), ROWS.len() + 3);
}
