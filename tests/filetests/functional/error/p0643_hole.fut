entry f (x: f64): f64 = ??? --! P0643 holes are not read @ ???
