//! SVG: circuit diagrams.
//!
//! Reversible gates are drawn as quantum circuits are: a line for each wire, a dot for a control, ⊕ for what is complemented, × for what is exchanged. Cells of
//! conventional logic stand in columns by their levels.

use std::fmt::{self, Write};

use pendula_isa::circuit::{Circuit, Gate, Register, Role};

use super::dot::symbol;
use super::{ExportError, Head, Netted};
use crate::network::{CellNetwork, Source};

/// The most wires, and the most columns of gates, of a diagram.
const WIRES: usize = 80;
const COLUMNS: usize = 240;
/// The most cells.
const CELLS: usize = 160;

const ROW: f64 = 22.0;
const COLUMN: f64 = 24.0;
/// Space above.
const TOP: f64 = 72.0;
const INK: &str = "#1b1b1b";
const FAINT: &str = "#9aa0a6";
const ACCENT: &str = "#0b57d0";

pub(super) fn svg(head: &Head, netted: &Netted<'_>) -> Result<String, ExportError> {
    match netted {
        Netted::Gates(circuit) => gates(head, circuit),
        Netted::Cells(network) => cells(head, network),
    }
}

/// Space for names.
fn space<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    24.0 + 7.4 * longest as f64
}

/// The text of a drawing.
struct Drawing(String);

