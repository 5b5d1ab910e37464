/* The solar system in a plane, by leapfrog. */

#include <math.h>

static void drift(double *restrict x, const double *restrict v, long bodies, double dt)
{
    for (long i = 0; i < 2 * bodies; i++)
        x[i] += v[i] * dt;
}

static void kick(double *restrict v, const double *restrict x, const double *restrict gm, long bodies, double dt)
{
    for (long i = 1; i < bodies; i++)
        for (long j = 0; j < i; j++) {
            const double dx = x[2 * j] - x[2 * i];
            const double dy = x[2 * j + 1] - x[2 * i + 1];
            const double square = dx * dx + dy * dy;
            const double strength = dt / (square * sqrt(square));
            const double of_i = gm[i] * strength, of_j = gm[j] * strength;
            v[2 * i] += of_j * dx;
            v[2 * i + 1] += of_j * dy;
            v[2 * j] -= of_i * dx;
            v[2 * j + 1] -= of_i * dy;
        }
}

/* Moves positions x and velocities v, two numbers for each body, on by n steps of length dt. gm: masses times the gravitational constant. */
void leapfrog(double *restrict x, double *restrict v, const double *restrict gm, long bodies, double dt, long n)
{
    drift(x, v, bodies, dt / 2);
    for (long i = 1; i < n; i++) {
        kick(v, x, gm, bodies, dt);
        drift(x, v, bodies, dt);
    }
    kick(v, x, gm, bodies, dt);
    drift(x, v, bodies, dt / 2);
}

/* x is moved back, and its adjoint dx goes on to dv; returns what dt gets. */
static double drift_adjoint(double *restrict x, const double *restrict v, const double *restrict dx, double *restrict dv, long bodies, double dt)
{
    double sum = 0;
    for (long i = 0; i < 2 * bodies; i++) {
        x[i] -= v[i] * dt;
        dv[i] += dx[i] * dt;
        sum += dx[i] * v[i];
    }
    return sum;
}

/* v is kicked back, and its adjoint dv goes on to dx and dgm; returns dt times what dt gets. */
static double kick_adjoint(double *restrict v, const double *restrict x, const double *restrict gm, const double *restrict dv,
                           double *restrict dx, double *restrict dgm, long bodies, double dt)
{
    double sum = 0;
    for (long i = 1; i < bodies; i++)
        for (long j = 0; j < i; j++) {
            const double across = x[2 * j] - x[2 * i];
            const double along = x[2 * j + 1] - x[2 * i + 1];
            const double square = across * across + along * along;
            const double strength = dt / (square * sqrt(square));
            const double of_i = gm[i] * strength, of_j = gm[j] * strength;
            v[2 * i] -= of_j * across;
            v[2 * i + 1] -= of_j * along;
            v[2 * j] += of_i * across;
            v[2 * j + 1] += of_i * along;
            const double on_i = dv[2 * i] * across + dv[2 * i + 1] * along;
            const double on_j = dv[2 * j] * across + dv[2 * j + 1] * along;
            dgm[j] += strength * on_i;
            dgm[i] -= strength * on_j;
            const double of_strength = of_j * on_i - of_i * on_j;
            const double of_square = 3 * of_strength / square;
            sum += of_strength;
            const double move_across = of_j * dv[2 * i] - of_i * dv[2 * j] - of_square * across;
            const double move_along = of_j * dv[2 * i + 1] - of_i * dv[2 * j + 1] - of_square * along;
            dx[2 * j] += move_across;
            dx[2 * j + 1] += move_along;
            dx[2 * i] -= move_across;
            dx[2 * i + 1] -= move_along;
        }
    return sum;
}

/* Positions x and velocities v after n steps from x0 and v0, and the gradient of their product with seed_x and seed_v. The way back is computed
   step by step, so that nothing is kept. */
void leapfrog_gradient(double *restrict x, double *restrict v, const double *seed_x, const double *seed_v, const double *x0, const double *v0,
                       const double *restrict gm, double *restrict dx, double *restrict dv, double *restrict dgm, double *ddt, long bodies,
                       double dt, long n)
{
    double back_x[2 * bodies], back_v[2 * bodies];
    for (long i = 0; i < 2 * bodies; i++) {
        x[i] = x0[i];
        v[i] = v0[i];
    }
    leapfrog(x, v, gm, bodies, dt, n);
    for (long i = 0; i < 2 * bodies; i++) {
        back_x[i] = x[i];
        back_v[i] = v[i];
        dx[i] = seed_x[i];
        dv[i] = seed_v[i];
    }
    for (long i = 0; i < bodies; i++)
        dgm[i] = 0;
    double drifts = drift_adjoint(back_x, back_v, dx, dv, bodies, dt / 2) / 2;
    double kicks = kick_adjoint(back_v, back_x, gm, dv, dx, dgm, bodies, dt);
    for (long i = 1; i < n; i++) {
        drifts += drift_adjoint(back_x, back_v, dx, dv, bodies, dt);
        kicks += kick_adjoint(back_v, back_x, gm, dv, dx, dgm, bodies, dt);
    }
    drifts += drift_adjoint(back_x, back_v, dx, dv, bodies, dt / 2) / 2;
    *ddt = drifts + kicks / dt;
}
