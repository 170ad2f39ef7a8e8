// The tests of this folder run the real program on a small model and compare it with what the library says.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/model.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"

namespace cpt {

// How a run ended.
struct Outcome {
  int code = -1;  // -1: by a signal
  std::string out;
  std::string err;
};

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "a b c" as its words; an empty line has none.
inline Words words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Every line without its end. A text that does not end with one has its last line cut off in silence otherwise.
inline Words lines_of(const std::string& text) {
  EXPECT_TRUE(text.empty() || text.back() == '\n') << text;
  std::istringstream stream(text);
  Words lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A probability as the program prints it.
inline std::string printed(double p) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", p);
  return text;
}

// A line of `cpt predict`.
inline std::string printed(const std::vector<Prediction>& best) {
  std::string line;
  for (const Prediction& p : best)
    line += (line.empty() ? "" : " ") + std::string(p.label) + ":" + printed(p.probability);
  return line;
}

// The lines of `cpt score`.
inline Words printed_scores(const Model& model, const Batch& batch) {
  Words lines;
  for (std::size_t i = 0; i < batch.size(); ++i) lines.push_back(printed(model.probability(batch[i], batch[i].label)));
  return lines;
}

// Starts `cpt ARGUMENTS` in a folder and returns its process id.
inline pid_t spawn_cpt(const std::filesystem::path& folder, const Words& arguments, posix_spawn_file_actions_t& actions,
                       const posix_spawnattr_t* attributes = nullptr) {
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char*> argv{const_cast<char*>("cpt")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, CPT_PROGRAM, &actions, attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("the program does not start");
  return child;
}

// A folder of its own, in which the program runs, so that messages name files as the test does.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cpt-app-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    folder_ = name;
  }
  ~ProgramTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  // Runs `cpt ARGUMENTS`. `output` takes its standard output instead of Outcome::out.
  Outcome run(const Words& arguments, const std::string& input = "", const std::string& output = "") const {
    write(".in", input);
    const std::string out = output.empty() ? path(".out").string() : output;
    Outcome outcome = run_with_output(arguments, [&](auto* actions) {
      ::posix_spawn_file_actions_addopen(actions, STDIN_FILENO, path(".in").c_str(), O_RDONLY, 0);
      ::posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    });
    if (output.empty()) outcome.out = content_of(out);
    return outcome;
  }

