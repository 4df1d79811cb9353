// fedvg-bench [SECONDS [REPETITIONS]]: images per second and core of local training and of
// scoring, against the stock libtorch loop (torch::nn, torch::optim::SGD, no federated code)
// on the same network and batch size in its better memory format, interleaved in one
// process on one pinned thread. glibc's malloc is set as in the program fedvg for both.
// Prints one line a phase: medians, their ratio and the spread of the ratio.

#include <sched.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "engine/worker.h"
#include "engine/worker_pool.h"
#include "fedvg/registry.h"
#include "run/malloc_settings.h"

namespace {

constexpr std::int64_t kBatch = 32, kClasses = 10, kSide = 28;
constexpr std::int64_t kImages = 1920;

double seconds_now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Calls pass(), which works through so many images, until `seconds` are over.
double images_per_second(const std::function<std::int64_t()>& pass, double seconds) {
  const double start = seconds_now();
  std::int64_t images = 0;
  double elapsed = 0;
  while (elapsed < seconds) {
    images += pass();
    elapsed = seconds_now() - start;
  }
  return static_cast<double>(images) / elapsed;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The cnn of src/models/cnn.cpp as anybody would write it.
torch::nn::Sequential stock_cnn() {
  using namespace torch::nn;
  return Sequential(Conv2d(Conv2dOptions(1, 32, 5)), ReLU(), MaxPool2d(2),
                    Conv2d(Conv2dOptions(32, 64, 5)), ReLU(), MaxPool2d(2), Flatten(),
                    Linear(1024, 512), ReLU(), Linear(512, kClasses));
}

/// channels_last by strides: with one channel, contiguous() takes NCHW for it already, and
/// the convolutions would run in the slower format.
torch::Tensor channels_last(const torch::Tensor& x) {
  const auto c = x.size(1), h = x.size(2), w = x.size(3);
  return x.permute({0, 2, 3, 1}).contiguous().as_strided(x.sizes(), {h * w * c, 1, w * c, c});
}

class StockLoop {
 public:
  explicit StockLoop(const fedvg::Samples& samples)
      : model_(stock_cnn()), optimizer_(model_->parameters(), torch::optim::SGDOptions(0.01)) {
    images_ = torch::from_blob(const_cast<std::uint8_t*>(samples.pixels.data()),
                               {kImages, 1, kSide, kSide}, torch::kByte)
                  .to(torch::kFloat)
                  .div(255)
                  .view({kImages, kSide, kSide});
    labels_ =
        torch::from_blob(const_cast<std::int64_t*>(samples.labels.data()), {kImages}, torch::kLong)
            .clone();
    for (auto& parameter : model_->parameters()) {
      if (parameter.dim() == 4) {
        parameter.set_data(channels_last(parameter.detach()));
      }
    }
  }

  std::int64_t train() {
    for (const auto& index : torch::randperm(kImages).split(kBatch)) {
      optimizer_.zero_grad();
      torch::nn::functional::cross_entropy(model_->forward(nhwc(images_.index_select(0, index))),
                                           labels_.index_select(0, index))
          .backward();
      optimizer_.step();
    }
    return kImages;
  }

  std::int64_t score() {
    optimizer_.zero_grad();
    for (std::int64_t i = 0; i < kImages; i += kBatch) {
      torch::nn::functional::cross_entropy(
          model_->forward(nhwc(images_.narrow(0, i, kBatch))), labels_.narrow(0, i, kBatch),
          torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
          .backward();
    }
    double norm = 0;
    for (const auto& parameter : model_->parameters()) {
      norm += parameter.grad().abs().sum().item<double>();
    }
    if (norm < 0) std::abort();
    return kImages;
  }

 private:
  static torch::Tensor nhwc(const torch::Tensor& batch) {
    return batch.as_strided({batch.size(0), 1, kSide, kSide}, {kSide * kSide, 1, kSide, 1});
  }

  torch::nn::Sequential model_;
  torch::optim::SGD optimizer_;
  torch::Tensor images_, labels_;  // [N, H, W], [N]
};

/// One worker of the engine on one client that holds all images.
class EngineLoop {
 public:
  explicit EngineLoop(const fedvg::Samples& samples)
      : builder_(fedvg::Registry<fedvg::ModelBuilder>::instance().make("cnn")),
        store_(samples, {.channels_last = true}, {}),
        correction_(fedvg::Registry<fedvg::Correction>::instance().make("none")) {
    const auto build = [this] { return builder_->build({1, kSide, kSide, kClasses}); };
    const auto model = build();
    layout_ = fedvg::layout_of(*model, true);
    data_.store = &store_;
    for (std::int64_t i = 0; i < kImages; ++i) data_.samples.push_back(i);
    validation_ = {&store_, fedvg::cut(data_.samples, kBatch, true), fedvg::Mode::batch_statistics};
    worker_ = std::make_unique<fedvg::Worker>(
        build, layout_, at::kFloat, at::kCPU,
        fedvg::Registry<fedvg::LocalOptimizer>::instance().make("sgd"), validation_);
    fedvg::Random random(1, "initial-model");
    worker_->model().initialize(random);
    global_ = at::zeros({layout_.size()});
    for (std::size_t i = 0; i < layout_.tensors(); ++i) {
      layout_.view(global_, i).copy_(worker_->model().parameters()[i].tensor.detach());
    }
  }

  std::int64_t train() {
    const fedvg::TensorMap inbox;
    const fedvg::RoundStart start{1, global_, buffers_, inbox, 0.01};
    fedvg::ClientState next;
    worker_->train(start, 0, data_, {.epochs = 1, .batch_size = kBatch}, *correction_, {}, next,
                   stop_);
    return kImages;
  }

  std::int64_t score() {
    worker_->load(global_, buffers_);
    worker_->gradient();
    return kImages;
  }

 private:
  std::unique_ptr<fedvg::ModelBuilder> builder_;
  fedvg::ByteStore store_;
  std::unique_ptr<fedvg::Correction> correction_;
  fedvg::Layout layout_;
  fedvg::LocalData data_;
  fedvg::Worker::Validation validation_;
  std::unique_ptr<fedvg::Worker> worker_;
  at::Tensor global_;
  fedvg::Tensors buffers_;
  std::atomic<bool> stop_ = false;
};

void compare(const char* phase, const std::function<std::int64_t()>& own,
             const std::function<std::int64_t()>& stock, double seconds, int repetitions) {
  own();
  stock();
  std::vector<double> owns, stocks, ratios;
  for (int i = 0; i < repetitions; ++i) {
    owns.push_back(images_per_second(own, seconds));
    stocks.push_back(images_per_second(stock, seconds));
    ratios.push_back(owns.back() / stocks.back());
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("%-6s %10.0f %10.0f %8.3f   %.3f to %.3f\n", phase, median(owns), median(stocks),
              median(ratios), *least, *most);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  fedvg::tune_malloc();
  const double seconds = count > 1 ? std::atof(arguments[1]) : 2;
  const int repetitions = count > 2 ? std::atoi(arguments[2]) : 7;
  if (!(seconds > 0) || repetitions < 1) {
    std::fprintf(stderr, "usage: fedvg-bench [SECONDS [REPETITIONS]]\n");
    return 2;
  }
  fedvg::Samples samples{.channels = 1, .height = kSide, .width = kSide};
  fedvg::Random random(1, "bench");
  for (std::int64_t i = 0; i < kImages * kSide * kSide; ++i) {
    samples.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  for (std::int64_t i = 0; i < kImages; ++i) {
    samples.labels.push_back(static_cast<std::int64_t>(random.below(kClasses)));
  }
  std::printf("cnn on random 1x28x28 images, batch 32, one thread; images per second\n");
  std::printf("%-6s %10s %10s %8s   %s\n", "phase", "fedvg", "stock", "ratio", "spread");
  // In a worker's thread, as in a round: pinned, and with its own setting of libtorch.
  fedvg::WorkerPool pool(1);
  pool.run(1, [&](std::size_t, std::size_t) {
    StockLoop stock(samples);
    EngineLoop engine(samples);
    compare(
        "train", [&] { return engine.train(); }, [&] { return stock.train(); }, seconds,
        repetitions);
    compare(
        "score", [&] { return engine.score(); }, [&] { return stock.score(); }, seconds,
        repetitions);
  });
  return 0;
}
