//! Executed instructions by what they are for: a bar for each function and each routine.

use plotters::style::text_anchor::{HPos, VPos};

use super::bars::FILLS;
use super::canvas::{INK, PALE, Pen, TEXT, render, text_width};
use super::chart::{Legend, LegendKey};
use super::nothing;
use crate::level::{Role, Roles};

/// A bar of the plot.
#[derive(Clone, Debug)]
pub struct RoleBar {
    /// What ran.
    pub name: String,
    /// Its executed instructions.
    pub roles: Roles,
}

/// The most bars that are plotted.
const BARS: usize = 40;
const TOP: f64 = 16.0;
const ROW: f64 = 28.0;
const LENGTH: f64 = 420.0;

/// Plots executed instructions by role: for each function or routine a bar with parts in percent, and beside it the uncomputing level and how
/// many instructions were executed. The first forty are shown.
pub fn roles(bars: &[RoleBar]) -> String {
    let shown: Vec<&RoleBar> = bars.iter().filter(|bar| bar.roles.all() > 0).take(BARS).collect();
    if shown.is_empty() {
        return nothing("nothing was executed");
    }
    let left = 24.0 + shown.iter().map(|bar| text_width(&bar.name, TEXT)).fold(0.0, f64::max);
    let right = left + LENGTH;
    let bottom = TOP + ROW * shown.len() as f64;
    let notes: Vec<String> = shown
        .iter()
        .map(|bar| {
            let level = bar.roles.paired().map_or_else(|| "-".to_string(), |level| format!("{level:.2}"));
            format!("{level} of {}", bar.roles.all())
        })
        .collect();
    let noted = notes.iter().map(|note| text_width(note, TEXT)).fold(0.0, f64::max);
    let mut legend = Legend::default();
    for (n, role) in Role::ALL.into_iter().enumerate() {
        if shown.iter().any(|bar| bar.roles.get(role) > 0) {
            legend.add(LegendKey::Fill(FILLS[n].0, FILLS[n].1), role.name());
        }
    }
    legend.add(LegendKey::None, "");
    legend.add(LegendKey::None, "level (paired), instructions");
    let beside = right + noted + 40.0;
    let height = (bottom + 56.0).max(TOP + legend.height() + 10.0);
    render(beside + legend.width() + 12.0, height, |canvas| {
        for percent in (0..=100).step_by(20) {
            let x = left + LENGTH * f64::from(percent) / 100.0;
            canvas.line(&[(x, TOP), (x, bottom)], Pen::new(PALE, 0.8));
            canvas.line(&[(x, bottom), (x, bottom - 6.0)], Pen::new(INK, 1.0));
            canvas.text(&percent.to_string(), (x, bottom + 14.0), TEXT, (HPos::Center, VPos::Center), INK);
        }
        for (n, (bar, note)) in shown.iter().zip(&notes).enumerate() {
            let (top, middle) = (TOP + ROW * n as f64 + 4.0, TOP + ROW * (n as f64 + 0.5));
            let whole = bar.roles.all() as f64;
            let mut x = left;
            for (fill, role) in Role::ALL.into_iter().enumerate() {
                let to = x + LENGTH * bar.roles.get(role) as f64 / whole;
                if to > x {
                    canvas.hatched((x, top), (to, top + ROW - 8.0), FILLS[fill].0, FILLS[fill].1);
                }
                x = to;
            }
            canvas.text(&bar.name, (left - 8.0, middle), TEXT, (HPos::Right, VPos::Center), INK);
            canvas.text(note, (right + 10.0, middle), TEXT, (HPos::Left, VPos::Center), INK);
        }
        canvas.line(&[(left, TOP), (left, bottom), (right, bottom)], Pen::new(INK, 1.0));
        let middle = (left + right) / 2.0;
        canvas.text(
            "Executed instructions (%)",
            (middle, bottom + 40.0),
            TEXT + 2.0,
            (HPos::Center, VPos::Center),
            INK,
        );
        legend.draw(canvas, (beside, TOP));
    })
}
