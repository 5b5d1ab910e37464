//! Known programs in Janus and Nil with the errors that students make: Fibonacci numbers, a square root, factorials, a sort.

use super::check;

/// One line of a program written otherwise, and what must be said of it.
struct Broken {
    name: &'static str,
    /// The text in the program, and its replacement.
    instead: [&'static str; 2],
    title: &'static str,
    place: &'static str,
    says: &'static [&'static str],
}

/// The program as it is comes to its end; each broken one is told.
fn all(program: &str, extension: &str, options: &[&str], cases: &[Broken]) {
    let (code, _, err) = super::run(&[&["run", "-"], options].concat(), program);
    assert_eq!((code, err.as_str()), (0, ""), "as it is");
    for Broken { name, instead: [right, wrong], title, place, says } in cases {
        assert_eq!(program.matches(right).count(), 1, "{name}: {right} stands there once");
        let name = format!("{name}.{extension}");
        check(&name, &program.replace(right, wrong), options, title, place, says);
    }
}

const FIB: &str = "procedure fib(int x1, int x2, int n)
    if n = 0 then
        x1 += 1
        x2 += 1
    else
        n -= 1
        call fib(x1, x2, n)
        x1 += x2
        x1 <=> x2
    fi x1 = x2
procedure main()
    int x1
    int x2
    int n = 4
    call fib(x1, x2, n)
";

#[test]
fn fibonacci_in_janus() {
    all(
        FIB,
        "ja",
        &[],
        &[
            Broken {
                name: "fib_fi",
                instead: ["fi x1 = x2", "fi x1 != x2"],
                title: "error[P0109]: `fi x1 != x2` should be true here, because the `then` branch was taken",
                place: "10:8",
                says: &[
                    "^^^^^^^^ x1 = 1, x2 = 1",
                    "`if n = 0` was true",
                    "in `fib`: x1 = 1, x2 = 1, n = 0",
                    "`fib` called by `fib`, at fib_fi.ja:7, 4 times",
                    "`fib` called by `main`, at fib_fi.ja:15",
                ],
            },
            Broken {
                name: "fib_sum",
                instead: ["        x1 += x2\n", ""],
                title: "error[P0109]: `fi x1 = x2` should be false here, because the `else` branch was taken",
                place: "9:8",
                says: &["x1 = 1, x2 = 1", "`if n = 0` was false", "`fib` called by `fib`, at fib_sum.ja:7, 3 times"],
            },
            Broken {
                name: "fib_first",
                instead: ["x2 += 1", "x2 += 2"],
                title: "error[P0109]: `fi x1 = x2` should be true here, because the `then` branch was taken",
                place: "10:8",
                says: &["x1 = 1, x2 = 2"],
            },
            Broken {
                name: "fib_endless",
                instead: ["if n = 0 then", "if n = 9 then"],
                title: "error[P0101]: no memory is left for calls and local variables",
                place: "7:9",
                says: &[
                    "a recursion may be too deep or endless",
                    "in `fib`, ",
                    " calls deep and going deeper: x1 = 0, x2 = 0, n = -",
                    "`fib` called by `main`, at fib_endless.ja:15",
                ],
            },
        ],
    );
}

const ROOT: &str = "procedure root(int num, int root)
    local int bit = 1
    from bit = 1 loop
        call doublebit(bit)
    until (bit * bit) > num
    from (bit * bit) > num do
        uncall doublebit(bit)
        if ((root + bit) * (root + bit)) <= num then
            root += bit
        fi (root / bit) % 2 != 0
    loop
        skip
    until bit = 1
    delocal int bit = 1
    num -= root * root
procedure doublebit(int bit)
    local int z = bit
    bit += z
    delocal int z = bit / 2
procedure main()
    int num = 66
    int root
    call root(num, root)
";

