/// The inside of a Table. Not for other folders.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sym/facts.h"
#include "sym/node.h"
#include "sym/table.h"

namespace kiln::sym {

struct OperationKey {
  Kind kind;
  bool is_atom;  // a product that was too large to expand is not the monomial that is written alike
  Expr lhs, rhs;
  bool operator==(const OperationKey&) const = default;
};

struct OperationHash {
  static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
    return hash ^ (hash >> 29);
  }
  static uint64_t word(Expr e) { return e.node() ? reinterpret_cast<uintptr_t>(e.node()) : ~uint64_t(e.value()); }
  size_t operator()(const OperationKey& key) const {
    return mix(mix(2 * static_cast<uint64_t>(key.kind) + key.is_atom + 1, word(key.lhs)), word(key.rhs));
  }
};

struct LearnedFact {
  Fact fact;
  bool is_relied_on = false;
};

struct Table::Impl {
  std::deque<Node> nodes;                                                   // addresses stay
  std::unordered_map<OperationKey, const Node*, OperationHash> operations;  // looked up, never iterated
  std::vector<Expr> symbols;
  std::map<std::string, int, std::less<>> by_name;
  std::map<std::string, int, std::less<>> dimensions;  // symbol ids by the names that others gave
  std::map<std::string, int, std::less<>> next_suffix;
  std::vector<std::optional<Bounds>> relied;  // by symbol id: what simplifications relied on last, the narrowest
  std::vector<LearnedFact> facts;
  uint64_t bounds_version = 1;  // of the facts, too
  uint64_t num_visits = 0;
};

}  // namespace kiln::sym
