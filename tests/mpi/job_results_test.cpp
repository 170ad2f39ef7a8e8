// What a run leaves behind, on any number of ranks.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr int kTrainExamples = 1500;
constexpr int kTestExamples = 300;

using Fields = std::map<std::string, std::string>;

// All fields but options and those of single calls, each with its kind: n a count, x a number, x? a number or null,
// s a text, b a truth value.
const Fields kFields{{"/version", "s"},
                     {"/ranks", "n"},
                     {"/finished", "s"},
                     {"/seconds", "x"},
                     {"/examples_per_second", "x"},
                     {"/train/examples", "n"},
                     {"/train/new_labels", "n"},
                     {"/train/squared", "x"},
                     {"/train/squared_ci", "x"},
                     {"/train/squared_seen", "x"},
                     {"/train/log", "x"},
                     {"/train/log_seen", "x"},
                     {"/train/brier_seen", "x?"},
                     {"/train/equivalent", "x?"},
                     {"/train/top1_error_seen", "x?"},
                     {"/train/top1_error_ci", "x?"},
                     {"/train/error_lines", "n"},
                     {"/test/examples", "n"},
                     {"/test/new_labels", "n"},
                     {"/test/squared", "x"},
                     {"/test/squared_ci", "x"},
                     {"/test/squared_seen", "x"},
                     {"/test/log", "x"},
                     {"/test/log_seen", "x"},
                     {"/test/brier_seen", "x?"},
                     {"/test/equivalent", "x?"},
                     {"/test/top1_error_seen", "x?"},
                     {"/test/top1_error_ci", "x?"},
                     {"/test/error_lines", "n"},
                     {"/tree/trees", "n"},
                     {"/tree/labels", "n"},
                     {"/tree/depth_max", "n"},
                     {"/tree/depth_mean", "x"},
                     {"/tree/depth_bound", "x?"},
                     {"/tree/disagreements", "n"},
                     {"/tree/digest", "s"},
                     {"/weights/bits", "n"},
                     {"/weights/rows_used", "x"},
                     {"/weights/bytes", "n"},
                     {"/weights/digest", "s"},
                     {"/rounds", "n"},
                     {"/sync_points", "n"},
                     {"/communication/bytes_sent", "n"},
                     {"/communication/seconds", "x"},
                     {"/memory/rank", "n"},
                     {"/memory/peak_bytes", "n"},
                     {"/memory/table_bytes", "n"},
                     {"/memory/tree_and_labels_bytes", "n"},
                     {"/memory/calibration_bytes", "n"},
                     {"/checkpoints/written", "n"},
                     {"/checkpoints/seconds", "x"}};
// Of several ranks, besides.
const Fields kFieldsOfBalance{{"/balance/readers", "n"},
                              {"/balance/partitions_moved", "n"},
                              {"/balance/busiest_rank", "n"},
                              {"/balance/busiest_over_mean", "x"},
                              {"/balance/limited_by_root", "b"}};

// The values that are no objects, by their paths.
void add_leaves(const Json& json, const std::string& path, std::map<std::string, Json>& leaves) {
  if (!json.is_object()) {
    leaves[path] = json;
    return;
  }
  for (const auto& [name, value] : json.items()) add_leaves(value, path + '/' + name, leaves);
}

bool is_of_kind(const Json& value, const std::string& kind) {
  if (kind == "n") return value.is_number_unsigned();
  if (kind == "s") return value.is_string();
  if (kind == "b") return value.is_boolean();
  return value.is_number() || (kind == "x?" && value.is_null());
}

using Results = JobTest;

