#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fedvg/error.h"
#include "fedvg/options.h"

namespace fedvg {

/// What is known of a registered part without making one.
struct PartInfo {
  std::string name;
  std::string help;  ///< one line
  Schema schema;     ///< its options
  std::string file;  ///< where it was registered, for the message about a second one
};

/// All registered parts, by kind ("correction", "weighting", "optimizer", "partition", …)
/// and name: what validation of a configuration and `fedvg list` walk. Filled before
/// main and constant afterwards: the one global of the program.
class Catalog {
 public:
  static Catalog& instance();

  /// A second part of one kind and name is a programming error: aborts, naming both files.
  void add(const std::string& kind, PartInfo info);

  /// Null when unknown.
  const PartInfo* find(const std::string& kind, const std::string& name) const;
  /// Sorted by name; empty for an unknown kind.
  std::vector<const PartInfo*> parts(const std::string& kind) const;
  std::vector<std::string> kinds() const;

 private:
  std::map<std::string, std::map<std::string, PartInfo>> parts_;
};

/// Fills in defaults and checks a part's options against its schema. Throws OptionError
/// with every problem: unknown part (with the known ones and the nearest), unknown
/// option, wrong type, out of bounds.
Part resolved_part(const std::string& kind, const Part& given);

/// Makes parts of one interface by name. The interface names its kind:
/// `static constexpr const char* kind = "correction";`. A part adds itself where it is
/// defined, at namespace scope:
///
///     FEDVG_REGISTER(Correction, "fedprox", FedProx, FedProxOptions, "pull to the global model");
///
/// where FedProx is constructible from const FedProxOptions&.
template <class Interface>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Table&)>;

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  bool add(PartInfo info, Factory factory) {
    const std::string name = info.name;
    Catalog::instance().add(Interface::kind, std::move(info));
    factories_[name] = std::move(factory);
    return true;
  }

  /// Throws OptionError as resolved_part does, or what the part's constructor throws.
  std::unique_ptr<Interface> make(const Part& part) const {
    const Part resolved = resolved_part(Interface::kind, part);
    return factories_.at(resolved.name)(resolved.options);
  }
  std::unique_ptr<Interface> make(const std::string& name, Table options = {}) const {
    return make(Part{name, std::move(options)});
  }

 private:
  std::map<std::string, Factory> factories_;
};

#define FEDVG_CONCAT_(a, b) a##b
#define FEDVG_CONCAT(a, b) FEDVG_CONCAT_(a, b)
#define FEDVG_REGISTER(Interface, NAME, Class, ClassOptions, HELP)        \
  [[maybe_unused]] const bool FEDVG_CONCAT(fedvg_registered_, __LINE__) = \
      ::fedvg::Registry<Interface>::instance().add(                       \
          {NAME, HELP, ::fedvg::schema_of<ClassOptions>(), __FILE__},     \
          [](const ::fedvg::Table& t) {                                   \
            return std::unique_ptr<Interface>(                            \
                std::make_unique<Class>(::fedvg::read<ClassOptions>(t))); \
          })

}  // namespace fedvg
