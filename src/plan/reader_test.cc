#include "plan/reader.h"

#include <gtest/gtest.h>

#include <random>

#include "plan/cbor.h"
#include "plan/layout.h"
#include "plan/metadata.h"
#include "plan/testing/repair_checksums.h"
#include "plan/testing/sample_plan.h"
#include "plan/validate.h"
#include "plan/writer.h"

namespace kiln::plan {
namespace {

using Plain = std::vector<std::byte>;

Plain written(const Plan& plan) {
  auto bytes = write_plan(plan);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes.value_or(Plain());
}

std::string message_of(std::span<const std::byte> bytes) {
  const auto plan = read_plan(bytes);
  return plan ? "accepted" : plan.error().message;
}

/// Hands out at most `step` bytes a time.
class Trickle final : public ForwardSource {
 public:
  Trickle(std::span<const std::byte> bytes, size_t step) : bytes_(bytes), step_(step) {}

 private:
  Result<size_t> read_some(std::span<std::byte> into) override {
    const size_t count = std::min({into.size(), step_, bytes_.size()});
    std::copy_n(bytes_.begin(), count, into.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }
  std::span<const std::byte> bytes_;
  size_t step_;
};

TEST(PlanReader, RoundTrip) {
  const Plan plan = sample_plan();
  const Plain bytes = written(plan);
  const auto read = read_plan(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(same(plan, **read));
  EXPECT_EQ(written(**read), bytes);
  EXPECT_EQ((*read)->profiles[1].tensors[4].extents[0], plan.profiles[1].tensors[4].extents[0]);
  EXPECT_EQ((*read)->profiles[0].steps[0].step, plan.profiles[0].steps[0].step);
  EXPECT_EQ((*read)->guards, plan.guards);
  EXPECT_EQ((*read)->profiles[0].guards, plan.profiles[0].guards);
  EXPECT_EQ((*read)->weights[0].value, plan.weights[0].value);
}

TEST(PlanReader, EmptyPlan) {
  const auto read = read_plan(written(Plan()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(same(Plan(), **read));
}

TEST(PlanReader, EqualPlansGiveEqualBytes) { EXPECT_EQ(written(sample_plan()), written(sample_plan())); }

TEST(PlanReader, WeightsBorrowWhereBytesAreKept) {
  const Plain bytes = written(sample_plan());
  const auto fresh = HostTensor::make(DType::kU8, {static_cast<int64_t>(bytes.size()) + 1});  // aligned to 64
  std::copy(bytes.begin(), bytes.end(), fresh->data.begin());
  const auto kept = fresh->data.first(bytes.size());
  const auto within = [&](const std::shared_ptr<const Plan>& plan) {
    const auto* at = plan->weights[0].value.bytes().data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 64, 0u);
    return at >= kept.data() && at < kept.data() + kept.size();
  };
  EXPECT_TRUE(within(*read_plan(kept, fresh->tensor.owner())));
  EXPECT_FALSE(within(*read_plan(kept)));
  std::copy(bytes.begin(), bytes.end(), fresh->data.begin() + 1);
  EXPECT_FALSE(within(*read_plan(fresh->data.subspan(1), fresh->tensor.owner())));
}

TEST(PlanReader, ReadsStreamsThatOnlyGoForward) {
  const Plain bytes = written(sample_plan());
  for (const size_t step : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    Trickle source(bytes, step);
    const auto read = read_plan(source);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(sample_plan(), **read));
  }
  const Plain shortened(bytes.begin(), bytes.end() - 1);
  Trickle cut(shortened, 64);
  EXPECT_EQ(read_plan(cut).error().message,
            str("plan: section 'plugin_libraries': the stream ends at byte ", bytes.size() - 1, ", 1 short"));
}

TEST(PlanReader, WeightsOfManyPagesThroughAStream) {
  Plan plan;
  std::vector<int64_t> elements(1'000'003);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(i * 2654435761u);
  plan.weights = {{"a", HostTensor::of_ints(DType::kI64, {1'000'003}, elements)},
                  {"b", HostTensor::of_ints(DType::kI8, {1}, std::vector<int64_t>{7})}};
  const Plain bytes = written(plan);
  Trickle source(bytes, 100'000);
  const auto read = read_plan(source);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(same(plan, **read));
}

TEST(PlanReader, SizesThatAStreamOnlyClaimsAreNotAllocated) {
  Plain bytes = written(sample_plan());
  store(bytes.data() + kHeaderBytes + kEntryBytes + entry::kSize, uint64_t{1} << 45);
  const auto offset = load<uint64_t>(bytes.data() + kHeaderBytes + kEntryBytes + entry::kOffset);
  store(bytes.data() + header::kTotalBytes, offset + (uint64_t{1} << 45));
  repair_checksums(bytes);
  Trickle source(bytes, 4096);
  EXPECT_FALSE(read_plan(source));
  EXPECT_EQ(message_of(bytes),
            str("plan: truncated: the header says ", offset + (uint64_t{1} << 45), " bytes, there are ", bytes.size()));
}

TEST(PlanReader, EveryTruncationIsAnError) {
  const Plain bytes = written(sample_plan());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Plain cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const auto read = read_plan(cut);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, Code::kCorrupt) << size;
    Trickle source(cut, 100);
    ASSERT_FALSE(read_plan(source)) << size;
  }
}

TEST(PlanReader, EveryFlippedBitIsSeen) {
  const Plain bytes = written(sample_plan());
  // The API's version and bytes 4 to 23 and 28 to 31 lie under the header's checksum too.
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Plain damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_FALSE(read_plan(damaged)) << "bit " << bit;
  }
}

/// Expects bytes behind right checksums to be refused with words, or to be a valid plan that survives another round
/// trip.
void expect_answered(const Plain& bytes, uint64_t seed) {
  const auto read = read_plan(bytes);
  if (!read) {
    EXPECT_FALSE(read.error().message.empty()) << "seed " << seed;
    return;
  }
  const auto again = write_plan(**read);
  ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message;
  const auto reread = read_plan(*again);
  ASSERT_TRUE(reread) << "seed " << seed << ": " << reread.error().message;
  EXPECT_TRUE(same(**read, **reread)) << "seed " << seed;
}

TEST(PlanReader, DamageBehindRightChecksumsIsAnswered) {
  const Plain bytes = written(sample_plan());
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937_64 random(seed);
    Plain damaged = bytes;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      const size_t at = kTableEnd + random() % (bytes.size() - kTableEnd);
      damaged[at] ^= static_cast<std::byte>(1 << random() % 8);
    }
    repair_checksums(damaged);
    expect_answered(damaged, seed);
  }
}

