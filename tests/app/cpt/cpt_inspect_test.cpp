#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "model/learning/learner.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::ptrdiff_t count_containing(const Words& lines, const std::string& part) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

class InspectTest : public TrainedTest {
 protected:
  const Learner& learner() { return model().learner(); }
  json inspect_json(const Words& more = {}) {
    return json::parse(run(Words{"inspect", "--model", "model", "--json"} + more).out);
  }
};

TEST_F(InspectTest, JsonAgreesWithTheModel) {
  const json figures = inspect_json();
  const Tree& tree = learner().tree();
  std::vector<std::uint64_t> at_depth(64);
  double sum = 0;
  std::uint32_t deepest = 0;
  for (LabelId label = 0; label < kLabels; ++label) {
    ++at_depth.at(tree.depth(label));
    sum += tree.depth(label);
    deepest = std::max(deepest, tree.depth(label));
  }
  at_depth.resize(deepest + 1);
  EXPECT_EQ(figures["tree"], (json{{"trees", 1},
                                   {"labels", kLabels},
                                   {"nodes", kLabels - 1},
                                   {"blocks", tree.blocks()},
                                   {"depth_max", deepest},
                                   {"depth_mean", sum / kLabels},
                                   {"depth_bound", depth_bound(kLabels, model_options().alpha)},
                                   {"depth_mean_bound", total_depth_bound(kLabels, model_options().alpha) / kLabels},
                                   {"labels_at_depth", at_depth},
                                   {"disagreements", learner().disagreements()},
                                   {"disagreement_bound", disagreement_bound(kLabels, model_options().alpha)},
                                   {"digest", hex(learner().structure_digest())}}));
  EXPECT_EQ(figures["weights"], (json{{"bits", 12},
                                      {"rows_used", static_cast<double>(learner().weights().survey().used) / 4096},
                                      {"bytes", 4096 * 64},
                                      {"digest", hex(learner().state_digest())}}));
  EXPECT_EQ(figures["options"], (json{{"method", "tree"},
                                      {"arity", 16},
                                      {"tree", "online"},
                                      {"alpha", 0.9},
                                      {"trees", 1},
                                      {"loss", "logistic"},
                                      {"update", "safe"},
                                      {"calibrate", "on"},
                                      {"rarity", "on"},
                                      {"learning-rate", 1.0},
                                      {"clip", 0.001},
                                      {"bits", 12},
                                      {"seed", 7},
                                      {"normalize", "l2"},
                                      {"interactions", {"pu"}},
                                      {"ngrams", json::array()},
                                      {"label-key", "label"},
                                      {"importance-key", ""},
                                      {"text-keys", json::array()},
                                      {"categorical-keys", json::array()},
                                      {"ignore-keys", json::array()}}));
  EXPECT_TRUE(figures["input"].is_null()) << "it is not known";
}

TEST_F(InspectTest, ShowsWhatTheModelWasTrainedOn) {
  ModelOptions options = model_options();
  options.fields = {.label = "ad", .text = {"query", "title"}, .ignored = {"id"}};
  Model trained(options);
  trained.learner().set_input({.format = "json", .name_spaces = {"query"}, .features = {"query^laptop"}});
  trained.save(path("json"));
  const Words lines = results({"inspect", "json"});
  EXPECT_THAT(lines, Contains(EndsWith(", label-key ad, text-keys [\"query\",\"title\"], ignore-keys [\"id\"]")));
  EXPECT_THAT(lines, Contains("trained on     json lines with features like query^laptop, of namespaces like query"));
  const json figures = json::parse(run({"inspect", "json", "--json"}).out);
  EXPECT_EQ(figures["options"]["text-keys"], (json{"query", "title"}));
  EXPECT_EQ(figures["input"], (json{{"format", "json"}, {"namespaces", {"query"}}, {"features", {"query^laptop"}}}));
}

TEST_F(InspectTest, TextHasTheSameFigures) {
  const json figures = inspect_json();
  const Words lines = results({"inspect", "--model", "model"});
  EXPECT_EQ(results({"inspect", "model"}), lines) << "the path alone serves, too";
  EXPECT_THAT(lines, Contains("labels         40"));
  EXPECT_THAT(lines, Contains("nodes          39"));
  EXPECT_THAT(lines, Contains("tree digest    " + figures["tree"]["digest"].get<std::string>()));
  EXPECT_THAT(lines, Contains(HasSubstr("of 4096 rows used")));
  EXPECT_THAT(lines, Contains(HasSubstr("0.25 MiB")));
  EXPECT_THAT(lines, Contains(HasSubstr("normalize l2, interactions [\"pu\"]")));
  const std::vector<std::uint64_t> at_depth = figures["tree"]["labels_at_depth"];
  const auto rows = std::count_if(at_depth.begin(), at_depth.end(), [](std::uint64_t count) { return count > 0; });
  EXPECT_EQ(count_containing(lines, "#"), rows);
}

