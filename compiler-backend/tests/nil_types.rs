use std::collections::HashMap;
use std::rc::Rc;

use pendula_isa::Ty;
use pendula_isa::budget::{Budget, Resource};

use pendula_compiler::nil::types::{Fit, Layout, Names, StructType, Structs, Type, TypeProblem, same_shape};
use pendula_compiler::nil::{ast, parser};

/// The structs that a text declares.
fn structs(text: &str, budget: Budget) -> Structs {
    let (tree, found) = parser::parse(0, text);
    assert!(found.is_empty(), "{found:?}");
    let mut all = Structs::new(budget);
    for item in tree.items {
        if let ast::Item::Struct(s) = item {
            all.insert(s);
        }
    }
    all
}

fn annotation(text: &str) -> ast::TypeExpr {
    let (tree, found) = parser::parse(0, &format!("@i function f(x::{text})\nend\n"));
    let Some(ast::Item::Function(f)) = tree.items.into_iter().next() else { panic!("{text}: {found:?}") };
    assert!(found.is_empty(), "{text}: {found:?}");
    f.params.into_iter().next().and_then(|param| param.ty).unwrap_or_else(|| panic!("{text} is no annotation"))
}

/// The type that a text names.
fn resolve(text: &str) -> Result<Type, TypeProblem> {
    Names { structs: &Structs::default(), bound: HashMap::new() }.resolve(&annotation(text))
}

/// How well an annotation fits a type, where the type variable `T` is free.
fn fit(text: &str, ty: &Type) -> Option<Fit> {
    let name = ast::Name { text: "T".into(), span: 0..0 };
    let free = [ast::TypeParam { name, bound: None }];
    Names { structs: &Structs::default(), bound: HashMap::new() }.accepts(&annotation(text), ty, &free)
}

fn vector(element: Type, layout: Layout) -> Type {
    Type::Array { element: Box::new(element), dims: 1, layout }
}

#[test]
fn transposed_matrices_have_a_type_that_fits_best() {
    let matrix = |layout| Type::Array { element: Box::new(Type::Num(Ty::F)), dims: 2, layout };
    let (plain, turned, gaps) = (matrix(Layout::Columns), matrix(Layout::Rows), matrix(Layout::Strided));
    for name in ["Adjoint", "Transpose", "Adjoint{T}", "Adjoint{Float64}"] {
        assert!(fit(name, &turned) > fit("AbstractMatrix", &turned), "{name}");
        assert!(fit(name, &turned) > fit("Matrix", &turned), "{name}");
        assert_eq!([fit(name, &plain), fit(name, &gaps)], [None, None], "{name}");
    }
    assert_eq!(fit("Adjoint{Int}", &turned), None);
    assert_eq!(resolve("Adjoint{Float64}").ok(), Some(turned));
}

#[test]
fn words_are_those_of_all_parts() {
    let fields = vec![("n".to_string(), Type::Num(Ty::Int)), ("z".to_string(), Type::Complex(Ty::F))];
    let s = StructType::new("S".into(), fields, &Budget::default()).expect("is within the budget");
    let ty = Type::Tuple(vec![Type::Struct(Rc::new(s)), Type::Bool, Type::Log { signed: true }]);
    assert_eq!(ty.words(), Some(6));
    assert_eq!(ty.word_types(), [Ty::Int, Ty::F, Ty::F, Ty::Int, Ty::F, Ty::Int]);
    assert_eq!(Type::Tuple(vec![Type::Bool, vector(Type::Bool, Layout::Columns)]).words(), None);
}

#[test]
fn names_resolve_to_types() {
    for (text, shown) in [
        ("Int64", "Int"),
        ("Vector{Float64}", "Vector{Float64}"),
        ("Array{Int,2}", "Matrix{Int}"),
        ("Complex{Fixed43}", "Complex{Fixed}"),
        ("Tropical", "Tropical{Float64}"),
        ("ULogarithmic", "ULogarithmic"),
        ("ULogarithmic{Fixed}", "ULogarithmic"),
        ("Logarithmic{Float64}", "Logarithmic{Float64}"),
        ("NTuple{3,Int}", "(Int, Int, Int)"),
    ] {
        assert_eq!(resolve(text).map(|t| t.to_string()), Ok(shown.to_string()), "{text}");
    }
}

#[test]
fn names_that_are_not_one_type_are_refused() {
    let (no_type, many) = (TypeProblem::Unknown, TypeProblem::Abstract);
    let arguments = TypeProblem::Arguments;
    for (text, problem) in [
        ("Foo", no_type("Foo".into())),
        ("Vector{Foo}", no_type("Foo".into())),
        ("Real", many("Real".into())),
        ("Complex", many("Complex".into())),
        ("Array{Int}", many("Array".into())),
        ("Complex{Bool}", arguments("Complex".into())),
        ("Tropical{Vector{Int}}", arguments("Tropical".into())),
        ("NTuple{65,Int}", arguments("NTuple".into())),
    ] {
        assert_eq!(resolve(text), Err(problem), "{text}");
    }
}

