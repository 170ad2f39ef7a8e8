#include "train/merge/row_exchange.h"

#include <string>
#include <utility>

#include "cpt/error.h"

namespace cpt {

RowExchange::RowExchange(Communicator& comm, std::uint64_t most)
    : comm_(comm), window_(comm, most * sizeof(RowRecord)), from_ranks_(static_cast<std::size_t>(comm.size())) {}

std::span<RowRecord> RowExchange::shared() const {
  const Bytes area = window_.mine();
  return {reinterpret_cast<RowRecord*>(area.data()), area.size() / sizeof(RowRecord)};
}

// Memory that is used again need not be cleared by the system again.
std::span<RowRecord> RowExchange::room(std::uint64_t records) {
  if (records <= shared().size()) return shared().first(records);
  if (private_.size() < records) private_.resize(records);
  return std::span(private_).first(records);
}

std::uint64_t RowExchange::offset_of(RowRecords records) const {
  const std::span<RowRecord> area = shared();
  const bool is_inside = !area.empty() && records.data() >= area.data() && records.data() < area.data() + area.size();
  return is_inside ? static_cast<std::uint64_t>(records.data() - area.data()) : kNotShared;
}

RowRecords RowExchange::read_in_place(std::size_t rank, const Announcement& announced) const {
  const ConstBytes area = window_.of(static_cast<int>(rank));
  const RowRecords records{reinterpret_cast<const RowRecord*>(area.data()), area.size() / sizeof(RowRecord)};
  if (announced.first > records.size() || announced.records > records.size() - announced.first) {
    throw Error(Fault::kFailed, "protocol error: rows of rank " + std::to_string(rank) + " that it has no room for");
  }
  return records.subspan(announced.first, announced.records);
}

RecordsOfRanks RowExchange::exchange(const RecordsOfRanks& outgoing, const char* call) {
  const std::size_t ranks = outgoing.size();
  const auto self = static_cast<std::size_t>(comm_.rank());
  std::vector<Announcement> mine;
  for (std::size_t r = 0; r < ranks; ++r) {
    const bool in_place = window_.read_by(static_cast<int>(r));
    mine.push_back({outgoing[r].size(), in_place ? offset_of(outgoing[r]) : kNotShared});
  }
  window_.publish();
  std::vector<Announcement> all(ranks * ranks);  // by sender and receiver
  comm_.wait(*comm_.start_all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))), call);
  RecordsOfRanks received(ranks);
  received[self] = outgoing[self];
  std::vector<ConstBytes> sent(ranks);
  std::vector<Bytes> incoming(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == self) continue;
    if (mine[r].first == kNotShared) sent[r] = std::as_bytes(outgoing[r]);
    const Announcement& announced = all[r * ranks + self];
    if (announced.first != kNotShared) {
      received[r] = read_in_place(r, announced);
      continue;
    }
    if (from_ranks_[r].size() < announced.records) from_ranks_[r].resize(announced.records);
    received[r] = RowRecords(from_ranks_[r]).first(announced.records);
    incoming[r] = std::as_writable_bytes(std::span(from_ranks_[r]).first(announced.records));
  }
  comm_.wait(*comm_.start_exchange(std::move(sent), std::move(incoming)), call);
  return received;
}

}  // namespace cpt
