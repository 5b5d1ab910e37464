//! `pendula run --expect` of files in Julia: a suite of the constructs of NiLang, in `tests/nilang/`, and how tests that fail are told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pendula_isa::sample;
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
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nilang")).expect("a folder");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jl"));
    files.sort();
    for path in files.into_iter().step_by(if sample::all() { 1 } else { 3 }) {
        let (code, [met, expected], [unmet, left_out]) = tested(path.to_str().expect("UTF-8"));
        assert!(unmet.is_empty() && left_out.is_empty(), "{}: {unmet:#?} {left_out:#?}", path.display());
        assert_eq!((code, met), (0, expected), "{}", path.display());
        all += met;
    }
    assert!(all > if sample::all() { 500 } else { 100 }, "{all}");
}

/// The rows of the tables below a heading of the list, with the cells of each.
fn rows(list: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = list.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let level = heading.split(' ').next().map_or(0, str::len);
    let inside = |line: &&str| {
        let marks = line.bytes().take_while(|b| *b == b'#').count();
        !(1..=level).contains(&marks)
    };
    // A mark `\|` in a cell is none between cells.
    let cells = |line: &str| -> Vec<String> {
        let text = line.trim_matches('|').replace("\\|", "\0");
        text.split(" | ").map(|cell| cell.trim().replace('\0', "|")).collect()
    };
    let tables = rest.lines().take_while(inside).filter(|line| line.starts_with("| ")).map(cells);
    // Heads are followed by lines of dashes, which do not begin with a blank.
    tables.filter(|row| !["construct", "test"].contains(&row[0].as_str())).collect()
}

/// What a cell names: `file: name; file: name`.
fn named(cell: &str) -> BTreeSet<(String, String)> {
    let pair = |text: &str| {
        let (file, name) = text.split_once(": ").unwrap_or_else(|| panic!("{text}"));
        (file.to_string(), name.to_string())
    };
    cell.split("; ").map(pair).collect()
}

/// The list of constructs and the suite name each other.
#[test]
fn the_list_is_that_of_the_suite() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nilang"));
    let list = std::fs::read_to_string(folder.join("README.md")).expect("the list");
    let mut there = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let sets = text.split("@testset \"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
        there.extend(sets.map(|name| (file.clone(), name.to_string())));
    }
    let mut listed = BTreeSet::new();
    for row in rows(&list, "## There") {
        listed.extend(named(&row[1]));
        let proved: Vec<&str> = row[2].split(", ").collect();
        assert!(proved.iter().all(|p| ["value", "back", "gradient", "refused"].contains(p)), "{row:?}");
    }
    let missing: Vec<_> = listed.symmetric_difference(&there).collect();
    assert!(missing.is_empty(), "in the list or in the suite alone: {missing:#?}");
}

/// What the list says is not there is refused with the code that it says; what is refused in these files is in the list.
#[test]
fn what_is_not_there_is_refused() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
    let list = std::fs::read_to_string(folder.join("nilang/README.md")).expect("the list");
    let mut refused = BTreeSet::new();
    for file in ["run/not_there.jl", "run/not_yet.jl", "error/p0432_host_types.jl"] {
        let text = std::fs::read_to_string(folder.join("filetests/nil").join(file)).expect("a file");
        for function in text.split("\n@i ").skip(1) {
            let function = function.strip_prefix("function ").unwrap_or(function);
            let name = function.split('(').next().unwrap_or_default();
            // The first code is that of the function; a summary may follow.
            let code = function.split("#! ").nth(1).and_then(|rest| rest.split(' ').next());
            let file = file.split('/').next_back().unwrap_or_default();
            refused.extend(code.map(|code| (file.to_string(), name.to_string(), code.to_string())));
        }
    }
    let mut listed = BTreeSet::new();
    for heading in ["### On purpose", "### Not yet"] {
        for row in rows(&list, heading) {
            listed.extend(named(&row[3]).into_iter().map(|(file, name)| (file, name, row[2].clone())));
        }
    }
    let different: Vec<_> = listed.symmetric_difference(&refused).collect();
    assert!(different.is_empty(), "in the list or in the files alone: {different:#?}");
}

/// Tests of what is a tool of the host are not evaluated, and fail nothing.
#[test]
fn tools_of_the_host_are_left_out() {
    let list = include_str!("nilang/README.md");
    let tools = rows(list, "### Tools of the host");
    let mut text = "using NiLang, NiLang.AD, Test\n@i function f(y, x)\n    y += x^2\nend\n".to_string();
    for row in &tools {
        text.push_str(&format!("@test {}\n", row[0].trim_matches('`')));
    }
    let file = folder("nilang-tools").join("tools.jl");
    std::fs::write(&file, text).expect("a file");
    let (code, counts, [unmet, left_out]) = tested(file.to_str().expect("UTF-8"));
    assert_eq!((code, counts, left_out.len()), (0, [0, 0], tools.len()), "{unmet:#?} {left_out:#?}");
    assert!(tools.len() > 20, "{tools:?}");
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