TEST_F(Results, MayLieInAFolderWhoseNameIsNotUtf8) {
  const std::filesystem::path odd = path("run\xff");
  const Outcome outcome = run_alone({"--data", shards(), "--run", odd.string(), "--bits", "12"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::ifstream metrics(odd / "metrics.jsonl");
  bool told = false;
  for (std::string line; std::getline(metrics, line);) told |= Json::parse(line)["phase"] == "checkpoint";
  EXPECT_TRUE(told);
  EXPECT_TRUE(std::filesystem::exists(odd / "summary.json"));
}

TEST_F(Results, OfTablesAreThoseOfVwLinesOfTheSameFeatures) {
  std::string vw;
  std::string commas = "ad,id,size,page,title,weight\n";
  std::string tabs = "ad\tid\tsize\tpage\ttitle\tweight\n";
  for (int i = 0; i < 300; ++i) {
    const auto number = [i](int modulus) { return std::to_string(i * 7 % modulus); };
    const std::string title = "the, w" + number(13);
    const std::string size = "0." + number(9);
    vw += "ad" + number(13) + " 2 |size size:" + size + " |page page=" + number(4) + " |title " + title + "\n";
    commas += "ad" + number(13) + "," + number(300) + "," + size + "," + number(4) + ",\"" + title + "\",2\n";
    tabs += "ad" + number(13) + "\t" + number(300) + "\t" + size + "\t" + number(4) + "\t" + title + "\t2\n";
  }
  const auto digests = [this](const std::string& data, const Words& options) {
    const Words words{"--data", data, "--run", run_directory().string(), "--bits", "12", "--overwrite"};
    const Outcome outcome = run(2, joined(words, options));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json told = summary();
    return told["weights"]["digest"].get<std::string>() + told["tree"]["digest"].get<std::string>();
  };
  const Words columns{"--label-column",        "ad",   "--importance-column", "weight", "--text-columns", "title",
                      "--categorical-columns", "page", "--ignore-columns",    "id"};
  const std::string expected = digests(file("lines.vw", vw), {});
  EXPECT_EQ(digests(file("table.csv", commas), columns), expected);
  EXPECT_EQ(digests(file("table.tsv", tabs), columns), expected);
  const std::string records = tabs.substr(tabs.find('\n') + 1);
  EXPECT_EQ(digests(file("records", records), joined(columns, {"--columns", "ad,id,size,page,title,weight"})),
            expected);
  const Outcome resumed = run(2, {"--resume", "--passes", "2", "--run", run_directory().string()});
  EXPECT_EQ(resumed.code, 0) << resumed.err;  // the run keeps the names of columns
  // The model keeps the columns, and binary shards are of them.
  const std::string model = (run_directory() / "model").string();
  const Outcome kept = run_alone(
      {"--init", model, "--test", path("table.csv").string(), "--test-frozen", "--run", path("kept").string()});
  EXPECT_EQ(kept.code, 0) << kept.err;
  const Words convert{CPT_PROGRAM, "convert", path("table.tsv").string(), path("binary").string()};
  const Outcome converted = start_command(joined(convert, columns))->wait(kLongEnough);
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_EQ(digests(path("binary").string(), columns), expected);
  const Outcome other = run_alone({"--data", path("binary").string(), "--run", path("other").string()});
  EXPECT_THAT(other.err, HasSubstr("label key ad, importance key weight, text keys title, categorical keys page, "
                                   "ignored keys id"));
}

// And the model keeps the keys.
TEST_F(Results, OfJsonLinesAreThoseOfVwLinesOfTheSameFeatures) {
  std::string vw;
  std::string json;
  for (int i = 0; i < 300; ++i) {
    const auto number = [i](int modulus) { return std::to_string(i * 7 % modulus); };
    vw += "c" + number(13) + " 2 |tags a" + number(3) + " 4 | size:0." + number(9) + " color=r" + number(4) +
          " |title the w" + number(13) + "\n";
    json += R"({"title": "the w)" + number(13) + R"(", "class": "c)" + number(13) + R"(", "tags": ["a)" + number(3) +
            R"(", 4], "weight": 2, "size": 0.)" + number(9) + R"(, "color": "r)" + number(4) + "\"}\n";
  }
  const auto digests = [this](const std::string& data, const Words& options) {
    Words words{"--data", data, "--run", run_directory().string(), "--bits", "12", "--overwrite"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run_alone(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json told = summary();
    return told["weights"]["digest"].get<std::string>() + told["tree"]["digest"].get<std::string>();
  };
  const std::string lines = file("lines.json", json);
  const Words keys{"--label-key", "class", "--importance-key", "weight", "--text-keys", "title"};
  const std::string expected = digests(file("lines.vw", vw), {});
  EXPECT_EQ(digests(lines, keys), expected);
  const Outcome more = run_alone({"--init", (run_directory() / "model").string(), "--test", lines, "--run",
                                  path("more").string(), "--label-key", "label"});
  EXPECT_NE(more.code, 0);
  EXPECT_THAT(more.err, HasSubstr("--label-key is label, but "));
  const Outcome kept = run_alone({"--init", (run_directory() / "model").string(), "--test", lines, "--test-frozen",
                                  "--run", path("kept").string()});
  EXPECT_EQ(kept.code, 0) << kept.err;
}

class Ranks : public JobTest, public ::testing::WithParamInterface<int> {
 protected:
  int ranks() const { return GetParam(); }
  // Trains and tests on this number of ranks.
  Outcome train_and_test(const std::string& progress) {
    const std::string test = file("test/0.vw", stream(kTestExamples, 99));
    return run(ranks(), train({shards()}, {"--test", test, "--progress", progress}));
  }
};

constexpr int kShards = 6;  // of shards()

INSTANTIATE_TEST_SUITE_P(, Ranks, ::testing::Values(1, 2, 3, 5, kManyRanks),
                         [](const auto& test) { return "On" + std::to_string(test.param); });

TEST_P(Ranks, WriteASummaryWithAllItsFields) {
  const Outcome outcome = train_and_test("none");
  expect_complete(outcome);
  if (ranks() <= kShards) {
    EXPECT_EQ(outcome.err, "");  // no progress, no complaint
  } else {
    EXPECT_THAT(lines_of(outcome.err), ElementsAre(HasSubstr(" have nothing to read; --split ")));
  }
  const Json told = summary();
  Json rest = told;
  rest.erase("options");
  rest["communication"].erase("by_call");
  std::map<std::string, Json> leaves;
  add_leaves(rest, "", leaves);
  Fields fields = kFields;
  if (ranks() > 1) fields.insert(kFieldsOfBalance.begin(), kFieldsOfBalance.end());
  for (const auto& [field, kind] : fields) {
    ASSERT_TRUE(leaves.contains(field)) << field;
    EXPECT_TRUE(is_of_kind(leaves[field], kind)) << field << " is " << leaves[field];
    leaves.erase(field);
  }
  for (const auto& [field, value] : leaves) ADD_FAILURE() << field << " is no field that this test knows";
  EXPECT_EQ(told["ranks"], ranks());
  EXPECT_EQ(told["train"]["examples"], kTrainExamples);
  EXPECT_EQ(told["test"]["examples"], kTestExamples);
  EXPECT_EQ(told["train"]["error_lines"], 0);
  EXPECT_EQ(told["tree"]["labels"], kLabels);
  EXPECT_EQ(told["weights"]["bytes"], 64 << 12);
  const Json& memory = told["memory"];
  EXPECT_LT(memory["rank"], ranks());
  EXPECT_LE(memory["table_bytes"], 64 << 12);
  EXPECT_GE(memory["table_bytes"], 64);
  EXPECT_GT(memory["tree_and_labels_bytes"], 64 * kLabels);  // their names, numbers and leaves
  EXPECT_GT(memory["peak_bytes"], memory["tree_and_labels_bytes"]);
  EXPECT_GE(memory["calibration_bytes"], 13 << 12);
  EXPECT_GT(memory["peak_bytes"], memory["calibration_bytes"]);
  if (ranks() == 1) {
    EXPECT_EQ(memory["table_bytes"], 64 << 12);
    EXPECT_GE(memory["peak_bytes"], told["weights"]["rows_used"].get<double>() * (64 << 12));
  }
  EXPECT_GE(told["train"]["new_labels"], kLabels);  // a label may be new to several ranks in one round
  EXPECT_EQ(told["test"]["new_labels"], 0);
  EXPECT_LT(told["test"]["squared"], told["train"]["squared"]);  // the features tell the label, and that was learned
  EXPECT_EQ(told["communication"]["bytes_sent"] == 0, ranks() == 1);
  std::uint64_t bytes_by_call = 0;
  for (const Json& call : told["communication"]["by_call"]) bytes_by_call += call["bytes"].get<std::uint64_t>();
  EXPECT_EQ(bytes_by_call, told["communication"]["bytes_sent"]);
  for (const char* part : {"tree", "weights"}) {
    EXPECT_THAT(told[part]["digest"].get<std::string>(), MatchesRegex("[0-9a-f]{16}"));
  }
}

// The words in backquotes of the tables of a section.
std::set<std::string> words_of_tables(const std::string& page, const std::string& section) {
  std::set<std::string> words;
  const std::size_t begin = page.find("\n## " + section + "\n");
  if (begin == page.npos) return words;
  for (const std::string& line : lines_of(page.substr(begin, page.find("\n## ", begin + 1) - begin))) {
    if (!line.starts_with("| `")) continue;
    for (std::size_t from = 0; (from = line.find('`', from)) != line.npos;) {
      const std::size_t to = line.find('`', from + 1);
      if (to == line.npos) break;
      words.insert(line.substr(from + 1, to - from - 1));
      from = to + 1;
    }
  }
  return words;
}

TEST(PageOfTheProgram, NamesTheFieldsOfTheSummaryAndNoOthers) {
  // With those that kFields leaves out, those of validations (job_validation_test.cpp), and words that are no fields.
  std::set<std::string> names{"options", "by_call",       "waits",  "validation", "count", "metric", "best",
                              "last",    "stopped_early", "--test", "--validate", "null",  "+-"};
  for (const Fields& fields : {kFields, kFieldsOfBalance}) {
    for (const auto& [field, kind] : fields) {
      std::istringstream components(field.substr(1));
      for (std::string name; std::getline(components, name, '/');) names.insert(name);
    }
  }
  EXPECT_EQ(words_of_tables(content_of(CPT_APP_README), "summary.json"), names);
}

// Without --bits, the data says how large the table is; --bits auto asks for that, too.
TEST_F(JobTest, TheTableIsSizedByTheDataOnAnyNumberOfRanks) {
  const Words sized{"--data", shards(), "--run", run_directory().string(), "--overwrite"};
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run(ranks, ranks == 1 ? sized : joined(sized, {"--bits", "auto"}));
    expect_complete(outcome);
    EXPECT_EQ(summary()["weights"]["bits"], 18);
    EXPECT_EQ(summary()["options"]["bits"], "18");
    EXPECT_THAT(outcome.out, HasSubstr(" of 2^18 = 262,144 rows used"));
    EXPECT_THAT(outcome.out,
                ::testing::ContainsRegex(
                    "\nmemory: [0-9.,]+ MiB at the peak.*, where the weight table has [0-9.,]+ MiB reserved"));
    EXPECT_THAT(log(), ::testing::Contains(HasSubstr("option bits = 18")));
  }
}

TEST_P(Ranks, SayWhichOptionsTheRunHad) {
  expect_complete(run(ranks(), train({shards()}, {"--alpha", "0.5", "--seed", "7", "--merge", "average"})));
  const Json told = summary();
  const std::map<std::string, std::string> expected{{"data", path("shards").string()},
                                                    {"run", run_directory().string()},
                                                    {"bits", "12"},
                                                    {"alpha", "0.5"},
                                                    {"seed", "7"},
                                                    {"merge", "average"},
                                                    {"passes", "1"},
                                                    {"on-error", "stop"},
                                                    {"loss", "logistic"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(told["options"][name], value) << name;
}

// In metrics.jsonl, by phase: the example counts ascend, and the last report is what the summary says.
TEST_P(Ranks, ReportOnTheWayWhatTheSummarySaysAtTheEnd) {
  expect_complete(train_and_test("none"));
  const Json told = summary();
  std::map<std::string, Json> last;
  for (const Json& report : metrics()) {
    const std::string phase = report["phase"];
    EXPECT_GT(report["examples"], last.contains(phase) ? last[phase]["examples"] : Json(0));
    EXPECT_EQ(report["examples"], report["so_far"]["examples"]);
    last[phase] = report;
  }
  for (const char* phase : {"train", "test"}) {
    Json losses = told[phase];
    losses.erase("error_lines");
    EXPECT_EQ(last[phase]["so_far"], losses) << phase;
    EXPECT_EQ(last[phase]["labels"], told["tree"]["labels"]) << phase;
  }
  EXPECT_EQ(last["test"]["rounds"], told["rounds"]);
}

TEST_P(Ranks, PrintTheTableAndThenTheSummaryInWords) {
  const Outcome outcome = train_and_test("plain");
  expect_complete(outcome);
  const auto lines = lines_of(outcome.err);
  const auto rows = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("train ") || line.starts_with(" test ");
  });
  EXPECT_EQ(static_cast<std::size_t>(rows), metrics().size()) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("examples   seconds  squared"));
  const Json told = summary();
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1,800 examples in "), HasSubstr("train: 1,500 examples"),
                                 HasSubstr("test: 300 examples"), HasSubstr(told["tree"]["digest"].get<std::string>()),
                                 HasSubstr(told["weights"]["digest"].get<std::string>()),
                                 HasSubstr("model: " + (run_directory() / "model").string() + "\n")));
  EXPECT_THAT(outcome.out, HasSubstr(ranks() == 1 ? " on 1 rank, " : " on " + std::to_string(ranks()) + " ranks, "));
}

