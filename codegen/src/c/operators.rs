//! Operators of C: integer and floating-point operations and comparisons as expressions.

use pendula_isa::types::Cond;

use super::text::{Ex, Prec};
use crate::cc::operator;
use crate::ops::{Bin, Float};

pub(super) fn is_product(text: &str) -> bool {
    let mut depth = 0;
    let chars: Vec<char> = text.chars().collect();
    for (n, c) in chars.iter().enumerate() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' | '?' | '<' | '>' | '=' | '&' | '|' | '^' if depth == 0 && n > 0 && chars[n - 1] == ' ' => {
                return false;
            }
            _ => {}
        }
    }
    true
}

/// A comparison of integers.
pub(super) fn integers(cond: Cond, a: &Ex, b: &Ex) -> Ex {
    let text = match cond {
        Cond::Ltu | Cond::Geu => {
            format!("(word){} {} (word){}", a.at(Prec::Unary), operator(cond), b.at(Prec::Unary))
        }
        _ => format!("{} {} {}", a.at(Prec::Sum), operator(cond), b.at(Prec::Sum)),
    };
    Ex::new(text, Prec::Other, false)
}

pub(super) fn bin(op: Bin, a: Ex, b: Ex) -> Ex {
    let shift = |b: &Ex| match b.text.parse::<u64>() {
        Ok(k) => (k & 63).to_string(),
        Err(_) => format!("({} & 63)", b.at(Prec::Unary)),
    };
    let other = |sign: &str| Ex::new(format!("{} {sign} {}", a.at(Prec::Unary), b.at(Prec::Unary)), Prec::Other, false);
    match op {
        Bin::Add if b.text.starts_with('-') && b.prec == Prec::Literal => {
            Ex::new(format!("{} - {}", a.at(Prec::Sum), &b.text[1..]), Prec::Sum, false)
        }
        Bin::Add => Ex::new(format!("{} + {}", a.at(Prec::Sum), b.at(Prec::Product)), Prec::Sum, false),
        Bin::Sub => Ex::new(format!("{} - {}", a.at(Prec::Sum), b.at(Prec::Product)), Prec::Sum, false),
        Bin::Mul => Ex::new(format!("{} * {}", a.at(Prec::Product), b.at(Prec::Unary)), Prec::Product, false),
        Bin::MulHigh => Ex::call("mulhigh", &[&a, &b], false),
        Bin::And => other("&"),
        Bin::Or => other("|"),
        Bin::Xor => other("^"),
        Bin::Shl => Ex::new(format!("(int64_t)((word){} << {})", a.at(Prec::Unary), shift(&b)), Prec::Unary, false),
        Bin::Shr => Ex::new(format!("(int64_t)((word){} >> {})", a.at(Prec::Unary), shift(&b)), Prec::Unary, false),
        Bin::Sar => Ex::new(format!("{} >> {}", a.at(Prec::Unary), shift(&b)), Prec::Other, false),
        Bin::Rol => Ex::call("rol", &[&a, &b], false),
        Bin::Ror => Ex::call("ror", &[&a, &b], false),
    }
}

pub(super) fn float(op: Float, a: &Ex, b: &Ex) -> Ex {
    let (sign, prec) = match op {
        Float::Add => ("+", Prec::Sum),
        Float::Sub => ("-", Prec::Sum),
        Float::Mul => ("*", Prec::Product),
        Float::Div => ("/", Prec::Product),
    };
    let right = if prec == Prec::Sum { Prec::Product } else { Prec::Unary };
    Ex::new(format!("{} {sign} {}", a.at(prec), b.at(right)), prec, true)
}
