//! The effects of rotations on lanes.

use super::{AdMode, Carrier, GRADIENT, LANES, MIXED, SECOND, VALUE};
use crate::calculus::product;
use crate::table::{self, accumulate};
use crate::types::{Acc, Ty};

/// The words of a rotation in every lane: the point's two coordinates and the angle.
struct Rotation<V> {
    a: [V; LANES],
    b: [V; LANES],
    angle: [V; LANES],
}

/// `rot` and `irot`.
///
/// At level 1, an effective `irot` is the program `g(θ) += g(b)·a − g(a)·b; irot a, b, θ; irot g(a), g(b), θ`, and `rot` undoes it.
/// Level 2 is the adjoint of that program.
pub(super) fn rotate<D: Carrier>(d: &mut D, ad_mode: AdMode, ty: Ty, back: bool) -> Result<(), D::Stop> {
    let words = [d.operand(0)?, d.operand(1)?, d.operand(2)?];
    let has_angle = d.carries(2);
    let mut w = Rotation { a: [words[0]; LANES], b: [words[1]; LANES], angle: [words[2]; LANES] };
    let zero = d.word(0);
    for &lane in ad_mode.lanes() {
        w.a[lane] = d.lane(lane, 0);
        w.b[lane] = d.lane(lane, 1);
        w.angle[lane] = if has_angle { d.lane(lane, 2) } else { zero };
    }
    let mut rotator = Rotator { d, ty, back };
    rotator.d.derive(ad_mode != AdMode::Plain);
    match ad_mode {
        AdMode::Plain => rotator.point(&mut w, VALUE)?,
        AdMode::Gradient => rotator.steps(&mut w, &[Step::Angle, Step::Point(VALUE), Step::Point(GRADIENT)])?,
        AdMode::SecondGradient => rotator.steps(
            &mut w,
            &[
                Step::Angle,
                Step::SecondOfAngle,
                Step::SecondOfPoint(VALUE),
                Step::Point(VALUE),
                Step::Point(SECOND),
                Step::SecondOfPoint(GRADIENT),
                Step::Point(GRADIENT),
                Step::Point(MIXED),
            ],
        )?,
        AdMode::Tangent => rotator.point_with_tangent(&mut w, VALUE)?,
        AdMode::GradientTangent => {
            // The angle's contribution uses the words before an `irot`, and after a `rot`.
            if back {
                rotator.angle_with_tangent(&mut w)?;
            }
            for lane in [VALUE, GRADIENT] {
                rotator.point_with_tangent(&mut w, lane)?;
            }
            if !back {
                rotator.angle_with_tangent(&mut w)?;
            }
        }
    }
    d.derive(false);
    d.set(0, w.a[VALUE])?;
    d.set(1, w.b[VALUE])?;
    for &lane in ad_mode.lanes() {
        d.set_lane(lane, 0, w.a[lane]);
        d.set_lane(lane, 1, w.b[lane]);
        if has_angle {
            d.set_lane(lane, 2, w.angle[lane]);
        }
    }
    Ok(())
}

/// A step of an effective `irot`; `rot` undoes them from the last to the first.
#[derive(Clone, Copy)]
enum Step {
    /// `g(θ) += g(b)·a − g(a)·b`.
    Angle,
    /// The adjoint of [`Step::Angle`].
    SecondOfAngle,
    /// The rotation of the words in a lane.
    Point(usize),
    /// The contribution of the rotation of a lane to the angle's second gradient.
    SecondOfPoint(usize),
}

struct Rotator<'a, D> {
    d: &'a mut D,
    ty: Ty,
    back: bool,
}

