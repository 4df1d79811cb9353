#include "engine/samples.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

Samples two_rgb_images() {
  Samples samples{.channels = 3, .height = 1, .width = 2};
  samples.pixels = {0, 51, 102, 153, 204, 255, 255, 0, 1, 2, 3, 4};
  samples.labels = {7, 9};
  return samples;
}

TEST(ByteStore, DividesBytesBy255InEitherFormat) {
  const Samples samples = two_rgb_images();
  for (const bool channels_last : {false, true}) {
    const ByteStore store(samples, {.dtype = at::kDouble, .channels_last = channels_last}, {});
    BatchBuffer buffer;
    const std::vector<std::int64_t> ids{1, 0};
    const Batch batch = store.assemble(ids, buffer);
    EXPECT_EQ(batch.images.sizes().vec(), (std::vector<std::int64_t>{2, 3, 1, 2}));
    EXPECT_DOUBLE_EQ(batch.images[0][0][0][0].item<double>(), 1);
    EXPECT_DOUBLE_EQ(batch.images[0][2][0][1].item<double>(), 4.0 / 255);
    EXPECT_DOUBLE_EQ(batch.images[1][1][0][1].item<double>(), 0.6);
    EXPECT_EQ(batch.images.stride(1), channels_last ? 1 : 2);
    EXPECT_EQ(batch.labels[0].item<std::int64_t>(), 9);
    EXPECT_EQ(batch.labels[1].item<std::int64_t>(), 7);
  }
}

// (51 / 255 - 0.1) / 0.5 = 0.2.
TEST(ByteStore, StandardizesByChannel) {
  const Samples samples = two_rgb_images();
  const ByteStore store(samples, {.dtype = at::kDouble}, {{0.1, 0, 0}, {0.5, 1, 1}});
  BatchBuffer buffer;
  const std::vector<std::int64_t> ids{0};
  const Batch batch = store.assemble(ids, buffer);
  EXPECT_NEAR(batch.images[0][0][0][1].item<double>(), 0.2, 1e-15);
  EXPECT_DOUBLE_EQ(batch.images[0][1][0][0].item<double>(), 0.4);
}

TEST(ByteStore, KeepsItsBufferWhenBatchesShrink) {
  const Samples samples = two_rgb_images();
  const ByteStore store(samples, {}, {});
  BatchBuffer buffer;
  const std::vector<std::int64_t> both{0, 1}, one{1};
  const void* memory = store.assemble(both, buffer).images.data_ptr();
  EXPECT_EQ(store.assemble(one, buffer).images.data_ptr(), memory);
}

std::vector<std::size_t> ends(std::int64_t samples, std::int64_t batch, bool join) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(samples));
  return cut(ids, batch, join).ends;
}

TEST(Cut, LeavesTheRestAsAShorterBatch) {
  EXPECT_EQ(ends(7, 3, false), (std::vector<std::size_t>{3, 6, 7}));
  EXPECT_EQ(ends(6, 3, false), (std::vector<std::size_t>{3, 6}));
  EXPECT_EQ(ends(2, 3, false), (std::vector<std::size_t>{2}));
  EXPECT_TRUE(ends(0, 3, false).empty());
}

TEST(Cut, JoinsALastBatchOfOneToTheOneBefore) {
  EXPECT_EQ(ends(7, 3, true), (std::vector<std::size_t>{3, 7}));
  EXPECT_EQ(ends(8, 3, true), (std::vector<std::size_t>{3, 6, 8}));
  EXPECT_EQ(ends(1, 3, true), (std::vector<std::size_t>{1}));
  EXPECT_EQ(ends(3, 1, true), (std::vector<std::size_t>{1, 3}));
}

}  // namespace
}  // namespace fedvg
