#include "engine/combiners/update_sum.h"

#include <ATen/ops/round.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "kernels/model_vector.h"

namespace fedvg {
namespace {

void add_to(Column& total, const Column& u) {
  if (total.empty()) total.assign(u.size(), 0);
  for (std::size_t i = 0; i < total.size(); ++i) total[i] += u[i];
}

bool has_zero(const Column& total) {
  return std::any_of(total.begin(), total.end(), [](double t) { return !(t > 0); });
}

}  // namespace

at::Tensor as_type(const at::Tensor& value, at::ScalarType type) {
  return (at::isFloatingType(type) ? value : at::round(value)).to(type);
}

void UpdateSum::add(const ClientUpdate& update, const std::vector<Score>& scores,
                    const Column& factor) {
  if (added_++ == 0) {
    for (auto& part : parts_) {
      part.sum = at::zeros({layout_.size()}, update.delta.options().dtype(at::kDouble));
      for (const auto& buffer : update.buffers) {
        part.buffers.push_back(at::zeros_like(buffer, buffer.options().dtype(at::kDouble)));
      }
    }
    for (const auto& buffer : update.buffers) buffer_types_.push_back(buffer.scalar_type());
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    const Score& score = scores[p];
    if (score.tensors.size() == 1 && factor.size() == 1) {
      kernels::add_scaled(part.sum, update.delta, score.tensors[0] * factor[0]);
    } else {
      for (std::size_t l = 0; l < layout_.tensors(); ++l) {
        kernels::add_scaled(layout_.segment(part.sum, l), layout_.segment(update.delta, l),
                            column_at(score.tensors, l) * column_at(factor, l));
      }
    }
    add_to(part.total, score.tensors);
    for (std::size_t b = 0; b < update.buffers.size(); ++b) {
      part.buffers[b].add_(update.buffers[b].to(at::kDouble), column_at(score.buffers, b));
    }
    add_to(part.buffer_total, score.buffers);
  }
}

std::optional<Combined> UpdateSum::combine(const std::vector<double>& shares) const {
  Combined combined;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (shares[p] == 0) continue;
    const Part& part = parts_[p];
    if (added_ == 0 || has_zero(part.total) || has_zero(part.buffer_total)) return std::nullopt;
    if (!combined.step.defined()) {
      combined.step = at::zeros_like(part.sum);
      for (const auto& buffer : part.buffers) combined.buffers.push_back(at::zeros_like(buffer));
    }
    for (std::size_t l = 0; l < layout_.tensors(); ++l) {
      layout_.segment(combined.step, l)
          .add_(layout_.segment(part.sum, l), shares[p] / column_at(part.total, l));
    }
    for (std::size_t b = 0; b < part.buffers.size(); ++b) {
      combined.buffers[b].add_(part.buffers[b], shares[p] / column_at(part.buffer_total, b));
    }
  }
  if (!combined.step.defined()) return std::nullopt;
  for (std::size_t b = 0; b < combined.buffers.size(); ++b) {
    combined.buffers[b] = as_type(combined.buffers[b], buffer_types_[b]);
  }
  return combined;
}

Column UpdateSum::weights(const std::vector<Score>& scores,
                          const std::vector<double>& shares) const {
  std::size_t columns = 1;
  for (const auto& score : scores) columns = std::max(columns, score.tensors.size());
  Column weight(columns, 0);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (shares[p] == 0) continue;
    for (std::size_t l = 0; l < columns; ++l) {
      weight[l] += shares[p] * column_at(scores[p].tensors, l) / column_at(parts_[p].total, l);
    }
  }
  return weight;
}

}  // namespace fedvg
