/* One collapsed Gibbs sweep over label rows, as plain as it can be written: what `partita.kernels.nbce_gibbs.sweep_even`
   is measured against. Every object is taken out, its chances in k clusters are products over its labels, and it is put
   back; counts lie with the clusters of one label side by side, and the compiler is left to make the most of it. */
#include <math.h>
#include <stdint.h>

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

int64_t sweep(const int8_t *labels, int8_t *z, double *tables, double *sizes, double alpha, double beta, uint64_t seed,
              int64_t rows, int64_t columns, int64_t size, int64_t k)
{
    double chance[256], inverse[256];
    int64_t moved = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int8_t *row = labels + i * columns;
        int64_t old = z[i], new = 0;
        sizes[old] -= 1.0;
        for (int64_t j = 0; j < columns; j++)
            tables[(j * size + row[j]) * k + old] -= 1.0;
        for (int64_t c = 0; c < k; c++)
            chance[c] = alpha / k + sizes[c], inverse[c] = 1.0 / (size * beta + sizes[c]);
        for (int64_t j = 0; j < columns; j++) {
            const double *counts = tables + (j * size + row[j]) * k;
            for (int64_t c = 0; c < k; c++)
                chance[c] *= (beta + counts[c]) * inverse[c];
        }
        for (int64_t c = 1; c < k; c++)
            chance[c] += chance[c - 1];
        double target = chance[k - 1] * uniform(&seed);
        while (new < k - 1 && chance[new] <= target)
            new++;
        sizes[new] += 1.0;
        for (int64_t j = 0; j < columns; j++)
            tables[(j * size + row[j]) * k + new] += 1.0;
        z[i] = new;
        moved += new != old;
    }
    return moved;
}
