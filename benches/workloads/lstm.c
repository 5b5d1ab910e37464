/* The loss of a long short-term memory whose cells are connected element by element (ADBench), and its gradient. */

#include <math.h>

/* Weights and biases of b cells, each in the order forget, in, out, change. */
enum { FORGET, IN, OUT, CHANGE };

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The state of a layer of b cells changes for the input x. */
static void layer(double *restrict h, double *restrict c, const double *restrict x, const double *restrict w, long b)
{
    const double *bias = w + 4 * b;
    for (long i = 0; i < b; i++) {
        const double forget = sigmoid(x[i] * w[FORGET * b + i] + bias[FORGET * b + i]);
        const double in = sigmoid(h[i] * w[IN * b + i] + bias[IN * b + i]);
        const double out = sigmoid(x[i] * w[OUT * b + i] + bias[OUT * b + i]);
        const double change = tanh(h[i] * w[CHANGE * b + i] + bias[CHANGE * b + i]);
        c[i] = c[i] * forget + in * change;
        h[i] = out * tanh(c[i]);
    }
}

/* loss += the mean of the negative log-likelihoods of the elements of a sequence, b numbers each, after those before it. w: the parameters of
   l layers; extra: b weights of the input, weights of the output and biases of the output; state: for each layer b hidden numbers and cells. */
void lstm(double *loss, const double *w, const double *extra, const double *state, const double *sequence, long l, long b, long count)
{
    double s[2 * b * l], x[b], total = 0;
    for (long i = 0; i < 2 * b * l; i++)
        s[i] = state[i];
    for (long t = 0; t + 1 < count; t++) {
        const double *wanted = sequence + (t + 1) * b;
        for (long i = 0; i < b; i++)
            x[i] = sequence[t * b + i] * extra[i];
        const double *input = x;
        for (long k = 0; k < l; k++) {
            double *h = s + 2 * b * k;
            layer(h, h + b, input, w + 8 * b * k, b);
            input = h;
        }
        double sum = 2, all = 0, product = 0;
        for (long i = 0; i < b; i++) {
            const double y = input[i] * extra[b + i] + extra[2 * b + i];
            sum += exp(y);
            all += wanted[i];
            product += wanted[i] * y;
        }
        total += product - all * log(sum);
    }
    *loss -= total / (double)(b * (count - 1));
}

/* What a layer leaves for its gradient, a number for each cell. */
enum { GATES = 4, CELL = 4, TANH, HIDDEN, KEPT };

/* The same layer, which begins with the cells c and the hidden numbers h. */
static void layer_kept(double *restrict kept, const double *restrict h, const double *restrict c, const double *restrict x,
                       const double *restrict w, long b)
{
    const double *bias = w + 4 * b;
    for (long i = 0; i < b; i++) {
        const double forget = sigmoid(x[i] * w[FORGET * b + i] + bias[FORGET * b + i]);
        const double in = sigmoid(h[i] * w[IN * b + i] + bias[IN * b + i]);
        const double out = sigmoid(x[i] * w[OUT * b + i] + bias[OUT * b + i]);
        const double change = tanh(h[i] * w[CHANGE * b + i] + bias[CHANGE * b + i]);
        const double cell = c[i] * forget + in * change, t = tanh(cell);
        kept[FORGET * b + i] = forget;
        kept[IN * b + i] = in;
        kept[OUT * b + i] = out;
        kept[CHANGE * b + i] = change;
        kept[CELL * b + i] = cell;
        kept[TANH * b + i] = t;
        kept[HIDDEN * b + i] = out * t;
    }
}

