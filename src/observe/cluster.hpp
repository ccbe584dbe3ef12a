#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "records.hpp"
#include "xila/codec/object_meta.hpp"

namespace xila::observe {

// The bound Pods, the nodes and the namespaces, with who is where. Knows nothing of policy.
//
// A record's address is its own for as long as it lives.
class Cluster {
 public:
  // Whether anything that a judgement reads is another than before.
  enum class Put : std::uint8_t { same, changed, added };

  struct PodPut {
    Put what = Put::same;
    PodRecord* pod = nullptr;
  };

  // A Pod that is bound and lives; `settle` is how long a binding must stand.
  PodPut put_pod(const codec::ObjectId& id, codec::LivePod live, std::uint32_t list,
                 std::chrono::milliseconds settle, const Now& now);
  PodRecord* find_pod(const codec::ObjectId& id);
  // Takes the Pod out of its node and namespace and gives it back with all that it holds.
  std::unique_ptr<PodRecord> remove_pod(PodRecord& pod);

  NodeRecord& node(std::string_view name);
  SpaceRecord& space(std::string_view name);
  NodeRecord* find_node(std::string_view name);
  SpaceRecord* find_space(std::string_view name);
  // Forgets them where neither the cluster nor a Pod knows them any more.
  void drop_if_unused(NodeRecord& node);
  void drop_if_unused(SpaceRecord& space);

  // Those that were not in list number `list`.
  std::vector<PodRecord*> pods_not_in(std::uint32_t list);
  std::vector<NodeRecord*> nodes_not_in(std::uint32_t list);
  std::vector<SpaceRecord*> spaces_not_in(std::uint32_t list);

  std::vector<std::string> node_names() const;
  template <class Use>
  void each_pod(Use use) const {
    for (const auto& [key, pod] : pods_) use(*pod);
  }
  template <class Use>
  void each_space(Use use) {
    for (auto& [name, space] : spaces_) use(space);
  }
  std::size_t pods() const { return pods_.size(); }
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t spaces() const { return spaces_.size(); }

  TextPool& texts() { return texts_; }

 private:
  void place(PodRecord& pod, NodeRecord& node, SpaceRecord& space);

  // First: the records below hold handles of these.
  TextPool texts_;
  ShapePool shapes_;
  std::unordered_map<std::string, NodeRecord, TextHash, std::equal_to<>> nodes_;
  std::unordered_map<std::string, SpaceRecord, TextHash, std::equal_to<>> spaces_;
  std::unordered_map<std::string_view, std::unique_ptr<PodRecord>> pods_;  // by their own keys
};

// Only such Pods are kept.
bool is_bound_and_alive(const codec::LivePod& live);

}  // namespace xila::observe
