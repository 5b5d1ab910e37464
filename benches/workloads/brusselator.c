/* Two reacting substances in a line, by the classical Runge-Kutta method, and the gradient. The ends are constant. */

/* du and dv = the derivatives of u and v */
static void slope(double *restrict du, double *restrict dv, const double *restrict u, const double *restrict v, const double *p, long places)
{
    const double a = p[0], b = p[1], alpha = p[2];
    du[0] = dv[0] = du[places - 1] = dv[places - 1] = 0;
    for (long i = 1; i < places - 1; i++) {
        const double reaction = u[i] * u[i] * v[i];
        du[i] = a + reaction - (b + 1) * u[i] + alpha * (u[i - 1] - 2 * u[i] + u[i + 1]);
        dv[i] = b * u[i] - reaction + alpha * (v[i - 1] - 2 * v[i] + v[i + 1]);
    }
}

/* y = x + dt k */
static void move(double *restrict y, const double *restrict x, double dt, const double *restrict k, long count)
{
    for (long i = 0; i < count; i++)
        y[i] = x[i] + dt * k[i];
}

/* What a step makes in between: slopes and states, u and then v. */
struct stages {
    double *k[4], *s[3];
};

/* Four slopes, and the states at which the last three are taken, after the state y. */
static void stages(struct stages *step, const double *y, const double *p, double dt, long places)
{
    slope(step->k[0], step->k[0] + places, y, y + places, p, places);
    for (int i = 0; i < 3; i++) {
        double *s = step->s[i];
        move(s, y, i < 2 ? dt / 2 : dt, step->k[i], 2 * places);
        slope(step->k[i + 1], step->k[i + 1] + places, s, s + places, p, places);
    }
}

/* to = the state after y */
static void next(double *restrict to, const double *y, const struct stages *step, double dt, long count)
{
    const double *k1 = step->k[0], *k2 = step->k[1], *k3 = step->k[2], *k4 = step->k[3];
    for (long i = 0; i < count; i++)
        to[i] = y[i] + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

static double half_square(const double *y, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += y[i] * y[i];
    return sum / 2;
}

static void divide(struct stages *step, double *room, long count)
{
    for (int i = 0; i < 4; i++)
        step->k[i] = room + i * count;
    for (int i = 0; i < 3; i++)
        step->s[i] = room + (4 + i) * count;
}

/* loss += half the square of the state after n steps. p: a, b and the diffusion. */
void brusselator(double *loss, const double *u, const double *v, const double *p, long places, double dt, long n)
{
    const long count = 2 * places;
    double one[count], other[count], room[7 * count], *y = one, *to = other;
    struct stages step;
    divide(&step, room, count);
    for (long i = 0; i < places; i++) {
        y[i] = u[i];
        y[places + i] = v[i];
    }
    for (long t = 0; t < n; t++) {
        stages(&step, y, p, dt, places);
        next(to, y, &step, dt, count);
        double *after = to;
        to = y;
        y = after;
    }
    *loss += half_square(y, count);
}

/* to = the adjoint of a slope at the state y, for the adjoint k of the slope, of which the ends are made 0. The terms of the parameters' sums
   are added at each place, so that no sum waits. */
static void slope_adjoint(double *restrict to, double *restrict k, const double *restrict y, const double *p, double *restrict da,
                          double *restrict db, double *restrict dalpha, long places)
{
    const double b = p[1], alpha = p[2];
    const double *u = y, *v = y + places;
    double *ku = k, *kv = k + places, *du = to, *dv = to + places;
    const long last = places - 1;
    ku[0] = kv[0] = ku[last] = kv[last] = 0;
    for (long i = 1; i < last; i++) {
        const double difference = ku[i] - kv[i];
        const double du_square = u[i] * u[i] * difference, du_v = 2 * u[i] * v[i] * difference;
        du[i] = du_v - b * difference - ku[i] + alpha * (ku[i - 1] - 2 * ku[i] + ku[i + 1]);
        dv[i] = du_square + alpha * (kv[i - 1] - 2 * kv[i] + kv[i + 1]);
        da[i] += ku[i];
        db[i] -= difference * u[i];
        dalpha[i] += ku[i] * (u[i - 1] - 2 * u[i] + u[i + 1]) + kv[i] * (v[i - 1] - 2 * v[i] + v[i + 1]);
    }
    du[0] = alpha * ku[1];
    dv[0] = alpha * kv[1];
    du[last] = alpha * ku[last - 1];
    dv[last] = alpha * kv[last - 1];
}

/* The loss, and its gradient, times seed, by u, v and p. The states of all steps are kept in `kept`, 2 places (n + 1) numbers; what is in between
   is made again. */
void brusselator_gradient(double *loss, const double *seed, const double *u, const double *v, const double *p, double *restrict du,
                          double *restrict dv, double *restrict dp, double *restrict kept, long places, double dt, long n)
{
    const long count = 2 * places;
    double room[7 * count], adjoint[count], k[count], ds[count], sums[3 * places];
    struct stages step;
    divide(&step, room, count);
    for (long i = 0; i < places; i++) {
        kept[i] = u[i];
        kept[places + i] = v[i];
    }
    for (long t = 0; t < n; t++) {
        stages(&step, kept + t * count, p, dt, places);
        next(kept + (t + 1) * count, kept + t * count, &step, dt, count);
    }
    *loss = half_square(kept + n * count, count);
    for (long i = 0; i < count; i++)
        adjoint[i] = *seed * kept[n * count + i];
    for (long i = 0; i < 3 * places; i++)
        sums[i] = 0;
    for (long t = n - 1; t >= 0; t--) {
        const double *y = kept + t * count;
        double before[count];
        stages(&step, y, p, dt, places);
        for (long i = 0; i < count; i++) {
            before[i] = adjoint[i];
            k[i] = dt / 6 * adjoint[i];
        }
        for (int s = 3; s >= 0; s--) {
            slope_adjoint(ds, k, s > 0 ? step.s[s - 1] : y, p, sums, sums + places, sums + 2 * places, places);
            /* The slope before moves the state of this one. */
            const double weight = s > 1 ? dt / 3 : dt / 6, by = s == 3 ? dt : dt / 2;
            for (long i = 0; i < count; i++) {
                before[i] += ds[i];
                k[i] = weight * adjoint[i] + by * ds[i];
            }
        }
        for (long i = 0; i < count; i++)
            adjoint[i] = before[i];
    }
    for (long i = 0; i < places; i++) {
        du[i] = adjoint[i];
        dv[i] = adjoint[places + i];
    }
    for (int j = 0; j < 3; j++) {
        dp[j] = 0;
        for (long i = 1; i < places - 1; i++)
            dp[j] += sums[j * places + i];
    }
}
