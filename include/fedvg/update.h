#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "fedvg/layout.h"

namespace fedvg {

struct Batch {
  at::Tensor images;  ///< [B, C, H, W]
  at::Tensor labels;  ///< [B], int64
};

/// What a participant sends. Lives until the combiner has added it.
struct ClientUpdate {
  std::int64_t client = 0;
  std::int64_t samples = 0;  ///< n_k: samples it trained on
  std::int64_t steps = 0;    ///< tau_k: optimizer steps
  double path = 0;           ///< a_k, LocalOptimizer::path_length; tau_k where it has none
  double loss_first = 0;     ///< mean training loss of the first epoch
  double loss_last = 0;      ///< … of the last
  at::Tensor delta{};        ///< w_k - w, [P]
  Tensors buffers{};         ///< the client's values, not differences
  TensorMap extra{};         ///< model-sized, dropped with delta (SCAFFOLD's dc)
  TensorMap note{};          ///< small, kept to the end of the round (Elastic's Omega [T])
};

/// One number for the whole model (size 1) or one a column (size T, or one a buffer).
using Column = std::vector<double>;

/// v[i], or v[0] where one number stands for every column.
inline double column_at(const Column& v, std::size_t i) { return v.size() == 1 ? v[0] : v[i]; }

/// Over its entries, of which there is at least one.
inline double mean(const Column& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// u >= 0 of one client by one rule; the share is u over the sum of u, by column.
struct Score {
  Column tensors;  ///< [1] or [T]
  Column buffers;  ///< [1] or [number of buffers]
};

/// What remains of an accepted update once it has been added.
struct Receipt {
  std::int64_t client = 0;
  std::int64_t samples = 0;
  std::int64_t steps = 0;
  double loss_last = 0;
  std::vector<Score> scores{};  ///< one a part of the rule
  Column factor{};              ///< Correction::factor
  TensorMap note{};
};

/// A round as server-side hooks see it.
struct Round {
  std::int64_t index;        ///< from 1
  std::int64_t population;   ///< N, all clients
  const at::Tensor& global;  ///< w, [P]
  const Layout& layout;
  std::span<const Receipt> receipts;  ///< accepted so far, in the order of the sums
};

}  // namespace fedvg