TEST_P(Ranks, TellByTheClockHowFarTheyAre) {
  const std::string test = file("test/0.vw", stream(kTestExamples, 99));
  const Words often{"--test", test, "--progress", "plain", "--progress-every", "0.001s"};
  const Outcome outcome = run(ranks(), train({shards()}, often));
  expect_complete(outcome);
  EXPECT_THAT(outcome.err, ::testing::ContainsRegex("pass 1 [0-9]+ %: [0-9,]+ examples, [0-9,]+/s(, [0-9:]+ left)?, "
                                                    "[0-9.,]+ MiB; last [0-9]+ s: squared [01][.][0-9]{4}, log seen "));
  std::map<std::string, std::uint64_t> examples;
  for (const Json& stretch : stretches()) {
    std::uint64_t& so_far = examples[stretch["of"]];
    so_far += stretch["since_last"]["examples"].get<std::uint64_t>();
    EXPECT_EQ(stretch["examples"], so_far);
    EXPECT_GT(stretch["peak_bytes"], 1 << 20);
    EXPECT_LE(stretch["part_of_pass"], 1);
  }
  EXPECT_LE(examples["train"], kTrainExamples);
  EXPECT_GT(examples["train"], 0U);
  EXPECT_LE(examples["test"], kTestExamples);
}

