entry f (x: f64): f64 = x + ) --! P0640
