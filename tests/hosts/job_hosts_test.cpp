// Jobs over several hosts, with a network between them: the same results as on one host, and an end, with a reason,
// when the network breaks.
#include <cstdint>
#include <iostream>
#include <optional>

#include "hosts/hosts.h"
#include "mpi/job_checkpoints.h"

namespace cpt::testing {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kHosts = 4;
constexpr int kRanks = 2 * kHosts;  // two on each host, by number
constexpr int kExamplesOfAShard = 900;
// Bytes. A network's own talk, and what mpirun sends to start and end a job, are less on each wire.
constexpr std::uint64_t kNoTraffic = 15'000;

// The placements of weights that are tested.
constexpr const char* kPlacements[] = {"partitioned", "replicated", "hybrid"};

class JobOnHosts : public CheckpointTest {
 protected:
  void SetUp() override {
    try {
      hosts_.emplace(kHosts, path("hosts"));
    } catch (const NoHosts& reason) {
      GTEST_SKIP() << reason.what();
    }
    std::cout << hosts_->shortcomings();
  }

  // A shard for each rank.
  std::string data() const {
    for (int rank = 0; rank < kRanks; ++rank) {
      file("data/" + std::to_string(rank) + ".vw", stream(kExamplesOfAShard, static_cast<unsigned>(rank)));
    }
    return path("data");
  }

  // The ranks, dealt out to so many hosts. mpirun runs on host 0 and starts the others over the network. `settings` are
  // Open MPI's, as name and value.
  std::unique_ptr<Job> start_on(int hosts, const Words& arguments, const Words& settings = {}, int ranks = kRanks) {
    Words words{Hosts::agent(), Hosts::name(0), "exec", CPT_MPIEXEC};
    const auto set = [&](const std::string& name, const std::string& value) {
      words.insert(words.end(), {"--mca", name, value});
    };
    set("plm", "rsh");
    set("plm_rsh_agent", agent_);
    // Without these two lines messages might find a way through the memory of the one machine that it is.
    set("pml", "ob1");
    set("btl", "self,tcp");
    set("btl_tcp_if_include", Hosts::network());
    set("oob_tcp_if_include", Hosts::network());
    for (std::size_t i = 0; i < settings.size(); i += 2) set(settings[i], settings[i + 1]);
    const std::string ranks_of_a_host = ":" + std::to_string(ranks / hosts);
    for (int host = 0; host < hosts; ++host) words.insert(words.end(), {"--host", Hosts::name(host) + ranks_of_a_host});
    words.insert(words.end(), {"-n", std::to_string(ranks), CPT_DIST});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start_command(words);
  }

  // From now on this host sees an empty folder where the run directory is.
  void hide_run_directory_from(const std::string& host) {
    std::filesystem::create_directory(run_directory());
    const std::string hidden = "mount -t tmpfs none " + run_directory().string() + " && ";
    const std::string script = "#!/bin/sh\nhost=$1\nshift\nif [ \"$host\" = " + host + " ]; then exec " + agent_ +
                               " \"$host\" \"" + hidden + "$*\"; fi\nexec " + agent_ + " \"$host\" \"$@\"\n";
    agent_ = file("agent", script);
    std::filesystem::permissions(agent_, std::filesystem::perms::owner_all);
  }

  Hosts& hosts() { return *hosts_; }

