#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fedvg/random.h"

namespace fedvg {

/// The least alpha that may be asked for: one part has practically everything. Far below, the
/// logarithms of the variates overflow.
inline constexpr double kLeastAlpha = 1e-6;

/// Where `total` samples are cut into `count` parts in proportion to a draw from
/// Dirichlet(alpha, …, alpha): the ends of the parts, ascending, the last one `total`. Part k
/// ends at round(total * sum_{j<=k} p_j). `alpha` > 0 and finite, count > 0.
///
/// p_k = exp(g_k - log sum_j exp(g_j)) with g the logarithms of Gamma(alpha) variates: for
/// small alpha the variates themselves underflow and p would be 0 / 0.
std::vector<std::int64_t> dirichlet_cuts(double alpha, std::size_t count, std::int64_t total,
                                         Random& random);

}  // namespace fedvg
