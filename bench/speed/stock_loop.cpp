#include "speed/stock_loop.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace fedvg {
namespace {

namespace nn = torch::nn;

using Clock = std::chrono::steady_clock;

/// The cnn of src/models/cnn.cpp as anybody would write it.
nn::Sequential stock_cnn(const StockModel& model) {
  const auto pooled = [](std::int64_t extent) { return (extent - 4) / 2; };
  const auto height = pooled(pooled(model.height)), width = pooled(pooled(model.width));
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(model.channels, 32, 5)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(32, 64, 5)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Linear(64 * height * width, 512),
                        nn::ReLU(), nn::Linear(512, model.classes));
}

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

nn::ReLU relu() { return nn::ReLU(nn::ReLUOptions().inplace(true)); }

/// torchvision's BasicBlock.
struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : body(convolution(in, out, 3, stride), nn::BatchNorm2d(out), relu(),
             convolution(out, out, 3, 1), nn::BatchNorm2d(out)) {
    register_module("body", body);
    if (stride == 1 && in == out) return;
    shortcut = nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out));
    register_module("shortcut", shortcut);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = body->forward(x);
    y += shortcut ? shortcut->forward(x) : x;
    return y.relu_();
  }

  nn::Sequential body, shortcut{nullptr};
};
TORCH_MODULE(BasicBlock);

nn::Sequential stock_resnet18(const StockModel& model) {
  nn::Sequential network;
  const std::int64_t kernel = model.cifar_stem ? 3 : 7, stride = model.cifar_stem ? 1 : 2;
  network->push_back(convolution(model.channels, 64, kernel, stride));
  network->push_back(nn::BatchNorm2d(64));
  network->push_back(relu());
  if (!model.cifar_stem) {
    network->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  }
  std::int64_t in = 64;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    network->push_back(BasicBlock(in, out, out == 64 ? 1 : 2));
    network->push_back(BasicBlock(out, out, 1));
    in = out;
  }
  network->push_back(nn::AdaptiveAvgPool2d(1));
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(in, model.classes));
  return network;
}

/// channels_last by strides: where contiguous() takes NCHW for it already, with one channel,
/// convolutions would run in the slower format.
torch::Tensor channels_last(const torch::Tensor& x) {
  const auto c = x.size(1), h = x.size(2), w = x.size(3);
  return x.permute({0, 2, 3, 1}).contiguous().as_strided(x.sizes(), {h * w * c, 1, w * c, c});
}

class TorchLoop final : public StockLoop {
 public:
  TorchLoop(const StockModel& model, const StockWork& work, MemoryFormat format)
      : work_(work),
        format_(format),
        shape_{model.channels, model.height, model.width},
        network_(model.kind == StockModel::Kind::cnn ? stock_cnn(model) : stock_resnet18(model)),
        optimizer_(network_->parameters(), torch::optim::SGDOptions(0.01)) {
    // Whole batches of both kinds, about a thousand images.
    constexpr std::int64_t kImages = 960;
    train_images_ = std::max(kImages / work.train_batch, std::int64_t{1}) * work.train_batch;
    score_images_ = std::max(kImages / work.score_batch, std::int64_t{1}) * work.score_batch;
    const auto images = std::max(train_images_, score_images_);
    images_ = format == MemoryFormat::channels_last
                  ? torch::rand({images, model.height, model.width, model.channels})
                  : torch::rand({images, model.channels, model.height, model.width});
    labels_ = torch::randint(model.classes, {images}, torch::kLong);
    if (format == MemoryFormat::contiguous) return;
    for (auto& parameter : network_->parameters()) {
      if (parameter.dim() == 4) parameter.set_data(channels_last(parameter.detach()));
    }
  }

  double train(double seconds, const std::atomic<bool>& stop) override {
    network_->train();
    std::vector<torch::Tensor> order;
    std::size_t next = 0;
    return per_second(work_.train_batch, seconds, stop, [&] {
      if (next == order.size()) {
        order = torch::randperm(train_images_).split(work_.train_batch);
        next = 0;
      }
      const torch::Tensor index = order[next++];
      optimizer_.zero_grad();
      nn::functional::cross_entropy(forward(images_.index_select(0, index)),
                                    labels_.index_select(0, index))
          .backward();
      optimizer_.step();
    });
  }

  double score(double seconds, const std::atomic<bool>& stop) override {
    network_->train(work_.score_with_batch_statistics);
    std::int64_t next = 0;
    return per_second(work_.score_batch, seconds, stop, [&] {
      if (next == 0) optimizer_.zero_grad();
      nn::functional::cross_entropy(
          forward(images_.narrow(0, next, work_.score_batch)),
          labels_.narrow(0, next, work_.score_batch),
          nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
          .backward();
      next += work_.score_batch;
      if (next < score_images_) return;
      next = 0;
      for (const auto& parameter : network_->parameters()) {
        norm_ += parameter.grad().abs().sum().item<double>();
      }
    });
  }

  std::int64_t parameters() const override {
    std::int64_t sum = 0;
    for (const auto& parameter : network_->parameters()) sum += parameter.numel();
    return sum;
  }

 private:
  torch::Tensor forward(const torch::Tensor& images) {
    if (format_ == MemoryFormat::contiguous) return network_->forward(images);
    const auto [c, h, w] = shape_;
    return network_->forward(
        images.as_strided({images.size(0), c, h, w}, {h * w * c, 1, w * c, c}));
  }

  template <class Step>
  static double per_second(std::int64_t batch, double seconds, const std::atomic<bool>& stop,
                           const Step& step) {
    const auto begin = Clock::now();
    std::int64_t images = 0;
    double elapsed = 0;
    do {
      step();
      images += batch;
      elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (elapsed < seconds && !stop);
    return static_cast<double>(images) / elapsed;
  }

  struct Shape {
    std::int64_t channels, height, width;
  };

  StockWork work_;
  MemoryFormat format_;
  Shape shape_;
  nn::Sequential network_;
  torch::optim::SGD optimizer_;
  torch::Tensor images_;  // [N, H, W, C] or [N, C, H, W]
  torch::Tensor labels_;  // [N]
  std::int64_t train_images_ = 0, score_images_ = 0;
  double norm_ = 0;  // so that norms are computed for something
};

}  // namespace

void keep_to_threads(std::int64_t threads) { torch::set_num_threads(static_cast<int>(threads)); }

std::unique_ptr<StockLoop> make_stock_loop(const StockModel& model, const StockWork& work,
                                           MemoryFormat format) {
  return std::make_unique<TorchLoop>(model, work, format);
}

}  // namespace fedvg