#[test]
fn square_root_in_janus() {
    all(
        ROOT,
        "ja",
        &[],
        &[
            Broken {
                name: "root_fi",
                instead: ["% 2 != 0", "% 2 = 0"],
                title: "error[P0109]: `fi (root / bit) % 2 = 0` should be true here, because the `then` branch was taken",
                place: "10:12",
                says: &["root = 8, bit = 8", "in `root`: num = 66, root = 8, bit = 8", "`root` called by `main`"],
            },
            Broken {
                name: "root_delocal",
                instead: ["z = bit / 2", "z = bit"],
                title: "error[P0103]: `z` is 1 where it ends, and `delocal` gives 2",
                place: "19:13",
                says: &[
                    "in `doublebit`: bit = 2, z = 1",
                    "`doublebit` called by `root`, at root_delocal.ja:4",
                    "`root` called by `main`, at root_delocal.ja:23",
                ],
            },
            Broken {
                name: "root_from",
                instead: ["from bit = 1", "from bit = 2"],
                title: "error[P0109]: `from bit = 2` should be true here, because the loop is entered",
                place: "3:10",
                says: &["^^^^^^^ bit = 1", "in `root`: num = 66, root = 0, bit = 1"],
            },
            Broken {
                name: "root_second_from",
                instead: ["from (bit * bit) > num", "from (bit * bit) < num"],
                title: "error[P0109]: `from (bit * bit) < num` should be true here, because the loop is entered",
                place: "6:10",
                says: &["bit = 16, num = 66"],
            },
            Broken {
                name: "root_until",
                instead: ["until bit = 1", "until bit = 2"],
                title: "error[P0103]: `bit` is 2 where it ends, and `delocal` gives 1",
                place: "14:13",
                says: &["in `root`: num = 66, root = 8, bit = 2"],
            },
            Broken {
                name: "root_double",
                instead: ["bit += z", "bit += z + 1"],
                title: "error[P0109]: `fi (root / bit) % 2 != 0` should be true here, because the `then` branch was taken",
                place: "10:12",
                says: &["root = 8, bit = 1"],
            },
        ],
    );
}

const FACT: &str = "procedure fact(int n, int f)
    if n = 0 then
        f += 1
    else
        local int g = 0
        n -= 1
        call fact(n, g)
        n += 1
        f += n * g
        n -= 1
        uncall fact(n, g)
        n += 1
        delocal int g = 0
    fi n = 0
procedure main()
    int n = 4
    int f
    call fact(n, f)
";

#[test]
fn factorial_in_janus() {
    all(
        FACT,
        "ja",
        &[],
        &[
            Broken {
                name: "fact_call",
                instead: ["uncall", "call"],
                title: "error[P0103]: `g` is 2 where it ends, and `delocal` gives 0",
                place: "13:17",
                says: &["in `fact`: n = 1, f = 1, g = 2", "`fact` called by `fact`, at fact_call.ja:7: n = 1, f = "],
            },
            Broken {
                name: "fact_restore",
                instead: ["        n += 1\n        delocal", "        delocal"],
                title: "error[P0109]: `fi n = 0` should be false here, because the `else` branch was taken",
                place: "13:8",
                says: &["^^^^^ n = 0", "in `fact`: n = 0, f = 1"],
            },
            Broken {
                name: "fact_fi",
                instead: ["fi n = 0", "fi f = 1"],
                title: "error[P0109]: `fi f = 1` should be false here, because the `else` branch was taken",
                place: "14:8",
                says: &["^^^^^ f = 1", "in `fact`: n = 1, f = 1"],
            },
            Broken {
                name: "fact_alias",
                instead: ["        call fact(n, g)", "        call fact(g, g)"],
                title: "error[P0109]: `fi n = 0` should be true here, because the `then` branch was taken",
                place: "14:8",
                says: &["`n` and `f` are the same, since fact_alias.ja:7", "in `fact`: n = 1, f = 1"],
            },
            Broken {
                name: "fact_no_uncall",
                instead: ["        uncall fact(n, g)\n", ""],
                title: "error[P0103]: `g` is 1 where it ends, and `delocal` gives 0",
                place: "12:17",
                says: &["in `fact`: n = 1, f = 1, g = 1"],
            },
        ],
    );
}

