//! Programs of others: `FUTHARK=dir` runs all `.fut` files under a folder and counts.

use super::{files, run_file};

#[test]
#[ignore = "needs Futhark's tests: set FUTHARK to their directory"]
fn programs_of_others() {
    let Ok(folder) = std::env::var("FUTHARK") else { return println!("not run: FUTHARK names no directory") };
    let (mut passed, mut cases, mut unread, mut untested, mut skipped) = (0, 0, 0, 0, 0);
    let all = files(std::path::Path::new(&folder));
    for path in &all {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        match run_file(path) {
            Err(errors) => {
                unread += 1;
                for error in errors.iter().take(3) {
                    println!("{name}: {} {}", error.code, error.message);
                }
            }
            Ok(tally) => {
                cases += tally.right;
                for wrong in &tally.wrong {
                    println!("{name}: {wrong}");
                }
                match (tally.wrong.is_empty(), tally.right, tally.skipped.first()) {
                    (true, 0, Some(why)) => {
                        skipped += 1;
                        println!("{name}: not run: {why}");
                    }
                    (true, 0, None) => untested += 1,
                    (true, _, _) => passed += 1,
                    (false, ..) => {}
                }
            }
        }
    }
    let n = all.len();
    println!(
        "{passed} of {n} files pass all their cases ({cases}); {untested} have none and are read; {skipped} not run; {unread} not read"
    );
    let least: usize = std::env::var("FUTHARK_LEAST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    assert!(passed >= least, "{passed} files pass, fewer than {least}");
}
