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
