#include "config/testing.h"

#include "config/nearest.h"
#include "config/overrides.h"
#include "config/resolve.h"
#include "config/toml_file.h"

namespace fedvg::config {
namespace {

template <const char* Kind>
struct Fake {
  static constexpr const char* kind = Kind;
  virtual ~Fake() = default;
};

template <class Interface, class Options>
struct Plain final : Interface {
  explicit Plain(const Options&) {}
};

constexpr char kCorrection[] = "correction";
constexpr char kServer[] = "server";
constexpr char kOptimizer[] = "optimizer";
constexpr char kPartition[] = "partition";
using FakeCorrection = Fake<kCorrection>;
using FakeServer = Fake<kServer>;
using FakeOptimizer = Fake<kOptimizer>;
using FakePartition = Fake<kPartition>;

template <class Options>
struct FakeWeights final : FakeWeighting {
  explicit FakeWeights(const Options& given) : options(given) {}
  std::string text() const override {
    if constexpr (requires { options.norm; })
      return options.norm;
    else
      return "";
  }
  Options options;
};

struct ProxOptions {
  double mu = 0.01;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("mu", &ProxOptions::mu, at_least(0), "pull to the global model");
  }
};
using ProxPart = Plain<FakeCorrection, ProxOptions>;
using NonePart = Plain<FakeCorrection, NoOptions>;
FEDVG_REGISTER(FakeCorrection, "none", NonePart, NoOptions, "local training unchanged");
FEDVG_REGISTER(FakeCorrection, "fedprox", ProxPart, ProxOptions, "pull to the global model");

struct DynOptions {
  double alpha = 0.1;
  bool proximal = true;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("alpha", &DynOptions::alpha, above(0), "strength");
    visit("proximal", &DynOptions::proximal, "with the proximal term");
  }
};
using DynPart = Plain<FakeCorrection, DynOptions>;
FEDVG_REGISTER(FakeCorrection, "feddyn", DynPart, DynOptions, "dynamic regularisation");

struct VgOptions {
  std::string norm = "l1";
  double eps = 1e-8;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("norm", &VgOptions::norm, OneOf{{"l1", "l2", "linf", "spectral"}}, "of the gradient");
    visit("eps", &VgOptions::eps, above(0), "added to the score");
  }
};
struct MixOptions {
  std::vector<Part> of = {Part{"fedvg", {}}, Part{"size", {}}};
  std::vector<double> shares;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("of", &MixOptions::of, PartOf{"weighting"}, "rules that are mixed");
    visit("shares", &MixOptions::shares, between(0, 1), "of each rule; empty: equal");
  }
};
FEDVG_REGISTER(FakeWeighting, "size", FakeWeights<NoOptions>, NoOptions, "samples");
FEDVG_REGISTER(FakeWeighting, "fedvg", FakeWeights<VgOptions>, VgOptions, "validation gradients");
FEDVG_REGISTER(FakeWeighting, "mix", FakeWeights<MixOptions>, MixOptions, "several rules");

struct ServerOptions {
  double lr = 1;
  double momentum = 0;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &ServerOptions::lr, above(0), "rate of the server");
    visit("momentum", &ServerOptions::momentum, from_below(0, 1), "of the server");
  }
};
using ServerPart = Plain<FakeServer, ServerOptions>;
FEDVG_REGISTER(FakeServer, "sgd", ServerPart, ServerOptions, "plain step");

struct SgdOptions {
  double lr = 0.01;
  double momentum = 0;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &SgdOptions::lr, above(0), "learning rate");
    visit("momentum", &SgdOptions::momentum, from_below(0, 1), "classical momentum");
  }
};
struct AdamOptions {
  double lr = 0.001;
  std::vector<double> betas = {0.9, 0.999};
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &AdamOptions::lr, above(0), "learning rate");
    visit("betas", &AdamOptions::betas, from_below(0, 1), "decay of the two moments");
  }
};
struct LookaheadOptions {
  Part inner = {"sgd", {{"lr", 0.5}}};
  std::int64_t every = 5;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("inner", &LookaheadOptions::inner, PartOf{"optimizer"}, "the fast optimizer");
    visit("every", &LookaheadOptions::every, at_least(1), "steps between two looks");
  }
};
using SgdPart = Plain<FakeOptimizer, SgdOptions>;
using AdamPart = Plain<FakeOptimizer, AdamOptions>;
using LookaheadPart = Plain<FakeOptimizer, LookaheadOptions>;
FEDVG_REGISTER(FakeOptimizer, "sgd", SgdPart, SgdOptions, "stochastic gradient descent");
FEDVG_REGISTER(FakeOptimizer, "adam", AdamPart, AdamOptions, "adaptive moments");
FEDVG_REGISTER(FakeOptimizer, "lookahead", LookaheadPart, LookaheadOptions, "k steps forward");

