#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fedvg/error.h"
#include "models/testing.h"

namespace fedvg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace jit = torch::jit;

constexpr ModelInput kInput{1, 2, 2, 3};

at::Tensor trained(at::Tensor tensor) { return tensor.set_requires_grad(true); }

jit::Module part(const char* name) {
  jit::Module module(name);
  module.register_attribute("training", c10::BoolType::get(), true);
  return module;
}

jit::Module batch_norm(const char* momentum, const char* training = "self.training") {
  jit::Module norm = part("BatchNorm");
  norm.register_parameter("weight", trained(at::ones({4})), false);
  norm.register_parameter("bias", trained(at::zeros({4})), false);
  norm.register_buffer("running_mean", at::full({4}, 2.0));
  norm.register_buffer("running_var", at::full({4}, 3.0));
  norm.register_buffer("num_batches_tracked", at::full({}, 7, at::kLong));
  norm.define(std::string(R"(
def forward(self, x):
    if self.training:
        self.num_batches_tracked.add_(1)
    return torch.batch_norm(x, self.weight, self.bias, self.running_mean, self.running_var,
                            )") +
              training + ", " + momentum + ", 1e-5, False)\n");
  return norm;
}

jit::Module linear() {
  jit::Module fc = part("Linear");
  fc.register_parameter("weight", trained(at::arange(12, at::kFloat).view({3, 4}).div(10)), false);
  fc.register_parameter("bias", trained(at::arange(3, at::kFloat)), false);
  fc.define(R"(
def forward(self, x):
    return torch.matmul(x, self.weight.t()) + self.bias
)");
  return fc;
}

// images [B, 1, 2, 2]: norm of the four pixels, `between`, fc to three classes.
jit::Module network(const std::string& between = "z = z", const char* momentum = "0.3",
                    const char* training = "self.training") {
  jit::Module net = part("Net");
  net.register_module("norm", batch_norm(momentum, training));
  net.register_module("fc", linear());
  net.define("def forward(self, x):\n    z = self.norm.forward(x.flatten(1))\n    " + between +
             "\n    return self.fc.forward(z)\n");
  return net;
}

class Torchscript : public testing::Test {
 protected:
  void SetUp() override {
    path = (std::filesystem::temp_directory_path() /
            ("fedvg_torchscript_" + std::to_string(getpid()) + ".ts"))
               .string();
  }
  void TearDown() override { std::filesystem::remove(path); }

  std::unique_ptr<Model> build(const ModelInput& input = kInput) {
    return build_model("torchscript", input, Table{{"file", path}});
  }
  std::unique_ptr<Model> saved(const jit::Module& module) {
    module.save(path);
    auto model = build();
    Random random(1, "initial-model");
    model->initialize(random);
    return model;
  }
  std::string refusal(const ModelInput& input = kInput) {
    try {
      build(input);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::string path;
  at::Tensor images = at::rand({5, 1, 2, 2});
};

at::Tensor mean_of(const at::Tensor& images) { return images.flatten(1).mean(0); }

TEST_F(Torchscript, HasTheTensorsOfTheFile) {
  const auto model = saved(network());
  EXPECT_THAT(names_of(model->parameters()),
              ElementsAre("norm.weight", "norm.bias", "fc.weight", "fc.bias"));
  EXPECT_THAT(names_of(model->buffers()),
              ElementsAre("norm.running_mean", "norm.running_var", "norm.num_batches_tracked"));
  EXPECT_THAT(blocks_of(model->parameters()), ElementsAre("norm", "fc"));
  EXPECT_EQ(model->head(), "fc");
  EXPECT_TRUE(model->has_batch_norm());
  EXPECT_FALSE(model->draws_from_torch());
  EXPECT_EQ(find_tensor(model->buffers(), "norm.num_batches_tracked").item<double>(), 7);
  EXPECT_EQ(find_tensor(model->parameters(), "fc.weight")[2][3].item<float>(), 1.1F);
}

// (x - 2) / sqrt(3 + 1e-5), then fc.
TEST_F(Torchscript, ComputesWhatTheFileSays) {
  const auto model = saved(network());
  const at::Tensor z = images.flatten(1).sub(2).div(std::sqrt(3 + 1e-5));
  const at::Tensor logits =
      z.matmul(at::arange(12, at::kFloat).view({3, 4}).div(10).t()).add(at::arange(3, at::kFloat));
  EXPECT_TRUE(model->forward(images, Mode::eval).logits.allclose(logits, 1e-5, 1e-6));
}

// As a worker does: parameters become views of one vector, in its type.
TEST_F(Torchscript, FollowsParametersThatArePutElsewhere) {
  const auto model = saved(network());
  for (const auto type : {at::kFloat, at::kDouble}) {
    const at::Tensor flat = at::zeros({4 + 4 + 12 + 3}, type);
    const at::Tensor gradient = at::zeros_like(flat);
    std::int64_t offset = 0;
    for (auto& parameter : model->parameters()) {
      const auto view = [&](const at::Tensor& whole) {
        return whole.narrow(0, offset, parameter.tensor.numel()).view(parameter.tensor.sizes());
      };
      parameter.tensor.set_data(view(flat));
      parameter.tensor.mutable_grad() = view(gradient);
      offset += parameter.tensor.numel();
    }
    for (auto& buffer : model->buffers()) {
      if (buffer.tensor.is_floating_point()) buffer.tensor.set_data(buffer.tensor.to(type));
    }
    flat.narrow(0, 20, 3).fill_(0.5);  // fc.bias
    const Output output = model->forward(images.to(type), Mode::train);
    EXPECT_TRUE(output.logits.equal(at::full({5, 3}, 0.5, type)));
    at::cross_entropy_loss(output.logits, at::zeros({5}, at::kLong)).backward();
    // Softmax is 1/3 everywhere, the label always 0.
    EXPECT_NEAR(gradient[20].item<double>(), -2.0 / 3, 1e-6);
    EXPECT_NEAR(gradient[22].item<double>(), 1.0 / 3, 1e-6);
  }
}

TEST_F(Torchscript, TrainingMovesTheRunningStatisticsByTheMomentum) {
  const auto model = saved(network());
  model->forward(images, Mode::train);
  const at::Tensor expected = mean_of(images).mul(0.3).add(2 * 0.7);
  EXPECT_TRUE(find_tensor(model->buffers(), "norm.running_mean").allclose(expected));
  EXPECT_EQ(find_tensor(model->buffers(), "norm.num_batches_tracked").item<double>(), 8);
}

TEST_F(Torchscript, BatchStatisticsLeaveTheBuffersAlone) {
  const auto model = saved(network());
  const Output scored = model->forward(images, Mode::batch_statistics);
  at::cross_entropy_loss(scored.logits, at::zeros({5}, at::kLong)).backward();
  EXPECT_TRUE(find_tensor(model->buffers(), "norm.running_mean").equal(at::full({4}, 2.0)));
  EXPECT_TRUE(find_tensor(model->buffers(), "norm.running_var").equal(at::full({4}, 3.0)));
  EXPECT_EQ(find_tensor(model->buffers(), "norm.num_batches_tracked").item<double>(), 7);
  EXPECT_TRUE(scored.logits.allclose(model->forward(images, Mode::train).logits));
  EXPECT_FALSE(scored.logits.allclose(model->forward(images, Mode::eval).logits));
}

// A model that is not initialized has statistics of its own to start with.
TEST_F(Torchscript, CumulativeStatisticsAreTheMeanOverBatches) {
  for (const char* momentum : {"0.3", "1.0"}) {
    network("z = z", momentum).save(path);
    const auto model = build();
    const at::Tensor other = at::rand({3, 1, 2, 2});
    model->forward(images, Mode::cumulative);
    EXPECT_TRUE(
        find_tensor(model->buffers(), "norm.running_mean").allclose(mean_of(images), 1e-5, 1e-6));
    model->forward(other, Mode::cumulative);
    EXPECT_TRUE(find_tensor(model->buffers(), "norm.running_mean")
                    .allclose(mean_of(images).add(mean_of(other)).div(2), 1e-5, 1e-6));
    EXPECT_TRUE(
        find_tensor(model->buffers(), "norm.running_var")
            .allclose(images.flatten(1).var(0).add(other.flatten(1).var(0)).div(2), 1e-5, 1e-6));
    EXPECT_EQ(find_tensor(model->buffers(), "norm.num_batches_tracked").item<double>(), 2);
  }
}

TEST_F(Torchscript, DropoutIsAtWorkInTrainingOnly) {
  const auto model = saved(network("z = torch.dropout(z, 0.5, self.training)"));
  EXPECT_TRUE(model->draws_from_torch());
  const auto equal = [&](Mode mode) {
    const at::Tensor first = model->forward(images, mode).logits;
    return first.equal(model->forward(images, mode).logits);
  };
  EXPECT_TRUE(equal(Mode::eval));
  EXPECT_TRUE(equal(Mode::batch_statistics));
  EXPECT_FALSE(equal(Mode::train));
}

TEST_F(Torchscript, DropoutOfNothingIsNone) {
  EXPECT_FALSE(saved(network("z = torch.dropout(z, 0.0, self.training)"))->draws_from_torch());
  EXPECT_FALSE(saved(network("z = torch.dropout(z, 0.5, False)"))->draws_from_torch());
  network("z = torch.dropout(z, 0.5, True)").save(path);
  EXPECT_THAT(refusal(), HasSubstr("in evaluation too"));
}

// Tracing makes a constant of what self.training was.
TEST_F(Torchscript, SaysWhatATraceInEvaluationModeFixed) {
  EXPECT_TRUE(saved(network("z = torch.dropout(z, 0.5, self.training)"))->notes().empty());
  EXPECT_TRUE(saved(network("z = torch.dropout(z, 0.0, False)"))->notes().empty());
  const std::string norm = "in training too BatchNorm keeps the running statistics of the file";
  const auto traced = saved(network("z = z", "0.3", "False"));
  ASSERT_EQ(traced->notes().size(), 1U);
  EXPECT_THAT(traced->notes()[0], HasSubstr(path + ": " + norm + ", as tracing after eval()"));
  const at::Tensor trained = traced->forward(images, Mode::train).logits;
  EXPECT_TRUE(trained.equal(traced->forward(images, Mode::eval).logits));
  EXPECT_THAT(saved(network("z = torch.dropout(z, 0.5, False)"))->notes()[0],
              HasSubstr("in training too dropout is off, as"));
  EXPECT_THAT(saved(network("z = torch.dropout(z, 0.5, False)", "0.3", "False"))->notes()[0],
              HasSubstr(norm + " and dropout is off, as"));
}

TEST_F(Torchscript, RefusesBatchStatisticsInEvaluation) {
  network("z = z", "0.3", "True").save(path);
  EXPECT_THAT(refusal(), HasSubstr("BatchNorm takes the statistics of the batch in evaluation"));
  // Without running statistics there are no others.
  network("z = torch.batch_norm(z, None, None, None, None, True, 0.1, 1e-5, False)").save(path);
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(Torchscript, GivesFeaturesWhereAMethodDoes) {
  EXPECT_FALSE(saved(network())->give_features());
  jit::Module net = network();
  net.define("def features(self, x):\n    return self.norm.forward(x.flatten(1))\n");
  const auto model = saved(net);
  EXPECT_FALSE(model->forward(images, Mode::eval).features.defined());
  ASSERT_TRUE(model->give_features());
  const Output output = model->forward(images, Mode::train);
  EXPECT_EQ(output.features.sizes().vec(), (std::vector<std::int64_t>{5, 4}));
  const at::Tensor once = mean_of(images).mul(0.3).add(2 * 0.7);
  EXPECT_TRUE(find_tensor(model->buffers(), "norm.running_mean").allclose(once));
  output.logits.sum().add(output.features.sum()).backward();
}

// As torch.jit.trace leaves a module with an exported method, which it scripts.
TEST_F(Torchscript, LooksForDropoutInWhatIsCalled) {
  jit::Module net = network("z = torch.dropout(z, 0.5, False)");
  net.define(
      "def features(self, x):\n    return torch.dropout(x.flatten(1), 0.5, self.training)\n");
  const auto model = saved(net);
  EXPECT_FALSE(model->draws_from_torch());
  ASSERT_TRUE(model->give_features());
  EXPECT_TRUE(model->draws_from_torch());
}

TEST_F(Torchscript, RefusesAnotherNumberOfClasses) {
  network().save(path);
  EXPECT_THAT(refusal({1, 2, 2, 4}), HasSubstr("[2, 3]"));
  EXPECT_THAT(refusal({1, 2, 2, 4}), HasSubstr("4 classes"));
  EXPECT_EQ(refusal({4, 1, 1, 3}), "accepted");  // features
  EXPECT_THAT(refusal({1, 3, 3, 3}), HasSubstr("fails on samples [2, 1, 3, 3]"));
}

// images [B, 1, 2, 2] straight to fc, of this type; `forward` makes `z` of images `x`.
jit::Module plain(const std::string& forward, at::ScalarType type = at::kFloat) {
  jit::Module net = part("Net");
  net.register_parameter("weight", trained(at::ones({3, 4}, type)), false);
  net.register_parameter("unused", trained(at::ones({2}, type)), false);
  net.define("def forward(self, x):\n    " + forward + "\n    return z\n");
  return net;
}
const std::string kLinear = "z = torch.matmul(x.flatten(1), self.weight.t())";

TEST_F(Torchscript, RefusesWhatIsTrueOfOneNumberOfSamplesOnly) {
  plain(kLinear).save(path);
  EXPECT_EQ(refusal(), "accepted");
  plain(kLinear + "[:5]").save(path);
  EXPECT_THAT(refusal(), HasSubstr("forward() makes [5, 3] of samples [7, 1, 2, 2]"));
  plain("z = torch.matmul(x.reshape([2, 4]), self.weight.t())").save(path);
  EXPECT_THAT(refusal(), HasSubstr("fails on samples [7, 1, 2, 2]"));
  // Beyond what is tried: in use.
  const auto model = saved(plain(kLinear + "[:9]"));
  model->forward(at::rand({9, 1, 2, 2}), Mode::eval);
  EXPECT_THROW(model->forward(at::rand({10, 1, 2, 2}), Mode::eval), DataError);
}

TEST_F(Torchscript, RefusesWhatHasNoGradient) {
  for (const std::string& forward :
       {kLinear + ".detach()", std::string("z = x.flatten(1)[:, :3] * 2.0")}) {
    plain(forward).save(path);
    EXPECT_THAT(refusal(), HasSubstr("logits have no gradient")) << forward;
  }
}

TEST_F(Torchscript, RefusesWhatFailsInTraining) {
  plain(kLinear + "\n    if self.training:\n        z = z.reshape([-1, 100])").save(path);
  EXPECT_THAT(refusal(), HasSubstr("forward() fails on samples [7, 1, 2, 2]"));
}

TEST_F(Torchscript, ConvertsOtherTypesOrNamesThem) {
  for (const auto type : {at::kHalf, at::kDouble}) {
    const auto model = saved(plain(kLinear, type));
    EXPECT_EQ(find_tensor(model->parameters(), "weight").scalar_type(), at::kFloat);
    EXPECT_EQ(model->forward(images, Mode::eval).logits.scalar_type(), at::kFloat);
    ASSERT_EQ(model->notes().size(), 1U);
    const std::string name = type == at::kHalf ? "weight is float16" : "weight is float64";
    EXPECT_THAT(model->notes()[0], HasSubstr(name));
    const std::string cast = type == at::kHalf ? "x.half()" : "x.double()";
    plain("x = " + cast + "\n    " + kLinear, type).save(path);
    EXPECT_THAT(refusal(), HasSubstr(path));
    EXPECT_THAT(refusal(), HasSubstr(name + " in the file"));
    EXPECT_THAT(refusal(), HasSubstr("module.float()"));
  }
}

// A probe is no training: what a module counts in training starts as in the file.
TEST_F(Torchscript, IsTriedOnACopy) {
  jit::Module counting = part("Net");
  counting.register_attribute("calls", c10::IntType::get(), 0);
  counting.register_parameter("weight", trained(at::ones({3, 4})), false);
  counting.define("def forward(self, x):\n    self.calls = self.calls + 1\n    " + kLinear +
                  "\n    return z * float(self.calls)\n");
  const auto model = saved(counting);
  EXPECT_TRUE(
      model->forward(at::ones({2, 1, 2, 2}), Mode::train).logits.equal(at::full({2, 3}, 4.0)));
}

TEST_F(Torchscript, RefusesWeightsThatAreNotFinite) {
  for (const double wrong : {std::nan(""), 1e300}) {
    jit::Module net = plain(kLinear, at::kDouble);
    net.register_buffer("scale", at::full({3}, wrong, at::kDouble));
    net.save(path);
    EXPECT_THAT(refusal(), HasSubstr(path + ": scale: 3 of its 3 numbers are not finite"));
  }
}

TEST_F(Torchscript, RefusesADamagedFile) {
  jit::Module net = plain(kLinear);
  net.register_buffer("table", at::full({1000}, 1.5));
  net.save(path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const float number = 1.5F;
  const std::string weight(reinterpret_cast<const char*>(&number), sizeof number);
  const auto found = bytes.find(weight + weight);
  ASSERT_NE(found, std::string::npos);
  bytes[found + 400] = static_cast<char>(bytes[found + 400] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(refusal(), HasSubstr(path + " is damaged in "));
  EXPECT_THAT(refusal(), HasSubstr("data/"));
}

TEST_F(Torchscript, RefusesChannelsThatTheDataLack) {
  plain(kLinear).save(path);
  for (const std::int64_t channels : {std::int64_t{2}, INT64_MAX}) {
    try {
      build_model("torchscript", kInput, Table{{"file", path}, {"channels", channels}});
      FAIL();
    } catch (const OptionError& error) {
      EXPECT_THAT(error.what(), HasSubstr("model.channels: " + std::to_string(channels)));
    }
  }
}

TEST_F(Torchscript, RefusesWhatIsNoTorchscript) {
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  std::ofstream(path) << "net";
  EXPECT_THAT(refusal(), HasSubstr("not a TorchScript file"));
  EXPECT_THAT(refusal(), HasSubstr("archive); weights alone"));  // and no advice about checkpoints
  EXPECT_THROW(build_model("torchscript", kInput), OptionError);
  jit::Module empty = part("Empty");
  empty.define("def forward(self, x):\n    return x\n");
  empty.save(path);
  EXPECT_THAT(refusal(), HasSubstr("no parameter that can be trained"));
}

}  // namespace
}  // namespace fedvg
