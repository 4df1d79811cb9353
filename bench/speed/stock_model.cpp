#include <utility>

#include "fedvg/registry.h"
#include "speed/stock_loop.h"

namespace fedvg {
namespace {

bool is(const Part& part, const char* option, const char* value) {
  const Value* found = part.options.find(option);
  return found && *found == Value(value);
}

/// The shape of images on their way through a network, and what the layers cost.
class Count {
 public:
  explicit Count(const StockModel& model)
      : channels_(model.channels), height_(model.height), width_(model.width) {}

  void convolution(std::int64_t out, std::int64_t kernel, std::int64_t stride = 1,
                   std::int64_t padding = 0) {
    move(kernel, stride, padding);
    add(height_ * width_ * out * channels_ * kernel * kernel);
    channels_ = out;
  }
  void pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding = 0) {
    move(kernel, stride, padding);
  }
  void linear(std::int64_t in, std::int64_t out) { add(in * out); }

  /// Two 3x3 convolutions, and one of 1x1 on the shortcut where the shape changes.
  void residual_block(std::int64_t out, std::int64_t stride) {
    const Count before = *this;
    convolution(out, 3, stride, 1);
    convolution(out, 3, 1, 1);
    if (stride == 1 && before.channels_ == out) return;
    add(height_ * width_ * out * before.channels_);
  }

  std::int64_t numbers() const { return channels_ * height_ * width_; }
  std::int64_t channels() const { return channels_; }
  MultiplyAdds total() const { return total_; }

 private:
  void move(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    height_ = (height_ + 2 * padding - kernel) / stride + 1;
    width_ = (width_ + 2 * padding - kernel) / stride + 1;
  }
  void add(std::int64_t multiply_adds) {
    if (total_.forward == 0) total_.first_layer = multiply_adds;
    total_.forward += multiply_adds;
  }

  std::int64_t channels_, height_, width_;
  MultiplyAdds total_{0, 0};
};

}  // namespace

std::optional<StockModel> stock_model(const Part& model, std::int64_t channels, std::int64_t height,
                                      std::int64_t width, std::int64_t classes) {
  StockModel stock{.channels = channels, .height = height, .width = width, .classes = classes};
  if (model.name != "cnn" && model.name != "resnet18") return std::nullopt;
  const Part whole = resolved_part("model", model);
  if (model.name == "cnn") {
    return is(whole, "norm", "none") ? std::optional(stock) : std::nullopt;
  }
  if (!is(whole, "norm", "batch")) return std::nullopt;
  stock.kind = StockModel::Kind::resnet18;
  stock.cifar_stem = is(whole, "stem", "cifar");
  stock.channels = *whole.options.find("channels")->get<std::int64_t>();
  return stock;
}

MultiplyAdds multiply_adds(const StockModel& model) {
  Count count(model);
  if (model.kind == StockModel::Kind::cnn) {
    for (const std::int64_t out : {32, 64}) {
      count.convolution(out, 5);
      count.pool(2, 2);
    }
    count.linear(count.numbers(), 512);
    count.linear(512, model.classes);
    return count.total();
  }
  if (model.cifar_stem) {
    count.convolution(64, 3, 1, 1);
  } else {
    count.convolution(64, 7, 2, 3);
    count.pool(3, 2, 1);
  }
  for (const std::int64_t out : {64, 128, 256, 512}) {
    count.residual_block(out, out == 64 ? 1 : 2);
    count.residual_block(out, 1);
  }
  count.linear(count.channels(), model.classes);
  return count.total();
}

const char* name_of(MemoryFormat format) {
  return format == MemoryFormat::channels_last ? "channels_last" : "contiguous";
}

}  // namespace fedvg