const SORT: &str = "procedure sort(int a[], int p[])
    local int i = 2
    from i = 2 do
        local int j = 0
        from j = 0 do
            if a[j] > a[j + 1] then
                a[j] <=> a[j + 1]
                p[j] <=> p[j + 1]
            fi p[j] > p[j + 1]
            j += 1
        loop
            skip
        until j = i
        delocal int j = i
        i -= 1
    loop
        skip
    until i = 0
    delocal int i = 0
procedure main()
    int a[3] = {3, 1, 2}
    int p[3] = {0, 1, 2}
    call sort(a, p)
";

#[test]
fn sort_in_janus() {
    all(
        SORT,
        "ja",
        &[],
        &[
            Broken {
                name: "sort_fi",
                instead: ["fi p[j] > p", "fi p[j] < p"],
                title: "error[P0109]: `fi p[j] < p[j + 1]` should be true here, because the `then` branch was taken",
                place: "9:16",
                says: &["p = {1, 0, 2}, j = 0", "in `sort`: a = {1, 3, 2}, p = {1, 0, 2}, i = 2, j = 0"],
            },
            Broken {
                name: "sort_one_swap",
                instead: ["                p[j] <=> p[j + 1]\n", ""],
                title: "error[P0109]: `fi p[j] > p[j + 1]` should be true here, because the `then` branch was taken",
                place: "8:16",
                says: &["p = {0, 1, 2}, j = 0"],
            },
            Broken {
                name: "sort_delocal",
                instead: ["delocal int j = i", "delocal int j = 0"],
                title: "error[P0103]: `j` is 2 where it ends, and `delocal` gives 0",
                place: "14:17",
                says: &["in `sort`: a = {1, 2, 3}, p = {1, 2, 0}, i = 2, j = 2"],
            },
            Broken {
                name: "sort_until",
                instead: ["until j = i", "until j = 3"],
                title: "error[P0102]: assertion failed: the index lies outside `a`, which has 3 elements there",
                place: "6:25",
                says: &["in `sort`: a = {1, 2, 3}, p = {1, 2, 0}, i = 2, j = 2"],
            },
            Broken {
                name: "sort_from",
                instead: ["from j = 0", "from j != i"],
                title: "error[P0109]: `from j != i` should be false here, because the loop has completed an iteration",
                place: "5:14",
                says: &["^^^^^^ j = 1, i = 2"],
            },
        ],
    );
}

const NIL_FIB: &str = "@i function fib(x1::Int, x2::Int, n::Int)
    if (n == 0, x1 == x2)
        x1 += 1
        x2 += 1
    else
        n -= 1
        fib(x1, x2, n)
        x1 += x2
        SWAP(x1, x2)
    end
end
";

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn fibonacci_in_nil() {
    all(
        NIL_FIB,
        "nil",
        &["--args", "0,0,4"],
        &[
            Broken {
                name: "fib_condition",
                instead: ["x1 == x2", "x1 != x2"],
                title: "error[P0109]: `x1 != x2` should be true here, because the first branch was taken",
                place: "2:17",
                says: &[
                    "x1 = 1, x2 = 1",
                    "`if n == 0` was true",
                    "in `fib`: x1 = 1, x2 = 1, n = 0",
                    "`fib` called by `fib`, at fib_condition.nil:7, 4 times",
                ],
            },
            Broken {
                name: "fib_sum",
                instead: ["        x1 += x2\n", ""],
                title: "error[P0109]: `x1 == x2` should be false here, because the `else` branch was taken",
                place: "2:17",
                says: &["x1 = 1, x2 = 1", "`if n == 0` was false"],
            },
            Broken {
                name: "fib_endless",
                instead: ["if (n == 0,", "if (n == 9,"],
                title: "error[P0101]: no memory is left for calls and local variables",
                place: "7:9",
                says: &[
                    "a recursion may be too deep or endless",
                    " calls deep and going deeper: x1 = 0, x2 = 0, n = -",
                ],
            },
        ],
    );
}

