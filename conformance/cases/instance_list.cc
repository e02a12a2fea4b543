#include "instance_list.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kiln {
namespace {

constexpr const char* kHeading =
    "# The kernel instances that networks and case tables select: architecture, configuration and, behind the bar, "
    "who\n"
    "# selects it. Written by `./dev instances`; conformance.cuda_code and conformance.cuda_networks compare and "
    "compile.\n";

struct Instance {
  std::string arch, configuration;
  auto operator<=>(const Instance&) const = default;
};
using List = std::map<Instance, std::set<std::string>>;

Result<List> read_list() {
  std::ifstream file(KILN_INSTANCES);
  TRY(require(file.good() || updates_instances(), "cannot read '", KILN_INSTANCES, "'; ./dev instances writes it"));
  List list;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t space = line.find(' '), bar = line.find(" | ");
    TRY(require(space < bar && bar != line.npos, KILN_INSTANCES, ": '", line, "' is no instance"));
    std::istringstream users(line.substr(bar + 3));
    auto& known = list[{line.substr(0, space), line.substr(space + 1, bar - space - 1)}];
    for (std::string user; users >> user;) known.insert(user);
  }
  return list;
}

Status write_list(const List& list) {
  std::ofstream file(KILN_INSTANCES);
  file << kHeading;
  for (const auto& [instance, users] : list) {
    if (users.empty()) continue;
    file << instance.arch << ' ' << instance.configuration << " |";
    for (const std::string& user : users) file << ' ' << user;
    file << '\n';
  }
  return require(file.flush().good(), "cannot write '", KILN_INSTANCES, "'");
}

}  // namespace

bool updates_instances() { return std::getenv("KILN_UPDATE_INSTANCES") != nullptr; }

Status check_instances(const std::string& arch, const std::set<std::string>& users, const InstanceUsers& found) {
  List list = TRY(read_list());
  std::string differences;
  int count = 0;
  const auto differs = [&](std::string_view how, const std::string& configuration, const std::string& user) {
    if (++count <= 20) differences += str("\n  ", how, ' ', arch, ' ', configuration, " | ", user);
  };
  for (auto& [instance, listed] : list) {
    if (instance.arch != arch) continue;
    const auto now = found.find(instance.configuration);
    for (const std::string& user : users)
      if (listed.contains(user) && !(now != found.end() && now->second.contains(user))) {
        differs("not compiled:", instance.configuration, user);
        listed.erase(user);
      }
  }
  for (const auto& [configuration, now] : found)
    for (const std::string& user : now)
      if (list[{arch, configuration}].insert(user).second) differs("not listed:", configuration, user);
  if (updates_instances()) return write_list(list);
  return require(count == 0, count, " differences between cuda_instances.txt and what is selected; ./dev instances",
                 " writes the list anew:", differences);
}

}  // namespace kiln
