#include <nlohmann/json.hpp>

#include "app/program.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Words kPredict{"predict", "--model", "model", "--data", "test.vw"};

class PredictTest : public TrainedTest {
 protected:
  Words expected(const std::string& file, std::size_t k, double threshold = 0) {
    const Batch batch = examples(file);
    Words lines;
    for (std::size_t i = 0; i < batch.size(); ++i) lines.push_back(printed(model().top_k(batch[i], k, threshold)));
    return lines;
  }

  // Every file of the model's folder, as one text.
  std::string model_bytes() const {
    std::string bytes;
    for (const auto& file : std::filesystem::directory_iterator(path("model"))) bytes += content_of(file.path());
    return bytes;
  }
};

TEST_F(PredictTest, PrintsTheBestLabelOfEachLine) {
  EXPECT_EQ(results(kPredict), expected("test.vw", 1));
  EXPECT_EQ(results(kPredict + Words{"--frozen"}), expected("test.vw", 1));
}

TEST_F(PredictTest, PrintsOnlyLabelsThatReachTheThreshold) {
  const Words lines = results(kPredict + Words{"--top", "5", "--threshold", "0.2"});
  EXPECT_EQ(lines, expected("test.vw", 5, 0.2));
  EXPECT_THAT(results(kPredict + Words{"--threshold", "1"}), Each(IsEmpty()));
}

TEST_F(PredictTest, AllLabelsTogetherHaveProbabilityOne) {
  const Words lines = results(kPredict + Words{"--top", "1000"});
  ASSERT_THAT(lines, SizeIs(examples("test.vw").size()));
  for (const std::string& line : lines) {
    const Words predictions = words_of(line);
    ASSERT_THAT(predictions, SizeIs(kLabels));
    double sum = 0;
    for (const std::string& prediction : predictions) sum += std::stod(prediction.substr(prediction.rfind(':') + 1));
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST_F(PredictTest, LinesNeedNoLabel) {
  write("bare.vw", "|page w1 |user u1\n\nad1 |page w1 |user u1\n");
  const Words lines = results({"predict", "--model", "model", "--data", "bare.vw"});
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_EQ(lines[1], "") << "of a blank line";
}

TEST_F(PredictTest, ReadsStandardInput) {
  EXPECT_EQ(results({"predict", "--model", "model", "--data", "-"}, content_of(path("test.vw"))),
            expected("test.vw", 1));
}

TEST_F(PredictTest, LearningIsWhatTheLibraryLearns) {
  write("more.vw", page_log(300, kLabels + 20, 4) + "|page w1\n" + page_log(3, kLabels, 5));
  const std::string before = model_bytes();
  const Words lines = results({"predict", "--model", "model", "--data", "more.vw", "--learn", "--top", "2"});
  EXPECT_EQ(model_bytes(), before);

  const Batch batch = examples("more.vw");
  Words learned;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    learned.push_back(printed(model().top_k(batch[i], 2)));
    if (!batch[i].label.empty()) model().learn(batch[i]);
  }
  ASSERT_GT(model().labels(), std::uint64_t{kLabels});
  EXPECT_EQ(lines, learned);
}

TEST_F(PredictTest, AnEmptyModelGivesEmptyLines) {
  Model(model_options()).save(path("empty"));
  write("two.vw", "a |page x\nb |page y\n");
  EXPECT_THAT(results({"predict", "--model", "empty", "--data", "two.vw"}), ElementsAre("", ""));
  EXPECT_THAT(results({"predict", "--model", "empty", "--data", "two.vw", "--learn"}), ElementsAre("", "a:1"));
}

TEST_F(PredictTest, PrintsAnEmptyLineForASkippedOne) {
  write("mixed.vw", "|page w1\n|page w1:x\n|page w2\n");
  const Outcome outcome = run({"predict", "--model", "model", "--data", "mixed.vw", "--on-error", "skip"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out), ElementsAre(HasSubstr(":0."), "", HasSubstr(":0.")));
  EXPECT_THAT(outcome.err, HasSubstr("cpt: skipped: mixed.vw:2:10: expected"));
  EXPECT_THAT(lines_of(outcome.err), SizeIs(1));
}

// The same labels and probabilities as without --json.
TEST_F(PredictTest, PrintsObjects) {
  const Words lines = results(kPredict + Words{"--top", "3", "--json"});
  const Words plain = results(kPredict + Words{"--top", "3"});
  ASSERT_THAT(lines, SizeIs(plain.size()));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Words expected = words_of(plain[i]);
    const json predictions = json::parse(lines[i]).at("predictions");
    ASSERT_THAT(predictions, SizeIs(expected.size()));
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const std::size_t colon = expected[k].rfind(':');
      EXPECT_EQ(predictions[k].at("label"), expected[k].substr(0, colon));
      EXPECT_EQ(predictions[k].at("probability"), json::parse(expected[k].substr(colon + 1)));
    }
  }
}

