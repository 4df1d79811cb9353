#include "fedvg/weighting.h"

namespace fedvg {

Assessment one_score(double u) {
  Assessment assessment;
  assessment.parts.push_back({{u}, {u}});
  return assessment;
}

}  // namespace fedvg
