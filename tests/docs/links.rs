//! Links in the documents lead somewhere, and the glossary has the terms that the book uses.

use super::*;

#[test]
fn the_glossary_has_terms_that_the_book_uses_in_their_order() {
    let glossary = read("docs/src/glossary.md");
    let terms: Vec<String> = glossary
        .lines()
        .filter_map(|l| Some(l.strip_prefix("**")?.split_once(".**")?.0.to_lowercase().replace(',', "")))
        .collect();
    assert!(terms.len() > 60, "only {} terms", terms.len());
    for pair in terms.windows(2) {
        assert!(pair[0] < pair[1], "{} comes before {}", pair[0], pair[1]);
    }
    let others = documents().into_iter().filter(|d| !d.ends_with("/glossary.md") && !d.ends_with("/errors.md"));
    let book: String = others.map(|d| read(&d).to_lowercase()).collect();
    for term in &terms {
        let missing = term.split([' ', '-']).find(|word| !book.contains(word));
        assert_eq!(missing, None, "{term} is not in the book");
    }
}

// Links.

#[test]
fn links_lead_somewhere() {
    if blessing() {
        // Pages are being written.
        return;
    }
    let mut documents = documents();
    documents.extend(["ARCHITECTURE.md", "CONTRIBUTING.md"].map(String::from));
    let mut count = 0;
    for path in &documents {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        for link in links(&read(path)) {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { PathBuf::from(path) } else { folder.join(file) };
            assert!(root().join(&target).exists(), "{path}: there is no {link}");
            if !anchor.is_empty() {
                let text = read(&target.to_string_lossy());
                assert!(anchors(&text).contains(anchor), "{path}: there is no heading for {link}");
            }
        }
    }
    assert!(count > 20, "only {count} links");
    let summary = read("docs/src/SUMMARY.md");
    for page in documents.iter().filter_map(|d| d.strip_prefix("docs/src/")).filter(|p| *p != "SUMMARY.md") {
        assert!(summary.contains(&format!("({page})")), "{page} is not in SUMMARY.md");
    }
}

/// The targets of a document's links, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        // Every other stretch between backticks is code; the text of a link may be code, its target is not.
        let plain: String =
            line.split('`').enumerate().map(|(n, part)| if n % 2 == 0 { part } else { "code" }).collect();
        for part in plain.split("](").skip(1) {
            out.extend(part.split_once(')').map(|(target, _)| target.to_string()));
        }
    }
    out
}

/// The anchors that a document's headings make.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim().to_lowercase());
    headings
        .map(|h| h.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}
