#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/augmentation.h"
#include "data/channel_statistics.h"
#include "fedvg/dataset.h"
#include "fedvg/update.h"

namespace fedvg {

/// Memory of one worker's batches, kept so that no step allocates.
struct BatchBuffer {
  at::Tensor images, labels;
};

/// Samples by index, handed out as batches.
class SampleStore {
 public:
  virtual ~SampleStore() = default;
  virtual std::int64_t size() const = 0;
  /// The batch aliases `buffer` until the next call with it.
  virtual Batch assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const = 0;
  /// The same, each image seen through its view. Throws RunError where there are no images.
  virtual Batch assemble_seen(std::span<const std::int64_t> ids, std::span<const ImageView> views,
                              BatchBuffer& buffer) const;
};

/// How samples are laid out and typed for a model.
struct ImageFormat {
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  bool bf16 = false;  ///< networks train and score in bfloat16 where that serves (autocast.h)
  bool channels_last = false;
  std::int64_t channels = 0;  ///< more than 1 for gray images: repeated; 0: those of the data
};

/// Images, [B, C, H, W]: bytes that become numbers batch by batch, byte / 255, then
/// standardised by channel of the batch unless `statistics` is empty. A gray image's channel
/// is repeated where the format has more. `samples` must outlive the store.
class ByteStore final : public SampleStore {
 public:
  ByteStore(const Samples& samples, ImageFormat format, const ChannelStatistics& statistics);
  std::int64_t size() const override;
  Batch assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const override;
  Batch assemble_seen(std::span<const std::int64_t> ids, std::span<const ImageView> views,
                      BatchBuffer& buffer) const override;

 private:
  template <class Number>
  void fill(std::span<const std::int64_t> ids, std::span<const ImageView> views, Number* out) const;

  const Samples& samples_;
  ImageFormat format_;           ///< channels: of a batch
  std::vector<double> numbers_;  ///< [channels, 256]: what each byte becomes
};

/// Rows of features, [B, F], as they are or standardised by feature unless `statistics` is
/// empty. `samples` must outlive the store.
class FeatureStore final : public SampleStore {
 public:
  FeatureStore(const Samples& samples, const ImageFormat& format, ChannelStatistics statistics);
  std::int64_t size() const override;
  Batch assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const override;

 private:
  template <class Number>
  void fill(std::span<const std::int64_t> ids, Number* out) const;

  const Samples& samples_;
  ImageFormat format_;
  ChannelStatistics statistics_;
};

/// The store that fits the samples.
std::unique_ptr<SampleStore> make_store(const Samples& samples, const ImageFormat& format,
                                        const ChannelStatistics& statistics);

/// Samples that are tensors already: x [N, ...], y [N].
class TensorStore final : public SampleStore {
 public:
  TensorStore(at::Tensor x, at::Tensor y) : x_(std::move(x)), y_(std::move(y)) {}
  std::int64_t size() const override { return x_.size(0); }
  Batch assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const override;

 private:
  at::Tensor x_, y_;
};

/// A list of samples cut into batches: batch b is ids[ends[b-1], ends[b]).
struct BatchPlan {
  std::vector<std::int64_t> ids;
  std::vector<std::size_t> ends;

  std::size_t batches() const { return ends.size(); }
  std::span<const std::int64_t> batch(std::size_t b) const {
    const std::size_t begin = b == 0 ? 0 : ends[b - 1];
    return std::span(ids).subspan(begin, ends[b] - begin);
  }
};

/// Batches of `batch_size` in the given order. `join_last`: a last batch of one sample
/// joins the one before, since it would have no batch statistics.
BatchPlan cut(std::vector<std::int64_t> ids, std::int64_t batch_size, bool join_last = false);

}  // namespace fedvg
