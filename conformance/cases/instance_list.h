/// The checked-in list of kernel instances that networks and cases select: cuda_instances.txt, written by
/// `./dev instances`.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/error.h"

namespace kiln {

/// Users of each configuration, as Compiler::note_configurations has it ("cases", "mnist.fp16").
using InstanceUsers = std::map<std::string, std::set<std::string>>;

/// Whether the list is to be written anew: KILN_UPDATE_INSTANCES is set.
bool updates_instances();

/// Compares what `users` of one architecture select with what the list says of them, and names each difference; or
/// writes it down, if that is asked for. What other users select stays.
Status check_instances(const std::string& arch, const std::set<std::string>& users, const InstanceUsers& found);

}  // namespace kiln
