#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xila/kube/list_watch.hpp"
#include "xila/kube/store.hpp"

namespace xila::kube {

// Reads pages and lines of one kind; what it keeps is all that takes memory.
template <class T>
struct Decoder {
  std::function<base::Result<codec::Page<T>>(std::string_view)> page;
  std::function<base::Result<codec::WatchEvent<T>>(std::string_view)> event;
};

// Hears of each change once, after the store shows it, on the reflector's thread. A relist reports
// what changed meanwhile, deletions too, and nothing else. An object that was replaced under its
// old name is a deletion and an addition.
template <class T>
class Observer {
 public:
  using Entry = typename Store<T>::Entry;

  virtual ~Observer() = default;
  virtual void added(const std::string& key, const Entry& entry) = 0;
  virtual void updated(const std::string& key, const Entry& before, const Entry& now) = 0;
  virtual void removed(const std::string& key, const Entry& before) = 0;
  // A whole list is in the store, and every change of it was reported.
  virtual void synced() {}
};

// Keeps a Store in step with the cluster.
template <class T>
class Reflector final : public WatchSink {
 public:
  using Entry = typename Store<T>::Entry;

  // All references outlive it; one thread, except the store's and health()'s readers.
  Reflector(boost::asio::any_io_executor executor, Transport& transport, Decoder<T> decoder,
            Store<T>& store, telemetry::Metrics& metrics, WatchOptions options)
      : decoder_(std::move(decoder)),
        store_(store),
        list_watch_(std::move(executor), transport, *this, health_, metrics, std::move(options)) {}

  // Before run(); `observer` outlives the reflector.
  void observe(Observer<T>& observer) { observers_.push_back(&observer); }
  boost::asio::awaitable<void> run() { return list_watch_.run(); }
  void stop() { list_watch_.stop(); }
  const WatchHealth& health() const { return health_; }

 private:
  using Map = typename Store<T>::Map;

  static Entry to_entry(codec::Item<T>& item) {
    return {std::move(item.id.uid), std::move(item.id.resource_version), std::move(item.object)};
  }

  std::size_t size() const override { return store_.size(); }
  void begin_list() override { Map().swap(listed_); }

  base::Result<PageHead> take_page(std::string_view text) override {
    base::Result<codec::Page<T>> page = decoder_.page(text);
    if (!page) return std::unexpected(page.error());
    for (codec::Item<T>& item : page->items) {
      std::string key = key_of(item.id);
      listed_.insert_or_assign(std::move(key), to_entry(item));
    }
    return PageHead{std::move(page->resource_version), std::move(page->next)};
  }

  void commit_list() override {
    {
      const std::unique_lock lock(store_.mutex_);
      store_.map_.swap(listed_);
    }
    if (!observers_.empty()) report_differences(listed_);
    Map().swap(listed_);  // frees the old state outside the lock
    for (Observer<T>* observer : observers_) observer->synced();
  }

  // Only this thread writes the store, so it may read it without the lock.
  void report_differences(const Map& before) {
    for (const auto& [key, old] : before) {
      const auto found = store_.map_.find(key);
      if (found == store_.map_.end()) report_removed(key, old);
    }
    for (const auto& [key, entry] : store_.map_) {
      const auto found = before.find(key);
      if (found == before.end()) {
        report_added(key, entry);
      } else {
        report_change(key, found->second, entry);
      }
    }
  }

  base::Result<EventHead> take_event(std::string_view line) override {
    base::Result<codec::WatchEvent<T>> event = decoder_.event(line);
    if (!event) return std::unexpected(event.error());
    EventHead head{event->kind, event->item.id.resource_version, std::move(event->status)};
    if (event->kind == codec::EventKind::added || event->kind == codec::EventKind::modified) {
      put(event->item);
    } else if (event->kind == codec::EventKind::removed) {
      erase(event->item);
    }
    return head;
  }

  void put(codec::Item<T>& item) {
    const std::string key = key_of(item.id);
    Entry entry = to_entry(item);
    std::unique_lock lock(store_.mutex_);
    const auto [place, is_new] = store_.map_.try_emplace(key, std::move(entry));
    if (is_new) {
      lock.unlock();
      return report_added(key, place->second);
    }
    std::swap(place->second, entry);
    lock.unlock();
    report_change(key, entry, place->second);
  }

  void erase(const codec::Item<T>& item) {
    const std::string key = key_of(item.id);
    const auto found = store_.map_.find(key);
    // The end of an object whose successor of the same name is known already.
    if (found == store_.map_.end() || found->second.uid != item.id.uid) return;
    std::unique_lock lock(store_.mutex_);
    const auto node = store_.map_.extract(found);
    lock.unlock();
    report_removed(key, node.mapped());
  }

  void report_added(const std::string& key, const Entry& entry) {
    for (Observer<T>* observer : observers_) observer->added(key, entry);
  }
  void report_removed(const std::string& key, const Entry& before) {
    for (Observer<T>* observer : observers_) observer->removed(key, before);
  }
  void report_change(const std::string& key, const Entry& before, const Entry& now) {
    if (before.uid != now.uid) {
      report_removed(key, before);
      report_added(key, now);
    } else if (before.resource_version != now.resource_version) {
      for (Observer<T>* observer : observers_) observer->updated(key, before, now);
    }
  }

  Decoder<T> decoder_;
  Store<T>& store_;
  WatchHealth health_;
  Map listed_;
  std::vector<Observer<T>*> observers_;
  ListWatch list_watch_;
};

}  // namespace xila::kube
