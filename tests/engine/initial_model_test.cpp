// Models that come out of files: weights for a built-in network (model.init), and whole
// networks in TorchScript.

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/federation.h"
#include "engine/named_arrays.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::atomic<bool> kGoOn = false;

Samples random_samples(std::int64_t count) {
  Random random(5, "test");
  Samples samples{.channels = 1, .height = 3, .width = 3};
  for (std::int64_t i = 0; i < count; ++i) samples.labels.push_back(i % 3);
  for (std::int64_t i = 0; i < 9 * count; ++i) {
    samples.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  return samples;
}

class InitialModel : public testing::Test {
 protected:
  InitialModel() {
    folder = std::filesystem::temp_directory_path() / ("fedvg_initial_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    data.dataset.classes = {"a", "b", "c"};
    data.dataset.training = random_samples(40);
    data.dataset.test = random_samples(6);
    data.test = {0, 1, 2, 3, 4, 5};
    for (std::int64_t k = 0; k < 3; ++k) {
      auto& client = data.clients.emplace_back();
      for (std::int64_t i = 0; i < 10; ++i) client.push_back(k * 10 + i);
    }
    for (std::int64_t i = 30; i < 40; ++i) data.validation.push_back(i);
    setup.model = {"mlp", Table{{"hidden", Array{4}}}};
    setup.method = compose_method("fedvg");
    setup.train.epochs = 1;
    setup.train.batch_size = 5;
    setup.engine.workers = 1;
  }
  ~InitialModel() override { std::filesystem::remove_all(folder); }

  std::string write(const std::vector<NamedArray>& arrays) const {
    const std::string path = folder / "w.safetensors";
    std::ofstream file(path, std::ios::binary);
    encode_safetensors(arrays, {}, [&](std::span<const std::byte> bytes) {
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    });
    return path;
  }
  std::string refusal() const {
    try {
      Federation made(data, setup);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
  std::vector<NamedArray> trained() const {
    Federation federation(data, setup);
    federation.run_round(1, {0, 1, 2}, kGoOn);
    federation.run_round(2, {2, 0}, kGoOn);
    return federation.model();
  }

  std::filesystem::path folder;
  FederatedData data;
  FederationSetup setup;
};

at::Tensor values(const std::vector<NamedArray>& model, const std::string& name) {
  for (const auto& array : model) {
    if (array.name == name) return to_tensor(array);
  }
  return {};
}

TEST_F(InitialModel, IsTheFilesInItsOwnType) {
  const at::Tensor weight = at::arange(36, at::kFloat).view({4, 9});
  setup.initial_model = write({to_array("fc1.weight", weight.to(at::kHalf)),
                               to_array("fc1.bias", at::full({4}, 0.5, at::kBFloat16)),
                               to_array("fc2.weight", at::full({3, 4}, 0.25, at::kDouble)),
                               to_array("fc2.bias", at::full({3}, 2.0, at::kFloat))});
  for (const char* precision : {"float32", "float64"}) {
    setup.engine.precision = precision;
    const Federation federation(data, setup);
    const auto model = federation.model();
    EXPECT_TRUE(values(model, "fc1.weight").to(at::kFloat).equal(weight));
    EXPECT_TRUE(values(model, "fc1.bias").to(at::kFloat).equal(at::full({4}, 0.5)));
    EXPECT_TRUE(values(model, "fc2.weight").to(at::kFloat).equal(at::full({3, 4}, 0.25)));
    EXPECT_TRUE(values(model, "fc2.bias").to(at::kFloat).equal(at::full({3}, 2.0)));
    EXPECT_THAT(federation.info().notes, IsEmpty());
  }
}

TEST_F(InitialModel, KeepsADrawnHeadForOtherClasses) {
  const auto drawn = Federation(data, setup).model();
  setup.initial_model = write(
      {to_array("fc1.weight", at::full({4, 9}, 1.0)), to_array("fc1.bias", at::full({4}, 1.0)),
       to_array("fc2.weight", at::full({7, 4}, 1.0)), to_array("fc2.bias", at::full({7}, 1.0))});
  const Federation federation(data, setup);
  const auto model = federation.model();
  EXPECT_TRUE(values(model, "fc1.weight").equal(at::full({4, 9}, 1.0)));
  EXPECT_TRUE(values(model, "fc2.weight").equal(values(drawn, "fc2.weight")));
  EXPECT_TRUE(values(model, "fc2.bias").equal(values(drawn, "fc2.bias")));
  EXPECT_THAT(
      federation.info().notes,
      ElementsAre(HasSubstr("fc2 starts as drawn (fc2.weight: [7, 4] in the file, [3, 4]")));
}

TEST_F(InitialModel, ListsWhatDoesNotFit) {
  setup.initial_model = write(
      {to_array("fc1.weight", at::full({5, 9}, 1.0)), to_array("fc2.weight", at::full({7, 4}, 1.0)),
       to_array("fc2.bias", at::full({7}, 1.0)), to_array("fc3.bias", at::full({7}, 1.0))});
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("w.safetensors: 3 tensors do not fit"));
  EXPECT_THAT(text, HasSubstr("fc1.weight: [5, 9] in the file, [4, 9] in the model"));
  EXPECT_THAT(text, HasSubstr("fc1.bias: missing"));
  EXPECT_THAT(text, HasSubstr("fc3.bias: not in the model"));
  EXPECT_THAT(text, testing::Not(HasSubstr("fc2")));
  setup.initial_model = folder / "none";
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
}

TEST_F(InitialModel, IsFinite) {
  at::Tensor weight = at::full({4, 9}, 1.0, at::kDouble);
  weight[1][2].fill_(1e300);
  const auto arrays = [&] {
    return std::vector{to_array("fc1.weight", weight), to_array("fc1.bias", at::full({4}, 0.5)),
                       to_array("fc2.weight", at::full({3, 4}, 0.25)),
                       to_array("fc2.bias", at::full({3}, 2.0))};
  };
  setup.initial_model = write(arrays());
  EXPECT_THAT(refusal(), HasSubstr("model.init: " + setup.initial_model +
                                   ": fc1.weight: 1 of its 36 numbers is not finite"));
  setup.engine.precision = "float64";
  EXPECT_EQ(refusal(), "accepted");
}

// Scripted: norm (BatchNorm of 9), `between`, fc to three classes.
std::string save_network(const std::filesystem::path& folder, const std::string& between = "x = x",
                         bool features = false) {
  namespace jit = torch::jit;
  const auto part = [](const char* name) {
    jit::Module module(name);
    module.register_attribute("training", c10::BoolType::get(), true);
    return module;
  };
  const auto parameter = [](at::Tensor tensor) { return tensor.set_requires_grad(true); };
  jit::Module norm = part("Norm"), fc = part("Linear"), net = part("Net");
  norm.register_parameter("weight", parameter(at::full({9}, 1.0)), false);
  norm.register_parameter("bias", parameter(at::full({9}, 0.0)), false);
  norm.register_buffer("running_mean", at::full({9}, 0.25));
  norm.register_buffer("running_var", at::full({9}, 0.5));
  norm.register_buffer("num_batches_tracked", at::full({}, 3, at::kLong));
  norm.define(R"(
def forward(self, x):
    if self.training:
        self.num_batches_tracked.add_(1)
    return torch.batch_norm(x, self.weight, self.bias, self.running_mean, self.running_var,
                            self.training, 0.1, 1e-5, False)
)");
  fc.register_parameter("weight", parameter(at::arange(27, at::kFloat).view({3, 9}).div(27)),
                        false);
  fc.register_parameter("bias", parameter(at::full({3}, 0.0)), false);
  fc.define("def forward(self, x):\n    return torch.matmul(x, self.weight.t()) + self.bias\n");
  net.register_module("norm", norm);
  net.register_module("fc", fc);
  net.define("def forward(self, x):\n    x = self.norm.forward(x.flatten(1))\n    " + between +
             "\n    return self.fc.forward(x)\n");
  if (features) net.define("def features(self, x):\n    return self.norm.forward(x.flatten(1))\n");
  const std::string path = folder / "net.ts";
  net.save(path);
  return path;
}

TEST_F(InitialModel, OfATorchscriptFileIsWhatTheFileHolds) {
  setup.model = {"torchscript", Table{{"file", save_network(folder)}}};
  const auto model = Federation(data, setup).model();
  EXPECT_TRUE(values(model, "fc.weight").equal(at::arange(27, at::kFloat).view({3, 9}).div(27)));
  EXPECT_TRUE(values(model, "norm.running_mean").equal(at::full({9}, 0.25)));
  EXPECT_EQ(values(model, "norm.num_batches_tracked").item<std::int64_t>(), 3);
}

// The numbers of a round do not depend on how many workers there are, nor on what they ran.
TEST_F(InitialModel, OfATorchscriptFileIsTrainedByAnyNumberOfWorkers) {
  setup.model = {"torchscript", Table{{"file", save_network(folder)}}};
  for (const char* method : {"fedvg", "scaffold", "fedavg"}) {
    setup.method = compose_method(method);
    setup.engine.workers = 1;
    const auto one = trained();
    EXPECT_NE(one, Federation(data, setup).model());
    EXPECT_TRUE(values(one, "norm.running_mean").isfinite().all().item<bool>());
    for (const std::int64_t workers : {1, 2, 3}) {
      setup.engine.workers = workers;
      EXPECT_EQ(trained(), one) << method << ", " << workers << " workers";
    }
  }
  setup.engine.precision = "float64";
  EXPECT_NO_THROW(trained());
}

TEST_F(InitialModel, OfATorchscriptFileGoesWithEveryRuleForBuffers) {
  setup.model = {"torchscript", Table{{"file", save_network(folder)}}};
  for (const char* rule : {"local", "reset"}) {
    setup.train.buffers = rule;
    // Batches of D_val that one pass over it counts.
    EXPECT_EQ(values(trained(), "norm.num_batches_tracked").item<std::int64_t>(), 1) << rule;
  }
}

TEST_F(InitialModel, OfATorchscriptFileGivesMoonFeaturesOrIsRefused) {
  setup.method = compose_method("moon");
  setup.model = {"torchscript", Table{{"file", save_network(folder)}}};
  EXPECT_THAT(refusal(), HasSubstr("export a method features(images)"));
  save_network(folder, "x = x", true);
  EXPECT_EQ(trained(), trained());
}

TEST_F(InitialModel, WithDropoutTakesOneWorkerAndRepeats) {
  setup.model = {"torchscript",
                 Table{{"file", save_network(folder, "x = torch.dropout(x, 0.5, self.training)")}}};
  const auto first = trained();
  at::manual_seed(99);
  EXPECT_EQ(trained(), first);
  setup.engine.workers = 2;
  EXPECT_THAT(refusal(), HasSubstr("set engine.workers = 1"));
  setup.engine.workers = 0;
  EXPECT_EQ(Federation(data, setup).info().workers, 1);
  setup.seed = 2;
  EXPECT_NE(trained(), first);
}

}  // namespace
}  // namespace fedvg
