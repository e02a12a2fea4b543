/// What is compared: something that runs a network and shows the tensors that it makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kiln/diff/tolerance.h"
#include "tensor/host_tensor.h"

namespace kiln::diff {

/// The numbers of a tensor of bytes are (byte - zero) * scale.
struct ByteScale {
  double scale = 1, zero = 0;
};

/// A tensor that a side can show.
struct Spot {
  std::string body;                  ///< that makes it: a loop's iteration, a branch; empty: the network itself
  std::vector<std::string> names;    ///< its own first, then those under which its elements stand in the same order
  std::string layer;                 ///< the step or node that makes it
  std::string number;                ///< of the step, as `kiln why` has it; empty: of a node
  std::vector<std::string> origins;  ///< ONNX nodes or API layers that its maker came from
  int output = 0;                    ///< of its maker
  std::vector<size_t> reads;         ///< spots that its maker reads

  const std::string& name() const;  ///< its own, or the maker's where it has none
};

/// A tensor as a run made it: row-major.
struct MadeTensor {
  HostTensor tensor;
  std::optional<ByteScale> scale;  ///< of bytes whose scale is known
};

/// Sees the tensors of a run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual bool wants(size_t spot) = 0;
  /// Called each time that the run has made the tensor. What it returns takes the tensor's place in the run: as many
  /// elements in the same order, of any type, numbers for bytes whose scale is known. Nothing: the run goes on with its
  /// own. An error ends the run.
  virtual Result<std::optional<HostTensor>> made(size_t spot, const MadeTensor& value) = 0;
};

/// An input of a network: -1 stands for an extent that each run sets.
struct Input {
  std::string name;
  DType dtype = DType::kF32;
  Extents extents;
  bool is_shape = false;  ///< a shape tensor, whose elements are read on the host
};

/// A network ready to run.
class Side {
 public:
  virtual ~Side() = default;
  virtual const std::string& description() const = 0;  ///< "m.plan (cpu, 12 steps)"
  virtual Precision precision() const = 0;
  virtual const std::vector<Spot>& spots() const = 0;
  /// One run on inputs in the order, and of the types, of the network's own. Whether a watcher may put tensors in the
  /// place of the run's own is for the side to say; an engine can, a network that is run by references does not.
  virtual Status run(const std::vector<HostTensor>& inputs, Watcher& watcher) = 0;
};

}  // namespace kiln::diff
