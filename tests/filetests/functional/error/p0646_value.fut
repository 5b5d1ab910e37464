--! P0646 expected a number of the type f64
--entry: f
--args: [1.0, true]
entry f (xs: []f64): f64 = xs[0]
