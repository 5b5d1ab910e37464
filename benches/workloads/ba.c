/* Bundle adjustment: the residuals of cameras that look at points. */

#include <math.h>

/* y = x turned by the rotation vector r */
static void rotate(double y[3], const double r[3], const double x[3])
{
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (square > 0) {
        const double theta = sqrt(square), c = cos(theta), s = sin(theta);
        const double a[3] = {r[0] / theta, r[1] / theta, r[2] / theta};
        const double across[3] = {a[1] * x[2] - a[2] * x[1], a[2] * x[0] - a[0] * x[2], a[0] * x[1] - a[1] * x[0]};
        const double along = (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]) * (1 - c);
        for (int i = 0; i < 3; i++)
            y[i] = c * x[i] + s * across[i] + along * a[i];
    } else {
        y[0] = x[0] + r[1] * x[2] - r[2] * x[1];
        y[1] = x[1] + r[2] * x[0] - r[0] * x[2];
        y[2] = x[2] + r[0] * x[1] - r[1] * x[0];
    }
}

/* err += the residual of an observation. cam: rotation 3, centre 3, focal length, principal point 2, radial distortion 2. */
void reprojection_error(double err[2], const double cam[11], const double point[3], const double *w, const double feat[2])
{
    const double seen[3] = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]};
    double turned[3];
    rotate(turned, cam, seen);
    const double u = turned[0] / turned[2], v = turned[1] / turned[2];
    const double rho = u * u + v * v;
    const double scale = cam[6] * (1 + rho * (cam[9] + rho * cam[10]));
    err[0] += *w * (u * scale + cam[7] - feat[0]);
    err[1] += *w * (v * scale + cam[8] - feat[1]);
}

/* err and werr += the residuals of p observations and of their weights. obs: which camera and which point, counted from 1. */
void bundle_adjustment(double *restrict err, double *restrict werr, const double *cams, const double *points, const double *w, const long *obs,
                       const double *feats, long p)
{
    for (long i = 0; i < p; i++)
        reprojection_error(err + 2 * i, cams + 11 * (obs[2 * i] - 1), points + 3 * (obs[2 * i + 1] - 1), w + i, feats + 2 * i);
    for (long i = 0; i < p; i++)
        werr[i] += 1 - w[i] * w[i];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double y[3], const double a[3], const double b[3])
{
    y[0] = a[1] * b[2] - a[2] * b[1];
    y[1] = a[2] * b[0] - a[0] * b[2];
    y[2] = a[0] * b[1] - a[1] * b[0];
}

/* What the rotation of x by r leaves for its gradient. */
struct rotation {
    double theta, c, s, along, a[3], across[3];
};

static void rotate_kept(struct rotation *k, double y[3], const double r[3], const double x[3])
{
    const double square = dot(r, r);
    k->theta = sqrt(square);
    if (square > 0) {
        k->c = cos(k->theta);
        k->s = sin(k->theta);
        for (int i = 0; i < 3; i++)
            k->a[i] = r[i] / k->theta;
        cross(k->across, k->a, x);
        k->along = dot(k->a, x);
        for (int i = 0; i < 3; i++)
            y[i] = k->c * x[i] + k->s * k->across[i] + k->along * (1 - k->c) * k->a[i];
    } else {
        cross(k->across, r, x);
        for (int i = 0; i < 3; i++)
            y[i] = x[i] + k->across[i];
    }
}

/* dr and dx += what r and x get from the adjoint dy. */
static void rotate_adjoint(const struct rotation *k, double dr[3], double dx[3], const double dy[3], const double r[3], const double x[3])
{
    double turned[3], moved[3];
    if (k->theta > 0) {
        const double on_axis = dot(k->a, dy), rest = 1 - k->c;
        const double of_c = dot(x, dy) - k->along * on_axis, of_s = dot(k->across, dy);
        cross(turned, dy, k->a);
        cross(moved, x, dy);
        double of_a[3];
        for (int i = 0; i < 3; i++) {
            dx[i] += k->c * dy[i] + k->s * turned[i] + rest * on_axis * k->a[i];
            of_a[i] = k->s * moved[i] + rest * (on_axis * x[i] + k->along * dy[i]);
        }
        const double of_theta = k->c * of_s - k->s * of_c - dot(of_a, k->a) / k->theta;
        for (int i = 0; i < 3; i++)
            dr[i] += of_a[i] / k->theta + of_theta * k->a[i];
    } else {
        cross(turned, dy, r);
        cross(moved, x, dy);
        for (int i = 0; i < 3; i++) {
            dx[i] += dy[i] + turned[i];
            dr[i] += moved[i];
        }
    }
}

/* The residual of an observation; dcam, dpoint and dw += the gradient of its product with seed. */
static void reprojection_error_gradient(double err[2], const double seed[2], const double cam[11], const double point[3], const double *w,
                                        const double feat[2], double dcam[11], double dpoint[3], double *dw)
{
    const double seen[3] = {point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]};
    struct rotation kept = {0};
    double turned[3];
    rotate_kept(&kept, turned, cam, seen);
    const double u = turned[0] / turned[2], v = turned[1] / turned[2];
    const double rho = u * u + v * v;
    const double lens = 1 + rho * (cam[9] + rho * cam[10]), scale = cam[6] * lens;
    const double off[2] = {u * scale + cam[7] - feat[0], v * scale + cam[8] - feat[1]};
    err[0] = *w * off[0];
    err[1] = *w * off[1];
    const double of_x = *w * seed[0], of_y = *w * seed[1];
    const double of_scale = of_x * u + of_y * v, of_lens = of_scale * cam[6];
    const double of_rho = of_lens * (cam[9] + 2 * rho * cam[10]);
    const double of_u = of_x * scale + 2 * u * of_rho, of_v = of_y * scale + 2 * v * of_rho;
    const double of_turned[3] = {of_u / turned[2], of_v / turned[2], -(of_u * u + of_v * v) / turned[2]};
    double of_seen[3] = {0};
    rotate_adjoint(&kept, dcam, of_seen, of_turned, cam, seen);
    for (int i = 0; i < 3; i++) {
        dcam[3 + i] -= of_seen[i];
        dpoint[i] += of_seen[i];
    }
    dcam[6] += of_scale * lens;
    dcam[7] += of_x;
    dcam[8] += of_y;
    dcam[9] += of_lens * rho;
    dcam[10] += of_lens * rho * rho;
    *dw += seed[0] * off[0] + seed[1] * off[1];
}

/* The residuals, and the gradient of their product with seeds by n_cams numbers of cameras, n_points of points, and p weights. */
void bundle_adjustment_gradient(double *restrict err, double *restrict werr, const double *seed, const double *wseed, const double *cams,
                                const double *points, const double *w, const long *obs, const double *feats, double *restrict dcams,
                                double *restrict dpoints, double *restrict dw, long n_cams, long n_points, long p)
{
    for (long i = 0; i < n_cams; i++)
        dcams[i] = 0;
    for (long i = 0; i < n_points; i++)
        dpoints[i] = 0;
    for (long i = 0; i < p; i++) {
        werr[i] = 1 - w[i] * w[i];
        dw[i] = -2 * w[i] * wseed[i];
    }
    for (long i = 0; i < p; i++) {
        const long cam = 11 * (obs[2 * i] - 1), point = 3 * (obs[2 * i + 1] - 1);
        reprojection_error_gradient(err + 2 * i, seed + 2 * i, cams + cam, points + point, w + i, feats + 2 * i, dcams + cam, dpoints + point,
                                    dw + i);
    }
}
