#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fedvg {

using Tensors = std::vector<at::Tensor>;
using TensorMap = std::map<std::string, at::Tensor>;

/// One trainable tensor inside a flat vector.
struct Slot {
  std::string name;   ///< as in the saved model: "conv1.weight"
  std::string block;  ///< the block that `granularity = "block"` weighs as one
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};  ///< of the view; a channels_last weight is not row-major
  std::int64_t offset = 0;              ///< first element in the flat vector, 64-byte aligned
  std::int64_t numel = 0;               ///< of the view
  /// Numbers behind the view that belong to the tensor and have no place in it: what stands for
  /// dead taps that were left out (fedvg/folding.h).
  std::int64_t tail = 0;
};

/// How the trainable tensors of a model lie in one flat vector.
///
/// Everything model-sized (parameters, gradients, deltas, server and client state) is a
/// vector of shape [size()] in this layout, so that a method is vector algebra. Gaps
/// between tensors, there for alignment, are always zero.
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::vector<Slot> slots);  ///< fills in offset and numel

  const std::vector<Slot>& slots() const { return slots_; }
  std::size_t tensors() const { return slots_.size(); }
  std::int64_t size() const { return size_; }              ///< with gaps
  std::int64_t parameters() const { return parameters_; }  ///< without gaps and tails

  /// The tensor's elements as a vector [numel + tail] that aliases `flat`.
  at::Tensor segment(const at::Tensor& flat, std::size_t tensor) const;
  /// Its last `tail` of them.
  at::Tensor tail(const at::Tensor& flat, std::size_t tensor) const;
  /// Those of all tensors that have one.
  Tensors tails(const at::Tensor& flat) const;
  /// The tensor in its own shape, without the tail, aliasing `flat`.
  at::Tensor view(const at::Tensor& flat, std::size_t tensor) const;

  /// Blocks in order of first appearance, and for each tensor the index of its block.
  const std::vector<std::string>& blocks() const { return blocks_; }
  const std::vector<std::size_t>& block_of() const { return block_of_; }

 private:
  std::vector<Slot> slots_;
  std::vector<std::string> blocks_;
  std::vector<std::size_t> block_of_;
  std::int64_t size_ = 0;
  std::int64_t parameters_ = 0;
};

}  // namespace fedvg