TEST(PlanReader, DamagedTablesWithRightChecksumsAreAnswered) {
  const Plain bytes = written(sample_plan());
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937_64 random(seed);
    Plain damaged = bytes;
    damaged[random() % kTableEnd] = static_cast<std::byte>(random());
    repair_checksums(damaged);
    expect_answered(damaged, seed);
  }
}

/// `change` is applied to an integer somewhere in the metadata, whose checksums are then right.
void change_integers(Datum& datum, std::mt19937_64& random, int& countdown);

void change_integers(Record& record, std::mt19937_64& random, int& countdown) {
  for (const auto& [name, value] : std::vector<Record::Entry>(record.entries())) {
    Datum changed = value;
    change_integers(changed, random, countdown);
    record.set(name, std::move(changed));
  }
}

int64_t odd_integer(std::mt19937_64& random) {
  constexpr int64_t kOdd[] = {-1,
                              -2,
                              0,
                              1,
                              2,
                              3,
                              7,
                              8,
                              63,
                              64,
                              255,
                              256,
                              1 << 20,
                              INT_MAX,
                              INT_MIN,
                              INT64_MAX,
                              INT64_MIN,
                              int64_t{1} << 46,
                              int64_t{1} << 50};
  return kOdd[random() % std::size(kOdd)];
}

