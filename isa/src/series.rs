//! Truncated power series of the functions of the table.
//!
//! The coefficients of a value along a direction are a *jet*: x(t) = x₀ + x₁t + … + xₙtⁿ. [`Series`] computes the jet of y = f(x…) from those
//! of the arguments. Nothing here knows what a function does: the rules come from the partial derivatives p of its row. From
//! y′ = Σ p·x′ follows
//!
//! k·y_k = Σ_i Σ_{j=1..k} j·x_{i,j}·p_{i,k−j},
//!
//! where each p is a series as well, and what its expression consists of. So a function becomes a graph: the nodes are the series that
//! its derivatives need, and equal nodes are one node. The cosine of the derivative of a sine has that sine in its own derivative, and
//! the graph closes. Coefficient k of a node needs coefficients k of its arguments and k − 1 of its partial derivatives, so that all
//! nodes are computed together, one order after the other, with O(n²) operations for each node.
//!
//! Products, quotients and powers stand for themselves: series form a ring, and its operations are the convolutions below. Without
//! these rules, the chain of derivatives of a quotient or a power would have a new node for each order.
//!
//! A logarithmic number stands for the logarithm of its magnitude, as everywhere in derivatives: its coefficients from the first on are
//! those of ln|x|, in fixed point. Coefficient 0 of every node is the function's value, to the last bit. A comparison in a derivative
//! is decided by the values, and a discrete function is constant.

use crate::calculus::{Calculus, Constant};
use crate::fault::Fault;
use crate::num::{Env, compare, convert};
use crate::scalar::ScalarDomain;
use crate::table::{ARITY, Function, FunctionVisitor, TableFn, f_fn, q_fn};
use crate::types::{Cond, Ty};

mod coefficients;
mod rotation;

pub use rotation::Turn;

/// The highest order of a jet.
pub const MAX_ORDER: usize = 64;

/// A node: the series of one number that a function or its derivatives need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id(u16);

/// How the coefficients of a node follow from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// They are given.
    Given,
    /// Only coefficient 0 is not zero.
    Constant,
    /// From the derivatives of the node's function.
    Derivative,
    /// The product of the first two arguments, plus the third if `plus`.
    Product { plus: bool },
    /// The first number divided by the second.
    Quotient(Id, Id),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    rule: Rule,
    /// The type of coefficient 0.
    ty: Ty,
    /// The function, unless the node is given or a constant of an expression.
    func: Option<TableFn>,
    args: [Id; ARITY],
    /// The series of the partial derivatives, once they are needed.
    partials: [Option<Id>; ARITY],
    expanded: bool,
    /// The highest order that is needed.
    wanted: usize,
}

/// The series of a function of the table, and room for computing them again and again.
#[derive(Clone, Debug, Default)]
pub struct Series {
    env: Env,
    order: usize,
    nodes: Vec<Node>,
    /// The coefficients of all nodes, [`Series::stride`] each.
    words: Vec<u64>,
    /// The node whose partial derivatives are being recorded.
    expanding: Option<Id>,
    overflowed: bool,
    /// The node of the function itself.
    root: Id,
}

impl Series {
    /// Begins the computation of a function with coefficients up to `order`, which is at most [`MAX_ORDER`].
    pub fn begin(&mut self, env: Env, order: usize) {
        self.env = env;
        self.order = order.min(MAX_ORDER);
        self.nodes.clear();
        self.words.clear();
        self.expanding = None;
        self.overflowed = false;
    }

    /// The number of coefficients of a node.
    fn stride(&self) -> usize {
        self.order + 1
    }

