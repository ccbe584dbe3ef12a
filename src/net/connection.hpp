#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>

#include <boost/asio/ip/tcp.hpp>

#include "xila/net/server.hpp"

namespace xila::net {

using boost::asio::ip::tcp;
using SteadyTime = std::chrono::steady_clock::time_point;

// What a connection is waiting for.
enum class Phase : std::uint8_t {
  handshake,
  idle,
  header,
  body,
  answer,  // the handler
  send,    // the peer, which does not read its answer
  skip,    // the rest of a body that was refused, the answer is out
  closing,
};

// Whom a stopping server waits for.
enum class Patience : std::uint8_t { with_newcomers, with_work_only };

// One open connection as its worker sees it. Lives in the coroutine that serves it.
struct Connection {
  tcp::socket* socket = nullptr;
  Phase phase = Phase::handshake;
  SteadyTime since;     // start of the phase, or its last progress
  SteadyTime deadline;  // of the phase; the worker's sweep closes the socket past it
  bool has_asked = false;
  const char* ended_by = nullptr;  // the limit that closed it, for metrics
  std::list<Connection*>::iterator place;
};

// The connections of one thread, and the one place that enforces their deadlines: a timer for each
// operation would cost more than the operations.
class Connections {
 public:
  void add(Connection& connection) { connection.place = open_.insert(open_.end(), &connection); }
  void remove(Connection& connection) { open_.erase(connection.place); }
  std::size_t size() const { return open_.size(); }

  // Closes every socket past its deadline.
  void sweep(SteadyTime now);
  // Closes the connection that is missed least, the one longest so of its kind: first those that
  // ask nothing or have stopped in the middle of asking, then those that idle between requests.
  // False: all are at work.
  bool evict_one(SteadyTime now);
  // Closes those that wait for a request. Returns how many are waited for: those at work, those
  // whose next request has come but is not read yet, and with `with_newcomers` those that have not
  // asked anything yet.
  std::size_t close_idle(Patience patience);
  // Closes all; returns how many were at work.
  std::size_t close_all();

 private:
  Connection* least_missed(SteadyTime now) const;

  std::list<Connection*> open_;
};

// Bytes of request bodies held by all connections of a server.
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t limit) : limit_(limit) {}

  bool has_room_for(std::size_t bytes) const {
    return held_.load(std::memory_order_relaxed) + bytes <= limit_;
  }
  bool take(std::size_t bytes) {
    if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> held_{0};
};

}  // namespace xila::net