void change_integers(Datum& datum, std::mt19937_64& random, int& countdown) {
  auto value = datum.variant();
  if (auto* integer = std::get_if<int64_t>(&value)) {
    if (--countdown == 0) *integer = odd_integer(random);
    datum = *integer;
  } else if (auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
    for (int64_t& one : *integers)
      if (--countdown == 0) one = odd_integer(random);
    if (--countdown == 0) integers->push_back(odd_integer(random));
    if (--countdown == 0 && !integers->empty()) integers->pop_back();
    datum = std::move(*integers);
  } else if (auto* list = std::get_if<Datum::List>(&value)) {
    for (Datum& item : *list) change_integers(item, random, countdown);
    if (--countdown == 0 && !list->empty()) list->pop_back();
    if (--countdown == 0 && !list->empty()) list->push_back(list->front());
    datum = std::move(*list);
  } else if (auto* record = std::get_if<Record>(&value)) {
    change_integers(*record, random, countdown);
    datum = std::move(*record);
  }
}

TEST(PlanReader, WrongNumbersInMetadataAreAnswered) {
  const Plan plan = sample_plan();
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    std::mt19937_64 random(seed);
    Record record = to_record(plan);
    int countdown = 1 + static_cast<int>(random() % 500);
    change_integers(record, random, countdown);
    const auto changed = plan_from_record(record);
    if (!changed) {
      ++refused;
      continue;
    }
    // Writing validates, and so never hands out what reading would refuse.
    Plan whole = *changed;
    const auto lists = stored_lists(whole);
    const auto originals = stored_lists(plan);
    for (size_t i = 0; i < lists.size(); ++i)
      for (size_t w = 0; w < std::min(lists[i]->size(), originals[i]->size()); ++w)
        if (Weight& changed_one = (*lists[i])[w]; changed_one.value.extents() == (*originals[i])[w].value.extents())
          changed_one.value = (*originals[i])[w].value;
    const auto bytes = write_plan(whole);
    if (!bytes) {
      EXPECT_FALSE(bytes.error().message.empty());
      ++refused;
      continue;
    }
    ++accepted;
    const auto read = read_plan(*bytes);
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().message;
    EXPECT_TRUE(same(whole, **read)) << "seed " << seed;
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 500);
}

/// `change` is of the sample's metadata.
template <class Change>
std::string metadata_error(Change change) {
  Record record = to_record(sample_plan());
  change(record);
  const auto plan = plan_from_record(record);
  return plan ? "accepted" : plan.error().message;
}
/// An entry of an entry's record `index`, set to `value`.
void set_in(Record& record, std::string_view list, size_t index, std::string_view name, Datum value) {
  Datum::List items = record.get_list(list)->get();
  Record item = std::get<Record>(items[index].variant());
  item.set(name, std::move(value));
  items[index] = std::move(item);
  record.set(list, std::move(items));
}

TEST(PlanReader, ErrorsOfMetadataNameTheirPlace) {
  EXPECT_EQ(metadata_error([](Record& r) { r.set("network_name", 1); }), "field 'network_name': 1 is not a text");
  EXPECT_EQ(metadata_error([](Record& r) { r.set("more", 1); }), "no field is called 'more'");
  EXPECT_EQ(metadata_error([](Record& r) { set_in(r, "symbols", 1, "axis", true); }),
            "field 'symbols': [1] 'k': field 'axis': true is not an integer");
  EXPECT_EQ(metadata_error([](Record& r) { set_in(r, "weights", 2, "dtype", "f17"); }),
            "field 'weights': [2] 'empty': field 'dtype': no element type is called 'f17'");
  EXPECT_EQ(metadata_error([](Record& r) { set_in(r, "guards", 0, "lhs", std::vector<int64_t>{0}); }),
            "field 'guards': [0]: field 'lhs': dimension program, word 0: its operand is missing");
  EXPECT_EQ(metadata_error([](Record& r) { set_in(r, "guards", 0, "relation", "<"); }),
            "field 'guards': [0]: field 'relation': '<' is none of [=, !=, <=, divides, is 1 or, broadcasts with]");
}