  // The same with a standard output whose reader has closed it.
  Outcome run_with_closed_pipe(const Words& arguments) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    ::close(ends[0]);
    const Outcome outcome = run_with_output(
        arguments, [&](auto* actions) { ::posix_spawn_file_actions_adddup2(actions, ends[1], STDOUT_FILENO); });
    ::close(ends[1]);
    return outcome;
  }

  // The same without a standard output.
  Outcome run_without_output(const Words& arguments) const {
    return run_with_output(arguments,
                           [](auto* actions) { ::posix_spawn_file_actions_addclose(actions, STDOUT_FILENO); });
  }

  // Labels in the order in which cpt_dist on one rank reads the shards of a folder.
  Words labels_of(const std::string& folder) const {
    const std::vector<Shard> shards = find_shards({path(folder).string()});
    ExampleStream stream(shards, assign_shards(shards, 1)[0], {});
    Batch batch = stream.make_batch();
    while (stream.read(batch)) {
    }
    Words labels;
    for (std::size_t i = 0; i < batch.size(); ++i) labels.emplace_back(batch[i].label);
    return labels;
  }

  // The names of the files and folders in a folder, in no order.
  Words names_in(const std::string& folder) const {
    Words names;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  void expect_nothing_left(const std::string& folder = ".") const {
    EXPECT_THAT(names_in(folder), ::testing::Not(::testing::Contains(::testing::HasSubstr(".tmp-"))));
  }

  // The run must fail, and print one line with the reason and nothing else.
  void expect_failure(const Words& arguments, int code, const std::string& reason) const {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, ::testing::AllOf(::testing::StartsWith("cpt"), ::testing::HasSubstr(reason)));
    EXPECT_EQ(lines_of(outcome.err).size(), 1U);
  }

  // The lines of a run that must succeed without a warning.
  Words results(const Words& arguments, const std::string& input = "") const {
    const Outcome outcome = run(arguments, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return lines_of(outcome.out);
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  // `set_output(actions)` sets the streams other than standard error.
  template <class SetOutput>
  Outcome run_with_output(const Words& arguments, SetOutput set_output) const {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, path(".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
    set_output(&actions);
    const pid_t child = spawn_cpt(folder_, arguments, actions);
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", content_of(path(".err"))};
  }

  std::filesystem::path folder_;
};

// A running `cpt ARGUMENTS` that gets lines and answers them.
class Conversation {
 public:
  Conversation(const std::filesystem::path& folder, const Words& arguments) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes, &all);  // also signals that the parent of the tests ignores
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    child_ = spawn_cpt(folder, arguments, actions, &attributes);
    ::posix_spawnattr_destroy(&attributes);
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Conversation() {
    stop_talking();
    stop_listening();
    if (child_ != 0) end();
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void say(const std::string& text) const {
    EXPECT_EQ(::write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // The next line; "" if none comes.
  std::string hear() {
    constexpr int kTimeoutExtension = 60'000;
    while (heard_.find('\n') == std::string::npos) {
      pollfd waiting{out_, POLLIN, 0};
      char text[4096];
      const ssize_t count = ::poll(&waiting, 1, kTimeoutExtension) == 1 ? ::read(out_, text, sizeof text) : 0;
      if (count <= 0) return "";
      heard_.append(text, static_cast<std::size_t>(count));
    }
    const std::string line = heard_.substr(0, heard_.find('\n'));
    heard_.erase(0, line.size() + 1);
    return line;
  }
  void stop_talking() { ::close(std::exchange(in_, -1)); }
  void stop_listening() { ::close(std::exchange(out_, -1)); }
  void signal(int number) const { ::kill(child_, number); }
  // The exit code; a signal that ended it as its negative number.
  int end() {
    int status = 0;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t child_ = 0;
  int in_ = -1;
  int out_ = -1;
  std::string heard_;
};

// Lines in vw format: `labels` labels, each with words of its own among common ones.
inline std::string page_log(int lines, int labels, unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::ostringstream text;
  for (int i = 0; i < lines; ++i) {
    const int label = pick(labels);
    text << "ad" << label << " |page w" << label % 7 << " w" << pick(7) << ":0.5 |user u" << label % 5 << " u"
         << pick(5) << '\n';
  }
  return text.str();
}

// Has a model named "model", whose options differ from the defaults wherever reading depends on them, and the file
// "test.vw" of unseen lines.
class TrainedTest : public ProgramTest {
 protected:
  static constexpr int kLabels = 40;

  TrainedTest() : model_(model_options()) {
    write("train.vw", page_log(1500, kLabels, 1));
    write("test.vw", page_log(50, kLabels, 2));
    learn_and_save(model_, "model");
  }

  // Learns the training lines.
  void learn_and_save(Model& model, const std::string& name) const {
    const Batch train = examples("train.vw");
    for (std::size_t i = 0; i < train.size(); ++i) model.learn(train[i]);
    model.save(path(name));
  }

  static ModelOptions model_options() {
    ModelOptions options;
    options.bits = 12;
    options.seed = 7;
    options.normalize = Normalize::kL2;
    options.interactions = {"pu"};
    return options;
  }

  // The examples of a file, read with the model's options.
  Batch examples(const std::string& name) const {
    ReadOptions options;
    options.seed = model_.options().seed;
    options.normalize = model_.options().normalize;
    options.interactions = model_.options().interactions;
    options.labels_required = false;
    ExampleStream stream(find_shards({path(name).string()}), {0}, options);
    Batch batch = stream.make_batch();
    while (stream.read(batch)) {
    }
    return batch;
  }

  Model& model() { return model_; }

 private:
  Model model_;
};

}  // namespace cpt