// A copy of a report or summary without what a clock told, and the memory that the system gave.
Json without_times(Json json) {
  for (const char* name : {"finished", "seconds", "examples_per_second", "memory"}) json.erase(name);
  for (const char* part : {"communication", "checkpoints"}) {
    if (json.contains(part)) json[part].erase("seconds");
  }
  for (Json& call : json["communication"]["by_call"]) call.erase("seconds");
  return json;
}

std::vector<Json> without_times(std::vector<Json> jsons) {
  for (Json& json : jsons) json = without_times(json);
  return jsons;
}

TEST_P(Ranks, DoTheSameInEveryRun) {
  const auto run_once = [this] {
    expect_complete(train_and_test("none"));
    return std::pair(without_times(summary()), without_times(metrics()));
  };
  const auto first = run_once();
  EXPECT_EQ(run_once(), first);
}

using JobResults = JobTest;

// Nor by the bytes that ranks send, whatever number the system gives to their processes.
TEST_F(JobResults, DoNotDependOnTheNumbersOfProcesses) {
  const auto run_after = [this](const std::string& process, const Words& command) {
    const std::string script = "echo $0 >/proc/sys/kernel/ns_last_pid && exec \"$@\"";
    return start_command(joined({"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script, process}, command))
        ->wait(kLongEnough);
  };
  const Outcome nothing = run_after("500", {"true"});
  if (nothing.code != 0) GTEST_SKIP() << "processes cannot be given numbers here: " << nothing.err;
  const auto results_after = [&](const std::string& process) {
    const Words job = joined({CPT_MPIEXEC, "-n", "2", CPT_DIST}, train({shards()}, {"--progress", "none"}));
    expect_complete(run_after(process, job));
    return std::pair(without_times(summary()), without_times(metrics()));
  };
  const auto first = results_after("500");
  EXPECT_EQ(results_after("20000"), first);
}

TEST_F(JobResults, AreTheSameAloneAndUnderMpirun) {
  const Words words = train({shards()});
  expect_complete(run_alone(words));
  const Json alone = summary();
  expect_complete(run(1, words));
  EXPECT_EQ(summary()["weights"], alone["weights"]);
  EXPECT_EQ(summary()["tree"], alone["tree"]);
  EXPECT_EQ(summary()["train"], alone["train"]);
}

// Owners merge nothing. With rarities a round would end at each renewal.
TEST_F(JobResults, CountTheIntervalsOfOwnersAndTheMergesOfReplicas) {
  const auto told = [&](const Words& more) { return run(2, train({shards()}, more)).out; };
  EXPECT_THAT(told({}), AllOf(HasSubstr(" sync intervals, "), Not(HasSubstr("merge"))));
  EXPECT_THAT(told({"--round-examples", "100000", "--rarity", "off"}), HasSubstr(" 1 sync interval, "));
  EXPECT_THAT(told({"--placement", "replicated", "--sync-examples", "30"}), HasSubstr(" merges, "));
}

// 1 of 64 is no figure to two digits.
TEST_F(JobResults, TellTheTop1ErrorOfASampleThatIsLargeEnough) {
  const auto told = [&](int examples) {
    return run_alone({"--data", file("s.vw", stream(examples, 3)), "--run", run_directory().string(), "--overwrite"})
        .out;
  };
  EXPECT_THAT(told(2000), AllOf(HasSubstr("Brier"), Not(HasSubstr("top-1"))));
  EXPECT_THAT(told(9000), ::testing::ContainsRegex("top-1 error 0\\.[0-9]{3} \\+- 0\\.0[0-9]{2}\n"));
}

TEST_F(JobResults, OfNoExampleAtAllAreAnError) {
  const std::string empty = file("empty.vw", "\n");
  const std::string bad = file("bad.vw", "a |f g:x\n");
  for (const int ranks : {1, 3}) {
    const Words twice{"--passes", "2", "--on-error", "skip"};
    expect_failed(run(ranks, train({empty, bad}, twice)), kBadData, HasSubstr("--data have no example"));
    EXPECT_FALSE(std::filesystem::exists(run_directory() / "model"));
    EXPECT_FALSE(std::filesystem::exists(run_directory() / "summary.json"));
    EXPECT_FALSE(std::filesystem::exists(run_directory() / "checkpoints")) << "there is nothing to resume";
  }
  expect_complete(run(2, train({shards()})));
  const Json digests = summary()["tree"];
  expect_complete(run(1, train({shards(), empty}, {"--resume"})));
  EXPECT_EQ(summary()["tree"], digests) << "new shards may be empty";
}

// Not losses of 0, which would be the best there can be.
TEST_F(JobResults, OfATestWithoutExamplesHaveNoLosses) {
  const std::string empty = file("empty.vw", "\n");
  const Outcome outcome = run(2, train({shards()}, {"--test", empty, "--test-frozen"}));
  expect_complete(outcome);
  const Json told = summary()["test"];
  EXPECT_EQ(told["examples"], 0);
  for (const char* mean : {"squared", "squared_ci", "squared_seen", "log", "log_seen", "equivalent"}) {
    EXPECT_TRUE(told[mean].is_null()) << mean;
  }
  EXPECT_THAT(outcome.out, HasSubstr("test: 0 examples, 0 of them with a new label\ntree: "));
  const std::string strange = file("strange.vw", "never-seen |a f1\n");
  expect_complete(run(2, train({shards()}, {"--test", strange, "--test-frozen", "--overwrite"})));
  EXPECT_GT(summary()["test"]["log"], 0);
  EXPECT_TRUE(summary()["test"]["log_seen"].is_null());
}

TEST_F(JobResults, OfAnEarlierRunAreReplaced) {
  expect_complete(run(2, train({shards()}, {"--test", file("test.vw", stream(100))})));
  expect_complete(run(2, train({file("other.vw", stream(10))})));
  EXPECT_EQ(summary()["train"]["examples"], 10);
  EXPECT_FALSE(summary().contains("test"));
  EXPECT_EQ(metrics().back()["examples"], 10);
}

// Methods that are no trees: the model is whole on every rank, and rank 0 writes it.
TEST_F(JobResults, OfEveryMethodAreThere) {
  for (const char* method : {"oaa", "table"}) {
    const Outcome outcome = run(3, train({shards()}, {"--method", method}));
    expect_complete(outcome);
    EXPECT_EQ(summary()["options"]["method"], method);
    EXPECT_EQ(summary()["options"]["placement"], "replicated");
    EXPECT_EQ(summary()["tree"]["labels"], kLabels);
    EXPECT_FALSE(summary()["tree"].contains("depth_max"));
    EXPECT_LT(summary()["train"]["squared_seen"].get<double>(), 0.9) << method;
  }
}

}  // namespace
}  // namespace cpt::testing
