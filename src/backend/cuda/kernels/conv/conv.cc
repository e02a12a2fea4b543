#include "backend/cuda/kernels/conv/conv.h"

#include <cstring>

#include "backend/cuda/kernels/conv/simt.h"
#include "base/family.h"

namespace kiln::cuda {
namespace {

constexpr const ConvFamily* kFamilies[] = {
#define FAMILY(Name) &kConv##Name,
#include "backend/cuda/kernels/conv/families.def"
#undef FAMILY
};

/// The record of the parameters, whose first entry names the family.
class ConvKernelType final : public FieldType {
 public:
  Datum to_datum(const void* value) const override { return fields_record(fields(value), parameters(value)); }
  Status from_datum(void* value, const Datum& datum) const override {
    const auto* record = std::get_if<Record>(&datum.variant());
    const Datum* name = record ? record->find("family") : nullptr;
    TRY(require(name != nullptr, "a convolution's kernel lacks its family"));
    const ConvFamily* family = nullptr;
    TRY(field_type(Tag<const ConvFamily*>()).from_datum(&family, *name));
    std::shared_ptr<ConvParameters> made = family->make();
    TRY(set_all_fields(family->fields(), made.get(), *record));
    TRY(made->check());
    *static_cast<ConvKernel*>(value) = ConvKernel(std::move(made));
    return {};
  }
  void append(std::string& out, const void* value) const override {
    append_fields(out, fields(value), parameters(value));
  }
  bool equal(const void* a, const void* b) const override {
    return parameters(a)->family == parameters(b)->family && fields_equal(fields(a), parameters(a), parameters(b));
  }

 private:
  static const ConvParameters* parameters(const void* value) { return &**static_cast<const ConvKernel*>(value); }
  static std::span<const Field> fields(const void* value) { return parameters(value)->family->fields(); }
};

}  // namespace

const FieldType& field_type(Tag<const ConvFamily*>) {
  static const FamilyFieldType<ConvFamily> type(kFamilies);
  return type;
}
const FieldType& field_type(Tag<ConvKernel>) {
  static const ConvKernelType type;
  return type;
}

ConvKernel::ConvKernel() : ConvKernel(ConvSimt()) {}

Status ConvParameters::check() const {
  TRY(require(!types.is_mixed() ||
                  (types.b == DType::kF32 && !facts().transposed && family->float_weights != FloatWeights::kNone),
              "a convolution by ", family->name, " does not take weights of ", types.b, " for ", types.a));
  TRY(require(!types.is_of_bytes() || family->takes_bytes, "a convolution by ", family->name, " does not take ",
              types.a, " and ", types.b));
  return check_own();
}

bool ConvParameters::splits_filter() const { return types.is_mixed() && family->float_weights == FloatWeights::kSplit; }

int64_t ConvParameters::channels_read(const FilterExtents& filter) const {
  const int64_t padded = facts().pad_channels;
  return padded ? padded : filter.in_channels;
}

int64_t ConvParameters::packed_pitch(const FilterExtents& filter) const {
  const int64_t whole = 16 / bytes_of(types.a);
  const int64_t taps = facts().shuffle ? 1 : filter.taps * (splits_filter() ? 2 : 1);
  return ceil_div(taps * channels_read(filter), whole) * whole;
}

Bytes ConvParameters::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  const auto size = static_cast<size_t>(bytes_of(types.b));
  const int64_t pitch = packed_pitch(f), channels = channels_read(f), outs = f.groups * f.out_channels;
  Bytes packed(static_cast<size_t>(outs * pitch) * size);
  const std::byte* from = elements.data();
  for (int64_t out = 0; out < outs; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += size)
        std::memcpy(packed.data() + static_cast<size_t>(out * pitch + tap * channels + in) * size, from, size);
  return packed;
}

void ConvParameters::set_filter(const FilterExtents& f, ConvArguments& arguments) const {
  arguments.groups = static_cast<int32_t>(f.groups);
  arguments.in_channels = static_cast<int32_t>(channels_read(f));
  arguments.out_channels = static_cast<int32_t>(f.out_channels);
  arguments.w_out = packed_pitch(f);
  arguments.w_group = f.out_channels * arguments.w_out;
  arguments.w_in = 1;
  arguments.w_tap = channels_read(f);
}

