//! Fits a line through points by gradient descent: a program in Nil run and differentiated from Rust.
//!
//! ```sh
//! cargo run --release --example fit
//! ```

use pendula::Error;

/// The sum of squared distances of the line a x + b from the points.
const LOSS: &str = "
@i function loss(e!, a, b, x, y)
    for i = 1:length(x)
        e! += (a * x[i] + b - y[i])^2
    end
end
";

/// Returns the slope and the intercept of the line that fits best, and the loss that remains.
///
/// # Errors
/// None, unless the loss cannot be differentiated.
pub(crate) fn fit(x: &[f64], y: &[f64]) -> Result<(f64, f64, f64), Error> {
    let loss = pendula::text("loss.nil", LOSS);
    let (mut a, mut b) = (0.0, 0.0);
    for _ in 0..500 {
        // A tuple of numbers and arrays; the program is compiled once for all of these.
        let gradient = loss.grad((0.0, a, b, x, y))?;
        a -= 0.02 * gradient.get::<f64>("a")?;
        b -= 0.02 * gradient.get::<f64>("b")?;
    }
    let run = loss.round_trip((0.0, a, b, x, y))?;
    Ok((a, b, run.get("e!")?))
}

#[allow(dead_code, reason = "the tests take `fit` alone")]
fn main() -> Result<(), Error> {
    let (a, b, left) = fit(&[0.0, 1.0, 2.0, 3.0], &[1.0, 3.1, 4.9, 7.0])?;
    println!("y = {a:.3} x + {b:.3}, {left:.3} is left");
    Ok(())
}
