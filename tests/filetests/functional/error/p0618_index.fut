--entry: f
--args: [1.0, 2.0], 2i64
entry f (xs: []f64) (i: i64): f64 = xs[i] --! P0618
