#include "engine/samples.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <array>

namespace fedvg {

ByteStore::ByteStore(const Samples& samples, ImageFormat format,
                     const ChannelStatistics& statistics)
    : samples_(samples), format_(format) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(samples.channels); ++c) {
    const double mean = statistics.mean.empty() ? 0 : statistics.mean[c];
    const double deviation = statistics.mean.empty() ? 1 : statistics.deviation[c];
    for (int byte = 0; byte < 256; ++byte) {
      numbers_.push_back((static_cast<double>(byte) / 255 - mean) / deviation);
    }
  }
}

std::int64_t ByteStore::size() const { return static_cast<std::int64_t>(samples_.labels.size()); }

template <class Number>
void ByteStore::fill(std::span<const std::int64_t> ids, Number* out) const {
  const auto channels = static_cast<std::size_t>(samples_.channels);
  const auto plane = static_cast<std::size_t>(samples_.height * samples_.width);
  std::vector<std::array<Number, 256>> table(channels);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    table[i / 256][i % 256] = static_cast<Number>(numbers_[i]);
  }
  const std::size_t step = format_.channels_last ? channels : 1;
  for (const auto id : ids) {
    const auto* image = samples_.pixels.data() + static_cast<std::size_t>(id) * channels * plane;
    for (std::size_t c = 0; c < channels; ++c) {
      Number* to = out + (format_.channels_last ? c : c * plane);
      const auto* from = image + c * plane;
      const auto& numbers = table[c];
      for (std::size_t p = 0; p < plane; ++p) to[p * step] = numbers[from[p]];
    }
    out += channels * plane;
  }
}

Batch ByteStore::assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  const auto c = samples_.channels, h = samples_.height, w = samples_.width;
  if (!buffer.images.defined() || buffer.images.size(0) < count ||
      buffer.images.size(1) != c * h * w) {
    buffer.images = at::empty({count, c * h * w}, format_.dtype);
  }
  if (!buffer.labels.defined() || buffer.labels.size(0) < count) {
    buffer.labels = at::empty({count}, at::kLong);
  }
  if (format_.dtype == at::kDouble) {
    fill(ids, buffer.images.data_ptr<double>());
  } else {
    fill(ids, buffer.images.data_ptr<float>());
  }
  auto* labels = buffer.labels.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    labels[i] = samples_.labels[static_cast<std::size_t>(ids[i])];
  }
  // Strides are spelled out: with one channel both formats look alike to ATen otherwise.
  const std::vector<std::int64_t> strides = format_.channels_last
                                                ? std::vector{c * h * w, std::int64_t{1}, w * c, c}
                                                : std::vector{c * h * w, h * w, w, std::int64_t{1}};
  Batch batch{buffer.images.as_strided({count, c, h, w}, strides),
              buffer.labels.narrow(0, 0, count)};
  if (format_.device.is_cpu()) return batch;
  return {batch.images.to(format_.device), batch.labels.to(format_.device)};
}

Batch TensorStore::assemble(std::span<const std::int64_t> ids, BatchBuffer&) const {
  const at::Tensor index = at::from_blob(const_cast<std::int64_t*>(ids.data()),
                                         {static_cast<std::int64_t>(ids.size())}, at::kLong)
                               .to(x_.device());
  return {at::index_select(x_, 0, index), at::index_select(y_, 0, index)};
}

BatchPlan cut(std::vector<std::int64_t> ids, std::int64_t batch_size, bool join_last) {
  BatchPlan plan{std::move(ids), {}};
  const std::size_t size = plan.ids.size(), step = static_cast<std::size_t>(batch_size);
  for (std::size_t end = step; end < size; end += step) plan.ends.push_back(end);
  if (join_last && !plan.ends.empty() && size - plan.ends.back() == 1) plan.ends.pop_back();
  if (size > 0) plan.ends.push_back(size);
  return plan;
}

}  // namespace fedvg
