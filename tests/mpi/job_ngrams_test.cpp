// Jobs that make n-grams leave what jobs leave that read them.
#include <string>

#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

using ::testing::HasSubstr;

// Lines of six words, which tell the label; with n-grams of up to three words written out.
std::string lines(int count, bool written) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    Words words;
    for (int w = 0; w < 6; ++w) words.push_back("w" + std::to_string((i * 7 + w * (1 + i % 5)) % 23));
    text += "l" + std::to_string(i % kLabels) + " |t";
    for (const std::string& word : words) text += " " + word;
    for (std::size_t length = 2; written && length <= 3; ++length) {
      for (std::size_t first = 0; first + length <= words.size(); ++first) {
        text += " " + words[first];
        for (std::size_t k = 1; k < length; ++k) text += "^" + words[first + k];
      }
    }
    text += " |u x" + std::to_string(i % 3) + "\n";
  }
  return text;
}

class NgramsOfAJob : public OneResultTest {
 protected:
  // Deals lines to three shards; returns their folder.
  std::string shards_of(const std::string& name, const std::string& text) const {
    std::vector<std::string> shards(3);
    std::size_t count = 0;
    for (const std::string& line : lines_of(text)) shards[count++ % 3] += line + "\n";
    for (std::size_t i = 0; i < shards.size(); ++i) file(name + "/" + std::to_string(i), shards[i]);
    return path(name).string();
  }

  const Words ngrams_{"--ngrams", "t:3"};
};

TEST_F(NgramsOfAJob, GiveTheResultOfLinesThatHoldThem) {
  const std::string plain = shards_of("plain", lines(600, false));
  const std::string asked = file("asked", lines(50, false));
  const Results written = results_on(1, train({shards_of("written", lines(600, true))}), file("told", lines(50, true)));
  const std::string binary = path("binary").string();
  const Outcome converted = start_command(joined({CPT_PROGRAM, "convert", plain, binary}, ngrams_))->wait(kLongEnough);
  ASSERT_EQ(converted.code, 0) << converted.err;
  for (const int ranks : {1, 3}) {
    for (const std::string& data : {plain, binary}) {
      SCOPED_TRACE(data + " on " + std::to_string(ranks) + " ranks");
      expect_same(results_on(ranks, train({data}, ngrams_), asked), written);
    }
  }
  expect_failed(run(2, train({binary})), kUsage, HasSubstr("n-grams t:3; this run reads with "));
  expect_complete(run(1, train({plain})));
  EXPECT_NE(figures(), written.figures);
}

TEST_F(NgramsOfAJob, AreRefusedWhereLinesHaveNoSuchWords) {
  expect_failed(run(1, train({shards()}, {"--ngrams", "2"})), kUsage,
                HasSubstr("--ngrams 2 is for text; of lines in vw"));
  expect_failed(run(1, train({shards()}, {"--ngrams", "f:x"})), kUsage,
                HasSubstr("--ngrams f:x: give a number of words"));
}

}  // namespace
}  // namespace cpt::testing
