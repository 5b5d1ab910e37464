type state = {at: f64, going: (f64, f64)}
def step (s: state) : state = s with going.0 = s.at * s.going.1 with at = s.at + s.going.0 * 0.5
def f [n] (x: [n]f64) : f64 =
  let {at, going = (a, b)} = step (step {at = x[0], going = (x[1], x[2] * x[3])})
  in at * a + b * b
