#include "config/resolve.h"

#include <gtest/gtest.h>

#include "config/testing.h"
#include "config/toml_file.h"
#include "fedvg/error.h"

namespace fedvg::config {
namespace {

using Messages = std::vector<std::string>;

Table section(const Table& document, const std::string& name) {
  return *document.find(name)->get<Table>();
}

}  // namespace

TEST(Resolve, AnEmptyDocumentIsAllDefaults) {
  const Table table = resolved("");
  EXPECT_EQ(at(table, "seed"), "1");
  EXPECT_EQ(at(table, "partition"),
            R"({scheme = {name = "dirichlet", alpha = 0.1, overlap = false}, clients = 100})");
  EXPECT_EQ(at(table, "train.widths"), "[64, 32]");
  EXPECT_EQ(at(table, "train.optimizer"), R"({name = "sgd", lr = 0.01, momentum = 0.0})");
  EXPECT_EQ(at(table, "method.weighting"), R"({name = "size"})");
}

TEST(Resolve, KeepsWhereAValueWasWritten) {
  const Table table = resolved(
      "seed = 7\n[train]\noptimizer = {lr = 0.1}\n[partition]\nalpha = 1\n", {"train.rounds=3"});
  EXPECT_EQ(source_of(table, "seed").text(), "a.toml:1");
  EXPECT_EQ(source_of(table, "train.optimizer.lr").text(), "a.toml:3");
  EXPECT_EQ(source_of(table, "train.optimizer.momentum").text(), "");
  EXPECT_EQ(source_of(table, "partition.scheme.alpha").text(), "a.toml:5");
  EXPECT_EQ(source_of(table, "train.rounds").text(), "--set");
  EXPECT_EQ(source_of(table, "train.nothing.at.all").text(), "");
}

TEST(Resolve, RefusesUnknownOptionsWithTheNearestAndAll) {
  EXPECT_EQ(problems("[partition]\nclients = 3\nclinets = 4\n"),
            Messages{"a.toml:3: unknown option 'clinets' in [partition]; did you mean 'clients'? "
                     "known: alpha, clients, overlap, scheme"});
  EXPECT_EQ(problems("[train]\noptimizer = {name = \"adam\", beta = [0.9]}\n"),
            Messages{"a.toml:2: unknown option 'beta' of optimizer adam; did you mean 'betas'? "
                     "known: betas, lr"});
}

TEST(Resolve, RefusesUnknownSectionsAndKeysAtTheTop) {
  EXPECT_EQ(problems("[trian]\nrounds = 3\n"),
            Messages{"a.toml:1: unknown section 'trian'; did you mean 'train'? known: method, "
                     "partition, seed, train"});
  EXPECT_EQ(
      problems("sed = 3\n"),
      Messages{"a.toml:1: unknown option 'sed' at the top; did you mean 'seed'? known: method, "
               "partition, seed, train"});
  EXPECT_EQ(problems("train = 3\n"),
            Messages{"a.toml:1: train: wanted a section, [train], got integer 3"});
}

TEST(Resolve, SaysWhichSectionHasAMisplacedOption) {
  EXPECT_EQ(problems("rounds = 3\n")[0].substr(0, 73),
            "a.toml:1: unknown option 'rounds' at the top ([train] has one of that nam");
  EXPECT_EQ(problems("[train]\nmu = 3\n")[0].substr(0, 84),
            "a.toml:2: unknown option 'mu' in [train] (correction fedprox in [method] has one of ");
}

// U48: a knob that is accepted and ignored.
TEST(Resolve, RefusesOptionsOfAPartThatIsNotInUse) {
  EXPECT_EQ(problems("[method]\nname = \"fedavg\"\nmu = 0.1\n"),
            Messages{"a.toml:3: method.mu: mu belongs to correction fedprox, which is not in use "
                     "(correction is none)"});
  EXPECT_EQ(
      problems("[method]\ncorrection = {mu = 0.1}\n"),
      Messages{"a.toml:2: method.correction.mu: mu belongs to correction fedprox, which is not "
               "in use (correction is none)"});
  EXPECT_EQ(
      problems("[method]\nweighting = {mu = 0.1}\n"),
      Messages{"a.toml:2: method.weighting.mu: mu belongs to correction fedprox, which is not "
               "in use (correction is none)"});
  EXPECT_EQ(
      problems("[partition]\nscheme = \"iid\"\nalpha = 0.1\n"),
      Messages{"a.toml:3: partition.alpha: alpha belongs to partition dirichlet, which is not "
               "in use (scheme is iid)"});
}

TEST(Resolve, SaysWhereAnOptionOfAPartInUseMustStand) {
  EXPECT_EQ(problems("[method]\nname = \"fedprox\"\nmu = 0.1\n"),
            Messages{"a.toml:3: method.mu: mu belongs to correction fedprox and must stand in it: "
                     "correction = {mu = …}"});
}

TEST(Resolve, RefusesUnknownPartsWithTheirNames) {
  EXPECT_EQ(
      problems("[method]\nweighting = \"FedVGG\"\n"),
      Messages{"a.toml:2: method.weighting: unknown weighting 'FedVGG'; did you mean 'fedvg'? "
               "known: fedvg, mix, size"});
  EXPECT_EQ(problems("[method]\nname = \"fed-avgm\"\n"),
            Messages{"a.toml:2: method.name: unknown value 'fed-avgm'; did you mean 'fedavgm'? "
                     "known: fedavg, fedavgm, feddyn, fedprox, fedvg"});
  EXPECT_EQ(
      problems("[method]\nweighting = {name = \"mix\", of = [{norm = \"l1\"}]}\n"),
      Messages{"a.toml:2: method.weighting.of[0]: lacks the name of a part; known: fedvg, mix, "
               "size"});
}

TEST(Resolve, AnUnknownPartDoesNotBlameItsOptions) {
  EXPECT_EQ(problems("[partition]\nscheme = \"dirichelt\"\nalpha = 0.5\n"),
            Messages{"a.toml:2: partition.scheme: unknown partition 'dirichelt'; did you mean "
                     "'dirichlet'? known: dirichlet, file, iid"});
}

TEST(Resolve, ReportsEveryMistakeAtOnceByLine) {
  EXPECT_EQ(
      problems("sed = 1\n"
               "[train]\n"
               "rounds = 0\n"
               "optimizer = {lr = -1, momentum = 2}\n"
               "[partition]\n"
               "scheme = \"iid\"\n"
               "alpha = 0.1\n"
               "[method]\n"
               "name = 3\n",
               {"train.shuffle=yes", "partition.clients=0"}),
      (Messages{"a.toml:1: unknown option 'sed' at the top; did you mean 'seed'? known: method, "
                "partition, seed, train",
                "a.toml:3: train.rounds: must be >= 1, got 0",
                "a.toml:4: train.optimizer.lr: must be > 0, got -1",
                "a.toml:4: train.optimizer.momentum: must be in [0, 1), got 2",
                "a.toml:7: partition.alpha: alpha belongs to partition dirichlet, which is not in "
                "use (scheme is iid)",
                "a.toml:9: method.name: wanted a string, got integer 3; put quotes around it",
                "--set: partition.clients: must be >= 1, got 0",
                "--set: train.shuffle: wanted true or false, got string \"yes\""}));
}

TEST(Resolve, AHundredThousandMistakesEndSoon) {
  std::string toml = "[train]\n";
  for (int i = 0; i < 100000; ++i) toml += "k" + std::to_string(i) + "=1\n";
  const Messages found = problems(toml);
  EXPECT_EQ(found.size(), 101U);
  EXPECT_EQ(found.back(), "and 99900 more");
}

TEST(ResolvePart, AStringIsShortForItsName) {
  EXPECT_EQ(at(resolved("[train]\noptimizer = \"adam\"\n"), "train.optimizer"),
            R"({name = "adam", lr = 0.001, betas = [0.9, 0.999]})");
}

TEST(ResolvePart, WithoutANameTheDefaultPartIsMeant) {
  EXPECT_EQ(at(resolved("[train]\noptimizer = {lr = 1}\n"), "train.optimizer"),
            R"({name = "sgd", lr = 1.0, momentum = 0.0})");
}

// fedavgm makes the server sgd with momentum 0.9: kept by the same name, lost with another.
TEST(ResolvePart, DefaultsOfTheDefaultPartHoldForItsNameOnly) {
  EXPECT_EQ(at(resolved("[method]\nname = \"fedavgm\"\n"), "method.server"),
            R"({name = "sgd", lr = 1.0, momentum = 0.9})");
  EXPECT_EQ(at(resolved("[method]\nname = \"fedavgm\"\nserver = {name = \"sgd\", lr = 2}\n"),
               "method.server"),
            R"({name = "sgd", lr = 2.0, momentum = 0.9})");
  const Part initial{"sgd", {{"lr", 5}}};
  Problems found;
  const Value adam = "adam";
  EXPECT_EQ(Value(resolve_part("optimizer", initial, nullptr, "x", found)->options).text(),
            "{lr = 5.0, momentum = 0.0}");
  EXPECT_EQ(Value(resolve_part("optimizer", initial, &adam, "x", found)->options).text(),
            "{lr = 0.001, betas = [0.9, 0.999]}");
  EXPECT_TRUE(found.empty());
}

TEST(ResolvePart, PartsNest) {
  const std::string file = "[train]\noptimizer = {name = \"lookahead\", inner = ";
  EXPECT_EQ(at(resolved("[train]\noptimizer = \"lookahead\"\n"), "train.optimizer.inner"),
            R"({name = "sgd", lr = 0.5, momentum = 0.0})");
  EXPECT_EQ(at(resolved(file + "{momentum = 0.9}}\n"), "train.optimizer.inner"),
            R"({name = "sgd", lr = 0.5, momentum = 0.9})");
  EXPECT_EQ(at(resolved(file + "\"adam\"}\n"), "train.optimizer.inner.lr"), "0.001");
  EXPECT_EQ(
      problems(file + "{betas = [1]}}\n"),
      Messages{"a.toml:2: train.optimizer.inner.betas: betas belongs to optimizer adam, which "
               "is not in use (optimizer is sgd)"});
}

TEST(ResolvePart, ListsOfParts) {
  const Table table = resolved(
      "[method]\nweighting = {name = \"mix\", of = [\"size\", {name = \"fedvg\", eps = 1}]}\n");
  EXPECT_EQ(at(table, "method.weighting.of"),
            R"([{name = "size"}, {name = "fedvg", norm = "l1", eps = 1.0}])");
  EXPECT_EQ(at(resolved("[method.weighting]\nname = \"mix\"\n"), "method.weighting.of"),
            R"([{name = "fedvg", norm = "l1", eps = 1e-08}, {name = "size"}])");
  EXPECT_EQ(
      problems("[method]\nweighting = {name = \"mix\", of = [{name = \"size\", eps = 1}]}\n"),
      Messages{"a.toml:2: method.weighting.of[0].eps: eps belongs to weighting fedvg, which is "
               "not in use (weighting is size)"});
  EXPECT_EQ(problems("[method]\nweighting = {name = \"mix\", of = \"size\"}\n").size(), 1U);
}

TEST(ResolvePart, AProblemLeavesNothing) {
  Problems found;
  const Value given = Table{{"lr", -1}};
  EXPECT_EQ(resolve_part("optimizer", {"sgd", {}}, &given, "here", found), std::nullopt);
  EXPECT_EQ(found.messages(), Messages{"here.lr: must be > 0, got -1"});
}

TEST(ResolveBeside, OptionsStandInTheSectionAndNestWhenResolved) {
  const std::string nested = R"({name = "dirichlet", alpha = 2.0, overlap = false})";
  EXPECT_EQ(at(resolved("[partition]\nalpha = 2\n"), "partition.scheme"), nested);
  EXPECT_EQ(at(resolved("[partition]\nscheme = {alpha = 2}\n"), "partition.scheme"), nested);
  EXPECT_EQ(at(resolved("[partition]\nscheme = \"file\"\nfile = \"p.json\"\n"), "partition.scheme"),
            R"({name = "file", file = "p.json"})");
}

TEST(ResolveBeside, TheSameOptionInBothPlacesIsRefused) {
  EXPECT_EQ(problems("[partition]\nscheme = {alpha = 2}\nalpha = 3\n"),
            Messages{"a.toml:3: partition.alpha: given twice, here and inside scheme (a.toml:2)"});
}

TEST(ResolveBeside, ReadGivesTheStruct) {
  struct Options {
    Part scheme = {"iid", {}};
    std::int64_t clients = 0;
  };
  const Table table = section(resolved("[partition]\nalpha = 2\nclients = 5\n"), "partition");
  walk::ReadVisitor<Options> visitor{table};
  visitor("scheme", &Options::scheme, PartBeside{"partition"}, "");
  visitor("clients", &Options::clients, "");
  EXPECT_EQ(visitor.options.scheme, (Part{"dirichlet", {{"alpha", 2.0}, {"overlap", false}}}));
  EXPECT_EQ(visitor.options.clients, 5);
}

TEST(Adapt, AMethodsNameChangesTheDefaultsOfItsParts) {
  EXPECT_EQ(at(resolved("[method]\nname = \"fedprox\"\ncorrection = {mu = 1}\n"), "method"),
            R"({name = "fedprox", correction = {name = "fedprox", mu = 1.0}, )"
            R"(weighting = {name = "size"}, server = {name = "sgd", lr = 1.0, momentum = 0.0}})");
}

const char* const kDocuments[] = {
    "",
    "seed = 9\n[train]\nrates = [1, 2]\nparticipation = 1\noptimizer = \"lookahead\"\n",
    "[partition]\nscheme = \"file\"\nfile = \"a \\\"b\\\".json\"\n",
    "[partition]\nalpha = 1e-3\noverlap = true\n[method]\nname = \"fedavgm\"\n",
    "[method]\nname = \"fedvg\"\nweighting = {name = \"mix\", of = [{name = \"fedvg\"}]}\n",
    "[train.optimizer]\nname = \"lookahead\"\ninner = {name = \"adam\", betas = []}\n",
};

TEST(Resolve, WhatIsResolvedStaysAsItIs) {
  for (const char* toml : kDocuments) {
    const Table once = resolved(toml);
    Problems found;
    EXPECT_EQ(resolve(sections(), once, found), once) << toml;
    EXPECT_TRUE(found.empty());
  }
}

TEST(Flattened, WrittenAndReadItResolvesToTheSame) {
  for (const char* toml : kDocuments) {
    const Table once = resolved(toml);
    const std::string text = write_toml(flattened(sections(), once));
    EXPECT_EQ(resolved(text), once) << text;
    EXPECT_EQ(write_toml(flattened(sections(), resolved(text))), text);
  }
}

TEST(Flattened, PutsOptionsBesideTheirPart) {
  const std::string text = write_toml(flattened(sections(), resolved("")));
  EXPECT_NE(text.find("[partition]\nscheme = \"dirichlet\"\nalpha = 0.1\noverlap = false\n"
                      "clients = 100\n"),
            std::string::npos)
      << text;
}

TEST(ResolveDeath, AnOptionOfTheSectionAndOfItsPartAborts) {
  Schema schema = sections()[1].schema;
  schema.push_back({.name = "alpha", .type = OptionType::number, .initial = 1.0});
  Problems found;
  EXPECT_DEATH(resolve_fields(schema, {}, "partition", found),
               "option 'alpha' is declared by partition and by partition dirichlet");
}

TEST(ResolveDeath, ADefaultForAnUnknownOptionAborts) {
  Schema schema = sections()[1].schema;
  EXPECT_DEATH(set_default(schema, "scheem", Part{"iid", {}}), "no option 'scheem'");
}

TEST(Problems, AreSaidOnceEach) {
  Problems found;
  EXPECT_NO_THROW(found.throw_if_any());
  found.add({"b.toml", 2}, "k", "two");
  found.add({}, "", "none");
  found.add({"b.toml", 1}, "k", "one");
  found.add({"b.toml", 2}, "k", "two");
  EXPECT_EQ(found.messages(), (Messages{"b.toml:1: k: one", "b.toml:2: k: two", "none"}));
  EXPECT_THROW(found.throw_if_any(), OptionError);
}

}  // namespace fedvg::config