 private:
  std::optional<Hosts> hosts_;
  std::string agent_ = Hosts::agent();
};

class Placement : public JobOnHosts, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(, Placement, ::testing::ValuesIn(kPlacements), [](const auto& test) { return test.param; });

TEST_P(Placement, GivesTheSameOnSeveralHostsAsOnOne) {
  const Words words = train({data()}, {"--placement", GetParam()});
  expect_complete(start_on(1, words)->wait(kLongEnough));
  const Json on_one = summary();
  for (int host = 0; host < kHosts; ++host) EXPECT_LT(hosts().traffic(host).sent, kNoTraffic) << Hosts::name(host);

  expect_complete(start_on(kHosts, words)->wait(kLongEnough));
  EXPECT_EQ(summary()["ranks"], kRanks);
  EXPECT_EQ(summary()["train"], on_one["train"]);
  EXPECT_EQ(summary()["tree"], on_one["tree"]);
  EXPECT_EQ(summary()["weights"], on_one["weights"]);

  // Six of the seven others are elsewhere, so most of what two ranks send crosses the wire, and half of it surely.
  const auto sent_by_a_rank = summary()["communication"]["bytes_sent"].get<std::uint64_t>() / kRanks;
  EXPECT_GT(sent_by_a_rank, 5 * kNoTraffic);
  for (int host = 0; host < kHosts; ++host) {
    EXPECT_GT(hosts().traffic(host).sent, sent_by_a_rank) << Hosts::name(host);
    EXPECT_GT(hosts().traffic(host).received, sent_by_a_rank) << Hosts::name(host);
  }
}

// mpirun and its daemons ask each other for a sign of life, and give up a host that gives none for four seconds.
const Words kSignsOfLife{"oob_tcp_keepalive_time",   "1", "oob_tcp_keepalive_intvl", "1",
                         "oob_tcp_keepalive_probes", "3"};

// A host is lost, and the job goes on without it.
TEST_P(Placement, GoesOnWithFewerHosts) {
  const Words words = train(
      {data()}, {"--placement", GetParam(), "--sync-examples", "100", "--test", file("test.vw", stream(300, 99))});
  expect_complete(start_on(1, words)->wait(kLongEnough));
  const Json straight = figures();
  std::filesystem::remove_all(run_directory());

  const Words slowly{"--checkpoint-every", "1", "--round-examples", "16"};
  const auto job = start_on(kHosts, joined(words, slowly), kSignsOfLife);
  wait_for_checkpoint(3);
  hosts().cut(kHosts - 1);
  EXPECT_NE(job->wait(kLongEnough, kLongEnough).code, 0);
  EXPECT_FALSE(newest_state().finished) << "the job was over too soon";
  expect_whole_checkpoints();

  expect_complete(start_on(kHosts - 1, joined(words, {"--resume"}), {}, 2 * (kHosts - 1))->wait(kLongEnough));
  EXPECT_EQ(summary()["ranks"], 2 * (kHosts - 1));
  if (GetParam() == std::string("partitioned")) {
    EXPECT_EQ(figures(), straight);
  } else {
    for (const char* part : {"train", "test"}) EXPECT_EQ(figures()[part]["examples"], straight[part]["examples"]);
  }
}

using RunDirectoryOfHosts = JobOnHosts;

TEST_F(RunDirectoryOfHosts, MustBeSharedIfThereAreToBeCheckpoints) {
  hide_run_directory_from("host1");
  expect_failed(
      start_on(kHosts, train({data()}))->wait(kLongEnough), 2,
      ContainsRegex(
          "rank 2 on host1: " + run_directory().string() +
          ": is not the run directory of rank 0 on this host; .* \\(--run\\), or use --checkpoint-every never"));
  EXPECT_THAT(checkpoints(), ::testing::IsEmpty());
  expect_complete(start_on(kHosts, train({data()}, {"--checkpoint-every", "never"}))->wait(kLongEnough));
}

class LostHost : public JobOnHosts, public ::testing::WithParamInterface<int> {
 protected:
  int lost() const { return GetParam(); }

  // A job that is cut in two while it learns. It and all its processes, those on the lost host too, end by themselves.
  Outcome cut_while_it_learns(const Words& more, const Words& settings) {
    Words words{"--passes", "4000000000", "--checkpoint-every", "never"};
    words.insert(words.end(), more.begin(), more.end());
    const auto job = start_on(kHosts, train({data()}, words), settings);
    wait_until_learning();
    hosts().cut(lost());
    return job->wait(kLongEnough, kLongEnough);
  }

  // The ranks that host 0, where mpirun and rank 0 are, hears no more, in a message of one that waits for them.
  std::string missing_ranks() const {
    return lost() == 0 ? "(rank [2-7] on host[1-3](, )?)+" : "(rank [67] on host3(, )?)+";
  }
};

INSTANTIATE_TEST_SUITE_P(, LostHost, ::testing::Values(0, kHosts - 1),
                         [](const auto& test) { return "Host" + std::to_string(test.param); });

TEST_P(LostHost, IsNoticedByMpirun) {
  const Outcome outcome = cut_while_it_learns({"--stall-timeout", "1m"}, kSignsOfLife);
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("ORTE has lost communication with a remote daemon"));
  EXPECT_THAT(outcome.err,
              ContainsRegex("Remote daemon: .* on node " + (lost() == 0 ? "host[123]" : Hosts::name(lost()))));
  expect_no_results();
}

// Where the ranks notice it first, they say so; but then mpirun has bytes under way to the lost host, so nothing asks
// for signs of life any more, and it waits until the system gives up those bytes.
TEST_P(LostHost, IsNoticedByTheRanks) {
  hosts().set_retries(5);
  const Outcome outcome = cut_while_it_learns({"--stall-timeout", "2s"}, {});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(reasons_in(outcome), Contains(ContainsRegex("^cpt_dist: rank [0-7] on host[0-3] has waited [0-9.]+ s in "
                                                          "[a-z0-9: ]+: no sign of " +
                                                          missing_ranks() + "$")))
      << outcome.err;
  expect_no_results();
}

}  // namespace
}  // namespace cpt::testing
