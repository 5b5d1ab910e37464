//! Tidy CSV: one observation per row, one variable per column.

use super::{PricedRun, Program};
use crate::price::Cause;

/// The columns.
const HEADER: &str = "technology,frequency_hz,volt,phase,function,file,line,address,subject,cause,times,status,joules,joules_at_the_plug\n";

/// Bills as CSV (RFC 4180, except that lines end in a line feed): a row for each item and cause, in the order of the
/// bills.
///
/// `joules` is the energy in joules in the device, written so that it reads back exactly; `joules_at_the_plug` is with cooling. `times` counts uses of the gate class that is
/// the subject, instructions that are fetched, accesses to registers, words of traffic, or bits lost. `status` is the weakest of the figures behind
/// the energy: measured, simulated, projected or assumed. Fields that are unknown or do not apply are empty. Items that cost
/// nothing are left out, unless a whole bill costs nothing; then they have no cause.
pub fn csv(program: &Program<'_>, priced: &[PricedRun<'_>]) -> String {
    let mut out = String::from(HEADER);
    for PricedRun { device, bill, basis, .. } in priced {
        let free = bill.total().total() == 0.0;
        let conditions = [
            quoted(device.technology().name()),
            device.hertz().map(|hertz| hertz.to_string()).unwrap_or_default(),
            device.volt().map(|volt| volt.to_string()).unwrap_or_default(),
        ];
        for item in &bill.items {
            let origin = program.origin(item);
            let mut row = |cause: &str, status: &str, joules: f64| {
                let fields = [
                    quoted(item.phase.name()),
                    quoted(origin.function.unwrap_or_default()),
                    quoted(origin.file),
                    origin.line.map(|line| line.to_string()).unwrap_or_default(),
                    item.at.map(|at| at.to_string()).unwrap_or_default(),
                    item.subject.name().to_string(),
                    cause.to_string(),
                    item.times.to_string(),
                    status.to_string(),
                    format!("{joules:e}"),
                    format!("{:e}", joules * device.plug()),
                ];
                out += &conditions.join(",");
                out.push(',');
                out += &fields.join(",");
                out.push('\n');
            };
            if free {
                row("", "", 0.0);
                continue;
            }
            for cause in Cause::ALL {
                let joules = item.joules[cause];
                if joules != 0.0 {
                    row(cause.name(), basis.of(item.subject, cause).name(), joules);
                }
            }
        }
    }
    out
}

/// A field, in quotes if necessary.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}
