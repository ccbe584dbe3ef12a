#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace xila::base {

// A value that readers share and that is swapped whole. A reader keeps what it loaded for as long
// as it likes. Empty until the first store.
//
// Not std::atomic<std::shared_ptr>: in libstdc++ 12 its load() unlocks without release, so that a
// reader races with the next store by the letter of the memory model, and ThreadSanitizer says so.
template <class T>
class Current {
 public:
  std::shared_ptr<const T> load() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  void store(std::shared_ptr<const T> value) {
    {
      const std::lock_guard lock(mutex_);
      value_.swap(value);
    }
    // What it held before ends here, outside the lock, if no reader has it.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace xila::base