#[test]
fn annotations_that_say_more_fit_better() {
    let orders: [(Type, &[&str]); 3] = [
        (Type::Num(Ty::Int), &["Any", "T", "Number", "Real", "Integer", "Signed", "Int"]),
        (
            vector(Type::Num(Ty::F), Layout::Columns),
            &[
                "Any",
                "T",
                "AbstractArray",
                "AbstractVector",
                "StridedVector",
                "Vector",
                "Vector{T}",
                "Vector{Real}",
                "Vector{Float64}",
            ],
        ),
        (Type::Complex(Ty::Q), &["Any", "T", "Number", "Complex", "Complex{T}", "Complex{Real}", "Complex{Fixed}"]),
    ];
    for (ty, order) in orders {
        let fits: Vec<Option<Fit>> = order.iter().map(|text| fit(text, &ty)).collect();
        assert!(fits[0].is_some() && fits.is_sorted_by(|a, b| a < b), "{ty}: {fits:?}");
    }
}

#[test]
fn annotations_for_other_types_do_not_fit() {
    let real = Type::Num(Ty::F);
    for text in ["Int", "Integer", "Complex", "Vector", "Bool"] {
        assert_eq!(fit(text, &real), None, "{text}");
    }
    let floats = vector(real, Layout::Columns);
    for text in ["Matrix", "Vector{Int}", "Array{Float64,2}", "Real", "AbstractMatrix"] {
        assert_eq!(fit(text, &floats), None, "{text}");
    }
}

#[test]
fn a_type_variable_stands_for_one_type() {
    let name = ast::Name { text: "T".into(), span: 0..0 };
    let free = [ast::TypeParam { name, bound: Some(annotation("Real")) }];
    let structs = Structs::default();
    let mut names = Names { structs: &structs, bound: HashMap::new() };
    let variable = annotation("T");
    assert_eq!(names.accepts(&variable, &Type::Complex(Ty::F), &free), None);
    assert!(names.accepts(&annotation("Vector{T}"), &vector(Type::Num(Ty::Q), Layout::Columns), &free).is_some());
    assert_eq!(names.bound.get("T"), Some(&Type::Num(Ty::Q)));
    assert!(names.accepts(&variable, &Type::Num(Ty::Q), &free).is_some());
    assert_eq!(names.accepts(&variable, &Type::Num(Ty::F), &free), None);
}

#[test]
fn strides_make_no_other_type() {
    let (plain, strided) = (vector(Type::Bool, Layout::Columns), vector(Type::Bool, Layout::Strided));
    assert!(same_shape(&plain, &strided) && plain != strided);
    assert!(!same_shape(&plain, &vector(Type::Num(Ty::Int), Layout::Columns)));
}

#[test]
fn structs_take_type_arguments_and_do_not_hold_themselves() {
    let text =
        "struct P{T}\n    x::T\n    n::Int\nend\nstruct A\n    b::B\nend\nstruct B\n    p::P{Int}\n    a::A\nend\n";
    let structs = structs(text, Budget::default());
    let names = Names { structs: &structs, bound: HashMap::new() };
    let ty = names.resolve(&annotation("P{Complex{Float64}}")).expect("is a type");
    assert_eq!(ty.word_types(), [Ty::F, Ty::F, Ty::Int]);
    assert_eq!(names.resolve(&annotation("P")), Err(TypeProblem::Abstract("P".into())));
    let ring = vec![("A".to_string(), "b".to_string()), ("B".to_string(), "a".to_string())];
    assert_eq!(names.resolve(&annotation("A")), Err(TypeProblem::Recursive(ring)));
}

#[test]
fn types_are_within_the_budget() {
    // Each struct is twice the one before: of 1 + 2·3 = 7 and 1 + 2·7 = 15 types.
    let text =
        "struct A\n    x::Int\n    y::Int\nend\nstruct B\n    x::A\n    y::A\nend\nstruct C\n    x::B\n    y::B\nend\n";
    let structs = structs(text, Budget { nodes: 14, ..Budget::default() });
    let names = Names { structs: &structs, bound: HashMap::new() };
    assert_eq!(names.resolve(&annotation("B")).map(|t| t.words()), Ok(Some(4)));
    let Err(TypeProblem::Exceeded(exceeded)) = names.resolve(&annotation("C")) else { panic!("C is within it") };
    assert_eq!((exceeded.resource, exceeded.limit), (Resource::Nodes, 14));
    // A tuple of two: 1 + 2·7.
    assert!(matches!(names.resolve(&annotation("Tuple{B,B}")), Err(TypeProblem::Exceeded(_))));
}
