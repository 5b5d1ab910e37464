//! Loops of which C code makes several turns at once, side by side: the bits are the interpreter's, whatever the sizes are, and turns that depend on
//! each other stay in order.

use pendula::arguments;
use pendula_isa::sample;

use super::nil::Call;
use super::whole::compare;

/// Products with matrices, by columns and by rows, and sums of turns; what is made is added to the result and undone.
const PRODUCTS: &str = "
@i function f!(out!::T, A::AbstractMatrix{T}, B::AbstractMatrix{T}, x::AbstractVector{T}) where T
    @routine begin
        y ← zeros(T, size(A, 1))
        C ← zeros(T, size(A, 1), size(B, 2))
        rows ← zeros(T, size(A, 1))
        for j = 1:size(A, 2)
            for i = 1:size(A, 1)
                y[i] += A[i, j] * x[j]
            end
        end
        for j = 1:size(B, 2)
            for k = size(A, 2):-1:1
                for i = 1:size(A, 1)
                    C[i, j] += A[i, k] * B[k, j]
                end
            end
        end
        for i = 1:size(A, 1)
            for j = 1:size(A, 2)
                rows[i] += A[i, j] * x[j]
            end
        end
    end
    for i = 1:length(y)
        out! += y[i] * rows[i]
    end
    for j = 1:size(C, 2), i = 1:size(C, 1)
        out! += C[i, j]^2
    end
    ~@routine
end
";

/// Turns that depend on each other: columns made of columns before, a convolution, a column that overlaps the next, every other column.
const RECURRENCES: &str = "
@i function f!(out!::T, A!::AbstractMatrix{T}, c!::AbstractVector{T}, x::AbstractVector{T}) where T
    for k = 2:size(A!, 2)
        for i = 1:size(A!, 1)
            A![i, k] += A![i, k - 1] * x[k]
        end
    end
    for k = 1:length(x)
        for i = 1:size(A!, 1)
            c![i + k - 1] += A![i, 1] * x[k]
        end
    end
    for k = 1:2:size(A!, 2)
        for i = size(A!, 1):-1:1
            c![i] += A![i, k] * x[k]
        end
    end
    for k = 1:length(x)
        for i = 1:size(A!, 1)
            c![k] += A![i, k] * x[k]
        end
        out! += c![k]
    end
    for i = 1:size(A!, 1)
        for j = 1:size(A!, 2)
            c![i] += A![i, j] * x[j]
            c![i] -= x[j] / 3
        end
    end
    for i = 1:size(A!, 1)-1
        for j = 1:size(A!, 2)
            A![i + 1, j] += A![i, j] * x[j]
        end
    end
    for i = 1:size(A!, 1)
        for j = 2:size(A!, 2)
            A![i, j] += A![i, j - 1] * x[j]
        end
    end
    for i = 1:size(A!, 1)-1
        for j = 2:size(A!, 2)
            A![i, j] -= A![i + 1, j - 1] * x[j]
        end
    end
    for i = size(A!, 1):-1:1
        for j = size(A!, 2):-1:1
            c![j] += A![i, j] * x[1]
        end
    end
    for j = 1:size(A!, 2), i = 1:size(A!, 1)
        out! += c![i] * A![i, j]
    end
end
";

/// Loops of three, of which turns of the outermost are made at once or not: matrices made of rows and of columns, words that several turns come
/// to, windows that overlap, and turns that depend on those before.
const NESTS: &str = "
@i function f!(out!::T, A!::AbstractMatrix{T}, B::AbstractMatrix{T}, C!::AbstractMatrix{T}, y!::AbstractVector{T}) where T
    for j = 1:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                A![i, k] += C![i, j] * B[k, j]
                y![j] -= B[k, j] * C![i, j]
            end
        end
    end
    for j = size(B, 2):-1:1
        for k = size(A!, 2):-1:1
            for i = 1:size(A!, 1)
                C![i, j] += A![i, k] * B[k, j]
            end
            y![j] += B[k, j]
        end
    end
    for j = 1:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                y![i + k] += A![i, k] * B[k, j]
            end
        end
    end
    for j = 1:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                y![k] -= A![i, k] * B[k, j]
            end
        end
    end
    for j = 1:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                y![2 * j + i] += A![i, k] * B[k, j]
            end
        end
    end
    for j = 2:size(B, 2)
        for k = 1:size(A!, 2)
            for i = 1:size(A!, 1)
                C![i, j] += C![i, j - 1] * B[k, j] / 64
                A![i, k] += C![i, j] / 64
            end
        end
    end
    for j = 1:size(C!, 2), i = 1:size(C!, 1)
        out! += C![i, j] * y![i]
    end
end
";

/// A matrix of numbers that are small, and none of which is another's multiple.
pub(super) fn matrix(rows: usize, columns: usize, seed: usize) -> String {
    let row = |i: usize| (0..columns).map(|j| number(seed + i * columns + j)).collect::<Vec<_>>().join(" ");
    format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join("; "))
}

pub(super) fn vector(length: usize, seed: usize) -> String {
    format!("[{}]", (0..length).map(|n| number(seed + n)).collect::<Vec<_>>().join(","))
}

fn number(n: usize) -> String {
    format!("{:?}", ((n * n * 37 + n * 11) % 101) as f64 / 53.0 - 0.9)
}

#[test]
fn turns_side_by_side_give_the_same_bits() {
    // Around the numbers of turns that are made at once, and of those within.
    for &(rows, columns, more) in sample::in_turn(&[(9, 17, 2), (8, 7, 9), (1, 12, 1), (19, 5, 17)], 0) {
        let args = format!("0.5,{},{},{}", matrix(rows, columns, 3), matrix(columns, more, 70), vector(columns, 9));
        let call = Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() };
        let ran = compare(&format!("products of {rows}×{columns}"), PRODUCTS, &call);
        assert!(ran.whole && ran.finished);
    }
    for &(rows, columns) in sample::in_turn(&[(9, 18), (3, 12), (16, 11)], 0) {
        let args = format!("0.5,{},{},{}", matrix(rows, columns, 3), vector(rows + columns, 20), vector(columns, 9));
        let call = Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() };
        let ran = compare(&format!("recurrences of {rows}×{columns}"), RECURRENCES, &call);
        assert!(ran.whole && ran.finished);
    }
    for &(rows, columns, more) in sample::in_turn(&[(19, 5, 17), (8, 9, 8), (1, 3, 9)], 1) {
        let (a, b, c) = (matrix(rows, columns, 3), matrix(columns, more, 70), matrix(rows, more, 41));
        let args = format!("0.5,{a},{b},{c},{}", vector(rows + columns + 2 * more, 20));
        let call = Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() };
        let ran = compare(&format!("nests of {rows}×{columns}×{more}"), NESTS, &call);
        assert!(ran.whole && ran.finished);
    }
}
