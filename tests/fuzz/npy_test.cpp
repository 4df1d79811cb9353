#include "data/npy.h"

#include <cstddef>
#include <string>

#include "data/npy_samples.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(npy, bytes) {
  const std::string name = "file.npy";
  NpyArray array;
  if (!accepts(name, [&] { array = npy_from_bytes(bytes, name); })) return;
  const auto items = static_cast<std::size_t>(array.items());
  require(array.values.size() == items * static_cast<std::size_t>(array.item_bytes),
          "values missing");
  accepts(name, [&] { require(integers_of(array).size() == items, "integers missing"); });
  accepts(name, [&] { require(floats_of(array).size() == 4 * items, "floats missing"); });
  accepts(name, [&] { require(texts_of(array).size() == items, "texts missing"); });
  accepts(name, [&] { labels_from_npy(array); });
}

}  // namespace fedvg::fuzz
