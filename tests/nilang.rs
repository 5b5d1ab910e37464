//! `pendula run --expect` of files in Julia: a suite of the constructs of NiLang, in `tests/nilang/`, and how tests that fail are told.

use serde_json::Value;

use crate::common::{command, folder};

use command::run;

/// The outcome of a file's tests: the exit status, how many are met and how many there are, those that are not met, and those that are left out.
fn tested(file: &str) -> (i32, [u64; 2], [Vec<Value>; 2]) {
    let (code, out, err) = run(&["run", "--expect", file, "--json"], "");
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{file}: {e}\n{out}{err}"));
    let count = |key: &str| answer[key].as_u64().unwrap_or_else(|| panic!("{answer}"));
    let list = |key: &str| answer[key].as_array().cloned().unwrap_or_else(|| panic!("{answer}"));
    (code, ["met", "expected"].map(count), ["unmet", "left_out"].map(list))
}

#[test]
fn the_suite_holds() {
    let mut all = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nilang")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let (code, [met, expected], [unmet, left_out]) = tested(path.to_str().expect("UTF-8"));
        assert!(unmet.is_empty() && left_out.is_empty(), "{}: {unmet:#?} {left_out:#?}", path.display());
        assert_eq!((code, met), (0, expected), "{}", path.display());
        all += met;
    }
    assert!(all > 175, "{all}");
}

/// Whatever is wrong in a function is found, and whatever cannot be evaluated is told, with what depends on it.
#[test]
fn what_does_not_hold_and_what_is_not_evaluated() {
    let text = "using NiLang, Test
@i function double(y, x)
    y += 2 * x
end
@i function forgets(y, x)
    y += x
    x ← 0.0
end
@testset \"some\" begin
    @test double(0.0, 1.0)[1] == 3.0
    @test check_grad(double, (0.0, 1.0); iloss=1)
    x = rationalize(0.5)
    @test x == 0.5
    @test double(0.0, 0.5)[1] == 1.0
    v = [1.0, 2.0]
    somewhere_else!(v)
    @test v == [1.0, 2.0]
    v = [1.0, 2.0]
    @test_throws InvertibilityError double(0.0, 1.0)
    for i = 1:3
        @test i < 3
    end
    w = [0.0]
    @instr double.(w, v[1:1])
    @test w == [2.0]
    @test (~double)(2.0, 1.0) == (0.0, 1.0)
    @test unread ? true : false ? 1 :
end
# Of the rules of Julia, those by which a test could hold here and not there.
x, y = 1, [1, 2]
let
    x = 5
end
@test x == 1
for i = 1:10
    if i > 3
        break
    end
    global x += i
end
z = y
y .= 0
@test z == [1, 2]
early(v) = 1
@i function later(y, x)
    y += x
end
@test later(1.0, 2.0) == (3.0, 2.0)
@i function later(y, x)
    y += 2 * x
end
@test later(1.0, 2.0) == (5.0, 2.0)
@test_throws DomainError [1][2]
@test_throws InvertibilityError [1, 2] + [1]
@test !(Inf ≈ 1.0) && length(1:2:0) == 0
@test 9007199254740993 != 9007199254740992
u, k = [1.0], 1
@test_throws InvertibilityError @instr u[end] → 2.0
@test u == [1.0]
@test k == 1
return
";
    let folder = folder("nilang-tests");
    let file = folder.join("some.jl");
    std::fs::write(&file, text).expect("a file");
    let name = file.to_str().expect("UTF-8");
    let (code, counts, [unmet, left_out]) = tested(name);
    let lines = |list: &[Value]| list.iter().map(|item| item["line"].as_u64().expect("a line")).collect::<Vec<_>>();
    assert_eq!((code, lines(&unmet)), (1, vec![10, 19, 21]), "{unmet:#?}");
    assert_eq!(lines(&left_out), [13, 17, 27, 43, 53, 54, 59, 61], "{left_out:#?}");
    assert_eq!(counts, [13, 16]);
    let (code, out, err) = run(&["run", "--expect", name], "");
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    assert!(out.starts_with(&format!("{name}:10: 2.0 and 3.0\n")), "{out}");
    assert!(out.ends_with(&format!("{name}: 13 of 16 tests met, 8 not evaluated\n")), "{out}");
    // A file that includes it, and itself.
    let whole = folder.join("whole.jl");
    std::fs::write(
        &whole,
        "include(\"some.jl\")\n@test double(0.0, 2.0)[1] == 4.0\ninclude(\"whole.jl\")\n@test 1 == 2\n",
    )
    .expect("a file");
    let (_, counts, [unmet, _]) = tested(whole.to_str().expect("UTF-8"));
    assert_eq!((counts, lines(&unmet)), ([14, 18], vec![10, 19, 21, 4]));
    assert!(unmet[0]["file"] == name && unmet[3]["file"] == whole.to_str().expect("UTF-8"), "{unmet:#?}");
    // The name that NiLang's users may look for.
    assert_eq!(run(&["run", "--expect-julia", name], "").1, out);
}
