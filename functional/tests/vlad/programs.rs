//! Whole programs: roots, optimisation inside optimisation, physics, a neural network.

use super::{MODES, last, mixes, near, number};

/// Lists, and gradients with respect to lists. `{1}` and `{2}` are derivatives; a gradient has the name of its mode.
const LISTS: &str = "
(define (sq x) (* x x))
(define (abs x) (if (negative? x) (- 0 x) x))
(define (map f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l)))))
(define (zip f a b) (if (null? a) '() (cons (f (car a) (car b)) (zip f (cdr a) (cdr b)))))
(define (fold f z l) (if (null? l) z (f (car l) (fold f z (cdr l)))))
(define (length l) (if (null? l) 0 (+ (length (cdr l)) 1)))
(define (v+ a b) (zip + a b))
(define (v- a b) (zip - a b))
(define (scale k v) (map (lambda (x) (* k x)) v))
(define (norm v) (sqrt (fold + 0 (map sq v))))
(define (unit i n) (if (zero? n) '() (cons (if (zero? i) 1 0) (unit (- i 1) (- n 1)))))
(define (each f i n) (if (= i n) '() (cons (f i) (each f (+ i 1) n))))
(define ((gt f) x) (let ((n (length x)) (g (bundle f (perturb (zero f)))))
  (each (lambda (i) (unperturb (tangent (g (bundle x (perturb (unit i n))))))) 0 n)))
(define (gs f) (ds f))
";

fn gradients(program: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for outer in ["gt", "gs"] {
        for inner in ["gt", "gs"] {
            let text = program.replace("{1}", outer).replace("{2}", inner);
            all.push((format!("{outer} of {inner}"), format!("{MODES}{LISTS}{text}")));
        }
    }
    all
}

const NEWTON: &str = "
(define (root-of x)
  (let search ((y 1))
    (let* ((better (- y (/ (- (* y y) x) (+ y y)))) (step (- y better)))
      (if (<= (if (negative? step) (- 0 step) step) 1e-5) y (search better)))))";

#[test]
fn a_root_by_newtons_method_has_derivatives() {
    near(number(&format!("{NEWTON}(root-of 4)")), 2.000_000_092_922_295);
    for (name, text) in mixes(&format!("{NEWTON}(list (({{1}} root-of) 4) (({{1}} ({{2}} root-of)) 4))")) {
        let found = last(&text);
        let numbers: Vec<f64> =
            found.trim_matches(['(', ')']).split(' ').map(|x| x.parse().expect("a number")).collect();
        assert!((numbers[0] - 0.250_000_259_408_078_3).abs() < 1e-14, "{name}: {found}");
        assert!((numbers[1] + 0.031_249_392_294_601).abs() < 1e-14, "{name}: {found}");
    }
}

#[test]
fn a_derivative_of_a_sum_with_a_derivative_of_a_curried_function() {
    let program = "
        (define ((path t) w) (sin (+ (* t w) (sqrt w))))
        (define (marble w) (+ ((path 0) w) (({2} (lambda (t) ((path t) w))) 0)))
        (({1} marble) 3)";
    for (name, text) in mixes(program) {
        let found = number(&text);
        assert!((found + 1.061_695_367_731_588).abs() < 1e-14, "{name}: {found}");
    }
}

#[test]
fn a_recursion_that_ends_by_its_argument() {
    let series = "(define (halves x) (if (< x 1e-5) x (+ x (halves (/ x 2)))))";
    for mode in ["dt", "ds"] {
        near(number(&format!("{MODES}{series}(({mode} halves) 1)")), 1.999_992_370_605_469);
        near(number(&format!("{MODES}{series}(({mode} halves) 2)")), 1.999_996_185_302_734);
    }
    for (name, text) in mixes(&format!("{series}(({{1}} ({{2}} halves)) 3)")) {
        assert_eq!(number(&text), 0.0, "{name}");
    }
}

#[test]
fn the_way_back_through_prefix_sums() {
    let prefix = "(define (prefix l) (let go ((sum 0) (l l)) (if (null? l) '() (let ((sum (+ sum (car l)))) (cons sum (go sum (cdr l)))))))";
    let text = format!("{prefix}(cdr (unsensitize ((cdr ((*j prefix) (*j '(0 1 2 3 4)))) (sensitize '(0 0 0 0 1)))))");
    assert_eq!(last(&text), "(1 1 1 1 1)");
}

/// Descent with a step that doubles after ten successes and halves after a failure.
const DESCENT: &str = "
(define (lowest gradient f x)
  (let ((slope (gradient f)))
    (let go ((x x) (fx (f x)) (g (slope x)) (step 1e-5) (good 0))
      (cond ((<= (norm g) 1e-5) x)
            ((= good 10) (go x fx g (* 2 step) 0))
            (else
              (let ((next (v- x (scale step g))))
                (if (<= (norm (v- next x)) 1e-5)
                    x
                    (let ((f-next (f next)))
                      (if (< f-next fx)
                          (go next f-next (slope next) step (+ good 1))
                          (go x fx g (/ step 2) 0))))))))))";

const SADDLE: &str = "
(define (height a b c d) (- (+ (sq a) (sq b)) (+ (sq c) (sq d))))
(define (highest gradient f x) (lowest gradient (lambda (x) (- 0 (f x))) x))
(let* ((start (list 1 1))
       ((list a b) (lowest {1} (lambda ((list a b))
          (let* ((g (lambda ((list c d)) (height a b c d)))) (g (highest {2} g start)))) start)))
  a)";

fn saddle(names: &[&str]) {
    for (name, text) in gradients(&format!("{DESCENT}{SADDLE}")) {
        if names.contains(&&*name) {
            let found = number(&text);
            assert!((found - 8.246_324_826_140_356e-6).abs() < 1e-15, "{name}: {found}");
        }
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn a_saddle_by_adaptive_descent() {
    saddle(&["gs of gs"]);
}

#[test]
#[ignore = "takes half a minute: part of .ci/full"]
fn a_saddle_by_adaptive_descent_in_the_other_mixtures() {
    saddle(&["gt of gt", "gt of gs", "gs of gt"]);
}

const PARTICLE: &str = "
(define (landing gradient w)
  (let* ((charges (list (list 10 (- 10 w)) (list 10 0)))
         (potential (lambda (x) (fold + 0 (map (lambda (c) (/ 1 (norm (v- c x)))) charges)))))
    (let fall ((x (list 0 8)) (v (list 0.75 0)))
      (let* ((force (scale -1 ((gradient potential) x)))
             (next (v+ x (scale 0.1 v))))
        (if (positive? (car (cdr next)))
            (fall next (v+ v (scale 0.1 force)))
            (let ((rest (/ (- 0 (car (cdr x))) (car (cdr v)))))
              (sq (car (v+ x (scale rest v))))))))))";

fn particle(names: &[&str]) {
    let program = "(car (lowest {1} (lambda ((list w)) (landing {2} w)) (list 0)))";
    for (name, text) in gradients(&format!("{DESCENT}{PARTICLE}{program}")) {
        if names.contains(&&*name) {
            let found = number(&text);
            assert!((found - 0.207_191_874_648_611_97).abs() < 1e-14, "{name}: {found}");
        }
    }
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn a_particle_is_steered_by_a_derivative_of_derivatives() {
    particle(&["gt of gs"]);
}

#[test]
#[ignore = "takes a minute: part of .ci/full"]
fn a_particle_is_steered_in_the_other_mixtures() {
    particle(&["gt of gt", "gs of gt", "gs of gs"]);
}

/// A minimum on a line: brackets of growing width, then a golden section.
const GOLDEN: &str = "
(define gold 1.61803399)
(define (grow from to) (+ to (* (- to from) gold)))
(define (bracket f a b found)
  (let go ((a a) (fa (f a)) (b b) (fb (f b)) (third #f) (c 0) (fc 0))
    (cond ((not-true third)
           (if (> fb fa)
               (let ((c (grow b a))) (go b fb a fa #t c (f c)))
               (let ((c (grow a b))) (go a fa b fb #t c (f c)))))
          ((< fb fc) (found a b c))
          (else
            (let* ((r (* (- b a) (- fb fc))) (q (* (- b c) (- fb fa)))
                   (size (let ((d (abs (- q r)))) (if (>= d 1e-20) d 1e-20)))
                   (u (- b (/ (- (* (- b c) q) (* (- b a) r)) (* (if (< (- q r) 0) (- 0 size) size) 2))))
                   (far (+ b (* (- c b) 100))))
              (cond ((> (* (- b u) (- u c)) 0)
                     (let ((fu (f u)))
                       (cond ((< fu fc) (found b u c))
                             ((> fu fb) (found a b u))
                             (else (let ((v (grow b c))) (go b fb c fc #t v (f v)))))))
                    ((> (* (- c u) (- u far)) 0)
                     (let ((fu (f u)))
                       (if (< fu fc)
                           (let ((v (grow c u))) (go c fc u fu #t v (f v)))
                           (go b fb c fc #t u fu))))
                    ((>= (* (- u far) (- far c)) 0) (go b fb c fc #t far (f far)))
                    (else (let ((v (grow b c))) (go b fb c fc #t v (f v))))))))))
(define (not-true x) (if x #f #t))
(define (narrow f a b c)
  (let* ((r (- gold 1)) (s (- 1 r)) (wide (> (abs (- c b)) (abs (- b a))))
         (x (if wide b (- b (* s (- b a))))) (y (if wide (+ b (* s (- c b))) b)))
    (let go ((a a) (x x) (fx (f x)) (y y) (fy (f y)) (c c))
      (cond ((<= (abs (- c a)) (* 1e-3 (+ (abs x) (abs y)))) (if (< fx fy) x y))
            ((< fy fx) (let ((z (+ (* r y) (* s c)))) (go x y fy z (f z) c)))
            (else (let ((z (+ (* r x) (* s a)))) (go a z (f z) x fx y)))))))
(define (along-line f) (bracket f -100 100 (lambda (a b c) (narrow f a b c))))
(define (lowest-by-lines gradient f x)
  (let ((slope (gradient f)))
    (let go ((x x))
      (let ((d (slope x)))
        (if (<= (norm d) 1e-2) x
            (let ((line (lambda (k) (v+ x (scale k d)))))
              (go (line (along-line (lambda (k) (f (line k))))))))))))
(define (height a b c d) (- (+ (sq a) (sq b)) (+ (sq c) (sq d))))
(let* ((start (list 1 1))
       (deepest (lambda ((list a b))
         (lowest-by-lines {2} (lambda ((list c d)) (- 0 (height a b c d))) start)))
       (best (lowest-by-lines {1} (lambda (p)
         (let (((list a b) p) ((list c d) (deepest p))) (height a b c d))) start)))
  (list best (deepest best)))";

#[test]
fn a_saddle_by_golden_sections_in_every_mixture() {
    for (name, text) in gradients(GOLDEN) {
        let found = last(&text);
        let numbers: Vec<f64> =
            found.replace(['(', ')'], " ").split_whitespace().map(|x| x.parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 4, "{name}: {found}");
        assert!(numbers.iter().all(|x| (x - 4.965_316_230_354_233e-5).abs() < 1e-14), "{name}: {found}");
    }
}

#[test]
fn a_cannon_is_aimed() {
    let program = "
        (define (miss w)
          (let fly ((x (list 0 0)) (v (list w w)))
            (let ((next (v+ x (scale 0.1 v))))
              (if (positive? (car (cdr next)))
                  (fly next (v+ v (scale 0.1 (list 0 -9.8))))
                  (let ((rest (/ (- 0 (car (cdr x))) (car (cdr v)))))
                    (sq (norm (v- (list 10000 0) (v+ x (scale rest v))))))))))
        (car (lowest {1} (lambda ((list w)) (miss w)) (list 1)))";
    for mode in ["gt", "gs"] {
        let found = number(&format!("{MODES}{LISTS}{DESCENT}{}", program.replace("{1}", mode)));
        assert!((found - 221.114_669_566_850_98).abs() < 1e-6, "{mode}: {found}");
    }
}

const NETWORK: &str = "
(define (sigmoid x) (/ 1 (+ (exp (- 0 x)) 1)))
(define ((unit-of in) bias weights) (fold + bias (zip * weights in)))
(define (layer in units) (map (lambda (u) (sigmoid ((unit-of in) u))) units))
(define (output net in) (if (null? net) in (output (cdr net) (layer in (car net)))))
(define (loss net)
  (fold + 0 (map (lambda ((list in want)) (* 0.5 (fold + 0 (map sq (v- (output net in) want)))))
                 '(((0 0) (0)) ((0 1) (1)) ((1 0) (1)) ((1 1) (0))))))
(define (less net step g)
  (cond ((real? net) (- net (* step g)))
        ((pair? net) (cons (less (car net) step (car g)) (less (cdr net) step (cdr g))))
        (else net)))
(define (train net n)
  (let (((cons value back) ((*j loss) (*j net))))
    (if (zero? n) (*j-inverse value) (train (less net 0.3 (cdr (unsensitize (back (sensitize 1))))) (- n 1)))))
";

#[test]
fn a_network_learns_exclusive_or() {
    let start = "'(((0 -0.284227 1.16054) (0 0.617194 1.30467)) ((0 -0.084395 0.648461)))";
    for (n, expected) in [(1, 0.510_567_888_257_258_7), (10, 0.496_749_686_741_378_6), (100, 0.491_116_831_072_180_1)] {
        near(number(&format!("{LISTS}{MODES}{NETWORK}(train {start} {n})")), expected);
    }
    let found = number(&format!("{LISTS}{MODES}{NETWORK}(train {start} 1000)"));
    assert!((found - 0.290_919_259_225_036_2).abs() < 1e-11, "{found}");
}

/// A λ-calculus whose values have probabilities. A term is a constant (0 v), a variable (1 x), a function (2 x e) or an application (3 f e);
/// a function maps a distribution to a distribution.
const PROBABLE: &str = "
(define (certain v) (list (list 1 v)))
(define (join a b) (if (null? a) b (cons (car a) (join (cdr a) b))))
(define (then d f)
  (if (null? d) '()
      (let (((list w v) (car d)))
        (join (map (lambda ((list u r)) (list (* w u) r)) (f v)) (then (cdr d) f)))))
(define (look x env) (if (= x (car (car env))) (cdr (car env)) (look x (cdr env))))
(define (infer term env)
  (let (((cons kind rest) term))
    (cond ((= kind 0) (certain (car rest)))
          ((= kind 1) (look (car rest) env))
          ((= kind 2) (let (((list x e) rest)) (certain (lambda (d) (infer e (cons (cons x d) env))))))
          (else (let* (((list f e) rest) (d (infer e env))) (then (infer f env) (lambda (f) (f d))))))))
(define (choose c)
  (certain (lambda (yes) (certain (lambda (no)
    (then c (lambda (b) (then (if b yes no) (lambda (f) (f (certain #f)))))))))))
(define (likely d v) (fold + 0 (map (lambda ((list w u)) (if (= u v) w 0)) d)))
(define (coin p) (list (list p #t) (list (- 1 p) #f)))
(define (term-if c yes no) (list 3 (list 3 (list 3 '(1 9) c) (list 2 8 yes)) (list 2 8 no)))
(define (fit (list p q))
  (let ((d (infer (term-if '(1 1) '(0 0) (term-if '(1 2) '(0 1) '(0 2)))
                  (list (cons 1 (coin p)) (cons 2 (coin q)) (cons 9 (certain choose))))))
    (fold * 1 (map (lambda (v) (likely d v)) (list 0 1 2 2)))))
(define (climb slope x n) (if (zero? n) x (climb slope (v+ x (scale 0.1 (slope x))) (- n 1))))
";

#[test]
fn probabilities_of_a_lambda_calculus_are_fitted() {
    for mode in ["gt", "gs"] {
        let found = last(&format!("{MODES}{LISTS}{PROBABLE}(climb ({mode} fit) (list 0.5 0.5) 1000)"));
        let numbers: Vec<f64> =
            found.trim_matches(['(', ')']).split(' ').map(|x| x.parse().expect("a number")).collect();
        assert!((numbers[0] - 0.25).abs() < 1e-12, "{mode}: {found}");
        assert!((numbers[1] - 0.333_333_333_498_399_66).abs() < 1e-12, "{mode}: {found}");
    }
}
