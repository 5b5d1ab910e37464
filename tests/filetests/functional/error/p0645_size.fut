def zeros [n] : [n]f64 = replicate n 0 --! P0645 what the size `n` is here cannot be told
entry f (x: f64): f64 = x + zeros[0]
