--entry: third
--args: 2.5
def d (f: f64 -> f64) (x: f64): f64 = vjp f x 1
entry third (x: f64): f64 = d (d (d (d f64.lgamma))) x --! P0625
