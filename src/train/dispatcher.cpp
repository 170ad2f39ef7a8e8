#include "train/dispatcher.h"

#include <algorithm>
#include <array>

#include "core/checked.h"

namespace cpt {

namespace {
constexpr std::size_t kLabelsAhead = 8;
}

void Dispatcher::read(Feed& feed, std::uint64_t first, std::uint64_t end, const Owners& owners,
                      std::vector<Buffer>& messages, RoundNews& news) {
  for (ArrivalWriter& writer : writers_) writer.begin_message();
  std::uint64_t shards_at_last_position = 0;
  std::uint64_t index_in_line = 0;
  Origin last{0, 0, ~std::uint64_t{0}};
  for (Slice slice = feed.next_before(end); slice.size() > 0; slice = feed.next_before(end)) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const ExampleView x = (*slice.batch)[i];
      if (i + kLabelsAhead < slice.end) learner_.labels().prefetch((*slice.batch)[i + kLabelsAhead].label_hash);
      const bool same_line = x.origin.position == last.position && x.origin.shard == last.shard;
      index_in_line = same_line ? index_in_line + 1 : 0;
      if (x.origin.position != last.position) shards_at_last_position = 0;
      if (!same_line) ++shards_at_last_position;
      last = x.origin;
      const auto slot = narrow<std::uint32_t>(news.examples++, "the examples of a rank in a round");
      const std::uint64_t order = make_order(x.origin.position - first, x.origin.shard, index_in_line);
      Arrival arrival{.order = order, .slot = slot, .label = learner_.find(x), .example = {}};
      send(x, arrival, owners, messages);
    }
  }
  news.active_shards = shards_at_last_position;
  news.ended = feed.ended() ? 1 : 0;
}

void Dispatcher::send(const ExampleView& x, const Arrival& arrival, const Owners& owners,
                      std::vector<Buffer>& messages) {
  const auto write = [&](int rank, std::string_view name) {
    const auto to = static_cast<std::size_t>(rank);
    writers_[to].append(arrival, x, places_, name, messages[to]);
  };
  places_.clear();
  if (arrival.label == kNoLabel) return write(0, x.label);
  const Tree& tree = learner_.tree();
  tree.path(arrival.label, path_);
  std::array<int, 3> to{};  // rank 0 for the root, then the owners at level 1 and below
  for (std::size_t hop = 0; hop < path_.size(); ++hop) {
    places_.push_back(path_[hop].place);
    if (hop > 0 && hop < to.size()) to[hop] = owners[tree.link(path_[hop].block).partition];
  }
  for (std::size_t stage = 0; stage < std::min(to.size(), path_.size()); ++stage) {
    if (std::find(to.begin(), to.begin() + stage, to[stage]) == to.begin() + stage) write(to[stage], {});
  }
}

}  // namespace cpt
