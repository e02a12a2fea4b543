#include "ops/slice.h"

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

/// Inputs in the op's order, which is the API's: x, start, size, stride, fill, axes.
enum Input : int { kStart = 1, kSize = 2, kStride = 3, kAxes = 5 };

/// The numbers of a Dims. A program that will set an input instead passes a Dims without numbers: nbDims is 0 or -1.
Result<std::vector<int64_t>> list(const nv::Dims& dims, const char* what) {
  const nv::Dims* const given = address_of(dims);
  if (given && given->nbDims == -1) return std::vector<int64_t>();
  return numbers(dims, -1, INT64_MIN, what);
}

class SliceLayer final : public LayerOf<ops::Slice, nv::LayerType::kSLICE, nv::ISliceLayer, nv::apiv::VSliceLayer> {
 public:
  using LayerOf::LayerOf;

  void setStart(const nv::Dims& start) noexcept override {
    set_list("ISliceLayer::setStart", &ops::Slice::starts, start, kStart);
  }
  nv::Dims getStart() const noexcept override { return get_list(op().starts, kStart); }
  void setSize(const nv::Dims& size) noexcept override {
    set_list("ISliceLayer::setSize", &ops::Slice::sizes, size, kSize);
  }
  nv::Dims getSize() const noexcept override { return get_list(op().sizes, kSize); }
  void setStride(const nv::Dims& stride) noexcept override {
    set_list("ISliceLayer::setStride", &ops::Slice::strides, stride, kStride);
  }
  nv::Dims getStride() const noexcept override { return get_list(op().strides, kStride); }
  void setMode(nv::SampleMode mode) noexcept override { set_enum("ISliceLayer::setMode", &ops::Slice::mode, mode); }
  nv::SampleMode getMode() const noexcept override { return get_enum<nv::SampleMode>(&ops::Slice::mode); }
  void setAxes(const nv::Dims& axes) noexcept override {
    set_list("ISliceLayer::setAxes", &ops::Slice::axes, axes, kAxes);
  }
  nv::Dims getAxes() const noexcept override { return get_list(op().axes, kAxes); }

 private:
  void set_list(const char* call, std::vector<int64_t> ops::Slice::*field, const nv::Dims& dims, int input) noexcept {
    edit(call, [&](ops::Slice& op) -> Status {
      op.*field = TRY(list(dims, "the argument"));
      put_input(input, ir::ValueId::kNone);
      return {};
    });
  }
  nv::Dims get_list(const std::vector<int64_t>& numbers, int input) const {
    return has_input(input) ? no_dims() : to_api(numbers);
  }
};

}  // namespace

Result<nv::ISliceLayer*> add_slice(Network& network, nv::ITensor& input, const nv::Dims& start, const nv::Dims& size,
                                   const nv::Dims& stride) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Slice op{
      .starts = TRY(list(start, "start")), .sizes = TRY(list(size, "size")), .strides = TRY(list(stride, "stride"))};
  TRY(require(op.starts.size() == op.sizes.size() && op.sizes.size() == op.strides.size(), "start has ",
              op.starts.size(), " numbers, size ", op.sizes.size(), " and stride ", op.strides.size(),
              "; they must be equally many"));
  return network.add<SliceLayer>(op, {x}, Settings::kToCome);
}

MakeLayer maker_of(Tag<ops::Slice>) { return make<SliceLayer>; }

}  // namespace kiln::api
