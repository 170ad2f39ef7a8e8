// Messages whose lengths only their senders know, over MPI. For the mpi*.cpp files alone.
//
// A message travels in pieces of max_message bytes and ends with the first that is shorter, which may be empty. The
// receiver looks for one piece of each sender at a time and makes room for it when it knows its length.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/mpi/mpi_operation.h"

namespace cpt {

// How the messages of one delivery travel.
struct DeliveryRoute {
  MPI_Comm comm;
  int tag;  // that no other delivery or exchange in progress uses
  std::size_t max_message;
};

// What a rank still has to receive.
class MpiArrivals {
 public:
  // Empties the Buffers and fills them as messages arrive; `incoming` stays in place until take() returns true.
  MpiArrivals(const DeliveryRoute& route, std::span<Incoming> incoming);

  // Receives the pieces that have arrived; returns whether all messages are complete. Never blocks. While nothing
  // arrives it asks MPI once, however many messages are missing; while a piece is in progress, once for each missing
  // message.
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

  // Owned by the operation; shared so that others can find out whether it still exists.
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
  // Takes what has come for any of them.
  void advance();

 private:
  std::vector<std::weak_ptr<MpiArrivals>> under_way_;
};

}  // namespace cpt
