// ITimingCache: measurements of builds, with their keys and values.

#include <NvInfer.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::ITimingCache, nvinfer1::TimingCacheKey, nvinfer1::TimingCacheValue;

constexpr size_t kKeyBytes = sizeof(TimingCacheKey::data);
constexpr size_t kKeyCharacters = 2 + 2 * kKeyBytes;

/// The value of a hexadecimal digit; -1 for other characters.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

TimingCacheKey parse_key(const std::string& text) {
  if (text.size() != kKeyCharacters || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
    throw nb::value_error(
        str("a timing cache's key is 0x and ", 2 * kKeyBytes, " hexadecimal digits, not '", text, "'").c_str());
  TimingCacheKey key{};
  for (size_t i = 0; i < kKeyBytes; ++i) {
    const int high = digit(text[2 + 2 * i]), low = digit(text[3 + 2 * i]);
    if (high < 0 || low < 0) throw nb::value_error(str("'", text, "' has a character that is no digit").c_str());
    key.data[i] = static_cast<uint8_t>(16 * high + low);
  }
  return key;
}

std::string print_key(const TimingCacheKey& key) {
  std::string text = "0x";
  for (const uint8_t byte : key.data) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::vector<TimingCacheKey> query_keys(const ITimingCache& self) {
  const int64_t count = without_gil([&] { return self.queryKeys(nullptr, 0); });
  std::vector<TimingCacheKey> keys(count < 0 ? 0 : static_cast<size_t>(count));
  if (count < 0 || without_gil([&] { return self.queryKeys(keys.data(), count); }) != count)
    throw std::runtime_error("the keys of the timing cache cannot be read; the log says why");
  return keys;
}

}  // namespace

void bind_timing_cache(nb::module_& m) {
  nb::class_<TimingCacheKey>(m, "TimingCacheKey", "The key of an entry of a timing cache.")
      .def_static("parse", &parse_key, "text"_a, "Reads what str() of a key writes.")
      .def("__str__", &print_key, "0x and 32 hexadecimal digits.");
  nb::class_<TimingCacheValue>(m, "TimingCacheValue", "The best tactic of a key.")
      .def(
          "__init__",
          [](TimingCacheValue* self, uint64_t hash, float ms) {
            new (self) TimingCacheValue{hash, ms};
          },
          "arg0"_a, "arg1"_a, "Makes a value of a tactic's hash and its time in milliseconds.")
      .def_rw("tacticHash", &TimingCacheValue::tacticHash, "The hash of the tactic.")
      .def_rw("timingMSec", &TimingCacheValue::timingMSec, "Its time in milliseconds.");
  nb::class_<ITimingCache>(m, "ITimingCache", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                           "Measurements of earlier builds, which make the next build quick and its choices the same.")
      .def(
          "serialize", [](const ITimingCache& self) { return give(without_gil([&] { return self.serialize(); }), {}); },
          "The entries as bytes, for IBuilderConfig.create_timing_cache.")
      .def(
          "combine",
          [](ITimingCache& self, const ITimingCache& input_cache, bool ignore_mismatch) {
            return without_gil([&] { return self.combine(input_cache, ignore_mismatch); });
          },
          "input_cache"_a, "ignore_mismatch"_a,
          "Takes over the entries of another cache; False, unless mismatches are to be ignored, for another device's.")
      .def("reset", &ITimingCache::reset, "Forgets all entries.")
      .def("queryKeys", &query_keys, "A list of all keys.")
      .def(
          "query",
          [](const ITimingCache& self, const TimingCacheKey& key) {
            return without_gil([&] { return self.query(key); });
          },
          "key"_a, "The value of a key; its hash is 2**64 - 1 where there is none.")
      .def(
          "update",
          [](ITimingCache& self, const TimingCacheKey& key, const TimingCacheValue& value) {
            return without_gil([&] { return self.update(key, value); });
          },
          "key"_a, "value"_a, "Sets the value of a key; False where the tactic is not one of the key's.");
}

}  // namespace kiln::python
