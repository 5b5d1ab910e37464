entry f (x: f64): f64 = x + true --! P0642
