// A correction that lives outside the library; prints the names of all corrections.

#include <cstdio>

#include "fedvg/correction.h"
#include "fedvg/options.h"
#include "fedvg/registry.h"

namespace {

struct OutsideOptions {
  template <class Visitor>
  static void describe(Visitor&) {}
};

class Outside final : public fedvg::Correction {
 public:
  explicit Outside(const OutsideOptions&) {}
};

using fedvg::Correction;
FEDVG_REGISTER(Correction, "outside", Outside, OutsideOptions, "does nothing");

}  // namespace

int main() {
  fedvg::Registry<Correction>::instance().make("outside");
  for (const fedvg::PartInfo* part : fedvg::Catalog::instance().parts(Correction::kind)) {
    std::puts(part->name.c_str());
  }
}
