/* One EM pass over label rows, as plain as it can be written: what `partita.models.mixture.at_site` is measured against. */
#include <math.h>
#include <stdint.h>

double em_pass(const int8_t *labels, const double *tables, const double *bias, double *expected, double *masses,
               int64_t rows, int64_t columns, int64_t size, int64_t k)
{
    double likelihood = 0.0, share[64];
    for (int64_t i = 0; i < rows; i++) {
        const int8_t *row = labels + i * columns;
        for (int64_t c = 0; c < k; c++)
            share[c] = bias[c];
        for (int64_t j = 0; j < columns; j++)
            if (row[j] >= 0)
                for (int64_t c = 0; c < k; c++)
                    share[c] += tables[(j * size + row[j]) * k + c];
        double top = share[0], mass = 0.0;
        for (int64_t c = 1; c < k; c++)
            top = share[c] > top ? share[c] : top;
        for (int64_t c = 0; c < k; c++) {
            share[c] = exp(share[c] - top);
            mass += share[c];
        }
        likelihood += top + log(mass);
        for (int64_t c = 0; c < k; c++) {
            share[c] /= mass;
            masses[c] += share[c];
        }
        for (int64_t j = 0; j < columns; j++)
            if (row[j] >= 0)
                for (int64_t c = 0; c < k; c++)
                    expected[(j * size + row[j]) * k + c] += share[c];
    }
    return likelihood;
}
