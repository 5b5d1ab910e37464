//! Files of the host language, and keywords of the entry point.

use super::{folder, run};

const PROGRAM: &str = "using NiLang
square(x) = x^2
@testset \"norms\" begin
    @i function norm2(out, x)
        for i = 1:length(x)
            out += square(x[i])
        end
    end
    @test norm2(0.0, [3.0, 4.0])[1] == 25.0
end
@testset \"others\" begin
    @i function norm2(out, x)
        out += 1.0
    end
    @i function bad(out, x)
        out = square(x)
    end
    @i function worse(out, x)
        bad(out, x)
    end
end
";

#[test]
fn functions_are_found_between_code_of_the_host() {
    let folder = folder("host");
    let file = folder.join("norm.jl").to_str().expect("UTF-8").to_string();
    std::fs::write(&file, PROGRAM).expect("written");
    let (code, out, err) = run(&["run", &file, "--entry", "norm2@4", "--args", "0.0,[3.0,4.0]"], "");
    assert_eq!((code, out.lines().next()), (0, Some("out = 25.0")), "{err}");
    assert!(err.contains("host code is skipped: 2 statements; `-v` lists them"), "{err}");
    assert!(err.contains("`bad` is left out: `=` forgets what was there before"), "{err}");
    assert!(err.contains("1 of 4 reversible functions are left out"), "{err}");
    // A name in two scopes.
    let (code, _, err) = run(&["run", &file, "--entry", "norm2", "--args", "0.0,[3.0,4.0]"], "");
    assert!(code == 1 && err.contains("`--entry norm2@4`"), "{err}");
    let (_, out, _) = run(&["run", &file, "--entry", "norm2@13", "--args", "0.0,[3.0,4.0]"], "");
    assert_eq!(out.lines().next(), Some("out = 1.0"));
    // No other definition runs in the place of one that could not be read.
    let (code, _, err) = run(&["run", &file, "--entry", "worse", "--args", "0.0,1.0"], "");
    assert!(code == 1 && err.contains("this `bad` could not be read and is left out"), "{err}");
    let (code, _, err) = run(&["check", &file, "--entry", "norm2@4", "--strict"], "");
    assert!(code == 1 && err.contains("error[P0463]: `bad` is left out"), "{err}");
    let (_, _, err) = run(&["check", &file, "--entry", "norm2@4", "-v"], "");
    assert!(err.contains("host code is skipped: `@testset`"), "{err}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn keywords_of_the_entry_point_are_given_after_its_arguments() {
    let folder = folder("keywords");
    let file = folder.join("k.nil").to_str().expect("UTF-8").to_string();
    std::fs::write(&file, "@i function f(y, x; n = 2, m)\n    y += x * n * m\nend\n").expect("written");
    let first = |args: &str| {
        let (_, out, err) = run(&["run", &file, "--args", args], "");
        (out.lines().next().unwrap_or_default().to_string(), err)
    };
    assert_eq!(first("0.0,1.0,m=3").0, "y = 6.0");
    assert_eq!(first("0.0,1.0; m=3, n=-1").0, "y = -3.0");
    assert!(first("0.0,1.0").1.contains("the keyword `m` of the entry point has no value"));
    assert!(first("0.0,1.0,k=1").1.contains("its keywords are n, m"));
    assert!(first("0.0,1.0,m=[1]").1.contains("the keyword `m` takes a number, found `[1]`"));
    let (code, out, err) = run(&["grad", &file, "--args", "0.0,1.0,m=3", "--loss", "y", "--check"], "");
    assert!(code == 0 && out.contains("∂/∂x = 6.0"), "{out}{err}");
    // The command line in the report gives them, too.
    let (_, _, err) = run(&["run", &file], "");
    assert!(err.contains("--args 1.5,2.5,m=1.5"), "{err}");
    std::fs::remove_dir_all(&folder).expect("removed");
}
