def g [n] (x: i64): i64 = n + x --! P0645
entry f (x: i64): i64 = g x