impl Drawing {
    fn new(head: &Head, width: f64, height: f64) -> Result<Drawing, fmt::Error> {
        // Wide enough for the lines above.
        let longest = head.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let width = width.max(longest as f64 * 6.6 + 24.0);
        let mut text = String::new();
        writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            head.name
        )?;
        let mut drawing = Drawing(text);
        for (n, line) in head.lines.iter().enumerate() {
            drawing.text(12.0, 18.0 + 16.0 * n as f64, "start", INK, line)?;
        }
        Ok(drawing)
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, colour: &str, text: &str) -> fmt::Result {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        writeln!(self.0, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>")
    }

    fn line(&mut self, [x, y]: [f64; 2], [u, v]: [f64; 2], colour: &str, width: f64) -> fmt::Result {
        writeln!(
            self.0,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{u}\" y2=\"{v}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        )
    }

    fn circle(&mut self, [x, y]: [f64; 2], r: f64, fill: &str, stroke: &str) -> fmt::Result {
        writeln!(self.0, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{stroke}\"/>")
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn gates(head: &Head, circuit: &Circuit) -> Result<String, ExportError> {
    let wires = circuit.wires() as usize;
    let mut row = vec![0; wires];
    let order = circuit.registers().iter().flat_map(|r| &r.wires);
    order.enumerate().for_each(|(at, wire)| row[*wire as usize] = at);
    let rows = |gate: &Gate| {
        let rows: Vec<usize> = gate.wires().map(|w| row[w as usize]).collect();
        rows.iter().copied().min().unwrap_or(0)..=rows.iter().copied().max().unwrap_or(0)
    };
    // A gate stands in the first column in which nothing else is on its rows.
    let mut free = vec![0; wires];
    let mut placed = Vec::with_capacity(circuit.gates().len());
    for gate in circuit.gates() {
        let column = rows(gate).map(|row| free[row]).max().unwrap_or(0);
        rows(gate).for_each(|row| free[row] = column + 1);
        placed.push(column);
    }
    let columns = free.iter().copied().max().unwrap_or(0);
    if wires > WIRES {
        return Err(ExportError::Size { what: format!("{wires} wires"), most: WIRES });
    }
    if columns > COLUMNS {
        return Err(ExportError::Size { what: format!("{columns} columns of gates"), most: COLUMNS });
    }
    // A little space between registers.
    let mut y = vec![0.0; wires];
    let mut below = TOP;
    for register in circuit.registers() {
        for wire in &register.wires {
            below += ROW;
            y[*wire as usize] = below;
        }
        below += ROW / 2.0;
    }
    let label = |register: &Register, bit: usize| {
        let name = if register.wires.len() == 1 { String::new() } else { format!("[{bit}]") };
        let zero = matches!(register.role, Role::Ancilla | Role::Trap);
        format!("{}{name}{}", register.name, if zero { " = 0" } else { "" })
    };
    let labels: Vec<String> = circuit.registers().iter().map(|r| label(r, r.wires.len().saturating_sub(1))).collect();
    let left = space(labels.iter().map(String::as_str));
    let right = left + COLUMN * (columns as f64 + 1.0);
    let mut d = Drawing::new(head, right + left, below + ROW / 2.0)?;
    for register in circuit.registers() {
        let ancilla = register.role == Role::Ancilla;
        let colour = if ancilla { FAINT } else { INK };
        for (bit, wire) in register.wires.iter().enumerate() {
            let y = y[*wire as usize];
            d.line([left, y], [right, y], colour, 1.0)?;
            d.text(left - 8.0, y + 4.0, "end", colour, &label(register, bit))?;
        }
        for (bit, wire) in register.after.iter().enumerate() {
            let name = label(register, bit);
            let name = if ancilla { "0" } else { name.trim_end_matches(" = 0") };
            d.text(right + 8.0, y[*wire as usize] + 4.0, "start", colour, name)?;
        }
    }
    for (gate, column) in circuit.gates().iter().zip(placed) {
        let x = left + COLUMN * (column as f64 + 1.0);
        let at = |wire: u32| y[wire as usize];
        let ends: Vec<f64> = gate.wires().map(at).collect();
        let top = ends.iter().copied().fold(f64::MAX, f64::min);
        let bottom = ends.iter().copied().fold(f64::MIN, f64::max);
        if bottom > top {
            d.line([x, top], [x, bottom], ACCENT, 1.4)?;
        }
        gate.controls().try_for_each(|wire| d.circle([x, at(wire)], 3.6, ACCENT, ACCENT))?;
        for wire in gate.targets() {
            let y = at(wire);
            if let Gate::Cswap(..) = gate {
                d.line([x - 5.0, y - 5.0], [x + 5.0, y + 5.0], ACCENT, 1.6)?;
                d.line([x - 5.0, y + 5.0], [x + 5.0, y - 5.0], ACCENT, 1.6)?;
            } else {
                d.circle([x, y], 7.0, "#ffffff", ACCENT)?;
                d.line([x - 7.0, y], [x + 7.0, y], ACCENT, 1.4)?;
                d.line([x, y - 7.0], [x, y + 7.0], ACCENT, 1.4)?;
            }
        }
    }
    Ok(d.finish())
}

const LEVEL: f64 = 76.0;
const CELL: f64 = 30.0;
const RADIUS: f64 = 10.0;

fn cells(head: &Head, network: &CellNetwork) -> Result<String, ExportError> {
    if network.cells.len() > CELLS {
        return Err(ExportError::Size { what: format!("{} cells", network.cells.len()), most: CELLS });
    }
    let first = network.first();
    let mut names = vec!["0".to_string()];
    for (name, width) in &network.inputs {
        names.extend((0..*width).map(|bit| if *width == 1 { name.clone() } else { format!("{name}[{bit}]") }));
    }
    let outputs = network.outputs.iter().flat_map(|output| {
        let name = |bit: usize| match output.bits.len() {
            1 => output.name.clone(),
            _ => format!("{}[{bit}]", output.name),
        };
        output.bits.iter().enumerate().map(move |(bit, source)| (name(bit), *source))
    });
    let outputs: Vec<(String, Source)> = outputs.collect();
    // A constant that a cell reads makes it another cell.
    let has_zero = outputs.iter().any(|(_, s)| s.number == 0);
    // Columns of what stands in them: inputs, the cells of each level, outputs; the last as numbers behind the cells.
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); network.levels as usize + 2];
    columns[0] = (usize::from(!has_zero)..first).collect();
    for (n, placed) in network.cells.iter().enumerate() {
        columns[placed.level as usize].push(first + n);
    }
    let last = first + network.cells.len();
    columns[network.levels as usize + 1] = (last..last + outputs.len()).collect();
    let fanins = |number: usize| -> Vec<Source> {
        match number.checked_sub(first) {
            None => Vec::new(),
            Some(n) => match network.cells.get(n) {
                Some(placed) => placed.fanins.iter().copied().filter(|s| s.number > 0).collect(),
                None => vec![outputs[number - last].1],
            },
        }
    };
    let most = columns.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let mut y = vec![0.0; last + outputs.len()];
    let spread = |column: &[usize], y: &mut [f64]| {
        let step = most * CELL / column.len() as f64;
        column.iter().enumerate().for_each(|(at, number)| y[*number] = TOP + CELL / 2.0 + step * (at as f64 + 0.5));
    };
    spread(&columns[0], &mut y);
    for column in &mut columns[1..] {
        // In the order of the middle of what each reads.
        let middle = |number: &usize| {
            let fanins = fanins(*number);
            fanins.iter().map(|s| y[s.number]).sum::<f64>() / fanins.len().max(1) as f64
        };
        let mut order: Vec<(f64, usize)> = column.iter().map(|number| (middle(number), *number)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        *column = order.into_iter().map(|(_, number)| number).collect();
        spread(column, &mut y);
    }
    let left = space(names.iter().chain(outputs.iter().map(|(name, _)| name)).map(String::as_str));
    let x = |column: usize| left + LEVEL * column as f64;
    let mut column_of = vec![0; last + outputs.len()];
    columns.iter().enumerate().for_each(|(at, column)| column.iter().for_each(|n| column_of[*n] = at));
    let legend = "& and, ∨ or, ⊕ exclusive or, M majority, 1 buffer or splitter, ∘ complement";
    let head = &Head { lines: head.lines.iter().cloned().chain([legend.to_string()]).collect(), ..head.clone() };
    let mut d = Drawing::new(head, x(columns.len() - 1) + left, TOP + CELL * (most + 1.5))?;
    for number in first..last + outputs.len() {
        let to = [x(column_of[number]) - if number < last { RADIUS } else { 0.0 }, y[number]];
        let (fanins, inputs) = (fanins(number), fanins(number).len());
        for (at, source) in fanins.iter().enumerate() {
            let offset = (at as f64 - (inputs as f64 - 1.0) / 2.0) * 6.0;
            let from =
                [x(column_of[source.number]) + if source.number < first { 0.0 } else { RADIUS }, y[source.number]];
            let end = [to[0] - if source.complement { 6.0 } else { 0.0 }, to[1] + offset];
            let bend = LEVEL / 2.5;
            writeln!(
                d.0,
                "<path d=\"M{} {} C{} {} {} {} {} {}\" fill=\"none\" stroke=\"{FAINT}\"/>",
                from[0],
                from[1],
                from[0] + bend,
                from[1],
                end[0] - bend,
                end[1],
                end[0],
                end[1]
            )?;
            if source.complement {
                d.circle([to[0] - 3.0, end[1]], 3.0, "#ffffff", INK)?;
            }
        }
    }
    for (number, name) in names.iter().enumerate().skip(usize::from(!has_zero)) {
        d.text(x(0) - 4.0, y[number] + 4.0, "end", INK, name)?;
    }
    for (n, placed) in network.cells.iter().enumerate() {
        let at = [x(column_of[first + n]), y[first + n]];
        d.circle(at, RADIUS, "#ffffff", ACCENT)?;
        d.text(at[0], at[1] + 4.0, "middle", INK, symbol(placed))?;
    }
    for (n, (name, _)) in outputs.iter().enumerate() {
        d.text(x(columns.len() - 1) + 6.0, y[last + n] + 4.0, "start", INK, name)?;
    }
    Ok(d.finish())
}
