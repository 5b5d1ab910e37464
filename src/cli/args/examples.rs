//! The examples at the end of each command's help. A test runs them in a copy of the repository's folder.

/// The examples of `pendula` itself.
pub(super) const ALL: &str = "\
Examples:
  pendula run examples/fib.rasm
  pendula grad examples/bessel.rasm --check";

/// The examples of `run`.
pub(super) const RUN: &str = "\
Examples:
  pendula run examples/fib.rasm --set n=90 --show n,r1
  pendula run examples/multiplier.nil --args 2,3,5 --round-trip";

/// The examples of `grad`.
pub(super) const GRAD: &str = "\
Examples:
  pendula grad examples/bessel.rasm --set z=2.5 --hessian
  pendula grad examples/power.nil --args 0.0,1.02,1000 --loss out! --check";

/// The examples of `debug`.
pub(super) const DEBUG: &str = "\
Examples:
  pendula debug examples/fib.rasm -x 'watch r1' -x end -x rcontinue --batch
  pendula debug examples/power.nil --args 0.0,1.02,10 -x step -x where --batch";

/// The examples of `dap`.
pub(super) const DAP: &str = "\
Examples:
  pendula dap < /dev/null
  pendula dap --help";

/// The examples of `energy`.
pub(super) const ENERGY: &str = "\
Examples:
  pendula energy examples/fib.rasm --tech acmos22-fdsoi
  pendula energy examples/sort.rasm examples/gcd.rasm --round-trip";

/// The examples of `level`.
pub(super) const LEVEL: &str = "\
Examples:
  pendula level examples/bessel.rasm
  pendula level examples/bessel.nil --args 0.0,2,1.0";

/// The examples of `asm`.
pub(super) const ASM: &str = "\
Examples:
  pendula asm examples/matmul.rasm -o matmul.o
  pendula asm examples/fib.rasm --listing";

/// The examples of `disasm`.
pub(super) const DISASM: &str = "\
Examples:
  pendula disasm examples/fib.rasm --listing
  pendula disasm examples/fib.pisa --pisa";

/// The examples of `compile`.
pub(super) const COMPILE: &str = "\
Examples:
  pendula compile examples/power.nil --args 0.0,1.02,10
  pendula compile examples/fib.ja --emit ir";

/// The examples of `check`.
pub(super) const CHECK: &str = "\
Examples:
  pendula check examples/bennett.rasm
  pendula check examples/fib.rasm examples/fib.ja --json";

/// The examples of `invert`.
pub(super) const INVERT: &str = "\
Examples:
  pendula invert examples/fib.rasm
  pendula invert examples/fib.ja -o bif.ja";

/// The examples of `import`.
pub(super) const IMPORT: &str = "\
Examples:
  pendula import examples/fib.pisa
  pendula import examples/fib.pisa -o fib.rasm --cells 4096";

/// The examples of `fmt`.
pub(super) const FMT: &str = "\
Examples:
  pendula fmt --check examples/fib.rasm examples/power.nil
  pendula fmt --to nil tests/nilang/control.jl";

/// The examples of `explain`.
pub(super) const EXPLAIN: &str = "\
Examples:
  pendula explain P0107
  pendula explain";

/// The examples of `isa`.
pub(super) const ISA: &str = "\
Examples:
  pendula isa addmul.q
  pendula isa shift";

/// The examples of `circuit`.
pub(super) const CIRCUIT: &str = "\
Examples:
  pendula circuit addmul.q --width 16 --frac 8 --verify
  pendula circuit swap --width 2 --format svg -o swap.svg";

/// The examples of `prove`.
pub(super) const PROVE: &str = "\
Examples:
  pendula prove rmul jmp.lt
  pendula prove --claim circuit --width 16 add rol";

/// The examples of `lab`.
pub(super) const LAB: &str = "\
Examples:
  pendula lab try examples/isa/complex.rasm --isa examples/isa/complex.isa
  pendula lab discover examples/orbit.rasm --count 1";

/// The examples of `lab try`.
pub(super) const LAB_TRY: &str = "\
Examples:
  pendula lab try examples/xtea.rasm --isa examples/isa/xorshift.isa
  pendula lab try --suite leapfrog-q --isa examples/isa/complex.isa --tech aqfp";

/// The examples of `lab discover`.
pub(super) const LAB_DISCOVER: &str = "\
Examples:
  pendula lab discover examples/orbit.rasm --count 1
  pendula lab discover examples/xtea.rasm --by cycles --count 2 -o xtea.isa";

/// The examples of `lab sweep`.
pub(super) const LAB_SWEEP: &str = "\
Examples:
  pendula lab sweep --suite leapfrog-q --isa examples/isa/leapfrog.isa --over width=16..64:4
  pendula lab sweep examples/orbit.rasm --isa examples/isa/leapfrog.isa --over frequency=1e6..1e9:4 --csv";

/// The examples of `cache`.
pub(super) const CACHE: &str = "\
Examples:
  pendula cache list
  pendula cache clear";

/// The examples of `bench`.
pub(super) const BENCH: &str = "\
Examples:
  pendula bench --list
  pendula bench norm --quick --engine interp";

/// The examples of `completions`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  pendula completions bash > pendula.bash
  pendula completions fish > pendula.fish";

/// The examples of `man`.
pub(super) const MAN: &str = "\
Examples:
  pendula man > pendula.1
  pendula man --dir man";
