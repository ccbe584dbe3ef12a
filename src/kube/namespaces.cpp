#include "namespaces.hpp"

#include "xila/policy/label_selector.hpp"

namespace xila::kube {
namespace {

codec::Item<PackedLabels> pack(codec::Item<codec::ObjectMeta>& item) {
  return {std::move(item.id), PackedLabels(item.object.labels)};
}

base::Result<codec::Page<PackedLabels>> read_page(std::string_view text) {
  base::Result<codec::Page<codec::ObjectMeta>> page = codec::decode_metadata_page(text);
  if (!page) return std::unexpected(page.error());
  codec::Page<PackedLabels> packed{std::move(page->resource_version), std::move(page->next), {}};
  packed.items.reserve(page->items.size());
  for (codec::Item<codec::ObjectMeta>& item : page->items) packed.items.push_back(pack(item));
  return packed;
}

base::Result<codec::WatchEvent<PackedLabels>> read_event(std::string_view line) {
  base::Result<codec::WatchEvent<codec::ObjectMeta>> event = codec::decode_metadata_event(line);
  if (!event) return std::unexpected(event.error());
  return codec::WatchEvent<PackedLabels>{event->kind, pack(event->item), std::move(event->status)};
}

}  // namespace

Decoder<PackedLabels> namespace_decoder() {
  return {read_page, read_event};
}

policy::TenantResolution tenant_of(const PackedLabels& labels, const std::string& label) {
  const std::optional<std::string_view> value = labels.find(label);
  if (!value) return policy::TenantResolution::unresolved("it has no label " + label);
  if (value->empty()) {
    return policy::TenantResolution::unresolved("its label " + label + " is empty");
  }
  if (!policy::validate_label_value(*value)) {  // no API server stores one
    return policy::TenantResolution::unresolved("its label " + label + " has no valid value");
  }
  return policy::TenantResolution::resolved(std::string(*value));
}

}  // namespace xila::kube
