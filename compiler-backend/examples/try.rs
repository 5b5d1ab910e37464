use pendula_compiler::compile::{compile, Options};
use pendula_compiler::nil::sema::{Argument, Number};
use pendula_vm::*;
use pendula_isa::counts::Direction;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let args: Vec<Argument> = std::env::args().nth(2).map(|a| a.split(',').map(|t| Argument::Number(Number::Text(t.into()))).collect()).unwrap_or_default();
    let c = compile(&file, std::fs::read_to_string(&file).unwrap(), &Options { arguments: args, ..Default::default() });
    for d in &c.diagnostics { println!("{:?} {} {} | {}", d.code, d.message, d.primary.as_ref().map_or(String::new(), |p| c.sources.text(p.place.file).get(p.place.span.clone()).unwrap_or("").to_string()), d.help.clone().unwrap_or_default()); }
    if let Some(p) = &c.program { println!("{}", pendula_compiler::ir::text::print(p)); }
    if let Some(m) = c.module {
        println!("{}", pendula_asm::disasm::disassemble(&m));
        let p = Program::new(m, true).unwrap();
        let mut m = Machine::new(&p, &Config::default()).unwrap();
        println!("{:?}", m.run(None));
        println!("{:?}", &m.memory()[..10]);
        println!("{:?}", f64::from_bits(m.memory()[0]));
        m.begin(Direction::Backward);
        println!("{:?}", m.run(None));
        println!("{:?} {:?}", &m.memory()[..10], m.registers());
    }
}
