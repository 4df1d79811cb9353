// Images of random bytes with random labels: for speed and memory, where what is learned does
// not matter. Drawn from the run's seed.

#include <string>

#include "fedvg/dataset.h"
#include "fedvg/random.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct RandomOptions {
  std::int64_t channels = 1, height = 28, width = 28, classes = 10;
  std::int64_t training = 60'000, test = 10'000;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("channels", &RandomOptions::channels, between(1, 16), "of the images");
    visit("height", &RandomOptions::height, between(1, 1024), "pixels");
    visit("width", &RandomOptions::width, between(1, 1024), "pixels");
    visit("classes", &RandomOptions::classes, between(2, 100'000), "labels are drawn of");
    visit("training", &RandomOptions::training, between(1, 10'000'000), "images");
    visit("test", &RandomOptions::test, between(1, 10'000'000), "images");
  }
};

class RandomImages final : public DatasetReader {
 public:
  explicit RandomImages(const RandomOptions& options) : options_(options) {}

 private:
  Dataset load(const ReadRequest& request) const override {
    Dataset dataset{.name = "random"};
    for (std::int64_t c = 0; c < options_.classes; ++c) {
      dataset.classes.push_back(std::to_string(c));
    }
    dataset.training = draw(options_.training, Random(request.seed, "random-training"));
    dataset.test = draw(options_.test, Random(request.seed, "random-test"));
    dataset.source = "drawn from seed " + std::to_string(request.seed);
    return dataset;
  }

  Samples draw(std::int64_t number, Random random) const {
    Samples samples{
        .channels = options_.channels, .height = options_.height, .width = options_.width};
    samples.pixels.resize(static_cast<std::size_t>(number * samples.image_bytes()));
    constexpr std::size_t kBytes = sizeof(std::uint64_t);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < samples.pixels.size(); ++i) {
      if (i % kBytes == 0) bits = random.bits();
      samples.pixels[i] = static_cast<std::uint8_t>(bits >> (8 * (i % kBytes)));
    }
    samples.labels.resize(static_cast<std::size_t>(number));
    for (auto& label : samples.labels) {
      label = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options_.classes)));
    }
    return samples;
  }

  RandomOptions options_;
};

FEDVG_REGISTER(DatasetReader, "random", RandomImages, RandomOptions,
               "images of random bytes with random labels, to measure speed and memory on");

}  // namespace
}  // namespace fedvg
