/// A body that runs again and again.
#pragma once

#include "ops/bodies.h"
#include "ops/op.h"

namespace kiln::ops {

/// Runs its body until the count is reached, a scanned tensor is at its end, or the condition is false.
///   in   count      i32 or i64, one element; absent: no limit. A negative one is none at all
///        condition  bool, one element: whether there is a first iteration; absent: there is
///        carried    `carried` values, that of each iteration the result of the one before
///        scanned    a slice along axis 0 for each iteration: `scans` has 1 where they come in order, -1 in reverse
///        captured   any number, the same for all iterations
///   out  carried    after the last iteration
///        stacked    of each iteration's results along a new axis 0; `stacks` has 1 or -1 likewise. Only a loop whose
///                   count is known when it begins, and that no condition ends, can stack in reverse
/// The body's inputs are the iteration's number (i64, rank 0), the carried values, the slices, and what is captured;
/// its outputs the condition for another iteration (bool, one element; only if `tests`), the carried values, and what
/// is stacked. Where there is a second body, it runs before each iteration with the inputs of the first and says
/// whether to go on: its only output is a bool. A while loop is made of it.
/// `decided` lists axes of outputs whose extent the run decides: of a carried value, one that changes from iteration to
/// iteration; of a stacked one, axis 0 where nothing but the run tells how many iterations there are, and whatever
/// the body decides. The body sees a carried extent as the same symbol, of its iteration. `most` has a bound of each.
struct Loop {
  static constexpr std::string_view name = "Loop";
  static constexpr int min_inputs = 2, max_inputs = -1;
  int carried = 0;
  std::vector<int> scans, stacks;
  bool tests = false;
  std::vector<DecidedAxis> decided;
  std::vector<sym::Expr> most;
  std::vector<int> elements;  ///< inputs of the body whose elements it knows while its shapes are found

  static void reflect(auto& self, auto f) {
    f("carried", self.carried), f("scans", self.scans), f("stacks", self.stacks), f("tests", self.tests);
    f("decided", self.decided), f("most", self.most), f("elements", self.elements);
  }
  int num_outputs() const { return carried + static_cast<int>(stacks.size()); }
  /// The positions of inputs: the first carried one, the first scanned, the first captured one.
  static constexpr int kFirstCarried = 2;
  int first_scanned() const { return kFirstCarried + carried; }
  int first_captured() const { return first_scanned() + static_cast<int>(scans.size()); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

/// The number of iterations if nothing but a count and the extents of scanned tensors decides it, or else a bound of
/// it; nothing where there is none.
struct TripCount {
  std::optional<sym::Expr> most;
  bool is_exact = false;
};
Result<TripCount> trip_count(const Loop& loop, InferContext& cx);
/// How many elements of a body's input its shapes may depend on: of a single integer, or of a list as short as one of
/// extents. 0: it is neither.
int num_followed(const TensorType& input);
/// A type of what enters an iteration, with symbols for the elements that are followed.
TensorType with_followed_elements(InferContext& cx, TensorType type);
/// The bounds of an iteration's number, of which there are `trips` at most, if that is known.
sym::Bounds iteration_bounds(const std::optional<sym::Expr>& trips);
/// Whether a count of this type says that there is none: exporters write the largest integer then, or about that.
bool is_endless(int64_t count, DType dtype);
/// Whether a bound of the iterations is no bound of what they make: no memory has room for so many results. An endless
/// count is one of these, whatever its type was before it became an expression.
bool bounds_nothing(sym::Expr trips);
/// Tells the table that an iteration's number is less than how many iterations there are.
void learn_iteration(sym::Expr number, sym::Expr trips);

}  // namespace kiln::ops
