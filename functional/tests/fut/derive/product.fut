def f [n] (x: [n]f64) : f64 = f64.product x + f64.maximum x * f64.minimum x
