#include "engine/class_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/ops/tensor.h>

#include "engine/toy_federation.h"

namespace fedvg {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pointwise;

// n = 12, three classes occur: 12 / (3 x 6), 12 / (3 x 2), 12 / (3 x 4).
TEST(BalancedClassWeights, MakeEveryClassThatOccursCountTheSame) {
  EXPECT_THAT(balanced_class_weights({6, 2, 0, 4}), ElementsAre(12.0 / 18, 2, 0, 1));
}

TEST(BalancedClassWeights, AreOneForEvenClasses) {
  EXPECT_THAT(balanced_class_weights({5, 5, 5}), ElementsAre(1, 1, 1));
}

std::vector<double> numbers_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

/// Notes the gradient of a probe over the client's samples, as Elastic takes one.
class Probing final : public Correction {
 public:
  explicit Probing(std::vector<double>& gradient) : gradient_(gradient) {}
  void begin(LocalContext& context) const override {
    context.tools->gradient_of(*context.samples, Mode::eval, /*add=*/false);
    gradient_ = numbers_of(context.gradient);
  }

 private:
  std::vector<double>& gradient_;
};

struct Trained {
  std::vector<double> model, probe;
};

// One step over all samples at once. `weighted`: class 0 weighs 2; `doubled`: it is there twice.
Trained train(bool weighted, bool doubled) {
  Trained trained;
  testing::ToyOptions options;
  options.sizes = {20};
  options.epochs = 1;
  options.batch_size = 100;
  options.scripted = std::make_unique<Probing>(trained.probe);
  options.adjust = [&](DriverSetup& setup) {
    if (weighted) setup.rules.class_weights = at::tensor({2.0, 1.0, 1.0}, at::kDouble);
    if (!doubled) return;
    LocalData& client = setup.clients[0];
    BatchBuffer buffer;
    const at::Tensor labels = client.store->assemble(client.samples, buffer).labels;
    for (std::int64_t i = 0; i < 20; ++i) {
      if (labels[i].item<std::int64_t>() == 0) client.samples.push_back(i);
    }
    ASSERT_GT(client.samples.size(), 20U);
  };
  testing::ToyFederation federation(std::move(options));
  federation.round(1, {0});
  trained.model = federation.model();
  return trained;
}

// The weighted mean divides by the sum of weights: a class of weight 2 is a class met twice.
TEST(ClassWeights, AWeightOfTwoIsEverySampleTwice) {
  const Trained weighted = train(true, false), doubled = train(false, true),
                plain = train(false, false);
  EXPECT_THAT(weighted.model, Pointwise(DoubleNear(1e-13), doubled.model));
  EXPECT_THAT(weighted.model, Not(Pointwise(DoubleNear(1e-6), plain.model)));
}

TEST(ClassWeights, HoldForTheProbeOfACorrectionToo) {
  const Trained weighted = train(true, false), doubled = train(false, true),
                plain = train(false, false);
  EXPECT_THAT(weighted.probe, Pointwise(DoubleNear(1e-13), doubled.probe));
  EXPECT_THAT(weighted.probe, Not(Pointwise(DoubleNear(1e-6), plain.probe)));
}

// The scores of two rounds that differ only in the weights of training: at the first client's
// model, which a learning rate of 0 leaves where it was.
TEST(ClassWeights, LeaveScoringAndEvaluationAlone) {
  const auto measured = [](bool weighted) {
    testing::ToyOptions options;
    options.use(compose_method("fedvg"));
    options.optimizer = testing::part("sgd", {{"lr", 0.0}});
    options.adjust = [&](DriverSetup& setup) {
      if (weighted) setup.rules.class_weights = at::tensor({5.0, 1.0, 0.5}, at::kDouble);
    };
    testing::ToyFederation federation(std::move(options));
    const RoundRecord record = federation.round(1, {0, 1, 2});
    const std::vector<std::int64_t> ids = {0, 1, 2, 3, 4, 5};
    const double loss = federation.driver->evaluate(*federation.store, ids, federation.stop).loss;
    return std::pair(record.clients[0].norm.value(), loss);
  };
  EXPECT_EQ(measured(true), measured(false));
}

}  // namespace
}  // namespace fedvg