/* Its adjoint: dh and dc are those of the state after the layer, and become those of the state before. dx: that of the input. */
static void layer_adjoint(double *restrict dh, double *restrict dc, double *restrict dx, double *restrict dw, const double *restrict kept,
                          const double *restrict h, const double *restrict c, const double *restrict x, const double *restrict w, long b)
{
    double *dbias = dw + 4 * b;
    for (long i = 0; i < b; i++) {
        const double forget = kept[FORGET * b + i], in = kept[IN * b + i], out = kept[OUT * b + i], change = kept[CHANGE * b + i];
        const double t = kept[TANH * b + i];
        const double dcell = dc[i] + dh[i] * out * (1 - t * t);
        const double dforget = dcell * c[i] * forget * (1 - forget);
        const double din = dcell * change * in * (1 - in);
        const double dout = dh[i] * t * out * (1 - out);
        const double dchange = dcell * in * (1 - change * change);
        dw[FORGET * b + i] += dforget * x[i];
        dw[IN * b + i] += din * h[i];
        dw[OUT * b + i] += dout * x[i];
        dw[CHANGE * b + i] += dchange * h[i];
        dbias[FORGET * b + i] += dforget;
        dbias[IN * b + i] += din;
        dbias[OUT * b + i] += dout;
        dbias[CHANGE * b + i] += dchange;
        dc[i] = dcell * forget;
        dh[i] = din * w[IN * b + i] + dchange * w[CHANGE * b + i];
        dx[i] = dforget * w[FORGET * b + i] + dout * w[OUT * b + i];
    }
}

/* The loss, and its gradient, times seed, by w and extra. kept: (7 l + 1) b (count - 1) numbers in between. */
void lstm_gradient(double *loss, const double *seed, const double *restrict w, const double *restrict extra, const double *restrict state,
                   const double *restrict sequence, double *restrict dw, double *restrict dextra, double *restrict kept, long l, long b,
                   long count)
{
    const long steps = count - 1, each = (KEPT * l + 1) * b;
    double x[b], dx[b], dh[b * l], dc[b * l], total = 0;
    for (long t = 0; t < steps; t++) {
        const double *wanted = sequence + (t + 1) * b;
        double *now = kept + t * each, *share = now + KEPT * l * b;
        const double *before = now - each;
        for (long i = 0; i < b; i++)
            x[i] = sequence[t * b + i] * extra[i];
        const double *input = x;
        for (long k = 0; k < l; k++) {
            const double *h = t > 0 ? before + (KEPT * k + HIDDEN) * b : state + 2 * b * k;
            const double *c = t > 0 ? before + (KEPT * k + CELL) * b : state + 2 * b * k + b;
            layer_kept(now + KEPT * k * b, h, c, input, w + 8 * b * k, b);
            input = now + (KEPT * k + HIDDEN) * b;
        }
        double sum = 2, all = 0, product = 0;
        for (long i = 0; i < b; i++) {
            const double y = input[i] * extra[b + i] + extra[2 * b + i];
            share[i] = exp(y);
            sum += share[i];
            all += wanted[i];
            product += wanted[i] * y;
        }
        total += product - all * log(sum);
        const double factor = all / sum;
        for (long i = 0; i < b; i++)
            share[i] = wanted[i] - factor * share[i];
    }
    *loss = -total / (double)(b * steps);
    const double weight = -*seed / (double)(b * steps);
    for (long i = 0; i < 8 * b * l; i++)
        dw[i] = 0;
    for (long i = 0; i < 3 * b; i++)
        dextra[i] = 0;
    for (long i = 0; i < b * l; i++)
        dh[i] = dc[i] = 0;
    for (long t = steps - 1; t >= 0; t--) {
        const double *now = kept + t * each, *share = now + KEPT * l * b, *last = now + (KEPT * (l - 1) + HIDDEN) * b;
        const double *before = now - each;
        double *dlast = dh + (l - 1) * b;
        for (long i = 0; i < b; i++) {
            const double dy = weight * share[i];
            dextra[b + i] += dy * last[i];
            dextra[2 * b + i] += dy;
            dlast[i] += dy * extra[b + i];
            x[i] = sequence[t * b + i] * extra[i];
        }
        for (long k = l - 1; k >= 0; k--) {
            const double *h = t > 0 ? before + (KEPT * k + HIDDEN) * b : state + 2 * b * k;
            const double *c = t > 0 ? before + (KEPT * k + CELL) * b : state + 2 * b * k + b;
            const double *input = k > 0 ? now + (KEPT * (k - 1) + HIDDEN) * b : x;
            layer_adjoint(dh + k * b, dc + k * b, dx, dw + 8 * b * k, now + KEPT * k * b, h, c, input, w + 8 * b * k, b);
            for (long i = 0; k > 0 && i < b; i++)
                dh[(k - 1) * b + i] += dx[i];
        }
        for (long i = 0; i < b; i++)
            dextra[i] += dx[i] * sequence[t * b + i];
    }
}