    /// Whether a fixed-point number wrapped.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[usize::from(id.0)]
    }

    /// The coefficients of a node.
    fn jet(&self, id: Id) -> &[u64] {
        let (at, n) = (usize::from(id.0), self.stride());
        &self.words[at * n..(at + 1) * n]
    }

    fn value(&self, id: Id) -> u64 {
        self.words[usize::from(id.0) * self.stride()]
    }

    fn is_constant(&self, id: Id) -> bool {
        self.node(id).rule == Rule::Constant
    }

    fn push(&mut self, node: Node, value: u64) -> Id {
        let id = Id(self.nodes.len() as u16);
        self.nodes.push(node);
        self.words.push(value);
        self.words.resize(self.nodes.len() * self.stride(), 0);
        id
    }

    /// Adds an argument with this value: the arguments of the function come first, in their order. A constant argument has no other
    /// coefficients.
    pub fn argument(&mut self, ty: Ty, value: u64, constant: bool) {
        let constant = constant || ty.gradient().is_none();
        let rule = if constant { Rule::Constant } else { Rule::Given };
        let none = Id(0);
        // A constant argument is not shared with equal constants: it is one of the function's arguments.
        let node = Node {
            rule,
            ty,
            func: None,
            args: [none; ARITY],
            partials: [None; ARITY],
            expanded: true,
            wanted: self.order,
        };
        self.push(node, value);
    }

    /// The coefficients of argument `n` from the first on: to be filled in, as words of its gradient type.
    pub fn coefficients_mut(&mut self, n: usize) -> &mut [u64] {
        let stride = self.stride();
        &mut self.words[n * stride + 1..(n + 1) * stride]
    }

    /// Computes the coefficients of the function of the arguments; returns those from the first on, as words of the gradient type of
    /// the value. `value` is the function's value.
    ///
    /// # Errors
    /// A derivative does not exist, or a coefficient does not fit.
    pub fn run(&mut self, func: TableFn, value: u64) -> Result<&[u64], Fault> {
        let root = self.root(func, value);
        self.want(root, self.order)?;
        for k in 1..=self.order {
            self.step(k)?;
        }
        self.root = root;
        Ok(self.result())
    }

    /// What [`Series::run`] has computed.
    pub fn result(&self) -> &[u64] {
        &self.jet(self.root)[1..]
    }

    /// The partial derivatives of the function and their derivatives, as numbers: `first[i]` is ∂f/∂x_i, and `second[i][j]` is
    /// ∂²f/∂x_i∂x_j. Those with respect to constant arguments are zero. Second derivatives are computed if `second` says so.
    ///
    /// # Errors
    /// A derivative does not exist, or does not fit.
    pub fn derivatives(&mut self, func: TableFn, value: u64, second: bool) -> Result<Derivatives, Fault> {
        let root = self.root(func, value);
        let mut out = Derivatives::default();
        if self.is_constant(root) {
            return Ok(out);
        }
        let partials = self.partials(root)?;
        let calculus = func.info().calculus();
        for (n, p) in partials.into_iter().enumerate() {
            let Some(p) = p else { continue };
            out.words[n] = self.value(p);
            out.first[n] = convert::to_f64(self.env, calculus, out.words[n]);
        }
        if !second {
            return Ok(out);
        }
        for p in partials.into_iter().flatten() {
            self.want(p, 1)?;
        }
        self.want(root, 1)?;
        let count = func.info().args.len();
        for j in 0..count {
            let argument = Id(j as u16);
            if self.is_constant(argument) {
                continue;
            }
            let one = match self.node(argument).ty.gradient() {
                Some(Ty::F) => 1f64.to_bits(),
                Some(Ty::Q | Ty::L | Ty::Int) | None => 1 << self.env.format.frac(),
            };
            (0..count).for_each(|n| self.coefficients_mut(n)[0] = if n == j { one } else { 0 });
            self.step(1)?;
            for (row, p) in out.second.iter_mut().zip(partials) {
                row[j] = p.map_or(0.0, |p| convert::to_f64(self.env, calculus, self.jet(p)[1]));
            }
        }
        Ok(out)
    }

    /// The node of the function of the arguments.
    fn root(&mut self, func: TableFn, value: u64) -> Id {
        let last = func.info().args.len() - 1;
        let args = std::array::from_fn(|n| Id(n.min(last) as u16));
        self.function(func, args, value)
    }

    /// A node for a function of others, which has this value.
    fn function(&mut self, func: TableFn, args: [Id; ARITY], value: u64) -> Id {
        let info = func.info();
        let constant = args[..info.partials].iter().all(|a| self.is_constant(*a));
        let rule = match func {
            _ if constant => Rule::Constant,
            TableFn::Q(q_fn::Name::Mul) | TableFn::F(f_fn::Name::Mul) => Rule::Product { plus: false },
            TableFn::Q(q_fn::Name::Muladd) | TableFn::F(f_fn::Name::Muladd) => Rule::Product { plus: true },
            TableFn::Q(q_fn::Name::Div) | TableFn::F(f_fn::Name::Div) => Rule::Quotient(args[0], args[1]),
            _ => self.power_of_one_less(func, args).unwrap_or(Rule::Derivative),
        };
        let node =
            Node { rule, ty: info.ty, func: Some(func), args, partials: [None; ARITY], expanded: false, wanted: 0 };
        self.push(node, value)
    }

    /// The derivative of a power has the power with an exponent of one less: where the base is not zero, that is the power divided by
    /// the base.
    fn power_of_one_less(&self, func: TableFn, args: [Id; ARITY]) -> Option<Rule> {
        let power = self.expanding?;
        let (ty, is_power) = match func {
            TableFn::Q(name) => (Ty::Q, matches!(name, q_fn::Name::Pow | q_fn::Name::Powi)),
            TableFn::F(name) => (Ty::F, matches!(name, f_fn::Name::Pow | f_fn::Name::Powi)),
            TableFn::Int(_) | TableFn::L(_) => return None,
        };
        let of = self.node(power);
        let nonzero = convert::to_f64(self.env, ty, self.value(args[0])) != 0.0;
        let same = of.func == Some(func) && of.args[0] == args[0];
        (is_power && same && nonzero).then_some(Rule::Quotient(power, args[0]))
    }

    /// Asks for the coefficients of a node up to an order, and for all that they need.
    fn want(&mut self, id: Id, order: usize) -> Result<(), Fault> {
        let node = self.nodes[usize::from(id.0)];
        if order <= node.wanted || node.rule == Rule::Constant {
            return Ok(());
        }
        self.nodes[usize::from(id.0)].wanted = order;
        match node.rule {
            Rule::Given | Rule::Constant => Ok(()),
            Rule::Quotient(a, b) => {
                self.want(a, order)?;
                self.want(b, order)
            }
            Rule::Product { .. } => node.args.into_iter().try_for_each(|a| self.want(a, order)),
            Rule::Derivative => {
                node.args.into_iter().try_for_each(|a| self.want(a, order))?;
                let partials = self.partials(id)?;
                partials.into_iter().flatten().try_for_each(|p| self.want(p, order - 1))
            }
        }
    }

    /// The series of a node's partial derivatives, by argument; none for constant arguments.
    fn partials(&mut self, id: Id) -> Result<[Option<Id>; ARITY], Fault> {
        let node = *self.node(id);
        let (false, Some(func)) = (node.expanded, node.func) else { return Ok(node.partials) };
        let before = self.expanding.replace(id);
        let partials = func.visit(Record { series: self, id, args: node.args });
        self.expanding = before;
        let partials = partials?;
        let node = &mut self.nodes[usize::from(id.0)];
        node.partials = partials;
        node.expanded = true;
        Ok(partials)
    }
}

