#include "train/dispatcher.h"

#include <array>

#include "core/checked.h"

namespace cpt {

void Dispatcher::read(Feed& feed, std::uint64_t first, std::uint64_t end, const Owners& owners,
                      std::vector<Buffer>& messages, RoundNews& news) {
  std::uint64_t shards_at_last_position = 0;
  std::uint64_t index_in_line = 0;
  Origin last{0, 0, ~std::uint64_t{0}};
  for (Slice slice = feed.next_before(end); slice.size() > 0; slice = feed.next_before(end)) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const ExampleView x = (*slice.batch)[i];
      const bool same_line = x.origin.position == last.position && x.origin.shard == last.shard;
      index_in_line = same_line ? index_in_line + 1 : 0;
      if (x.origin.position != last.position) shards_at_last_position = 0;
      if (!same_line) ++shards_at_last_position;
      last = x.origin;
      const auto slot = narrow<std::uint32_t>(news.examples++, "the examples of a rank in a round");
      send(x, {order_in_round(x.origin, first, index_in_line), slot, learner_.find(x), {}}, owners, messages);
    }
  }
  news.active_shards = shards_at_last_position;
  news.ended = feed.ended() ? 1 : 0;
}

void Dispatcher::send(const ExampleView& x, const Arrival& arrival, const Owners& owners,
                      std::vector<Buffer>& messages) {
  places_.clear();
  std::array<int, 3> to{0, 0, 0};
  if (arrival.label == kNoLabel) {
    append_arrival(arrival, x, {}, x.label, messages[0]);
    return;
  }
  const Tree& tree = learner_.tree();
  tree.path(arrival.label, path_);
  for (std::size_t hop = 0; hop < path_.size(); ++hop) {
    places_.push_back(path_[hop].place);
    if (hop > 0 && hop < to.size()) to[hop] = owners[tree.link(path_[hop].block).partition];
  }
  for (std::size_t stage = 0; stage < to.size(); ++stage) {
    bool sent = stage >= path_.size();
    for (std::size_t before = 0; before < stage; ++before) sent = sent || to[before] == to[stage];
    if (!sent) append_arrival(arrival, x, places_, {}, messages[static_cast<std::size_t>(to[stage])]);
  }
}

}  // namespace cpt
