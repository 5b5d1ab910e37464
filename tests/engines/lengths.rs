//! C code for whole runs does not depend on how long arrays are, but for short ones: one library serves for all, and reads lengths and addresses
//! from a table.

use pendula::arguments;
use pendula::compiler::c::{Certify, Mode, Settings, Source, write_with_table};
use pendula::isa::adjoint::{ActiveArguments, GRADIENT};
use pendula::vm::{Config, Machine};

use super::nil::Call;
use super::whole::{compare_there_and_back, form_for_c, programs};

const SOURCE: &str = "
@i function mean!(m!::T, y::AbstractVector{T}) where T
    for i = 1:length(y)
        m! += y[i] / length(y)
    end
end

@i function f!(s!::Float64, r!::Vector{Float64}, A::Matrix{Float64}, x::Vector{Float64}, w::Vector{Float64})
    @routine begin
        y ← zeros(Float64, size(A, 1))
        @zeros Float64 m e
        for j = 1:size(A, 2)
            for i = 1:size(A, 1)
                y[i] += A[i, j] * x[j]
            end
        end
        mean!(m, y)
        for i = 1:length(y)
            e += exp(y[i] - m) * w[i]
        end
    end
    s! += log(1 + e * e)
    for i = 1:length(y)
        r![i] += y[i] * w[i] * e
    end
    ~@routine
end
";

/// The arguments for a matrix of so many rows and columns.
fn call(rows: usize, columns: usize) -> Call {
    let args = format!(
        "0.25,fill(0.5,{rows}),fill(0.03,{rows},{columns}),range(-1.0,2.0,length={columns}),range(0.1,0.9,length={rows})"
    );
    Call { arguments: arguments::parse(&args).expect("arguments"), ..Call::default() }
}

fn in_c(rows: usize, columns: usize) -> Source {
    let (ir, arguments, switches) = form_for_c(SOURCE, &call(rows, columns));
    let settings = Settings { fast: false, certify: Certify::Everything, keep: true, switches };
    write_with_table(&ir, &arguments, &[Mode::ForwardAndBack(ActiveArguments::ALL)], settings).expect("C")
}

#[test]
fn the_text_is_the_same_for_all_lengths() {
    let sources = [[64, 64], [100, 333], [333, 100], [2000, 65]].map(|[rows, columns]| in_c(rows, columns));
    for source in &sources {
        assert_eq!(source.text, sources[0].text);
        assert_eq!(source.table.len(), sources[0].table.len());
    }
    assert!(sources[3].table.contains(&2000) && sources[3].table.contains(&65), "{:?}", sources[3].table);
    // Loops over short arrays are those of so many turns.
    assert_ne!(in_c(4, 64).text, in_c(5, 64).text);
}

#[test]
fn gradients_of_several_lengths() {
    for [rows, columns] in [[64, 70], [101, 3], [3, 101], [130, 90]] {
        compare_there_and_back(&format!("{rows} x {columns}"), SOURCE, &call(rows, columns));
    }
}

/// Runs by one library on data of several lengths, one after the other and at once.
#[test]
fn one_library_for_several_lengths() {
    let of = [[100, 80], [130, 64], [64, 200]];
    let all = of.map(|[rows, columns]| programs("several lengths", SOURCE, &call(rows, columns)));
    let gradient = |n: usize| {
        let [(program, _), _] = &all[n];
        let config = Config { mem: Some(1 << 16), ..Config::default() };
        let mut machine = Machine::new(program, &config).expect("a machine");
        machine.allow_whole(true);
        assert!(machine.run_forward_and_back(&[(0, 1f64.to_bits())]));
        (0..program.module().data.len()).map(|at| machine.lane_word(GRADIENT, at)).collect::<Vec<u64>>()
    };
    let first = [0, 1, 2].map(gradient);
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..6).map(|n| scope.spawn(move || (0..20).map(|_| gradient(n % 3)).collect::<Vec<_>>())).collect();
        for (n, thread) in threads.into_iter().enumerate() {
            assert!(thread.join().expect("no panic").iter().all(|g| *g == first[n % 3]), "{:?}", of[n % 3]);
        }
    });
}