TEST_F(PredictTest, PrintsAnObjectForEveryLine) {
  write("mixed.vw", "ad1 'first|page w1\n\n|page w1:x\n");
  const Words command{"predict", "--model", "model", "--data", "mixed.vw", "--json"};
  const Words more{"--with-lines", "--with-tags", "--on-error", "answer"};
  const Words lines = results(command + more);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], StartsWith(R"({"line": "mixed.vw:1", "tag": "first", "predictions": [{"label": "ad)"));
  EXPECT_EQ(lines[1], R"({"line": "mixed.vw:2", "tag": "", "predictions": []})");
  EXPECT_THAT(lines[2], StartsWith(R"({"line": "mixed.vw:3", "tag": "", "error": "mixed.vw:3:10: expected)"));
  for (const std::string& line : lines) EXPECT_TRUE(json::parse(line).is_object());
  EXPECT_THAT(results(command + more + Words{"--threshold", "1", "--threads", "1"})[0],
              HasSubstr("\"predictions\": []}"));
}

TEST_F(PredictTest, QuotesLabelsInObjects) {
  const std::string odd = "a\":\\0.5";
  write("train.vw", odd + " |page w1\n");
  Model model(model_options());
  learn_and_save(model, "odd");
  const Words lines = results({"predict", "--model", "odd", "--data", "train.vw", "--json"});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(json::parse(lines[0]), json::parse(R"({"predictions": [{"label": "a\":\\0.5", "probability": 1}]})"));
}

TEST_F(PredictTest, WarnsOfTheFirstSkippedLinesOnly) {
  std::string bad;
  for (int i = 0; i < 100; ++i) bad += "|page w1:x\n";
  write("bad.vw", bad);
  const Outcome outcome = run({"predict", "--model", "model", "--data", "bad.vw", "--on-error", "skip"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.err), SizeIs(ExampleStream::kWarnings + 2));
  EXPECT_THAT(lines_of(outcome.err).back(), ::testing::MatchesRegex("cpt: [0-9]+ bad lines skipped"));
}

TEST_F(PredictTest, InputThatDoesNotFitTheModelIsToldOf) {
  std::string other;
  for (int i = 0; i < 30; ++i) other += "ad1 |site x" + std::to_string(i) + " |page y" + std::to_string(i) + "\n";
  write("other.vw", other);
  const std::string warning = "cpt: warning: the model has met almost none of the features in the first examples of ";
  for (const char* threads : {"1", "3"}) {
    for (const char* command : {"predict", "score"}) {
      const Outcome outcome = run({command, "--model", "model", "--data", "other.vw", "--threads", threads});
      EXPECT_EQ(outcome.code, 0);
      EXPECT_THAT(lines_of(outcome.out), SizeIs(30));
      EXPECT_EQ(outcome.err,
                warning +
                    "other.vw, vw lines with features like site^x0 page^y0 site^x1 page^y1, of namespaces like "
                    "site page\n"
                    "cpt: warning: other.vw: no line of the first 30 has a namespace that begins with 'u', for "
                    "--interactions pu\n");
    }
  }
  EXPECT_EQ(run({"predict", "--model", "model", "--data", "-"}, other).err, warning + "standard input\n");
}

// A model of lines like {"label": "a", "query": "b c"}.
class JsonModelTest : public PredictTest {
 protected:
  JsonModelTest() {
    ModelOptions options;
    options.bits = 12;
    options.fields = {.importance = "w", .text = {"query"}, .ignored = {"price"}};
    options.ngrams = {"query:2"};
    Model made(options);
    made.learner().set_input({.format = "json", .name_spaces = {"query"}, .features = {"query^laptop"}});
    made.save(path("json"));
    write("good.json", "{\"label\": \"a\", \"w\": 1, \"query\": \"laptop bag\"}\n");
    std::string renamed;
    for (int i = 0; i < 10; ++i) renamed += "{\"label\": \"a\", \"q\": \"laptop bag\"}\n";
    write("renamed.json", renamed);
  }

