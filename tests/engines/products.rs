//! Sums of products that three loops make, one in the other: code for whole runs makes them tile by tile, and the bits are the interpreter's, in
//! whatever order the loops are and however matrices lie in memory.

use pendula::arguments;
use pendula::isa::sample;

use super::jam::{matrix, vector};
use super::nil::Call;
use super::whole::{Ran, compare};

/// The loops of a product of matrices, in each order.
const ORDERS: [&str; 6] = ["ijk", "ikj", "jik", "jki", "kij", "kji"];

/// Loops over the rows of `C`, its columns, and `products`, in every order, and up or down in different ways, around a statement each.
fn loops(products: &str, statement: impl Fn(usize) -> &'static str) -> String {
    let mut out = String::new();
    for (n, order) in ORDERS.iter().enumerate() {
        for (depth, index) in order.chars().enumerate() {
            let last = match index {
                'i' => "size(C, 1)",
                'j' => "size(C, 2)",
                _ => products,
            };
            let (first, last) = if (n + 3) >> depth & 1 == 1 { (last, "-1:1") } else { ("1", last) };
            out.push_str(&format!("for {index} = {first}:{last}\n"));
        }
        out.push_str(&format!("{}\nend\nend\nend\n", statement(n)));
    }
    out
}

/// A result of products that a routine makes and undoes.
fn computed() -> String {
    format!(
        "@i function f!(out!::T, A::AbstractMatrix{{T}}, B::AbstractMatrix{{T}}, a::AbstractVector{{T}}) where T
    @routine begin
        C ← zeros(T, size(A, 1), size(B, 2))
        {}
    end
    for j = 1:size(C, 2), i = 1:size(C, 1)
        out! += C[i, j]^2 * a[i]
    end
    ~@routine
end
",
        loops("size(A, 2)", |_| "C[i, j] += A[i, k] * B[k, j]")
    )
}

/// A result that is an argument: it is undone.
fn added(statement: impl Fn(usize) -> &'static str) -> String {
    format!(
        "@i function f!(C::AbstractMatrix{{T}}, A::AbstractMatrix{{T}}, B::AbstractMatrix{{T}}) where T
    {}
end
",
        loops("size(A, 1)", statement)
    )
}

fn run(what: &str, source: &str, args: &str) -> Ran {
    compare(what, source, &Call { arguments: arguments::parse(args).expect("arguments"), ..Call::default() })
}

/// A matrix as `matrix` makes it, but for one number.
fn matrix_with(rows: usize, columns: usize, seed: usize, (row, column): (usize, usize), number: f64) -> String {
    let text = matrix(rows, columns, seed);
    let mut rows: Vec<Vec<String>> =
        text.trim_matches(['[', ']']).split("; ").map(|row| row.split(' ').map(String::from).collect()).collect();
    rows[row][column] = format!("{number:?}");
    format!("[{}]", rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join("; "))
}

#[test]
fn products_in_every_order_give_the_same_bits() {
    // Around the sizes of tiles, and of what is made at a time.
    let sizes = [[33, 9, 6], [8, 130, 3], [5, 4, 131], [17, 19, 18], [2, 2, 2], [2, 300, 2]];
    for &[rows, between, columns] in sample::in_turn(&sizes, 0) {
        let what = format!("{rows}×{between}×{columns}");
        let args = format!("0.5,{},{},{}", matrix(rows, between, 3), matrix(between, columns, 70), vector(rows, 9));
        let ran = run(&what, &computed(), &args);
        assert!(ran.whole && ran.finished, "{what}");
        // Rows of one, and columns of the other.
        let args =
            format!("{},{},{}", matrix(rows, columns, 5), matrix(between, rows, 3), matrix(columns, between, 70));
        let turned = added(|n| match n % 2 {
            0 => "C[i, j] -= B[j, k] * A[k, i]",
            _ => "C[i, j] += A[k, i] * B[j, k]",
        });
        let ran = run(&format!("{what}, turned"), &turned, &args);
        assert!(ran.whole && ran.finished, "{what}");
    }
}

/// Products of a matrix with itself and with what is made of it, columns that are made of others, and a sum that is no product.
const ALIASES: &str = "
using matrices
@i function f!(out!::T, A!::AbstractMatrix{T}, a::AbstractVector{T}) where T
    @routine begin
        C ← zeros(T, size(A!, 1), size(A!, 2))
        matmul!(C, A!, A!)
        D ← zeros(T, size(A!, 1), size(A!, 2))
        matmul!(D, A!', C)
    end
    for j = 1:size(C, 2), i = 1:size(C, 1)
        out! += C[i, j] * D[i, j] * a[i]
    end
    ~@routine
    for j = 1:size(A!, 2) - 1
        for k = 1:size(A!, 2) - 1
            for i = 1:size(A!, 1)
                A![i, j + 1] += A![i, j] * a[k]
            end
        end
    end
    for j = 2:size(A!, 2)
        for k = 1:length(a)
            for i = 1:size(A!, 1)
                A![i, j] += a[i] * a[k]
            end
        end
    end
    for j = 2:size(A!, 2)
        for k = 1:length(a)
            for i = 1:size(A!, 1)
                A![i, j] -= a[i] * a[k]
            end
            out! += 0.5 * k
        end
    end
    for j = 1:size(A!, 2)
        for k = 1:length(a)
            for i = 1:size(A!, 1)
                out! += A![i, j] * a[k]
            end
        end
    end
end
";

#[test]
fn products_of_one_matrix_and_itself() {
    for &n in sample::in_turn(&[13, 34], 0) {
        let ran = run(&format!("{n}×{n}"), ALIASES, &format!("0.5,{},{}", matrix(n, n, 3), vector(n, 4)));
        assert!(ran.whole && ran.finished);
    }
}

/// Beside the product, turns count.
const COUNTED: &str = "
@i function f!(C!::AbstractMatrix{T}, n!::Int, A::AbstractMatrix{T}, B::AbstractMatrix{T}) where T
    for j = 1:size(B, 2)
        for k = 1:size(A, 2)
            for i = 1:size(A, 1)
                C![i, j] += A[i, k] * B[k, j]
                n! += i * k
            end
        end
    end
end
";

#[test]
fn loops_that_count_beside_a_product() {
    let args = format!("{},0,{},{}", matrix(9, 9, 3), matrix(9, 9, 40), matrix(9, 9, 70));
    let ran = run("counted", COUNTED, &args);
    assert!(ran.whole && ran.finished);
}

#[test]
fn sums_of_products_that_are_too_large_to_be_forgotten() {
    // One is, none is although one number is large, and one is not finite.
    for &big in sample::in_turn(&[1e9, 3e4, 1e200, 1e308], 0) {
        let (a, b) = (matrix_with(16, 20, 3, (3, 7), big), matrix(20, 12, 70));
        assert!(run(&format!("{big:e}"), &computed(), &format!("0.5,{a},{b},{}", vector(16, 9))).whole);
    }
}

#[test]
fn products_that_are_not_finite_stop_the_run_where_the_interpreter_stops() {
    let a = matrix_with(20, 16, 3, (7, 3), 1e200);
    let b = matrix_with(12, 20, 70, (2, 7), 1e200);
    let ran = run("1e200²", &added(|_| "C[i, j] += A[k, i] * B[j, k]"), &format!("{},{a},{b}", matrix(16, 12, 5)));
    assert!(ran.whole && !ran.finished);
}
