#include "engine/combiners/kept_updates.h"

#include <ATen/ops/round.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "engine/combiners/update_sum.h"

namespace fedvg {

void KeptUpdates::begin(const Layout&, std::size_t) {
  deltas_.clear();
  buffers_.clear();
}

void KeptUpdates::add(const ClientUpdate& update, const std::vector<Score>&, const Column&) {
  deltas_.push_back(update.delta);
  buffers_.push_back(update.buffers);
}

std::optional<Combined> KeptUpdates::combine(const std::vector<double>&) {
  if (deltas_.empty()) return std::nullopt;
  // A slice of the numbers at a time: the float64 copies stay small beside the updates.
  constexpr std::int64_t kSlice = 1 << 16;
  const std::int64_t size = deltas_[0].numel();
  Combined combined{at::zeros({size}, deltas_[0].options().dtype(at::kDouble)), {}};
  for (std::int64_t begin = 0; begin < size; begin += kSlice) {
    const std::int64_t length = std::min(kSlice, size - begin);
    Tensors rows;
    for (const auto& delta : deltas_)
      rows.push_back(delta.narrow(0, begin, length).to(at::kDouble));
    combined.step.narrow(0, begin, length).copy_(reduce(at::stack(rows)));
  }
  for (std::size_t b = 0; b < buffers_[0].size(); ++b) {
    Tensors rows;
    for (const auto& buffers : buffers_) rows.push_back(buffers[b].to(at::kDouble).reshape({-1}));
    const at::Tensor& like = buffers_[0][b];
    combined.buffers.push_back(
        as_type(reduce(at::stack(rows)).view(like.sizes()), like.scalar_type()));
  }
  return combined;
}

}  // namespace fedvg
