/// The interner of expressions: owns their nodes and the bounds of their symbols.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sym/expr.h"

namespace kiln::sym {

/// Lives as long as any Expr made with it; the root graph owns it by shared_ptr and shares it with bodies. Not
/// thread-safe, not even for reading expressions (limits are cached): what runs concurrently holds Programs.
class Table {
 public:
  Table();
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The symbol of that name. If there is one already, its bounds stay: use `set_bounds` to change them.
  Expr symbol(std::string_view name, Bounds bounds = kAnyExtent);
  /// A new symbol called `hint`, or hint.1, hint.2 ... if that is taken.
  Expr fresh(std::string_view hint, Bounds bounds = kAnyExtent);
  std::optional<Expr> find(std::string_view name) const;
  /// The symbol of a dimension that a program or a model calls so. It is none that `fresh` has made, whatever those are
  /// called.
  Expr dimension(std::string_view name);
  /// Calls a symbol `hint`, or as `fresh` would.
  void rename(Expr symbol, std::string_view hint);

  /// Replaces a symbol's bounds and forgets what was derived from them. Simplifications that relied on the former
  /// bounds stay made; so if there were any, bounds beyond those are an error and nothing changes. Narrowing always
  /// succeeds. `opt` is free.
  Status set_bounds(Expr symbol, Bounds bounds);
  Bounds bounds(Expr symbol) const;

  std::span<const Expr> symbols() const;  ///< by symbol id

  struct Impl;
  Impl& impl() { return *impl_; }  ///< for this folder

 private:
  std::string free_name(std::string_view hint);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::sym