// To one digit, like the text.
std::string tenths(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

TEST_F(InspectTest, BoundsStandBesideTheirValues) {
  const json tree = inspect_json()["tree"];
  EXPECT_LE(tree["depth_max"].get<double>(), tree["depth_bound"].get<double>());
  EXPECT_LE(tree["depth_mean"].get<double>(), tree["depth_mean_bound"].get<double>());
  EXPECT_LE(tree["disagreements"].get<double>(), tree["disagreement_bound"].get<double>());
  const Words lines = results({"inspect", "--model", "model"});
  EXPECT_THAT(lines, Contains("depth          " + tenths(tree["depth_mean"]) + " on average (bound " +
                              tenths(tree["depth_mean_bound"]) + "), at most " + tree["depth_max"].dump() + " (bound " +
                              tenths(tree["depth_bound"]) + ")"));
  EXPECT_THAT(lines, Contains("disagreements  " + tree["disagreements"].dump() + " (bound " +
                              tenths(tree["disagreement_bound"]) + ")"));
}

TEST_F(InspectTest, ARandomTreeHasNoBound) {
  ModelOptions options = model_options();
  options.tree = TreeKind::kRandom;
  Model random(options);
  learn_and_save(random, "random");
  const Words lines = results({"inspect", "--model", "random"});
  EXPECT_EQ(count_containing(lines, "(bound "), 0);
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("depth "), HasSubstr("on average (no bound is known), at most "),
                                    EndsWith(" (no bound is known)"))));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("disagreements "), EndsWith(" (no bound is known)"))));
  const json tree = json::parse(run({"inspect", "--model", "random", "--json"}).out)["tree"];
  for (const char* bound : {"depth_bound", "depth_mean_bound", "disagreement_bound"}) {
    EXPECT_TRUE(tree.at(bound).is_null()) << bound;
  }
}

TEST_F(InspectTest, AnEmptyModelHasFiguresToo) {
  Model(model_options()).save(path("empty"));
  const Words lines = results({"inspect", "--model", "empty"});
  EXPECT_THAT(lines, Contains("labels         0"));
  EXPECT_THAT(lines, Contains("depth          0.0 on average, at most 0"));
  EXPECT_THAT(lines, Contains("disagreements  0"));
  EXPECT_THAT(results({"inspect", "--model", "empty", "--dot", "-"}), ElementsAre("digraph cpt {", "}"));
}

// Each step leaves out the other side, so that at the end only the label remains.
TEST_F(InspectTest, APathNarrowsDownToItsLabel) {
  for (const char* name : {"ad0", "ad17", "ad39"}) {
    const json label = inspect_json({"--label", name})["label"];
    EXPECT_EQ(label["name"], name);
    EXPECT_EQ(label["depth"], label["path"].size());
    std::uint64_t leaves = kLabels;
    for (const json& node : label["path"]) {
      EXPECT_EQ(node["left"].get<std::uint64_t>() + node["right"].get<std::uint64_t>(), leaves);
      leaves = node[node["side"] == "L" ? "left" : "right"];
    }
    EXPECT_EQ(leaves, 1U);
  }
}

TEST_F(InspectTest, APathIsARowPerNode) {
  const json label = inspect_json({"--label", "ad3"})["label"];
  const Words lines = results({"inspect", "--model", "model", "--label", "ad3"});
  ASSERT_EQ(lines.size(), 2 + label["path"].size());
  EXPECT_EQ(lines[0], "label ad3, depth " + label["depth"].dump());
  for (std::size_t i = 0; i < label["path"].size(); ++i) {
    const json& node = label["path"][i];
    EXPECT_THAT(words_of(lines[i + 2]),
                ElementsAre(node["side"].get<std::string>(), node["left"].dump(), node["right"].dump()));
  }
}

TEST_F(InspectTest, AnUnknownLabelIsAUsageError) {
  for (const Words& form : {Words{}, Words{"--json"}}) {
    expect_failure(Words{"inspect", "--model", "model", "--label", "x"} + form, 2, "cpt: no label 'x' in the model\n");
  }
}

TEST_F(InspectTest, TheDrawingHasEveryNodeLeafAndEdge) {
  const Words lines = results({"inspect", "--model", "model", "--dot", "-"});
  EXPECT_EQ(lines.front(), "digraph cpt {");
  EXPECT_EQ(lines.back(), "}");
  EXPECT_EQ(count_containing(lines, "shape=box"), kLabels);
  EXPECT_EQ(count_containing(lines, " -> "), 2 * (kLabels - 1));
  EXPECT_EQ(count_containing(lines, " -> leaf"), kLabels);
  EXPECT_EQ(count_containing(lines, "[label=\"L\"]"), kLabels - 1);
  EXPECT_THAT(lines, Contains("  node0_1 [label=\"40\"];"));
  EXPECT_EQ(lines.size(), 2U + kLabels + 3U * (kLabels - 1));
}

TEST_F(InspectTest, ADrawingInAFileComesBesidesTheFigures) {
  EXPECT_THAT(results({"inspect", "--model", "model", "--dot", "tree.dot"}), Contains("labels         40"));
  EXPECT_THAT(content_of(path("tree.dot")), StartsWith("digraph cpt {\n"));
}

TEST_F(InspectTest, TheDrawingEscapesNames) {
  Model odd(model_options());
  Batch batch;
  batch.finish_example(R"(say "\N")", 1, {});
  odd.learn(batch[0]);
  odd.save(path("odd"));
  EXPECT_THAT(results({"inspect", "--model", "odd", "--dot", "-"}),
              Contains(R"(  leaf0 [shape=box, label="say \"\\N\""];)"));
}

}  // namespace
}  // namespace cpt
