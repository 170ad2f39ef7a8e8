#include "comm/mpi_delivery.h"

#include <algorithm>

namespace cpt {

MpiArrivals::MpiArrivals(const DeliveryRoute& route, std::span<Incoming> incoming) : route_(route) {
  missing_.reserve(incoming.size());
  for (Incoming& message : incoming) {
    message.bytes.clear();
    missing_.push_back({message.from, &message.bytes, MPI_REQUEST_NULL, false});
  }
}

bool MpiArrivals::take() {
  for (std::size_t i = 0; i < missing_.size();) {
    if (!take_from(missing_[i])) {
      ++i;
      continue;
    }
    missing_[i] = missing_.back();
    missing_.pop_back();
  }
  return missing_.empty();
}

bool MpiArrivals::take_from(Sender& sender) const {
  // The buffer may move when it grows, so the next piece waits until this one is in it.
  while (sender.piece != MPI_REQUEST_NULL || start_piece(sender)) {
    int here = 0;
    check_mpi(MPI_Test(&sender.piece, &here, MPI_STATUS_IGNORE), "MPI_Test");
    if (here == 0) return false;
    if (sender.last) return true;
  }
  return false;
}

bool MpiArrivals::start_piece(Sender& sender) const {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(sender.rank, route_.tag, route_.comm, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return false;
  int count = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  const auto length = static_cast<std::size_t>(count);
  const Bytes room = sender.bytes->extend(length);
  check_mpi(MPI_Imrecv(room.data(), count, MPI_BYTE, &message, &sender.piece), "MPI_Imrecv");
  sender.last = length < route_.max_message;
  return true;
}

MpiDelivery::MpiDelivery(const DeliveryRoute& route, std::span<const Outgoing> outgoing, std::span<Incoming> incoming)
    : arrivals_(std::make_shared<MpiArrivals>(route, incoming)) {
  for (const Outgoing& message : outgoing) {
    ConstBytes rest = message.bytes;
    ConstBytes piece;
    do {
      piece = rest.first(std::min(route.max_message, rest.size()));
      rest = rest.subspan(piece.size());
      check_mpi(
          MPI_Isend(piece.data(), mpi_count(piece.size()), MPI_BYTE, message.to, route.tag, route.comm, sends_.add()),
          "MPI_Isend");
    } while (piece.size() == route.max_message);
  }
}

bool MpiDelivery::done() {
  const bool sent = sends_.done();
  return arrivals_->take() && sent;
}

std::unique_ptr<Operation> MpiDeliveries::begin(const DeliveryRoute& route, std::span<const Outgoing> outgoing,
                                                std::span<Incoming> incoming) {
  std::erase_if(under_way_, [](const auto& arrivals) { return arrivals.expired(); });
  auto delivery = std::make_unique<MpiDelivery>(route, outgoing, incoming);
  if (!incoming.empty()) under_way_.push_back(delivery->arrivals());
  return delivery;
}

void MpiDeliveries::advance() {
  std::erase_if(under_way_, [](const auto& weak) {
    const std::shared_ptr<MpiArrivals> arrivals = weak.lock();
    return arrivals == nullptr || arrivals->take();
  });
}

}  // namespace cpt
