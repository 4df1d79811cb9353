#include "speed/workloads.h"

#include <algorithm>

#include "config/nearest.h"
#include "fedvg/error.h"
#include "fedvg/value.h"

namespace fedvg {
namespace {

constexpr std::string_view kFashionMnist =
    "channels = 1\nheight = 28\nwidth = 28\nclasses = 10\ntraining = 60000\ntest = 10000\n";
constexpr std::string_view kCifar =
    "channels = 3\nheight = 32\nwidth = 32\nclasses = 10\ntraining = 50000\ntest = 10000\n";

// Sizes are those of the sets. Where a ResNet is tested, which is not what is looked at here,
// the random test set is smaller.
constexpr Workload kWorkloads[] = {
    {.name = "fmnist-cnn",
     .help = "10 of 100 unequal clients of Fashion-MNIST's shape, 5 epochs, D_val of 6,000, fedvg",
     .data_set = "fashion-mnist",
     .images = kFashionMnist,
     .settings = R"(
[partition]
scheme = "dirichlet"
alpha = 0.1
clients = 100
[validation]
ratio = 0.1
[model]
name = "cnn"
[train]
participation = 0.1
epochs = 5
batch_size = 32
[method]
name = "fedvg"
)"},
    {.name = "cifar-cnn",
     .help = "10 of 100 unequal clients of CIFAR-10's shape, 5 epochs, D_val of 2,000, fedvg",
     .data_set = "cifar10",
     .images = kCifar,
     .settings = R"(
[partition]
scheme = "dirichlet"
alpha = 0.1
clients = 100
[validation]
ratio = 0.04
[model]
name = "cnn"
[train]
participation = 0.1
epochs = 5
batch_size = 32
[method]
name = "fedvg"
)"},
    {.name = "cifar-resnet18",
     .help = "2 of 100 equal clients of CIFAR-10's shape, ImageNet stem, D_val of 1,000, fedvg",
     .data_set = "cifar10",
     .images = "channels = 3\nheight = 32\nwidth = 32\nclasses = 10\ntraining = 50000\n"
               "test = 1000\n",
     .settings = R"(
[partition]
scheme = "iid"
clients = 100
[validation]
ratio = 0.02
[model]
name = "resnet18"
stem = "imagenet"
[train]
participants = 2
epochs = 5
batch_size = 32
[method]
name = "fedvg"
)"},
    {.name = "derma-resnet18",
     .help = "5 of 25 equal clients of DermaMNIST's shape, 2 epochs, D_val of 700, fedvg",
     .data_set = "medmnist",
     .images = "channels = 3\nheight = 28\nwidth = 28\nclasses = 7\ntraining = 7007\n"
               "test = 1000\n",
     .settings = R"(
[partition]
scheme = "iid"
clients = 25
[validation]
ratio = 0.1
[model]
name = "resnet18"
stem = "imagenet"
[train]
participation = 0.2
epochs = 2
batch_size = 32
[method]
name = "fedvg"
)"},
    {.name = "many-small-clients",
     .help = "100 of 1,000 clients of 60 images of Fashion-MNIST's shape, 5 epochs, fedavg",
     .data_set = "fashion-mnist",
     .images = kFashionMnist,
     .settings = R"(
[partition]
scheme = "iid"
clients = 1000
min_samples = 1
[validation]
source = "none"
[model]
name = "cnn"
[train]
participation = 0.1
epochs = 5
batch_size = 32
[method]
name = "fedavg"
)"},
    {.name = "1000-participants",
     .help = "1,000 of 1,000 clients of 6 images of Fashion-MNIST's shape, 1 epoch, fedavg",
     .data_set = "fashion-mnist",
     .images = kFashionMnist,
     .settings = R"(take = 6000
[partition]
scheme = "iid"
clients = 1000
min_samples = 1
[validation]
source = "none"
[model]
name = "cnn"
[train]
participation = 1
epochs = 1
batch_size = 32
[method]
name = "fedavg"
)"},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

const Workload& workload_named(const std::string& name) {
  const auto found = std::ranges::find(kWorkloads, name, &Workload::name);
  if (found != std::end(kWorkloads)) return *found;
  std::vector<std::string> names;
  for (const Workload& workload : kWorkloads) names.emplace_back(workload.name);
  throw OptionError(config::unknown_text("workload", name, "", names));
}

std::string toml_of(const Workload& workload, const std::string& data_path) {
  std::string text = "[data]\n";
  if (data_path.empty()) {
    text += "name = \"random\"\n" + std::string(workload.images);
  } else {
    text += "name = " + Value(std::string(workload.data_set)).text() +
            "\npath = " + Value(data_path).text() + "\n";
  }
  return text + std::string(workload.settings);
}

std::vector<std::string> workload_lines() {
  std::size_t width = 0;
  for (const Workload& workload : kWorkloads) width = std::max(width, workload.name.size());
  std::vector<std::string> lines;
  for (const Workload& workload : kWorkloads) {
    lines.push_back(std::string(workload.name) +
                    std::string(width - workload.name.size() + 2, ' ') +
                    std::string(workload.help));
  }
  return lines;
}

}  // namespace fedvg
