// INetworkDefinition's calls that are not in Kiln yet: each says so.
#include "api/build/network.h"

namespace kiln::api {

bool Network::markWeightsRefittable(const char*) noexcept {
  return missing(reporter_, "INetworkDefinition::markWeightsRefittable", false);
}
bool Network::unmarkWeightsRefittable(const char*) noexcept {
  return missing(reporter_, "INetworkDefinition::unmarkWeightsRefittable", false);
}

}  // namespace kiln::api
