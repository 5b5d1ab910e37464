--entry: f
--args: 1i32, 0i32
entry f (x: i32) (y: i32): i32 = x / y --! P0624
