#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace xila::observe {

// Values that many records share, each kept once for as long as somebody holds it: the records of
// 100,000 Pods would not fit otherwise. For one thread.
template <class T, class Hash, class Equal>
class Pool {
  struct Use {
    std::size_t count = 0;
    Pool* pool = nullptr;
  };
  using Map = std::unordered_map<T, Use, Hash, Equal>;
  using Node = typename Map::value_type;

 public:
  // A value of the pool, or the empty one. Two of one pool are equal where their values are.
  class Handle {
   public:
    Handle() = default;
    Handle(const Handle& other) : node_(other.node_) { hold(); }
    Handle(Handle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Handle& operator=(Handle other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Handle() {
      if (node_ != nullptr && --node_->second.count == 0) node_->second.pool->drop(*node_);
    }

    const T& operator*() const {
      static const T empty{};
      return node_ == nullptr ? empty : node_->first;
    }
    const T* operator->() const { return &**this; }
    bool operator==(const Handle& other) const { return node_ == other.node_; }

   private:
    friend class Pool;
    explicit Handle(Node* node) : node_(node) { hold(); }
    void hold() {
      if (node_ != nullptr) ++node_->second.count;
    }

    Node* node_ = nullptr;
  };

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // The handle of `value`, which must not be the empty value: that one is Handle().
  template <class Value>
  Handle get(Value&& value) {
    auto found = map_.find(value);
    if (found == map_.end()) {
      found = map_.emplace(T(std::forward<Value>(value)), Use{0, this}).first;
    }
    return Handle(&*found);
  }
  std::size_t size() const { return map_.size(); }

 private:
  void drop(const Node& node) { map_.erase(map_.find(node.first)); }

  Map map_;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

using TextPool = Pool<std::string, TextHash, std::equal_to<>>;
using Text = TextPool::Handle;

inline Text intern(TextPool& pool, std::string_view text) {
  return text.empty() ? Text() : pool.get(text);
}

}  // namespace xila::observe