impl<D: Carrier> Rotator<'_, D> {
    fn steps(&mut self, w: &mut Rotation<D::V>, steps: &[Step]) -> Result<(), D::Stop> {
        if self.back {
            steps.iter().try_for_each(|s| self.step(w, *s))
        } else {
            steps.iter().rev().try_for_each(|s| self.step(w, *s))
        }
    }

    fn step(&mut self, w: &mut Rotation<D::V>, step: Step) -> Result<(), D::Stop> {
        let irot = self.back;
        match step {
            Step::Angle => {
                let share = self.cross(w, VALUE, GRADIENT)?;
                w.angle[GRADIENT] = self.sum(!irot, w.angle[GRADIENT], share)?;
            }
            Step::SecondOfAngle => {
                let h = w.angle[MIXED];
                let shares = [w.a[VALUE], w.b[VALUE], w.b[GRADIENT], w.a[GRADIENT]];
                let mut s = [h; 4];
                for (s, x) in s.iter_mut().zip(shares) {
                    *s = product(self.d, self.ty, h, x)?;
                }
                w.b[MIXED] = self.sum(irot, w.b[MIXED], s[0])?;
                w.a[MIXED] = self.sum(!irot, w.a[MIXED], s[1])?;
                w.a[SECOND] = self.sum(irot, w.a[SECOND], s[2])?;
                w.b[SECOND] = self.sum(!irot, w.b[SECOND], s[3])?;
            }
            Step::Point(lane) => self.point(w, lane)?,
            Step::SecondOfPoint(lane) => {
                let share = self.cross(w, lane, lane + SECOND)?;
                w.angle[SECOND] = self.sum(!irot, w.angle[SECOND], share)?;
            }
        }
        Ok(())
    }

    fn sum(&mut self, minus: bool, a: D::V, b: D::V) -> Result<D::V, D::Stop> {
        accumulate(self.d, Acc::Add, minus, self.ty, a, b)
    }

    /// Rotates the words in a lane.
    fn point(&mut self, w: &mut Rotation<D::V>, lane: usize) -> Result<(), D::Stop> {
        self.d.derive(lane != VALUE);
        [w.a[lane], w.b[lane]] = table::rotate(self.d, self.ty, self.back, [w.a[lane], w.b[lane], w.angle[VALUE]])?;
        self.d.derive(true);
        Ok(())
    }

    /// g(b)·a − g(a)·b, with the values in one lane and their gradients in another.
    fn cross(&mut self, w: &Rotation<D::V>, x: usize, g: usize) -> Result<D::V, D::Stop> {
        let first = product(self.d, self.ty, w.b[g], w.a[x])?;
        let second = product(self.d, self.ty, w.a[g], w.b[x])?;
        self.sum(true, first, second)
    }

    /// Rotates the words in a lane and their tangents. The angle's tangent moves the latter along the circle, after a `rot` and before an
    /// `irot`, so that each undoes the other to the last bit.
    fn point_with_tangent(&mut self, w: &mut Rotation<D::V>, lane: usize) -> Result<(), D::Stop> {
        if self.back {
            self.along(w, lane)?;
        }
        self.point(w, lane)?;
        self.point(w, lane + SECOND)?;
        if !self.back {
            self.along(w, lane)?;
        }
        Ok(())
    }

    fn along(&mut self, w: &mut Rotation<D::V>, lane: usize) -> Result<(), D::Stop> {
        let t = lane + SECOND;
        let angle = w.angle[SECOND];
        let (x, y) = (product(self.d, self.ty, angle, w.b[lane])?, product(self.d, self.ty, angle, w.a[lane])?);
        w.a[t] = self.sum(!self.back, w.a[t], x)?;
        w.b[t] = self.sum(self.back, w.b[t], y)?;
        Ok(())
    }

    /// [`Step::Angle`], and its tangent.
    fn angle_with_tangent(&mut self, w: &mut Rotation<D::V>) -> Result<(), D::Stop> {
        let (first, second) = (self.cross(w, VALUE, MIXED)?, self.cross(w, SECOND, GRADIENT)?);
        let share = self.sum(false, first, second)?;
        w.angle[MIXED] = self.sum(!self.back, w.angle[MIXED], share)?;
        self.step(w, Step::Angle)
    }
}
