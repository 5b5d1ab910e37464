//! The library in Nil: modules that programs import with `using`.

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

/// Modules of the host language that programs often import. They have no meaning here, or are built in.
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

/// The functions of NiLang's own library.
const NILANG: &[Module] = &[("nilang", include_str!("../../lib/nilang.nil"))];

/// The files that a name imports: one module, or all modules with `Pendula`.
pub fn find(name: &str) -> Option<&'static [Module]> {
    if name == "NiLang" {
        return Some(NILANG);
    }
    if name == "Pendula" {
        return Some(MODULES);
    }
    let n = MODULES.iter().position(|(module, _)| *module == name)?;
    MODULES.get(n..=n)
}

/// The names of the functions of a module.
pub fn functions(name: &str) -> impl Iterator<Item = &'static str> {
    let files = find(name).unwrap_or(&[]);
    let rest = files.iter().flat_map(|(_, text)| text.split("@i function ").skip(1));
    rest.map(|rest| rest.split(['(', ' ']).next().unwrap_or("")).filter(|name| !name.is_empty())
}

/// The names of the modules, for messages.
pub fn names() -> String {
    let all: Vec<&str> = std::iter::once("Pendula").chain(MODULES.iter().map(|(name, _)| *name)).collect();
    all.join(", ")
}

/// Functions of the host language that the library has under other names.
const SYNONYMS: &[(&str, &str)] =
    &[("sum", "vsum!"), ("prod", "vprod!"), ("var", "variance!"), ("mul!", "matvec!"), ("norm2", "norm2!")];

/// The library function that a user may have meant: its module, and a call of it such as `vsum!(s!, x)`.
pub fn suggestion(name: &str) -> Option<(&'static str, String)> {
    let synonym = SYNONYMS.iter().find(|(host, _)| *host == name).map(|(_, wanted_name)| (*wanted_name).to_string());
    let wanted_name =
        synonym.unwrap_or_else(|| if name.ends_with('!') { name.to_string() } else { format!("{name}!") });
    let head = format!("function {wanted_name}(");
    MODULES.iter().find_map(|(module, text)| {
        let (_, rest) = text.split_once(&head)?;
        Some((*module, format!("{wanted_name}({})", parameters(rest).join(", "))))
    })
}

/// The names of the parameters up to the closing parenthesis.
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
    use super::suggestion;

    #[test]
    fn functions_are_found_by_names_near_theirs() {
        assert_eq!(suggestion("sum"), Some(("vectors", "vsum!(s!, x)".to_string())));
        assert_eq!(suggestion("softmax!"), Some(("statistics", "softmax!(p!, x)".to_string())));
        assert_eq!(suggestion("mean"), Some(("statistics", "mean!(m!, x)".to_string())));
        assert_eq!(suggestion("sin"), None);
    }
}
