#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "fakes/scripted_server.hpp"
#include "xila/kube/cluster_access.hpp"
#include "xila/kube/transport.hpp"

namespace xila::kube {

using namespace std::chrono_literals;
using test::ScriptedServer;
using test::ServerRequest;
using test::ServerSession;

inline net::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// Runs one coroutine to its end, on this thread.
template <class T>
T run(boost::asio::io_context& io, boost::asio::awaitable<T> work) {
  std::optional<T> result;
  boost::asio::co_spawn(io, std::move(work), [&](std::exception_ptr failure, T value) {
    if (failure) std::rethrow_exception(failure);
    result = std::move(value);
  });
  io.restart();
  while (!result && io.run_one() > 0) continue;
  return std::move(*result);
}

// For what another thread brings about and nothing announces. False when the time is up.
inline bool eventually(const std::function<bool()>& holds,
                       std::chrono::milliseconds patience = 20s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "xila-guard-kube-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

// Access to a server over plain HTTP.
inline ClusterAccess access_to(const ScriptedServer& server) {
  ClusterAccess access;
  access.server = net::parse_url(server.url()).value().origin;
  return access;
}

// Documents as an API server writes them.

inline std::string object_json(const std::string& name, int version, const std::string& labels = "",
                               const std::string& uid = "") {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + (uid.empty() ? "uid-" + name : uid) +
         R"(","resourceVersion":")" + std::to_string(version) + R"(","labels":{)" + labels + "}}}";
}

inline std::string tenant_label(const std::string& tenant) {
  return R"("guard.xila.us/tenant":")" + tenant + "\"";
}

inline std::string list_json(int version, const std::vector<std::string>& items,
                             const std::string& next = "") {
  std::string text = R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
                     R"(","continue":")" + next + R"("},"items":[)";
  for (const std::string& item : items) text += (text.back() == '[' ? "" : ",") + item;
  return text + "]}";
}

inline std::string event_json(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

inline std::string bookmark_json(int version) {
  return event_json("BOOKMARK",
                    R"({"metadata":{"resourceVersion":")" + std::to_string(version) + "\"}}");
}

inline std::string status_json(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":)" +
         std::to_string(code) + R"(,"reason":")" + reason + R"(","message":")" + message + "\"}";
}

}  // namespace xila::kube
