#include "speed/stock_loop.h"

#include <gtest/gtest.h>

#include <utility>

#include "engine/worker_pool.h"

namespace fedvg {
namespace {

// conv1 24^2 x 32 x 25 = 460,800; conv2 8^2 x 64 x 32 x 25 = 3,276,800; fc 1024 x 512 + 5,120.
TEST(MultiplyAdds, OfTheCnn) {
  const auto gray = multiply_adds({.channels = 1, .height = 28, .width = 28});
  EXPECT_EQ(gray.first_layer, 460'800);
  EXPECT_EQ(gray.forward, 460'800 + 3'276'800 + 524'288 + 5'120);
  // 2 (3 x 4,267,008 - 460,800)
  EXPECT_DOUBLE_EQ(gray.training_flops(), 24'680'448);
  // conv1 28^2 x 32 x 75; conv2 10^2 x 64 x 800; fc 1600 x 512 + 5,120
  const auto colour = multiply_adds({.channels = 3, .height = 32, .width = 32});
  EXPECT_EQ(colour.first_layer, 1'881'600);
  EXPECT_EQ(colour.forward, 1'881'600 + 5'120'000 + 819'200 + 5'120);
}

// Stem 16^2 x 64 x 147; layer1 on 8x8: 4 x 64 x 36,864; layers 2 to 4 on 4x4, 2x2, 1x1:
// 1,179,648 + 3 x 2,359,296 + a shortcut of 131,072 each; fc 512 x 10.
TEST(MultiplyAdds, OfResnet18) {
  const auto imagenet =
      multiply_adds({.kind = StockModel::Kind::resnet18, .channels = 3, .height = 32, .width = 32});
  EXPECT_EQ(imagenet.first_layer, 2'408'448);
  EXPECT_EQ(imagenet.forward, 2'408'448 + 9'437'184 + 3 * 8'388'608 + 5'120);
  // With the other stem every map is 4 times as high and wide: 32^2 x 64 x 27 first.
  const auto cifar = multiply_adds({.kind = StockModel::Kind::resnet18,
                                    .cifar_stem = true,
                                    .channels = 3,
                                    .height = 32,
                                    .width = 32});
  EXPECT_EQ(cifar.first_layer, 1'769'472);
  EXPECT_EQ(cifar.forward, 1'769'472 + 16 * (9'437'184 + 3 * 8'388'608) + 5'120);
}

TEST(StockModel, IsOfTheNetworksThatTheLoopHas) {
  const auto of = [](const Part& part) { return stock_model(part, 1, 28, 28, 7); };
  EXPECT_EQ(of({"cnn", {}})->channels, 1);
  EXPECT_EQ(of({"cnn", {}})->classes, 7);
  EXPECT_EQ(of({"resnet18", {}})->channels, 3);  // gray images are repeated
  EXPECT_FALSE(of({"resnet18", {}})->cifar_stem);
  EXPECT_TRUE(of({"resnet18", Table{{"stem", "cifar"}}})->cifar_stem);
  EXPECT_FALSE(of({"cnn", Table{{"norm", "batch"}}}).has_value());
  EXPECT_FALSE(of({"resnet18", Table{{"norm", "group"}}}).has_value());
  EXPECT_FALSE(of({"mlp", {}}).has_value());
}

// cnn: 2,432 + 51,264 + 819,712 + 3,591. resnet18: torchvision's 11,689,512 with 7 instead of
// 1,000 classes; the other stem has 3x3 instead of 7x7. Both phases get through a batch.
TEST(StockLoop, HasTheEnginesNetworks) {
  const std::atomic<bool> stop = false;
  WorkerPool pool(1);  // one thread, as where it is measured
  const std::pair<Part, std::int64_t> networks[] = {
      {{"cnn", {}}, 876'999},
      {{"resnet18", {}}, 11'180'103},
      {{"resnet18", Table{{"stem", "cifar"}}}, 11'180'103 - 64 * 3 * 40}};
  for (const auto& network : networks) {
    const auto& part = network.first;
    const auto parameters = network.second;
    const auto model = stock_model(part, 3, 32, 32, 7);
    pool.run(1, [&](std::size_t, std::size_t) {
      for (const auto format : {MemoryFormat::channels_last, MemoryFormat::contiguous}) {
        SCOPED_TRACE(part.name + " " + name_of(format));
        const auto loop = make_stock_loop(*model, {.train_batch = 2, .score_batch = 3}, format);
        EXPECT_EQ(loop->parameters(), parameters);
        EXPECT_GT(loop->train(0, stop), 0);
        EXPECT_GT(loop->score(0, stop), 0);
      }
    });
  }
}

}  // namespace
}  // namespace fedvg
