//! Functions that are put in place of calls and given words of arrays: C works on the words where they are, if nothing else may reach them.

use pendula::compiler::compile::{Options, compile, for_c};
use pendula::compiler::ir::Stmt;
use pendula::compiler::ir::effects::walk;
use pendula::isa::sample;
use pendula::isa::table::Row;

use super::jam::vector;
use super::nil::Call;
use super::whole::{compare, compare_there_and_back};

/// Functions that use what they are lent more often than instructions could.
const FUNCTIONS: &str = "
@i function term!(y!::Float64, a::Float64, b::Float64)
    @routine begin
        s ← 0.0
        s += a * b
        s += tanh(b)
    end
    y! += s * s
    y! += s
    y! -= a
    ~@routine
end

@i function loop!(y!::Float64, a::Float64)
    for m = 1:3
        y! += a * m
    end
    if (a > 0.5, ~)
        y! -= a
    end
end

@i function both!(y!::Float64, z!::Float64, a::Float64)
    y! += z! * a
    SWAP(y!, z!)
    z! += sin(y!)
    y! += a
    term!(z!, y!, a)
end

@i function index!(k!::Int, n::Int)
    k! += n
    k! ⊻= n * n
    k! -= 1
end

@i function recursive!(y!::Float64, a::Float64, n::Int)
    if (n > 0, ~)
        y! += a
        recursive!(y!, a, n - 1)
        y! += a * a
    end
end

@i function twice!(y!::Float64, a::Float64, b::Float64, n::Int)
    if (n > 0, ~)
        y! += a * b / 3
        twice!(y!, a, b, n - 1)
        y! += a * a - sin(b)
    end
end

@i function reads!(y!::Float64, z!::Float64, w!::Float64)
    z! += sin(w!)
    twice!(y!, z!, w!, 2)
    w! -= z! / 7
    y! += z! * w!
end

@i function changes!(y!::Float64, z!::Float64, a::Float64)
    twice!(y!, z!, a, 2)
    y! += z! * a
    y! += tanh(z!) * a
    z! -= y! / 9
end

@i function given!(y!::Float64, v::Vector{Float64}, i::Int)
    y! += v[i]
    y! -= v[1] * v[2]
    recursive!(y!, v[i], i)
end
";

/// Statements in a loop over `i`, and how many exchanges are left in C.
const CALLS: [(&str, usize); 21] = [
    ("term!(y![i], x[i], x[1])", 0),
    ("(~term!)(y![i], x[i], x[1])", 0),
    ("loop!(y![i], x[i])", 0),
    ("loop!(y![3], x[i])", 0),
    ("loop!(y![k[i]], x[i])", 0),
    ("both!(y![i], z![i], x[i])", 0),
    ("(~both!)(y![i], z![i], x[i])", 0),
    // Words of one array, which are apart, or are asserted to be, or may be the same as far as the pass can see.
    ("both!(y![i], y![i + 1], x[i])", 0),
    ("term!(y![i], y![i + 1], x[i])", 0),
    ("loop!(y![i], y![6])", 2),
    ("both!(y![i], y![k[i] + 3], x[i])", 0),
    ("given!(y![i], view(z!, 2:4), 1)", 0),
    ("both!(m![i, 1], m![k[i], 2], m![3, 3])", 5),
    ("both!(m![i, 1], m![i + 1, 1], m![1, k[i]])", 5),
    // The functions that these call would be given both, and could not tell that they are asserted to be apart.
    ("reads!(s!, y![i], y![k[i] + 3])", 2),
    ("reads!(s!, y![i], y![i + 1])", 2),
    ("changes!(y![i], y![k[i] + 3], x[i])", 2),
    ("index!(k[4], i)\n(~index!)(k[4], i)", 0),
    ("given!(y![i], x, i)", 0),
    ("recursive!(y![i], x[k[i]], i)", 0),
    ("given!(z![1], y!, i)", 0),
];

fn program(statements: &str, own: bool) -> String {
    let statements = if own {
        let own = statements.replace("y!", "y");
        format!("@routine begin\ny ← zeros(6)\nfor i = 1:3\n{own}\nend\nend\ns! += y[1] * y[2]\ns! -= y[4]\n~@routine")
    } else {
        format!("for i = 1:3\n{statements}\nend")
    };
    let of = "Vector{Float64}";
    format!(
        "{FUNCTIONS}\n@i function f!(s!::Float64, y!::{of}, z!::{of}, x::{of}, k::Vector{{Int}}, m!::Matrix{{Float64}})\n{statements}\nend\n"
    )
}

fn call() -> Call {
    let args = format!(
        "0.25,{},{},{},[2,1,3,0],[0.5 0.25 1;2 -0.5 0.75;1 3 0.125;0.1 0.2 0.3]",
        vector(6, 1),
        vector(6, 2),
        vector(6, 3)
    );
    Call { arguments: pendula::arguments::parse(&args).expect("arguments"), ..Call::default() }
}

#[test]
fn words_that_functions_are_lent() {
    for (n, (statements, _)) in sample::some(CALLS.into_iter().enumerate()) {
        for own in sample::in_turn(&[false, true], n) {
            let ran = compare(statements, &program(statements, *own), &call());
            assert!(ran.whole && ran.finished, "{statements}");
            compare_there_and_back(statements, &program(statements, *own), &call());
        }
    }
}

/// Exchanges are left only where something else may be the word.
#[test]
fn words_stay_where_they_are() {
    for (statements, left) in CALLS {
        let call = call();
        let options = Options { arguments: call.arguments.clone(), ..Options::default() };
        let compiled = compile("lent", program(statements, false), &options);
        let source = compiled.source.unwrap_or_else(|| panic!("{statements}: {:?}", compiled.diagnostics));
        let ir = for_c(source, compiled.switches);
        let mut exchanges = 0;
        let entry = ir.entry.expect("an entry");
        // The functions' own exchanges are of variables.
        walk(&ir.functions[entry.0 as usize].body, &mut |s| {
            if let Stmt::Permute { row: Row::Swap, args, .. } = &s.stmt {
                exchanges += usize::from(args.iter().any(|a| matches!(a, pendula::compiler::ir::Operand::Var(_))));
            }
        });
        assert_eq!(exchanges, left, "{statements}");
    }
}
