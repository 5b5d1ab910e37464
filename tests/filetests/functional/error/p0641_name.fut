entry f (x: f64): f64 = x + yy --! P0641
