//! The core as text.

use pendula_functional::ad::{complete, transform};
use pendula_functional::core::{GroupId, Transform};
use pendula_functional::print;

#[test]
fn functions_and_their_transforms_are_written() {
    let mut store = super::reading("(define (f x) (if (< x 1) (* x x) x)) (f 2)").program.store;
    let f = GroupId(0);
    let text = print::one(&store, f);
    let expected = "group g0\n  f.0 = λ x.\n    c = 1\n    t = < x c\n    t.3 = if t\n      t.4 = * x x\n      t.4\n    else\n      x\n    t.3\n";
    let plain = |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    // The numbers of variables may differ; the shape may not.
    let shape = |text: &str| plain(text).chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect::<String>();
    assert_eq!(shape(&text), shape(expected.trim_end()), "{text}");
    let reverse = transform(&mut store, f, Transform::Reverse).expect("one level");
    complete(&mut store, reverse).expect("all operators have derivatives");
    let text = print::group(&store, reverse);
    assert!(text.contains("Reverse of g0") && text.contains("@ reverse") && text.contains("f~.0 = λ s."), "{text}");
    let again = transform(&mut store, f, Transform::Reverse).expect("one level");
    assert_eq!(reverse, again, "a group is transformed once");
}

#[test]
fn the_code_of_a_transform_grows_by_a_bounded_factor() {
    let program = "(define (f x) (let* ((a (* x x)) (b (sin a)) (c (+ a b)) (d (* c b)) (e (exp d))) (if (< e x) (* e c) (+ d (sqrt a))))) (f 2)";
    let mut store = super::reading(program).program.store;
    let mut sizes = vec![print::group(&store, GroupId(0)).lines().count()];
    let mut group = GroupId(0);
    for _ in 0..3 {
        group = transform(&mut store, group, Transform::Reverse).expect("three levels");
        complete(&mut store, group).expect("all operators have derivatives");
        // The backpropagators belong to it.
        let mut waiting = vec![group];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = waiting.pop() {
            complete(&mut store, id).expect("all operators have derivatives");
            if seen.insert(id) {
                waiting.extend(print::named(&store, id));
            }
        }
        sizes.push(seen.iter().map(|id| print::one(&store, *id).lines().count()).sum());
    }
    for pair in sizes.windows(2) {
        assert!(pair[1] <= 6 * pair[0], "{sizes:?}");
    }
    assert!(sizes[3] <= 64 * sizes[0], "{sizes:?}");
}