const NIL_ROOT: &str = "@i function doublebit(bit::Int)
    z ← bit
    bit += z
    z → bit ÷ 2
end
@i function root(num::Int, root::Int)
    bit ← 1
    while (bit * bit <= num, bit != 1)
        doublebit(bit)
    end
    while (bit > 1, root != 0)
        (~doublebit)(bit)
        if ((root + bit) * (root + bit) <= num, (root ÷ bit) % 2 != 0)
            root += bit
        end
    end
    bit → 1
    num -= root * root
end
";

#[test]
fn square_root_in_nil() {
    all(
        NIL_ROOT,
        "nil",
        &["--entry", "root", "--args", "66,0"],
        &[
            Broken {
                name: "root_condition",
                instead: ["% 2 != 0", "% 2 == 0"],
                title: "error[P0109]: `(root ÷ bit) % 2 == 0` should be true here, because the first branch was taken",
                place: "13:49",
                says: &["root = 8, bit = 8", "in `root`: num = 66, root = 8, bit = 8"],
            },
            Broken {
                name: "root_ends",
                instead: ["z → bit ÷ 2", "z → bit"],
                title: "error[P0103]: `z` is 1 where it ends, and it is deallocated with 2",
                place: "4:5",
                says: &["in `doublebit`: bit = 2, z = 1", "`doublebit` called by `root`, at root_ends.nil:9"],
            },
            Broken {
                name: "root_bit",
                instead: ["bit → 1", "bit → 2"],
                title: "error[P0103]: `bit` is 1 where it ends, and it is deallocated with 2",
                place: "17:5",
                says: &["in `root`: num = 66, root = 8, bit = 1"],
            },
            Broken {
                name: "root_entry",
                instead: [", bit != 1)", ", bit != 2)"],
                title: "error[P0109]: `bit != 2` should be false here, because the loop is entered",
                place: "8:30",
                says: &["bit = 1", "in `root`: num = 66, root = 0, bit = 1"],
            },
        ],
    );
}

/// A function `f` in Nil, and what it is called with.
#[test]
fn functions_in_nil() {
    let cases = [
        (
            "same_elements",
            "@i function g(a::Int, b::Int)\n    a += b\nend\n@i function f(v::Vector{Int}, i::Int, j::Int)\n    g(v[i], v[j])\nend\n",
            "[1,2,3],2,2",
            "error[P0102]: assertion failed: two elements of `v`, of which one is changed, are the same",
            "5:5",
            "in `f`: v = [1, 2, 3], i = 2, j = 2",
        ),
        (
            "index_0",
            "@i function f(v::Vector{Int}, i::Int)\n    v[i] += 1\nend\n",
            "[1,2,3],0",
            "error[P0102]: assertion failed: the index `i` lies outside `v`",
            "2:5",
            "in `f`: v = [1, 2, 3], i = 0",
        ),
        (
            "index_4",
            "@i function f(v::Vector{Int}, i::Int)\n    v[i] += 1\nend\n",
            "[1,2,3],4",
            "error[P0102]: assertion failed: the index `i` lies outside `v`",
            "2:5",
            "in `f`: v = [1, 2, 3], i = 4",
        ),
        (
            "routine",
            "@i function f(y::Float64, x::Float64)\n    @routine begin\n        t ← 0.0\n        t += x * x\n    end\n    y += t\n    x += 1.0\n    ~@routine\nend\n",
            "0.0,2.0",
            "error[P0103]: `t` is -5.0 where it ends, and it is deallocated with 0.0",
            "3:9",
            "in `f`: y = 4.0, x = 3.0, t = -5.0",
        ),
    ];
    for (name, text, args, title, place, says) in cases {
        check(&format!("{name}.nil"), text, &["--entry", "f", "--args", args], title, place, &[says]);
    }
}
