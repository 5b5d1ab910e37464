use pendula_compiler::nil::{read, sema::{analyse, Settings, Argument, Number}};
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let args: Vec<Argument> = std::env::args().nth(2).map(|a| a.split(',').map(|t| Argument::Number(Number::Text(t.into()))).collect()).unwrap_or_default();
    let mut sources = Default::default();
    let (inputs, d) = read(&mut sources, &file, std::fs::read_to_string(&file).unwrap());
    for d in &d { println!("{:?} {} {}", d.code, d.message, d.primary.as_ref().map_or(String::new(), |p| format!("{:?}", p.place.span))); }
    let a = analyse(&inputs, &Settings { arguments: args, ..Default::default() });
    for d in &a.diagnostics { println!("{:?} {} {} | {}", d.code, d.message, d.primary.as_ref().map_or(String::new(), |p| sources.text(p.place.file).get(p.place.span.clone()).unwrap_or("").to_string()), d.help.clone().unwrap_or_default()); }
    println!("{:#?}", a.program);
}
