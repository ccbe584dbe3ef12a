#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "engine.hpp"
#include "xila/codec/live_pod.hpp"
#include "xila/codec/object_meta.hpp"
#include "xila/codec/storage.hpp"
#include "xila/kube/list_watch.hpp"

namespace xila::observe {

// How one kind of object goes into the engine.
template <class T>
struct Kind {
  base::Result<codec::Page<T>> (*page)(std::string_view);
  base::Result<codec::WatchEvent<T>> (*event)(std::string_view);
  void (*put)(Engine&, const codec::ObjectId&, T, std::uint32_t list, const Now&);
  void (*remove)(Engine&, const codec::ObjectId&, const Now&);
  void (*keep)(Engine&, std::uint32_t list, const Now&);  // what was in the list, and no other
  std::size_t (*size)(const Engine&);
};

// Around what a feed does to the engine.
struct FeedHooks {
  std::function<Now()> begin;  // says how far the caches can be trusted, and the time
  std::function<void()> end;   // reports what came of it
};

// Puts what a list and its watch bring straight into the engine, which keeps of each object what it
// needs and no more: a Store beside it would hold everything twice. A list goes in page by page, as
// the newest state of each object; only its end can say what is gone.
template <class T>
class Feed final : public kube::WatchSink {
 public:
  // All references outlive it.
  Feed(Engine& engine, const Kind<T>& kind, const FeedHooks& hooks)
      : engine_(engine), kind_(kind), hooks_(hooks) {}

  void begin_list() override { list_ = engine_.begin_list(); }

  base::Result<PageHead> take_page(std::string_view text) override {
    base::Result<codec::Page<T>> page = kind_.page(text);
    if (!page) return std::unexpected(page.error());
    const Now now = hooks_.begin();
    for (codec::Item<T>& item : page->items) {
      kind_.put(engine_, item.id, std::move(item.object), list_, now);
    }
    hooks_.end();
    return PageHead{std::move(page->resource_version), std::move(page->next)};
  }

  void commit_list() override {
    const Now now = hooks_.begin();
    kind_.keep(engine_, list_, now);
    hooks_.end();
  }

  base::Result<EventHead> take_event(std::string_view line) override {
    base::Result<codec::WatchEvent<T>> event = kind_.event(line);
    if (!event) return std::unexpected(event.error());
    EventHead head{event->kind, event->item.id.resource_version, std::move(event->status)};
    const bool is_put =
        event->kind == codec::EventKind::added || event->kind == codec::EventKind::modified;
    if (!is_put && event->kind != codec::EventKind::removed) return head;
    const Now now = hooks_.begin();
    if (is_put) {
      kind_.put(engine_, event->item.id, std::move(event->item.object), list_, now);
    } else {
      kind_.remove(engine_, event->item.id, now);
    }
    hooks_.end();
    return head;
  }

  std::size_t size() const override { return kind_.size(engine_); }

 private:
  Engine& engine_;
  const Kind<T>& kind_;
  const FeedHooks& hooks_;
  std::uint32_t list_ = 0;
};

// Each kind that is watched, and what is asked of the API server for it.
extern const Kind<codec::LivePod> kPods;
extern const Kind<codec::ObjectMeta> kNodes;
extern const Kind<codec::ObjectMeta> kSpaces;
extern const Kind<codec::VolumeClaim> kClaims;
extern const Kind<codec::PersistentVolume> kVolumes;

kube::WatchOptions pod_watch();
kube::WatchOptions node_watch();
kube::WatchOptions space_watch();
kube::WatchOptions claim_watch();
kube::WatchOptions volume_watch();

}  // namespace xila::observe
