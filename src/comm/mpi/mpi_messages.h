// Messages in progress over MPI, and how its errors become ours. Only the mpi*.cpp files include this.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"

namespace cpt {

// Throws Error(kFailed) with MPI's own text if `code`, the result of `function`, is not success.
void check_mpi(int code, const char* function);

// `bytes` as a count of MPI, an int; Communicator::kMaxMessage is far below its maximum.
int mpi_count(std::size_t bytes);

// A group of MPI's non-blocking operations; done when all of them are.
class MpiOperation : public Operation {
 public:
  // Adds a request that must receive `expected` bytes. The address is valid until the next call.
  static constexpr int kNotReceiving = -1;
  MPI_Request* add(int expected = kNotReceiving);

  bool done() override;

 private:
  [[noreturn]] void refuse_failed() const;
  // MPI reports a message that is too long, but not one that is too short.
  void check_lengths() const;

  std::vector<MPI_Request> requests_;
  std::vector<int> expected_;         // by request
  std::vector<MPI_Status> statuses_;  // by request, of the last call of done()
};

// How the messages of one delivery are sent: messages whose lengths only their senders know. A message travels in
// pieces of max_message bytes, and ends with the first shorter piece, which may be empty. The receiver probes for one
// piece of each sender at a time, and makes room for it when it knows its length.
struct DeliveryRoute {
  MPI_Comm comm;
  int tag;  // of no other delivery or exchange in progress
  std::size_t max_message;
};

// The messages of a delivery that this rank still has to receive.
class MpiArrivals {
 public:
  // Empties the Buffers and fills them as messages arrive. `incoming` must stay in place until take() returns true.
  MpiArrivals(const DeliveryRoute& route, std::span<Incoming> incoming);

  // Receives the pieces that have arrived; returns whether all messages are complete. Never blocks. While nothing
  // arrives it calls MPI once, for any number of missing messages; while a piece is in progress, once for each.
  bool take();

 private:
  struct Sender {
    int rank;
    Buffer* bytes;
    MPI_Request piece;  // being received, or MPI_REQUEST_NULL
    bool last;          // whether it is the message's last piece
  };

  // Starts to receive the next piece of a rank, or of any rank, if one has arrived.
  bool start_piece(int rank);
  // Starts the next piece of every sender without one in progress.
  bool start_pieces();
  // Completes the pieces in progress that have arrived.
  void end_pieces();
  bool is_under_way() const;

  DeliveryRoute route_;
  std::vector<Sender> missing_;
};

class MpiDelivery : public Operation {
 public:
  MpiDelivery(const DeliveryRoute& route, std::span<const Outgoing> outgoing, std::span<Incoming> incoming);

  bool done() override;

  // Owned by the operation; shared so that MpiDeliveries can see whether it still exists.
  const std::shared_ptr<MpiArrivals>& arrivals() const { return arrivals_; }

 private:
  MpiOperation sends_;
  std::shared_ptr<MpiArrivals> arrivals_;
};

// The deliveries of a communicator that may be in progress.
class MpiDeliveries {
 public:
  std::unique_ptr<Operation> begin(const DeliveryRoute& route, std::span<const Outgoing> outgoing,
                                   std::span<Incoming> incoming);
  // Receives what has arrived for any of them.
  void advance();

 private:
  std::vector<std::weak_ptr<MpiArrivals>> under_way_;
};

}  // namespace cpt