struct DirichletOptions {
  double alpha = 0.1;
  bool overlap = false;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("alpha", &DirichletOptions::alpha, above(0), "concentration");
    visit("overlap", &DirichletOptions::overlap, "clients may share samples");
  }
};
struct PartitionFileOptions {
  std::string file;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("file", &PartitionFileOptions::file, "JSON list of index lists");
  }
};
using DirichletPart = Plain<FakePartition, DirichletOptions>;
using IidPart = Plain<FakePartition, NoOptions>;
using FilePart = Plain<FakePartition, PartitionFileOptions>;
FEDVG_REGISTER(FakePartition, "dirichlet", DirichletPart, DirichletOptions, "by class shares");
FEDVG_REGISTER(FakePartition, "iid", IidPart, NoOptions, "equal shares of everything");
FEDVG_REGISTER(FakePartition, "file", FilePart, PartitionFileOptions, "as a file says");

struct TopOptions {
  std::int64_t seed = 1;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("seed", &TopOptions::seed, at_least(0), "of every random stream");
  }
};
struct PartitionOptions {
  Part scheme = {"dirichlet", {}};
  std::int64_t clients = 100;
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("scheme", &PartitionOptions::scheme, PartBeside{"partition"}, "how data are dealt out");
    visit("clients", &PartitionOptions::clients, at_least(1), "how many");
  }
};
struct TrainOptions {
  std::int64_t rounds = 50;
  double participation = 0.1;
  bool shuffle = true;
  std::string buffers = "global";
  std::string cohorts;
  std::vector<std::int64_t> widths = {64, 32};
  std::vector<double> rates;
  std::vector<std::string> freeze;
  Part optimizer = {"sgd", {}};
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("rounds", &TrainOptions::rounds, at_least(1), "of communication");
    visit("participation", &TrainOptions::participation, above_up_to(0, 1), "share of clients");
    visit("shuffle", &TrainOptions::shuffle, "batches in random order");
    visit("buffers", &TrainOptions::buffers, OneOf{{"global", "local", "reset"}}, "whose");
    visit("cohorts", &TrainOptions::cohorts, "file of cohorts");
    visit("widths", &TrainOptions::widths, at_least(1), "of hidden layers");
    visit("rates", &TrainOptions::rates, above(0), "by round");
    visit("freeze", &TrainOptions::freeze, OneOf{{"head", "stem"}}, "blocks left alone");
    visit("optimizer", &TrainOptions::optimizer, PartOf{"optimizer"}, "of a client");
  }
};
struct MethodOptions {
  std::string name = "fedavg";
  Part correction = {"none", {}};
  Part weighting = {"size", {}};
  Part server = {"sgd", {}};
  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("name", &MethodOptions::name, OneOf{{"fedavg", "fedavgm", "fedprox", "feddyn", "fedvg"}},
          "a row of the table");
    visit("correction", &MethodOptions::correction, PartOf{"correction"}, "of local training");
    visit("weighting", &MethodOptions::weighting, PartOf{"weighting"}, "of updates");
    visit("server", &MethodOptions::server, PartOf{"server"}, "the server's step");
  }
};

void apply_method(Schema& fields, const Table& given, Problems&) {
  const Value* value = given.find("name");
  const auto* name = value ? value->get<std::string>() : nullptr;
  if (!name) return;
  if (*name == "fedprox" || *name == "feddyn") set_default(fields, "correction", Part{*name, {}});
  if (*name == "fedvg") set_default(fields, "weighting", Part{*name, {}});
  if (*name == "fedavgm") set_default(fields, "server", Part{"sgd", {{"momentum", 0.9}}});
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      section_of<TopOptions>("", ""),
      section_of<PartitionOptions>("partition", "who holds which samples"),
      section_of<TrainOptions>("train", "local training"),
      section_of<MethodOptions>("method", "what the federation does", apply_method),
  };
  return all;
}

Table resolved(const std::string& toml, const std::vector<std::string>& set) {
  Table document = read_toml(toml, "a.toml");
  apply_overrides(set, sections(), document);
  Problems found;
  Table result = resolve(sections(), document, found);
  found.throw_if_any();
  return result;
}

std::vector<std::string> problems(const std::string& toml, const std::vector<std::string>& set) {
  try {
    resolved(toml, set);
    return {};
  } catch (const OptionError& e) {
    return e.problems();
  }
}

std::string at(const Table& table, const std::string& dotted_key) {
  const std::size_t dot = dotted_key.find('.');
  const Value* value = table.find(dotted_key.substr(0, dot));
  if (!value) return "";
  if (dot == std::string::npos) return value->text();
  return at(*value->get<Table>(), dotted_key.substr(dot + 1));
}

}  // namespace fedvg::config
