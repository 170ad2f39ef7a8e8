#include "mpi/job_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>

#include "mpi/job_waiting.h"

extern char** environ;

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarkName = "CPT_TEST_JOB";

// What this test was started by must not look like the launcher of the job.
bool is_of_a_launcher(std::string_view variable) {
  constexpr std::array kPrefixes{"OMPI_COMM_WORLD_", "PMI_", "PMIX_", "SLURM_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* p) { return variable.starts_with(p); });
}

// This environment, with what lets any user run any number of ranks on this machine and leave no files of mpirun
// behind.
std::vector<std::string> environment_of(const Launch& launch, const fs::path& folder) {
  std::map<std::string, std::string> values;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = std::min(text.find('='), text.size());
    if (!is_of_a_launcher(text))
      values[std::string(text.substr(0, equals))] = text.substr(std::min(equals + 1, text.size()));
  }
  values["OMPI_ALLOW_RUN_AS_ROOT"] = values["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  values["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  values["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none";
  values["TMPDIR"] = folder;
  values[kMarkName] = folder;
  for (const auto& [name, value] : launch.environment) values[name] = value;

  std::vector<std::string> variables;
  for (const auto& [name, value] : values) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

class Redirections {
 public:
  Redirections() { ::posix_spawn_file_actions_init(&actions_); }
  ~Redirections() { ::posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;

  void read(int stream, const fs::path& path) {
    ::posix_spawn_file_actions_addopen(&actions_, stream, path.c_str(), O_RDONLY, 0);
  }
  void write(int stream, const fs::path& path) {
    ::posix_spawn_file_actions_addopen(&actions_, stream, path.c_str(), O_WRONLY | O_CREAT, 0600);
  }
  void close(int stream) { ::posix_spawn_file_actions_addclose(&actions_, stream); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Starts a program in a process group of its own.
pid_t spawn(std::vector<std::string> command, std::vector<std::string> environment, const Redirections& streams) {
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t requests{};  // which nohup, or a shell in the background, may have had this test ignore
  ::sigemptyset(&requests);
  for (const int signal : {SIGHUP, SIGINT}) ::sigaddset(&requests, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &requests);
  pid_t process = -1;
  const int failure = ::posix_spawnp(&process, command[0].c_str(), streams.get(), &attributes,
                                     pointers_to(command).data(), pointers_to(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw std::runtime_error(command[0] + ": " + std::strerror(failure));
  return process;
}

// Whether a variable of the environment with which a process was started has this value. False for zombies.
bool has_in_environment(pid_t process, const std::string& name, const std::string& value) {
  const std::string variables = '\0' + content_of("/proc/" + std::to_string(process) + "/environ");
  return variables.find('\0' + name + '=' + value + '\0') != std::string::npos;
}

}  // namespace

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Job::Job(const std::vector<std::string>& command, const Launch& launch, const fs::path& folder) : folder_(folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "in", std::ios::binary) << launch.input;
  Redirections streams;
  streams.read(STDIN_FILENO, folder / "in");
  streams.write(STDOUT_FILENO, launch.output_to.empty() ? folder / "out" : launch.output_to);
  streams.write(STDERR_FILENO, folder / "err");
  for (const int stream : launch.closed) streams.close(stream);
  process_ = spawn(command, environment_of(launch, folder), streams);
}

Job::~Job() {
  if (!ended_) kill_all();
  wait_until("a killed process is gone", [this] { return has_ended(); });
}

pid_t Job::process_of_rank(int rank) const {
  pid_t found = -1;
  wait_until("rank " + std::to_string(rank) + " runs", [&] {
    for (const pid_t process : processes()) {
      if (has_in_environment(process, "OMPI_COMM_WORLD_RANK", std::to_string(rank))) found = process;
    }
    return found != -1;
  });
  return found;
}

Outcome Job::wait(std::chrono::seconds limit, std::chrono::seconds to_vanish) {
  const bool in_time = comes_true(limit, [this] { return has_ended(); });
  EXPECT_TRUE(in_time) << "the job has not ended within " << limit.count() << " s";
  if (in_time) {
    EXPECT_TRUE(comes_true(to_vanish, [this] { return processes().empty(); })) << "processes of the job still run";
  }
  kill_all();
  wait_until("a killed process is gone", [this] { return has_ended(); });
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, content_of(folder_ / "out"), content_of(folder_ / "err")};
}

std::vector<pid_t> Job::processes() const {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto process = static_cast<pid_t>(std::stol(name));
    if (has_in_environment(process, kMarkName, folder_)) found.push_back(process);
  }
  return found;
}

bool Job::has_ended() {
  if (!ended_) ended_ = ::waitpid(process_, &status_, WNOHANG) == process_;
  return ended_;
}

// Again and again, because mpirun may have started one more after the first look.
void Job::kill_all() const {
  wait_until("killed processes are gone", [this] {
    if (!ended_) ::kill(-process_, SIGKILL);  // its environment cannot be read right after its start
    const std::vector<pid_t> running = processes();
    for (const pid_t process : running) ::kill(process, SIGKILL);
    return running.empty();
  });
}

}  // namespace cpt::testing
