#include "data/idx.h"

#include <cstddef>
#include <functional>
#include <numeric>

#include "fuzz/target.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(idx, bytes) {
  for (const IdxContent content : {IdxContent::images, IdxContent::labels}) {
    accepts("file.idx", [&] {
      const IdxArray array = idx_from_bytes(bytes, "file.idx", content);
      const auto volume = std::accumulate(array.shape.begin(), array.shape.end(), std::int64_t{1},
                                          std::multiplies<>());
      require(static_cast<std::size_t>(volume) == array.values.size(), "values missing");
    });
  }
}

}  // namespace fedvg::fuzz
