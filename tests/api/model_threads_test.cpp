// Several threads that ask one model at a time get what one thread gets.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cpt/model.h"
#include "train/small_model.h"

namespace cpt {
namespace {

// What a model says of some examples, as a thread hears it.
struct Answers {
  std::vector<double> single;
  std::vector<std::vector<double>> several;
  std::vector<std::vector<std::pair<std::string, double>>> best;

  friend bool operator==(const Answers&, const Answers&) = default;
};

// Begins with the example of this number, so that threads are at different ones.
Answers answers_of(const Model& model, const Batch& examples, const std::vector<std::string>& labels,
                   std::size_t begin) {
  const std::size_t count = examples.size();
  Answers answers{std::vector<double>(count), std::vector<std::vector<double>>(count),
                  std::vector<std::vector<std::pair<std::string, double>>>(count)};
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = (begin + n) % count;
    answers.single[i] = model.probability(examples[i], labels[i % labels.size()]);
    answers.several[i] = model.probabilities(examples[i], labels);
    for (const Prediction& one : model.top_k(examples[i], 5)) {
      answers.best[i].emplace_back(one.label, one.probability);
    }
  }
  return answers;
}

// Method and number of trees.
class ThreadsOfAModel : public ::testing::TestWithParam<std::tuple<Method, int>> {
 protected:
  // Trained by cpt::train(), because a PECOC model has to know its labels beforehand.
  Model trained(const std::string& lines) const {
    TrainingOptions options = small_job();
    options.data = {folder_.write("data", lines)};
    std::tie(options.model.method, options.model.trees) = GetParam();
    if (!options.model.is_tree()) options.placement = Placement::kReplicated;
    results_on(1, options, {.model = folder_ / "model"});
    return Model::load(folder_ / "model");
  }

 private:
  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(, ThreadsOfAModel,
                         ::testing::Values(std::tuple(Method::kTree, 1), std::tuple(Method::kTree, 3),
                                           std::tuple(Method::kConditionalPecoc, 1),
                                           std::tuple(Method::kOneAgainstAll, 1), std::tuple(Method::kPecoc, 1),
                                           std::tuple(Method::kTable, 1)));

TEST_P(ThreadsOfAModel, GetWhatOneThreadGets) {
  constexpr std::size_t kThreads = 4;
  const std::string lines = random_lines({.examples = 1500, .labels = 200});
  const Model model = trained(lines);
  const Batch examples = parse(lines.substr(0, 10'000));  // a table knows only what it learned
  std::vector<std::string> labels;
  for (std::uint64_t i = 0; i < model.labels(); i += 7) labels.emplace_back(model.label(i));
  labels.emplace_back("unknown");
  std::vector<Answers> answers(kThreads);
  std::barrier start(kThreads);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int repetition = 0; repetition < 3; ++repetition) {
        answers[t] = answers_of(model, examples, labels, 31 * t);
      }
    });
  }
  threads.clear();
  // Afterwards: whatever a model computes only once was computed by the threads.
  const Answers expected = answers_of(model, examples, labels, 0);
  EXPECT_TRUE(std::ranges::any_of(expected.single, [](double p) { return p > 0; }));
  EXPECT_FALSE(expected.best[0].empty());
  for (const Answers& of_thread : answers) EXPECT_TRUE(of_thread == expected);
}

}  // namespace
}  // namespace cpt