  std::string warnings(const std::string& command, const std::string& data) const {
    const Outcome outcome = run({command, "--model", "json", "--data", data});
    EXPECT_EQ(outcome.code, 0);
    return outcome.err;
  }
};

TEST_F(JsonModelTest, KeysThatTheDataLacksAreNamed) {
  const std::string lacks = "cpt: warning: renamed.json: no line of the first 10 has ";
  const std::string of_features =
      lacks + "the key 'query' of --text-keys\n" + lacks + "the namespace 'query' of --ngrams\n";
  EXPECT_EQ(warnings("predict", "renamed.json"), of_features);
  EXPECT_EQ(warnings("evaluate", "renamed.json"), lacks + "the key 'w' of --importance-key\n" + of_features);
  EXPECT_THAT(warnings("score", "renamed.json"), HasSubstr(of_features));
  for (const char* command : {"predict", "score", "evaluate"}) EXPECT_EQ(warnings(command, "good.json"), "") << command;
}

TEST_F(JsonModelTest, AnotherFormatIsToldOf) {
  write("other.vw", "a |query laptop bag\n");
  EXPECT_EQ(warnings("predict", "other.vw"),
            "cpt: warning: other.vw: is vw, but the model has learned from json lines with features like query^laptop, "
            "of namespaces like query\n");
}

// The table needs no column that is ignored.
TEST_F(JsonModelTest, AColumnToIgnoreMayBeMissing) {
  write("a.csv", "label,w,query\na,1,laptop bag\n");
  EXPECT_THAT(warnings("evaluate", "a.csv"), HasSubstr("a.csv: is csv, but the model has learned from json lines"));
}

TEST_F(JsonModelTest, AServerReadsTheFormatOfTheModel) {
  const Words serve{"predict", "--model", "json", "--data", "-", "--on-error"};
  const std::string lines = "broken\n{\"query\": \"laptop\"}\n";
  const Outcome outcome = run(serve + Words{"answer"}, lines);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  const Words answers = lines_of(outcome.out);
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_THAT(answers[0], StartsWith("error: standard input:1:1: expected "));
  EXPECT_EQ(answers[1], "");
  EXPECT_EQ(run(serve + Words{"skip"}, lines).code, 65);
}

// A model does not keep --columns: without it, the first line would be the header, and no column would be known.
TEST_F(PredictTest, TablesWithoutAKnownColumnAreRefused) {
  Model made({.bits = 12});
  made.learner().set_input({.format = "csv", .name_spaces = {"user", "n"}, .features = {"user^user=u1"}});
  made.save(path("of_table"));
  write("a.csv", "u1,7\nu2,8\n");
  const Words predict{"predict", "--model", "of_table", "--data"};
  expect_failure(predict + Words{"a.csv"}, 2,
                 "a.csv: expected columns from which the model has learned, such as 'user', found the columns 'u1', "
                 "'7'; --columns names those of a file without a header\n");
  expect_failure(predict + Words{"a.csv", "--columns", "a,b"}, 2, "such as 'user', found the columns 'a', 'b'\n");
  EXPECT_EQ(run(predict + Words{"a.csv", "--columns", "user,x"}).code, 0);
  write("b.csv", "x,n\nu1,7\n");
  EXPECT_EQ(run(predict + Words{"b.csv"}).code, 0);
}

TEST_F(PredictTest, LinesWithoutFeaturesAreToldOf) {
  write("bare.vw", "ad1 |page\nad2 |page w1\n");
  EXPECT_EQ(run({"predict", "--model", "model", "--data", "bare.vw"}).err,
            "cpt: warning: bare.vw:1: is understood as label 'ad1' and no feature, like 1 of the first 2 examples; the "
            "format is vw, like 'label |page word word2:0.5'\n");
}

TEST_F(PredictTest, AnOutputFileAppearsWholeOrNotAtAll) {
  write("result", "old");
  write("bad.vw", "|page w1\n|page w1:x\n");
  EXPECT_EQ(run({"predict", "--model", "model", "--data", "bad.vw", "--output", "result"}).code, 65);
  EXPECT_EQ(content_of(path("result")), "old");

  EXPECT_THAT(results(kPredict + Words{"--output", "result"}), IsEmpty());
  EXPECT_EQ(lines_of(content_of(path("result"))), expected("test.vw", 1));
  expect_nothing_left();
}

