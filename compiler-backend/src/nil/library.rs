//! The library in Nil: modules that programs name in `using`.

/// A module: its name and its text.
pub type Module = (&'static str, &'static str);

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$( ($name, include_str!(concat!("../../lib/", $name, ".nil"))) ),*]
    };
}

/// Every module.
pub const MODULES: &[Module] =
    modules!["vectors", "matrices", "sparse", "statistics", "sorting", "dynamics", "scheduling", "special"];

/// Names that programs written for the host's language use, which mean nothing here or are built in.
pub const HOST: &[&str] = &[
    "NiLang",
    "NiLangCore",
    "AD",
    "Test",
    "SparseArrays",
    "LinearAlgebra",
    "BenchmarkTools",
    "ForwardDiff",
    "Random",
    "Statistics",
    "LogarithmicNumbers",
    "FixedPointNumbers",
    "TropicalNumbers",
    "Zygote",
    "Printf",
    "StaticArrays",
    "Plots",
];

/// What a name brings in: one module, or with `Pendula` all.
pub fn find(name: &str) -> Option<&'static [Module]> {
    if name == "Pendula" {
        return Some(MODULES);
    }
    let n = MODULES.iter().position(|(module, _)| *module == name)?;
    MODULES.get(n..=n)
}

/// The names, for messages.
pub fn names() -> String {
    let all: Vec<&str> = std::iter::once("Pendula").chain(MODULES.iter().map(|(name, _)| *name)).collect();
    all.join(", ")
}
