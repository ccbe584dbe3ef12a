#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "pool.hpp"
#include "xila/policy/check.hpp"
#include "xila/policy/pod.hpp"

namespace xila::observe {

// Labels in shared texts: the same keys and most values stand on thousands of objects.
using CompactLabels = std::vector<std::pair<Text, Text>>;

CompactLabels compact(TextPool& pool, const policy::Labels& labels);

// Those of `labels` that have one of `keys`, in the labels' order.
policy::Labels project(const CompactLabels& labels, const std::vector<Text>& keys);

// What the boundary checks read of a Pod besides its names and labels: the same for all Pods of a
// template.
struct Shape {
  policy::Pod pod;
  policy::Violations malformed;

  bool operator==(const Shape&) const = default;
};

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const;
};

using ShapePool = Pool<Shape, ShapeHash, std::equal_to<Shape>>;
using SharedShape = ShapePool::Handle;

// Leaves out what tells Pods of a template apart and what no judgement of a bound Pod reads: names,
// labels, other owners than the controlling one, volumes that are no path of the node (each Pod has
// one of its own for its token), and what pins it to nodes, which is not judged after binding.
Shape shape_of(policy::Pod pod, policy::Violations malformed);

}  // namespace xila::observe
