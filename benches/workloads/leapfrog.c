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
