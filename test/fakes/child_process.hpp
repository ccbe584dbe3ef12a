#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

extern char** environ;

namespace xila::test {

// A child whose stdout can be read line by line; ended with its parent's interest in it.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    if (::posix_spawnp(&id_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
      id_ = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~ChildProcess() {
    end();
    if (output_) std::fclose(output_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Kills it; a reader of its output sees the end.
  void end() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = -1;
  }
  // True once it has ended, also by itself.
  bool has_ended() {
    if (id_ > 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = -1;
    return id_ <= 0;
  }
  // The next line of its stdout, waiting for it; "" = it has closed it.
  std::string read_line() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) {
      line += static_cast<char>(c);
    }
    return line;
  }

 private:
  pid_t id_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace xila::test
