#include "engine/samples.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fedvg/error.h"

namespace fedvg {
namespace {

/// Room for `count` samples of `width` numbers; as it was when it has that.
void prepare(BatchBuffer& buffer, std::int64_t count, std::int64_t width, at::ScalarType dtype) {
  if (!buffer.images.defined() || buffer.images.size(0) < count || buffer.images.size(1) != width) {
    buffer.images = at::empty({count, width}, dtype);
  }
  if (!buffer.labels.defined() || buffer.labels.size(0) < count) {
    buffer.labels = at::empty({count}, at::kLong);
  }
}

at::Tensor labels_of(const Samples& samples, std::span<const std::int64_t> ids,
                     BatchBuffer& buffer) {
  auto* labels = buffer.labels.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    labels[i] = samples.labels[static_cast<std::size_t>(ids[i])];
  }
  return buffer.labels.narrow(0, 0, static_cast<std::int64_t>(ids.size()));
}

Batch on_device(const Batch& batch, at::Device device) {
  if (device.is_cpu()) return batch;
  return {batch.images.to(device), batch.labels.to(device)};
}

/// One channel [height, width] of an image as `view` sees it; `to` steps from pixel to pixel.
template <class Number>
void see(const ImageView& view, const std::uint8_t* image, std::int64_t height, std::int64_t width,
         const std::array<Number, 256>& numbers, std::int64_t step, Number* to) {
  const std::int64_t first = std::clamp<std::int64_t>(-view.right, 0, width);
  const std::int64_t last = std::clamp<std::int64_t>(width - view.right, 0, width);
  const std::int64_t forward = view.mirrored ? -step : step;
  for (std::int64_t y = 0; y < height; ++y, to += width * step) {
    Number* pixel = view.mirrored ? to + (width - 1) * step : to;
    const std::int64_t row = y + view.down;
    const bool inside = row >= 0 && row < height;
    const std::uint8_t* from = image + (inside ? row * width : 0);
    for (std::int64_t x = 0; x < width; ++x, pixel += forward) {
      *pixel = numbers[inside && x >= first && x < last ? from[x + view.right] : 0];
    }
  }
}

}  // namespace

Batch SampleStore::assemble_seen(std::span<const std::int64_t>, std::span<const ImageView>,
                                 BatchBuffer&) const {
  throw RunError("only images can be looked at through views");
}

std::unique_ptr<SampleStore> make_store(const Samples& samples, const ImageFormat& format,
                                        const ChannelStatistics& statistics) {
  if (samples.is_features) return std::make_unique<FeatureStore>(samples, format, statistics);
  return std::make_unique<ByteStore>(samples, format, statistics);
}

ByteStore::ByteStore(const Samples& samples, ImageFormat format,
                     const ChannelStatistics& statistics)
    : samples_(samples), format_(format) {
  if (format_.channels == 0) format_.channels = samples.channels;
  for (std::size_t c = 0; c < static_cast<std::size_t>(format_.channels); ++c) {
    const double mean = statistics.mean.empty() ? 0 : statistics.mean[c];
    const double deviation = statistics.mean.empty() ? 1 : statistics.deviation[c];
    for (int byte = 0; byte < 256; ++byte) {
      numbers_.push_back((static_cast<double>(byte) / 255 - mean) / deviation);
    }
  }
}

std::int64_t ByteStore::size() const { return samples_.size(); }

template <class Number>
void ByteStore::fill(std::span<const std::int64_t> ids, std::span<const ImageView> views,
                     Number* out) const {
  const auto channels = static_cast<std::size_t>(format_.channels);
  const auto plane = static_cast<std::size_t>(samples_.height * samples_.width);
  const auto own_channels = static_cast<std::size_t>(samples_.channels);
  const std::size_t next_channel = channels == own_channels ? plane : 0;
  std::vector<std::array<Number, 256>> table(channels);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    table[i / 256][i % 256] = static_cast<Number>(numbers_[i]);
  }
  const std::size_t step = format_.channels_last ? channels : 1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(ids[i]);
    const auto* image = samples_.pixels.data() + id * own_channels * plane;
    for (std::size_t c = 0; c < channels; ++c) {
      Number* to = out + (format_.channels_last ? c : c * plane);
      const auto* from = image + c * next_channel;
      const auto& numbers = table[c];
      if (!views.empty()) {
        see(views[i], from, samples_.height, samples_.width, numbers,
            static_cast<std::int64_t>(step), to);
        continue;
      }
      for (std::size_t p = 0; p < plane; ++p) to[p * step] = numbers[from[p]];
    }
    out += channels * plane;
  }
}

Batch ByteStore::assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const {
  return assemble_seen(ids, {}, buffer);
}

Batch ByteStore::assemble_seen(std::span<const std::int64_t> ids, std::span<const ImageView> views,
                               BatchBuffer& buffer) const {
  const auto count = static_cast<std::int64_t>(ids.size());
  const auto c = format_.channels, h = samples_.height, w = samples_.width;
  prepare(buffer, count, c * h * w, format_.dtype);
  if (format_.dtype == at::kDouble) {
    fill(ids, views, buffer.images.data_ptr<double>());
  } else {
    fill(ids, views, buffer.images.data_ptr<float>());
  }
  // Strides are spelled out: with one channel both formats look alike to ATen otherwise.
  const std::vector<std::int64_t> strides = format_.channels_last
                                                ? std::vector{c * h * w, std::int64_t{1}, w * c, c}
                                                : std::vector{c * h * w, h * w, w, std::int64_t{1}};
  return on_device(
      {buffer.images.as_strided({count, c, h, w}, strides), labels_of(samples_, ids, buffer)},
      format_.device);
}

FeatureStore::FeatureStore(const Samples& samples, const ImageFormat& format,
                           ChannelStatistics statistics)
    : samples_(samples), format_(format), statistics_(std::move(statistics)) {}

std::int64_t FeatureStore::size() const { return samples_.size(); }

template <class Number>
void FeatureStore::fill(std::span<const std::int64_t> ids, Number* out) const {
  std::vector<float> row(static_cast<std::size_t>(samples_.channels));
  for (const auto id : ids) {
    const auto bytes = samples_.image(id);
    std::memcpy(row.data(), bytes.data(), bytes.size());
    for (std::size_t f = 0; f < row.size(); ++f) {
      const auto number = static_cast<double>(row[f]);
      out[f] = static_cast<Number>(statistics_.mean.empty()
                                       ? number
                                       : (number - statistics_.mean[f]) / statistics_.deviation[f]);
    }
    out += row.size();
  }
}

Batch FeatureStore::assemble(std::span<const std::int64_t> ids, BatchBuffer& buffer) const {
  prepare(buffer, static_cast<std::int64_t>(ids.size()), samples_.channels, format_.dtype);
  if (format_.dtype == at::kDouble) {
    fill(ids, buffer.images.data_ptr<double>());
  } else {
    fill(ids, buffer.images.data_ptr<float>());
  }
  return on_device({buffer.images.narrow(0, 0, static_cast<std::int64_t>(ids.size())),
                    labels_of(samples_, ids, buffer)},
                   format_.device);
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
