use pendula_compiler::ir::text::*;

#[track_caller]
fn fails(text: &str, message: &str) {
    let found = parse(text).map(|p| print(&p)).unwrap_err();
    assert_eq!(found.to_string(), message, "{text}");
}

/// A function with these lines after its declarations, the first of which is the sixth of the text.
#[track_caller]
fn fails_in_body(body: &str, message: &str) {
    fails(&format!("program Q32.32\nfun f {{\nout x: i\nin a: f\nregion m: i\n{body}\n}}"), message);
}

#[test]
fn an_error_tells_where_it_is_and_what_is_expected() {
    fails("", "1:1: `program` is expected here");
    fails("; a comment\n  fun f { }", "2:3: `program` is expected here");
    fails("program Q1.1", "1:9: no such format");
    fails("program Q32.32\nfunction f { }", "2:1: a declaration is expected here");
    fails("program Q32.32\nstack x", "2:7: a number is expected here");
    fails("program Q32.32\nstack -1", "2:7: a whole number in range is expected here");
    fails("program Q32.32\nfun if { }", "2:5: a name is expected here");
    fails("program Q32.32\nfun f { in x: z }", "2:15: a type (`i`, `q`, `l` or `f`) is expected here");
    fails("program Q32.32\nfun f { in x: i -> m }", "2:20: no region has this name");
    fails("program Q32.32\nfun f {\n", "3:1: `}` is expected here");
    fails("program Q32.32\ntext \"é", "2:8: a text that does not end");
    fails("program Q32.32\ntext \"\\q\"", "2:8: no such escape");
    fails("program Q32.32\ntext \"\\u{110000}\"", "2:8: no such character");
}

#[test]
fn an_error_in_a_statement_tells_where_it_is() {
    fails_in_body("3", "6:1: a statement or `}` is expected here");
    fails_in_body("x 3", "6:3: `+=` or the like is expected here");
    fails_in_body("x += id.i(1", "7:1: `,` or `)` is expected here");
    fails_in_body("x += id.i(1,)", "6:13: a number, a variable or a word of memory is expected here");
    fails_in_body("x += id.f(1)\ny += id.i(1)", "7:1: no variable has this name");
    fails_in_body("x += id.i(1.5)", "6:11: no integer number");
    fails_in_body("x += nix.i(1)", "6:6: no such function");
    fails_in_body("apply nix.i(x)", "6:7: no such row");
    fails_in_body("m[x +] += id.i(1)", "6:6: a name is expected here");
    fails_in_body("call g(x)", "6:6: no function has this name");
    fails_in_body("if x { } post x eq.i 0", "6:6: a comparison such as `lt.i` is expected here");
    fails_in_body("if x eq.i 0 { }", "7:1: `post` is expected here");
    fails_in_body("for i = 1 to 2", "6:5: no variable has this name");
    fails_in_body("for x = 1 to 2", "7:1: `step` is expected here");
    fails_in_body("assert x eq.i 0", "6:8: a reason (`user`, `bounds`, `alias` or `shape`) is expected here");
    fails_in_body("begin x check @1:2", "7:1: `:` is expected here");
}

#[test]
fn names_that_several_have_need_a_number() {
    let text = |name: &str| format!("program Q32.32\nfun f {{\nout x: i\nout x: i\n{name} += id.i(1)\n}}");
    fails(&text("x"), "5:1: more than one variable has this name: `%` and its number must follow");
    let program = parse(&text("x%1")).unwrap();
    assert!(print(&program).contains("\n    x%1 += id.i(1)\n"));
}

#[test]
fn words_of_memory() {
    let text = "program Q32.32\n\nfun f {\n    out x: i\n    in a: i\n    region m: i\n    \
        m[a] += id.i(1)\n    m[a + x] += id.i(1)\n    m[a + x -3] += id.i(1)\n    m[a + 4] += id.i(1)\n    \
        m[_ + x + 4] += id.i(1)\n    m[7] += id.i(1)\n}\n";
    assert_eq!(print(&parse(text).unwrap()), text);
}

#[test]
fn numbers_have_the_type_of_their_place() {
    let text = "program Q32.32\n\nfun f {\n    out x: f\n    out y: q\n    out z: i\n    x += id.f(-1.5e-07)\n    \
        y += id.q(0.25)\n    z += id.i(-3)\n    z += id.i(0x8000000000000000w)\n}\n";
    let program = parse(text).unwrap();
    assert_eq!(parse(&print(&program)).unwrap(), program);
    let words: Vec<u64> = program.functions[0]
        .body
        .iter()
        .filter_map(|s| match &s.stmt {
            pendula_compiler::ir::Stmt::Update { args, .. } => match args[..] {
                [pendula_compiler::ir::Operand::Const(word)] => Some(word),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(words, [(-1.5e-7f64).to_bits(), 1 << 30, 3u64.wrapping_neg(), 1 << 63]);
}
