#include "base/field.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {
namespace {

enum class Mode : uint8_t { kPlain, kTurned };
std::span<const std::string_view> enum_names(Mode) {
  static constexpr std::string_view kNames[] = {"plain", "turned"};
  return kNames;
}

struct Tile {
  int rows = 4, cols = 8;
  Status check() const { return require(rows > 0, "a tile of ", rows, " rows"); }
  static void reflect(auto& self, auto f) { f("rows", self.rows), f("cols", self.cols); }
};

struct Everything {
  bool flag = false;
  int number = 0;
  int64_t wide = 0;
  double share = 0;
  std::string word;
  std::vector<int> axes;
  std::vector<int64_t> extents;
  std::vector<double> weights;
  Bytes code;
  Record other;
  Mode mode = Mode::kPlain;
  Tile tile;
  std::optional<Tile> second;
  std::vector<Tile> tiles;
  std::array<int64_t, 3> pads{};
  static void reflect(auto& self, auto f) {
    f("flag", self.flag), f("number", self.number), f("wide", self.wide), f("share", self.share), f("word", self.word);
    f("axes", self.axes), f("extents", self.extents), f("weights", self.weights), f("code", self.code);
    f("other", self.other), f("mode", self.mode), f("tile", self.tile), f("second", self.second);
    f("tiles", self.tiles), f("pads", self.pads);
  }
};

Everything sample() {
  Everything e;
  e.flag = true, e.number = -3, e.wide = int64_t{1} << 40, e.share = 0.1, e.word = std::string("x");
  e.axes = {0, -1}, e.extents = {2, 3}, e.weights = {0.5, -0.0}, e.code = {std::byte{7}};
  e.other.set("k", 1);
  e.mode = Mode::kTurned, e.tile.rows = 5, e.second = Tile{6, 7}, e.tiles = {{1, 2}, {3, 4}}, e.pads = {1, 0, -1};
  return e;
}
bool equal(const Everything& a, const Everything& b) { return fields_equal(fields_of<Everything>(), &a, &b); }

TEST(Fields, RecordsGiveTheSameStructBack) {
  for (const Everything& e : {Everything{}, sample()}) {
    const Result<Everything> back = from_record<Everything>(to_record(e));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(equal(*back, e));
    EXPECT_EQ(to_record(*back), to_record(e));
  }
  EXPECT_FALSE(equal(sample(), Everything{}));
}

// A field that no comparison sees would let two steps share what is made for one of them.
TEST(Fields, EachFieldCounts) {
  const Record own = to_record(sample()), other = to_record(Everything{});
  const Everything same = sample();
  for (const Field& field : fields_of<Everything>()) {
    Everything changed = sample();
    const Datum* value = other.find(field.name);
    if (!value) {
      changed.second.reset();
    } else {
      ASSERT_TRUE(field.type->from_datum(field.in(&changed), *value)) << field.name;
    }
    EXPECT_FALSE(equal(changed, same)) << field.name;
    EXPECT_NE(fields_hash(fields_of<Everything>(), &changed), fields_hash(fields_of<Everything>(), &same))
        << field.name;
    EXPECT_NE(to_record(changed), own) << field.name;
  }
}

struct Named {
  std::string name;
  int number = 0;
  static void reflect(auto& self, auto f) { f("name", self.name), f("number", self.number); }
};
struct List {
  std::vector<Named> items;
  static void reflect(auto& self, auto f) { f("items", self.items); }
};

TEST(Fields, ErrorsNameTheItemOfAList) {
  const Record bad = Record().set("name", "b").set("number", "x");
  const auto read = from_record<List>(Record().set("items", Datum::List{to_record(Named{"a", 1}), bad}));
  EXPECT_EQ(read.error().message, "field 'items': [1] 'b': field 'number': \"x\" is not an integer");
}

/// Written as a text.
struct Version {
  int number = 0;
};
const FieldType& field_type(Tag<Version>) {
  static const ConvertedFieldType<Version, std::string> type(
      [](const Version& version) { return str('v', version.number); },
      [](const std::string& text) -> Result<Version> {
        if (text.size() != 2) return error(Code::kCorrupt, "'", text, "' is no version");
        return Version{text[1] - '0'};
      });
  return type;
}
struct Program {
  Version version;
  static void reflect(auto& self, auto f) { f("version", self.version); }
};

TEST(Fields, ATypeMayBeWrittenAsAnother) {
  const Program program{{7}};
  EXPECT_EQ(str(to_record(program)), "{version=\"v7\"}");
  EXPECT_EQ(from_record<Program>(to_record(program))->version.number, 7);
  EXPECT_EQ(from_record<Program>(Record().set("version", "x")).error().message, "field 'version': 'x' is no version");
  EXPECT_EQ(from_record<Program>(Record().set("version", 1)).error().message, "field 'version': 1 is not a text");
  const Program other{{8}}, same{{7}};
  const auto fields = fields_of<Program>();
  EXPECT_TRUE(fields_equal(fields, &program, &same) && !fields_equal(fields, &program, &other));
  EXPECT_EQ(fields_hash(fields, &program), fields_hash(fields, &same));
  EXPECT_NE(fields_hash(fields, &program), fields_hash(fields, &other));
}

struct Texts {
  std::vector<std::string> words;
  std::vector<Bytes> codes;
  std::optional<std::string> word;
  static void reflect(auto& self, auto f) { f("words", self.words), f("codes", self.codes), f("word", self.word); }
};
Hash128 hash_of(const Texts& texts) { return fields_hash(fields_of<Texts>(), &texts); }

// Two values that print alike may differ.
TEST(Fields, HashesAreOfElementsNotOfTheirText) {
  EXPECT_NE(hash_of({{"a, b"}, {}, {}}), hash_of({{"a", "b"}, {}, {}}));
  EXPECT_NE(hash_of({{}, {{std::byte{1}}}, {}}), hash_of({{}, {{std::byte{2}}}, {}}));
  EXPECT_NE(hash_of({{}, {}, std::nullopt}), hash_of({{}, {}, ""}));
  EXPECT_EQ(hash_of({{"a", "b"}, {}, "c"}), hash_of({{"a", "b"}, {}, "c"}));
}

TEST(Fields, AnAbsentOptionalIsLeftOut) {
  Everything e = sample();
  e.second.reset();
  EXPECT_EQ(to_record(e).find("second"), nullptr);
  EXPECT_FALSE(from_record<Everything>(to_record(e))->second);
}

TEST(Fields, NotANumberEqualsItself) {
  Everything a, b;
  a.share = b.share = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(equal(a, b));
  a.share = 0.0, b.share = -0.0;
  EXPECT_FALSE(equal(a, b));
}

std::string error_of(std::string_view field, Datum value) {
  Record record = to_record(sample());
  record.set(field, std::move(value));
  const Result<Everything> read = from_record<Everything>(record);
  return read ? "none" : read.error().message;
}

TEST(Fields, ErrorsNameTheFieldAndWhatItHolds) {
  EXPECT_EQ(error_of("flag", 1), "field 'flag': 1 is not a boolean");
  EXPECT_EQ(error_of("number", int64_t{1} << 40), "field 'number': 1099511627776 is beyond 32 bits");
  EXPECT_EQ(error_of("axes", std::vector<int64_t>{int64_t{1} << 31}), "field 'axes': 2147483648 is beyond 32 bits");
  EXPECT_EQ(error_of("word", 0.5), "field 'word': 0.5 is not a text");
  EXPECT_EQ(error_of("mode", "bent"), "field 'mode': 'bent' is none of [plain, turned]");
  EXPECT_EQ(error_of("tile", Record().set("rows", 0).set("cols", 1)), "field 'tile': a tile of 0 rows");
  EXPECT_EQ(error_of("tile", Record().set("rows", 1)), "field 'tile': field 'cols' is missing");
  EXPECT_EQ(error_of("tiles", Datum::List{Record(), 1}), "field 'tiles': [0]: field 'rows' is missing");
  EXPECT_EQ(error_of("pads", Datum::List{1, 2}), "field 'pads': a list of 2 stands where 3 are needed");
  EXPECT_EQ(error_of("unknown", 1), "no field is called 'unknown'");
  EXPECT_EQ(error_of("share", 3), "none") << "an integer is a number";
  EXPECT_EQ(error_of("weights", std::vector<int64_t>{}), "none") << "empty lists of all kinds are alike";
}

TEST(Fields, EveryFieldIsAskedFor) {
  const Record whole = to_record(sample());
  for (const auto& [missing, value] : whole.entries()) {
    Record record;
    for (const auto& [name, other] : whole.entries())
      if (name != missing) record.set(name, other);
    EXPECT_EQ(from_record<Everything>(record).has_value(), missing == "second") << missing;
  }
}

}  // namespace
}  // namespace kiln
