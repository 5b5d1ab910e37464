--entry: f
--args: [1.0, 2.0], [1.0]
entry f (xs: []f64) (ys: []f64): f64 = reduce (+) 0 (map2 (*) xs ys) --! P0619