// Renaming a finished file onto a device would replace the device.
TEST_F(PredictTest, ADeviceIsWrittenInPlace) {
  expect_failure(kPredict + Words{"--output", "/dev/full"}, 73, "cpt: /dev/full: write failed: ");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(PredictTest, AFileThatCannotBeMadeIsAnError) {
  expect_failure(kPredict + Words{"--output", "missing/result"}, 73,
                 "cpt: missing/result: open failed: No such file or directory\n");
}

TEST_F(PredictTest, AMissingStandardOutputIsAnError) { EXPECT_EQ(run_without_output(kPredict).code, 73); }

// The file would otherwise be opened as standard output.
TEST_F(PredictTest, AnOutputFileNeedsNoStandardOutput) {
  EXPECT_EQ(run_without_output(kPredict + Words{"--output", "result"}).code, 0);
  EXPECT_EQ(lines_of(content_of(path("result"))), expected("test.vw", 1));
}

// On one thread and on several.
class ThreadsTest : public PredictTest, public ::testing::WithParamInterface<Words> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadsTest,
                         ::testing::Values(Words{"--threads", "1"}, Words{"--threads", "3"}, Words{"--threads", "64"}));

TEST_P(ThreadsTest, TheOutputIsTheSame) {
  write("more.vw", page_log(3000, kLabels, 8));
  const Words more{"predict", "--model", "model", "--data", "more.vw", "test.vw", "--top", "3"};
  Words both = expected("more.vw", 3);
  for (const std::string& line : expected("test.vw", 3)) both.push_back(line);
  EXPECT_EQ(results(more + GetParam()), both);
}

TEST_P(ThreadsTest, EndWithTheLinesBeforeABadOne) {
  write("bad.vw", page_log(700, kLabels, 8) + "|page w1:x\n" + page_log(700, kLabels, 9));
  const Outcome outcome = run(Words{"predict", "--model", "model", "--data", "bad.vw"} + GetParam());
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(lines_of(outcome.out), SizeIs(700));
  EXPECT_THAT(outcome.err, StartsWith("cpt: bad.vw:701:10: expected"));
  EXPECT_THAT(lines_of(outcome.err), SizeIs(1));
}

TEST_P(ThreadsTest, EndWithTheLinesBeforeTheFirstBadLineTooMany) {
  write("bad.vw", page_log(300, kLabels, 8) + "|page w1:x\n|page w1\n|page w1:x\n" + page_log(300, kLabels, 9));
  const Outcome outcome =
      run(Words{"predict", "--model", "model", "--data", "bad.vw", "--on-error", "skip:1"} + GetParam());
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(lines_of(outcome.out), SizeIs(302));
  EXPECT_THAT(lines_of(outcome.err),
              ElementsAre(StartsWith("cpt: skipped: bad.vw:301:10: "), StartsWith("cpt: skipped: bad.vw:303:10: "),
                          HasSubstr("2 bad lines")));
  EXPECT_EQ(run(Words{"predict", "--model", "model", "--data", "bad.vw", "--on-error", "skip:2"} + GetParam()).code, 0);
}

// Blank and bad lines, labels alone, headers: a client that waits for an answer to each line never hangs.
TEST_P(ThreadsTest, AnswerEveryLine) {
  const std::vector<std::pair<std::string, std::string>> lines = {{"ad1 0 'first|page w1", "first"},
                                                                  {"", ""},
                                                                  {" \t", ""},
                                                                  {"|page w1:x", ""},
                                                                  {"ad1 1 second|page w2", "second"},
                                                                  {"ad1 'third|page w1:x", "third"},
                                                                  {"no bar", ""},
                                                                  {"ad1 |", ""}};
  const Words command = Words{"predict", "--model", "model", "--data", "-", "--on-error", "answer"} + GetParam();
  Conversation talk(folder(), command + Words{"--with-lines", "--with-tags"});
  int number = 0;
  for (const auto& [line, tag] : lines) {
    talk.say(line + "\n");
    const std::string lead = "standard input:" + std::to_string(++number) + "\t" + tag + "\t";
    const std::string answer = talk.hear();
    if (line.ends_with(":x") || line == "no bar") {
      EXPECT_THAT(answer, StartsWith(lead + "error: standard input:" + std::to_string(number) + ":")) << line;
    } else if (line.find_first_not_of(" \t") == std::string::npos) {
      EXPECT_EQ(answer, lead);
    } else {
      EXPECT_THAT(answer, StartsWith(lead + "ad")) << line;
    }
  }
  talk.stop_talking();
  EXPECT_EQ(talk.end(), 0);
}

