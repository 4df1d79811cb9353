#include "fedvg/layout.h"

#include <algorithm>

namespace fedvg {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: 64 bytes of float32

}  // namespace

Layout::Layout(std::vector<Slot> slots) : slots_(std::move(slots)) {
  for (auto& slot : slots_) {
    slot.numel = 1;
    for (const auto extent : slot.shape) slot.numel *= extent;
    slot.offset = size_;
    size_ += (slot.numel + slot.tail + kAlignment - 1) / kAlignment * kAlignment;
    parameters_ += slot.numel;
    const auto found = std::find(blocks_.begin(), blocks_.end(), slot.block);
    block_of_.push_back(static_cast<std::size_t>(found - blocks_.begin()));
    if (found == blocks_.end()) blocks_.push_back(slot.block);
  }
}

at::Tensor Layout::segment(const at::Tensor& flat, std::size_t tensor) const {
  const Slot& slot = slots_.at(tensor);
  return flat.narrow(0, slot.offset, slot.numel + slot.tail);
}

at::Tensor Layout::tail(const at::Tensor& flat, std::size_t tensor) const {
  const Slot& slot = slots_.at(tensor);
  return flat.narrow(0, slot.offset + slot.numel, slot.tail);
}

Tensors Layout::tails(const at::Tensor& flat) const {
  Tensors all;
  for (std::size_t i = 0; i < tensors(); ++i) {
    if (slots_[i].tail > 0) all.push_back(tail(flat, i));
  }
  return all;
}

at::Tensor Layout::view(const at::Tensor& flat, std::size_t tensor) const {
  const Slot& slot = slots_.at(tensor);
  return flat.as_strided(slot.shape, slot.strides, flat.storage_offset() + slot.offset);
}

}  // namespace fedvg