TEST(PlanReader, TellsTensorRtsPlansApart) {
  Plain theirs(1000, std::byte{0x5a});
  store(theirs.data(), kMagic);
  constexpr uint8_t kVersion[] = {10, 3, 0, 26};
  std::memcpy(theirs.data() + 24, kVersion, 4);
  const auto read = read_plan(theirs);
  EXPECT_EQ(read.error().code, Code::kVersion);
  EXPECT_EQ(read.error().message,
            "plan: a plan of NVIDIA TensorRT 10.3.0.26, whose machine code only TensorRT can run; build the network "
            "again with Kiln");
}

TEST(PlanReader, OursShowsTensorRtsVersion) {
  const Plain bytes = written(Plan());
  EXPECT_EQ(static_cast<int>(bytes[0]), 0x66);  // "ftrt"
  EXPECT_EQ(load<uint32_t>(bytes.data()), 0x74727466u);
  EXPECT_EQ(static_cast<int>(bytes[24]), 10);
  EXPECT_EQ(static_cast<int>(bytes[25]), 16);
}

TEST(PlanReader, AnotherVersionNamesBothAndTheRemedy) {
  Plain bytes = written(sample_plan());
  store(bytes.data() + header::kFormatVersion, kFormatVersion + 1);
  const auto read = read_plan(bytes);
  EXPECT_EQ(read.error().code, Code::kVersion);
  EXPECT_EQ(read.error().message,
            "plan: plan format version 13; this Kiln reads version 12: build the network again, or load the plan with "
            "the Kiln that built it");
}

TEST(PlanReader, SaysWhatIsNoPlan) {
  EXPECT_EQ(message_of({}), "plan: this is not a plan file: it is empty");
  EXPECT_EQ(message_of(Plain(100)),
            "plan: this is not a plan file: 100 bytes; a plan's header and section table alone take 320");
  EXPECT_EQ(message_of(Plain(500)),
            "plan: this is not a plan file: a plan begins with the bytes 66 74 72 74, this with 00 00 00 00");
  Plain cut = written(Plan());
  cut.resize(100);
  EXPECT_EQ(message_of(cut), "plan: truncated: 100 bytes; a plan's header and section table alone take 320");
}

TEST(PlanReader, NamesTheDamagedSection) {
  Plain bytes = written(sample_plan());
  bytes.back() ^= std::byte{1};
  EXPECT_NE(message_of(bytes).find("plan: section 'plugin_libraries': checksum "), std::string::npos)
      << message_of(bytes);
}

TEST(PlanReader, WhatFollowsDoesNotBelongToIt) {
  const Plain bytes = written(sample_plan());
  Plain longer = bytes;
  longer.resize(longer.size() + 100);
  const size_t size = bytes.size();
  EXPECT_EQ(message_of(longer), str("plan: the header says ", size, " bytes, there are ", size + 100,
                                    ": the 100 behind the plan's end do not belong to it"));
  longer.resize(size + 1);
  EXPECT_NE(message_of(longer).find("the 1 behind the plan's end"), std::string::npos) << message_of(longer);
  longer = bytes;
  longer.insert(longer.end(), bytes.begin(), bytes.end());
  EXPECT_NE(message_of(longer), "") << "two plans";
  Trickle stream(longer, 100'000);  // it may hold more than a plan
  EXPECT_TRUE(read_plan(stream));
}

}  // namespace
}  // namespace kiln::plan
