#include "hosts/hosts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCommandLimit{30};
constexpr int kCannotHere = 77;  // what the script that makes hosts says where that is not possible

std::string script(const std::string& name) { return (fs::path(CPT_HOSTS_SCRIPTS) / name).string(); }

}  // namespace

class Hosts::OwnNamespaces {
 public:
  OwnNamespaces() {
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) {
      throw NoHosts(std::string("a process may not have namespaces of its own here: ") + std::strerror(errno));
    }
  }
  // Entering a mount namespace moves a process to its root folder.
  ~OwnNamespaces() {
    for (const int before : before_) {
      EXPECT_EQ(::setns(before, 0), 0) << std::strerror(errno);
      ::close(before);
    }
    fs::current_path(folder_);
  }
  OwnNamespaces(const OwnNamespaces&) = delete;
  OwnNamespaces& operator=(const OwnNamespaces&) = delete;

 private:
  fs::path folder_ = fs::current_path();
  std::array<int, 2> before_{::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC),
                             ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
};

Hosts::Hosts(int count, const fs::path& folder)
    : namespaces_(std::make_unique<OwnNamespaces>()), count_(count), folder_(folder) {
  const Outcome made = run({script("make"), std::to_string(count)});
  if (made.code == kCannotHere) throw NoHosts(made.out + made.err);
  if (made.code != 0) throw std::runtime_error("hosts cannot be made: " + made.out + made.err);
  shortcomings_ = made.out;
}

Hosts::~Hosts() = default;

std::string Hosts::agent() { return script("enter"); }

// The bridge's end of a wire is named like its host, and receives what that host sends.
Hosts::Traffic Hosts::traffic(int host) const {
  std::ifstream counters("/proc/self/net/dev");
  for (std::string line; std::getline(counters, line);) {
    std::istringstream fields(line);
    std::string name, skipped;
    Traffic traffic;
    fields >> name >> traffic.sent;
    for (int i = 0; i < 7; ++i) fields >> skipped;
    fields >> traffic.received;
    if (fields && name == Hosts::name(host) + ":") return traffic;
  }
  throw std::runtime_error("no counters of " + name(host));
}

void Hosts::set_retries(int retries) {
  for (int host = 0; host < count_; ++host) {
    run_well({agent(), name(host), "echo " + std::to_string(retries) + " >/proc/sys/net/ipv4/tcp_retries2"});
  }
}

void Hosts::cut(int host) { run_well({"ip", "link", "set", name(host), "down"}); }

Outcome Hosts::run(const std::vector<std::string>& command) {
  return Job(command, {}, folder_ / std::to_string(commands_++)).wait(kCommandLimit);
}

void Hosts::run_well(const std::vector<std::string>& command) {
  const Outcome outcome = run(command);
  if (outcome.code != 0) throw std::runtime_error(command[0] + " failed: " + outcome.err);
}

}  // namespace cpt::testing
