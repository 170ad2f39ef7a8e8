// Several hosts on one machine: network namespaces with a wire each, and a network between them that can be broken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/job_process.h"

namespace cpt::testing {

// Why hosts cannot be made on this machine, or by this user.
struct NoHosts : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// While it lives, this process, which must have one thread only, and all that it starts are in namespaces of their own.
// Nothing of them has a name that others see, so tests can run at the same time; and the kernel removes them with the
// last process that is in them, whatever way it ends.
class Hosts {
 public:
  // What the commands that it runs say is kept in the folder. Throws NoHosts, or another error if making them failed
  // where it should not have.
  Hosts(int count, const std::filesystem::path& folder);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  static std::string name(int host) { return "host" + std::to_string(host); }
  // The network that the hosts share, as Open MPI wants to be told of it.
  static std::string network() { return "10.99.0.0/24"; }
  // The program that starts others on a host, as ssh does: the name, then a command line for a shell.
  static std::string agent();
  // What the hosts lack of a true network; empty if nothing.
  const std::string& shortcomings() const { return shortcomings_; }

  // Bytes that have crossed the wire of a host since it was made.
  struct Traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  Traffic traffic(int host) const;

  // From now on every host gives up a connection when bytes sent were not acknowledged after so many more attempts, the
  // first after 0.2 s and each after twice the time of the one before.
  void set_retries(int retries);
  // Cuts the wire of a host, for good.
  void cut(int host);

 private:
  class OwnNamespaces;

  Outcome run(const std::vector<std::string>& command);
  void run_well(const std::vector<std::string>& command);

  std::unique_ptr<OwnNamespaces> namespaces_;
  int count_ = 0;
  std::filesystem::path folder_;
  int commands_ = 0;
  std::string shortcomings_;
};

}  // namespace cpt::testing