/// First and second derivatives of a function at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derivatives {
    /// The partial derivatives as words of type [`FunctionInfo::calculus`](crate::table::FunctionInfo::calculus).
    pub words: [u64; ARITY],
    /// The partial derivatives.
    pub first: [f64; ARITY],
    /// The second partial derivatives.
    pub second: [[f64; ARITY]; ARITY],
}

impl Derivatives {
    /// Whether any derivative with respect to argument `n` is not zero.
    pub fn matters(&self, n: usize) -> bool {
        self.first[n] != 0.0 || self.second[n].iter().any(|x| *x != 0.0)
    }
}

/// Records the partial derivatives of a function as nodes.
struct Record<'a> {
    series: &'a mut Series,
    id: Id,
    args: [Id; ARITY],
}

impl FunctionVisitor for Record<'_> {
    type Out = Result<[Option<Id>; ARITY], Fault>;

    fn visit<F: Function>(self) -> Self::Out {
        let mut out = [None; ARITY];
        for (n, out) in out.iter_mut().enumerate().take(F::INFO.partials) {
            if !self.series.is_constant(self.args[n]) {
                *out = Some(F::partial(self.series, n, self.args, self.id)?);
            }
        }
        Ok(out)
    }
}

/// A function's value, and whether a fixed-point number wrapped.
struct Value {
    env: Env,
    x: [u64; ARITY],
}

impl FunctionVisitor for Value {
    type Out = Result<(u64, bool), Fault>;

    fn visit<F: Function>(self) -> Self::Out {
        let mut domain = ScalarDomain::new(self.env);
        let value = F::value(&mut domain, self.x)?;
        Ok((value, domain.overflowed))
    }
}

impl Series {
    #[inline(never)]
    fn apply_function(&mut self, func: TableFn, mut x: [Id; ARITY]) -> Result<Id, Fault> {
        let last = func.info().args.len() - 1;
        x = std::array::from_fn(|n| x[n.min(last)]);
        if let Some(at) = self.nodes.iter().position(|n| n.func == Some(func) && n.args == x) {
            return Ok(Id(at as u16));
        }
        let (value, overflowed) = func.visit(Value { env: self.env, x: x.map(|id| self.value(id)) })?;
        self.overflowed |= overflowed;
        Ok(self.function(func, x, value))
    }

    #[inline(never)]
    fn fixed(&mut self, ty: Ty, word: u64) -> Id {
        let is_it = |(at, n): (usize, &Node)| {
            n.rule == Rule::Constant && n.func.is_none() && n.ty == ty && self.value(Id(at as u16)) == word
        };
        if let Some(at) = self.nodes.iter().enumerate().position(is_it) {
            return Id(at as u16);
        }
        let at = self.nodes.len();
        self.argument(ty, word, true);
        Id(at as u16)
    }
}

impl Calculus for Series {
    type V = Id;
    type Stop = Fault;

    #[inline(always)]
    fn apply<F: Function>(&mut self, x: [Id; ARITY]) -> Result<Id, Fault> {
        self.apply_function(F::INFO.func, x)
    }

    fn constant(&mut self, ty: Ty, c: Constant) -> Id {
        self.fixed(ty, c.word(self.env, ty))
    }

    fn offset(&mut self, n: Id, k: i64) -> Id {
        self.fixed(Ty::Int, self.value(n).wrapping_add_signed(k))
    }

    fn if_le(&mut self, ty: Ty, a: Id, b: Id, then: Id, other: Id) -> Result<Id, Fault> {
        let holds = compare(self.env, Cond::Le, ty, self.value(a), self.value(b))?;
        Ok(if holds { then } else { other })
    }
}
