// All clients' samples pooled as one: the upper line that federated methods are compared
// with. A round is `train.epochs` passes over everything.

#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

FEDVG_METHOD((Method{
                 .name = "centralized", .line = Line::centralized, .weighting = {"uniform", {}}}),
             "all clients' data pooled and trained on as one: the upper line");

}  // namespace
}  // namespace fedvg
