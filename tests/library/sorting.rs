//! The module `sorting`.

use super::*;

#[test]
fn sorting_keeps_a_record() {
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33] {
        for seed in [1, 2] {
            // With many elements some are equal: their order stays.
            let x = some(n, seed);
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|i, j| x[*i].total_cmp(&x[*j]));
            let case = case("sorting", "sort!(x!, perm!)", [("x!", Arg::Reals(x)), ("perm!", Arg::Ints(vec![0; n]))]);
            case.agrees(|a| {
                a[0] = order.iter().map(|i| a[0][*i]).collect();
                a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
            });
            if n <= 9 {
                // Gradients go the way of the elements.
                case.differentiates(&["x!"], |a| {
                    a[0] = order.iter().map(|i| a[0][*i]).collect();
                    a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
                });
            }
            let args = [("x!", reals(n, 9)), ("perm", Arg::Ints(order.iter().map(|i| *i as i64 + 1).collect()))];
            self::case("sorting", "permute!(x!, perm)", args)
                .differentiates(&["x!"], |a| a[0] = order.iter().map(|i| a[0][*i]).collect());
        }
    }
    for x in [(0..10).collect::<Vec<i64>>(), (0..10).rev().collect(), vec![3; 6]] {
        let args = [("x!", Arg::Ints(x.clone())), ("perm!", Arg::Ints(vec![0; x.len()]))];
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by_key(|i| x[*i]);
        case("sorting", "sort!(x!, perm!)", args).agrees(|a| {
            a[0] = order.iter().map(|i| x[*i] as f64).collect();
            a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
        });
    }
}