Status ConvTiled::check_tile(int64_t most_channels) const {
  TRY(tile.require_whole());
  TRY(require(tile.warps_m > 0, "convolution family ", family->name, " cannot have the tile ", tile.name()));
  return require_width(vec, most_channels, "channels a vector");
}

Result<FilterExtents> FilterExtents::of(std::span<const int64_t> w, int64_t groups, bool transposed) {
  TRY(require(w.size() >= 3 && groups >= 1 && w[0] % groups == 0, "a filter of ", Extents(w.begin(), w.end()), " in ",
              groups, " groups"));
  FilterExtents filter{groups, transposed ? w[0] / groups : w[1], transposed ? w[1] : w[0] / groups, 1};
  bool counts = true;
  for (size_t i = 2; i < w.size(); ++i) counts = counts && !__builtin_mul_overflow(filter.taps, w[i], &filter.taps);
  // A kernel may add up twice the taps, of up to eight times the channels.
  int64_t sum = 0;
  counts = counts && !__builtin_mul_overflow(std::max<int64_t>(filter.taps, 1), filter.in_channels, &sum) &&
           sum < kMostConvRows / 16 && filter.taps < kMostConvRows / 16;
  TRY(require(counts && groups < kMostConvRows && filter.out_channels < kMostConvRows, "a filter of ",
              Extents(w.begin(), w.end()), " in ", groups, " groups; kernels count to 2^31"));
  return filter;
}

bool is_picture_window(const ConvWindow& w, int64_t kernel_h, int64_t kernel_w, int64_t stride_h, int64_t stride_w) {
  const auto same = [](const int32_t(&values)[3], int64_t h, int64_t width) {
    return values[0] == 1 && values[1] == h && values[2] == width;
  };
  return same(w.kernel, kernel_h, kernel_w) && same(w.stride, stride_h, stride_w) && same(w.dilation, 1, 1) &&
         w.in[0] == 1 && w.out[0] == 1;
}

Status set_conv_grid(LaunchShape& shape, int64_t blocks, int64_t threads, int64_t multiprocessors) {
  shape.grid[0] = grid_blocks(blocks);
  shape.pdl = blocks <= 2 * multiprocessors;
  shape.block[0] = static_cast<uint32_t>(threads);
  return require(blocks < (int64_t{1} << 31), "a convolution of ", blocks, " blocks exceeds a grid's 2^31 - 1");
}

Status require_countable(const ConvArguments& a) {
  return require(a.out_channels == 0 || a.groups < (int64_t{1} << 31) / a.out_channels, "a convolution makes ",
                 int64_t{a.groups} * a.out_channels, " channels; kernels count to 2^31");
}

MapPlan map_of_weights(const ConvParameters& kernel, const ConvArguments& a, int64_t box_columns) {
  const int64_t size = bytes_of(kernel.types.a);
  MapPlan map;
  map.type = map_type(kernel.types.a);
  map.extents[0] = static_cast<uint64_t>(a.in_channels);
  map.extents[1] = static_cast<uint64_t>(a.window.taps());
  map.extents[2] = static_cast<uint64_t>(a.out_channels);
  map.strides_bytes[0] = static_cast<uint64_t>(a.w_tap * size);
  map.strides_bytes[1] = static_cast<uint64_t>(a.w_out * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  map.box[2] = static_cast<uint32_t>(box_columns);
  return map;
}

Result<std::array<uint64_t, 3>> pixel_strides(DType type, const ConvStrides& x) {
  std::array<uint64_t, 3> bytes{};
  const int64_t strides[] = {x.at[2], x.at[1], x.n};
  for (size_t i = 0; i < 3; ++i) {
    bytes[i] = static_cast<uint64_t>(strides[i] * bytes_of(type));
    TRY(require(bytes[i] % 16 == 0, "pixels ", strides[i],
                " elements apart cannot be read by tensor maps, which need whole 16 bytes"));
  }
  return bytes;
}

Result<int64_t> first_channels(const ConvParameters& kernel, bool joined, const ConvArguments& a) {
  if (!joined) return int64_t{a.in_channels};
  const int64_t line = kLineBytes / bytes_of(kernel.types.a);
  TRY(require(a.joined > 0 && a.joined < a.in_channels && a.joined % line == 0, "a convolution's first ", a.joined,
              " of ", a.in_channels, " channels are not whole lines of ", line));
  return int64_t{a.joined};
}

}  // namespace kiln::cuda
