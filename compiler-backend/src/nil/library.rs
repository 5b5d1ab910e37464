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

/// What the host's language calls functions that the library has by other names.
const SYNONYMS: &[(&str, &str)] =
    &[("sum", "vsum!"), ("prod", "vprod!"), ("var", "variance!"), ("mul!", "matvec!"), ("norm2", "norm2!")];

/// The function of the library that somebody may mean: its module, and how it is called, `vsum!(s!, x)`.
pub fn meant(name: &str) -> Option<(&'static str, String)> {
    let synonym = SYNONYMS.iter().find(|(host, _)| *host == name).map(|(_, own)| (*own).to_string());
    let own = synonym.unwrap_or_else(|| if name.ends_with('!') { name.to_string() } else { format!("{name}!") });
    let head = format!("function {own}(");
    MODULES.iter().find_map(|(module, text)| {
        let (_, rest) = text.split_once(&head)?;
        Some((*module, format!("{own}({})", parameters(rest).join(", "))))
    })
}

/// The names of the parameters that stand before a closing parenthesis.
fn parameters(text: &str) -> Vec<String> {
    let (mut depth, mut out) = (0, vec![String::new()]);
    for c in text.chars() {
        match c {
            ')' if depth == 0 => break,
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth == 0 => out.push(String::new()),
            c => {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    out.iter().map(|p| p.split("::").next().unwrap_or("").trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn functions_are_found_by_names_near_theirs() {
        assert_eq!(meant("sum"), Some(("vectors", "vsum!(s!, x)".to_string())));
        assert_eq!(meant("softmax!"), Some(("statistics", "softmax!(p!, x)".to_string())));
        assert_eq!(meant("mean"), Some(("statistics", "mean!(m!, x)".to_string())));
        assert_eq!(meant("sin"), None);
    }
}