TEST_P(ThreadsTest, AnswerEveryLineOfAFile) {
  write("mixed.vw", "\n" + page_log(500, kLabels, 8) + "bad\n\n" + page_log(2, kLabels, 9) + "\n\n");
  const Outcome outcome = run(
      Words{"predict", "--model", "model", "--data", "mixed.vw", "--with-lines", "--on-error", "answer"} + GetParam());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  const Words answers = lines_of(outcome.out);
  ASSERT_THAT(answers, SizeIs(507));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_THAT(answers[i], StartsWith("mixed.vw:" + std::to_string(i + 1) + "\t"));
  }
  EXPECT_EQ(answers[0], "mixed.vw:1\t");
  EXPECT_THAT(answers[501], StartsWith("mixed.vw:502\terror: mixed.vw:502:4: expected '|' before the features"));
  EXPECT_EQ(answers[506], "mixed.vw:507\t");
}

// Its examples differ in their labels alone.
TEST_P(ThreadsTest, AnswerALineWithSeveralLabelsOnce) {
  Model plain({.bits = 12});
  plain.learn(examples("train.vw")[0]);
  plain.save(path("plain"));
  write("several.svm", "1,2,3 4:1\n5 4:1\n");
  for (const Words& learn : {Words{}, Words{"--learn"}}) {
    const Words several = Words{"predict", "--model", "plain", "--data", "several.svm", "--multilabel", "split"};
    EXPECT_THAT(results(several + learn + GetParam()), SizeIs(2));
  }
}

TEST_F(PredictTest, DoesNotLearnFromALineOfNoImportance) {
  write("twice.vw", "new 0 |page w1\n|page w1\n");
  const Words lines = results({"predict", "--model", "model", "--data", "twice.vw", "--learn"});
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0], lines[1]);
}

TEST_P(ThreadsTest, EndWhereNothingCanBeWritten) {
  write("more.vw", page_log(3000, kLabels, 8));
  const Words more = Words{"predict", "--model", "model", "--data", "more.vw", "--top", "1000"} + GetParam();
  const Outcome full = run(more, "", "/dev/full");
  EXPECT_EQ(full.code, 73);
  EXPECT_EQ(full.err, "cpt: standard output: write failed: No space left on device\n");
  const Outcome closed = run_with_closed_pipe(more);
  EXPECT_EQ(closed.code, 0);
  EXPECT_EQ(closed.err, "");
}

TEST_P(ThreadsTest, AnswerALineAtOnce) {
  for (const Words& learn : {Words{}, Words{"--learn"}}) {
    Conversation talk(folder(), Words{"predict", "--model", "model", "--data", "-"} + GetParam() + learn);
    const Words answers = expected("test.vw", 1);
    const Words questions = lines_of(content_of(path("test.vw")));
    for (std::size_t i = 0; i < 10; i += 2) {
      // Half of the second line follows at once.
      talk.say(questions[i] + "\n" + questions[i + 1].substr(0, 5));
      const std::string first = talk.hear();
      if (learn.empty() || i == 0) {
        EXPECT_EQ(first, answers[i]);
      }
      ASSERT_NE(first, "");
      talk.say(questions[i + 1].substr(5) + "\n");
      ASSERT_NE(talk.hear(), "");
    }
    talk.stop_talking();
    EXPECT_EQ(talk.end(), 0);
  }
}

// The answer must not wait for more input, even if the line is too short to detect the format from.
TEST_P(ThreadsTest, AnswerAShortFirstLineAtOnce) {
  Model plain({.bits = 12});  // libsvm has no namespaces to cross
  plain.learn(examples("train.vw")[0]);
  plain.save(path("plain"));
  for (const char* line : {"| a\n", "1:1\n", "(|\n", "B|\n"}) {
    Conversation talk(folder(), Words{"predict", "--model", "plain", "--data", "-"} + GetParam());
    talk.say(line);
    ASSERT_NE(talk.hear(), "") << line;
    talk.stop_talking();
    EXPECT_EQ(talk.end(), 0);
  }
}

// Although the input is still open.
TEST_P(ThreadsTest, EndWhenNobodyListens) {
  Conversation talk(folder(), Words{"predict", "--model", "model", "--data", "-"} + GetParam());
  talk.stop_listening();
  talk.say("|page w1\n");
  EXPECT_EQ(talk.end(), 0);
}

TEST_F(PredictTest, NeedsAThread) {
  for (const char* threads : {"0", "-1", "4097", "x"}) {
    EXPECT_EQ(run(kPredict + Words{"--threads", threads}).code, 2) << threads;
  }
}

}  // namespace
}  // namespace cpt
