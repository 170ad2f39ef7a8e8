#include "comm/mpi/mpi_messages.h"

#include <algorithm>
#include <string>

#include "core/checked.h"

namespace cpt {
namespace {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

void check_mpi(int code, const char* function) {
  if (code != MPI_SUCCESS) throw Error(Fault::kFailed, std::string(function) + ": " + error_text(code));
}

int mpi_count(std::size_t bytes) { return narrow<int>(bytes, "the length of a message"); }

MPI_Request* MpiOperation::add(int expected) {
  expected_.push_back(expected);
  requests_.push_back(MPI_REQUEST_NULL);
  return &requests_.back();
}

bool MpiOperation::done() {
  if (requests_.empty()) return true;
  int all_done = 0;
  statuses_.resize(requests_.size());
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done, statuses_.data());
  if (code == MPI_ERR_IN_STATUS) refuse_failed();
  check_mpi(code, "MPI_Testall");
  if (all_done == 0) return false;
  check_lengths();
  requests_.clear();
  return true;
}

void MpiOperation::refuse_failed() const {
  for (const MPI_Status& status : statuses_) {
    if (status.MPI_ERROR != MPI_ERR_PENDING) check_mpi(status.MPI_ERROR, "a message");
  }
  throw Error(Fault::kFailed, "MPI_Testall reports an error that no message has");
}

void MpiOperation::check_lengths() const {
  for (std::size_t i = 0; i < statuses_.size(); ++i) {
    if (expected_[i] == kNotReceiving) continue;
    int received = 0;
    check_mpi(MPI_Get_count(&statuses_[i], MPI_BYTE, &received), "MPI_Get_count");
    if (received == expected_[i]) continue;
    throw Error(Fault::kFailed, "exchange: rank " + std::to_string(statuses_[i].MPI_SOURCE) + " sent " +
                                    std::to_string(received) + " bytes where " + std::to_string(expected_[i]) +
                                    " were expected");
  }
}

MpiArrivals::MpiArrivals(const DeliveryRoute& route, std::span<Incoming> incoming) : route_(route) {
  missing_.reserve(incoming.size());
  for (Incoming& message : incoming) {
    message.bytes.clear();
    missing_.push_back({message.from, &message.bytes, MPI_REQUEST_NULL, false});
  }
}

bool MpiArrivals::take() {
  do {
    end_pieces();
    if (missing_.empty()) return true;
  } while (start_pieces());
  return false;
}

bool MpiArrivals::is_under_way() const {
  return std::ranges::any_of(missing_, [](const Sender& sender) { return sender.piece != MPI_REQUEST_NULL; });
}

void MpiArrivals::end_pieces() {
  std::erase_if(missing_, [](Sender& sender) {
    if (sender.piece == MPI_REQUEST_NULL) return false;
    int here = 0;
    check_mpi(MPI_Test(&sender.piece, &here, MPI_STATUS_IGNORE), "MPI_Test");
    return here != 0 && sender.last;
  });
}

// A buffer may move when it grows, so the next piece of a sender waits until the previous one is complete.
bool MpiArrivals::start_pieces() {
  if (!is_under_way()) return start_piece(MPI_ANY_SOURCE);
  bool started = false;
  for (const Sender& sender : missing_) {
    if (sender.piece == MPI_REQUEST_NULL) started |= start_piece(sender.rank);
  }
  return started;
}

bool MpiArrivals::start_piece(int rank) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(rank, route_.tag, route_.comm, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return false;
  const auto sender = std::ranges::find(missing_, status.MPI_SOURCE, &Sender::rank);
  if (sender == missing_.end()) {
    throw Error(Fault::kFailed, "rank " + std::to_string(status.MPI_SOURCE) + " sent a message that was not expected");
  }
  int count = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  const auto length = static_cast<std::size_t>(count);
  const Bytes room = sender->bytes->extend(length);
  check_mpi(MPI_Imrecv(room.data(), count, MPI_BYTE, &message, &sender->piece), "MPI_Imrecv");
  sender->last = length < route_.max_message;
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
