// Every recorded failure against its label: cases/recordings/*.json, made by scripts/record from real runs, and
// field_reports.json, from public reports and by hand. plan.json says what each row of real runs is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/classify/classify.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

const fs::path kFolder = FLCE_SOURCE_DIR "/cases/recordings";
const fs::path kSignatures = FLCE_SOURCE_DIR "/cases/signatures.json";

/// One failure of one recording.
struct Recorded {
  std::string name;   ///< "flce-bf16/torch-2.8.0/liger-0.8.5 compiled"
  std::string label;  ///< signature, or ""
  ExceptionRecord exception;
  std::string output, torch;
  std::vector<std::string> near_miss_of;
};

Json Read(const fs::path& path) {
  const Result<std::string> text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << path;
  return Json::parse(text.value());
}

/// The label of a phase by the first of a row's rules whose torch range holds.
std::string LabelOf(const Json& plan, const std::string& row_id, const std::string& torch, const std::string& phase) {
  for (const Json& row : plan.at("rows")) {
    if (row.at("id") != row_id) continue;
    for (const Json& rule : row.at("labels")) {
      const Result<VersionRange> range = VersionRange::Parse(rule.value("torch", "*"));
      EXPECT_TRUE(range.ok()) << row_id;
      if (range->Contains(*Version::Parse(torch))) return rule.value(phase, "");
    }
    return "";
  }
  ADD_FAILURE() << "no row " << row_id << " in plan.json";
  return "";
}

/// What a row of the plan says its recordings nearly are.
std::vector<std::string> NearMissesOf(const Json& plan, const std::string& row_id) {
  for (const Json& row : plan.at("rows"))
    if (row.at("id") == row_id) return row.value("near_miss_of", std::vector<std::string>());
  return {};
}

std::vector<Recorded> LoadAll() {
  std::vector<Recorded> all;
  const Json plan = Read(kFolder / "plan.json");
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".json" && entry.path().filename() != "plan.json") files.insert(entry.path());
  for (const fs::path& file : files) {
    const Json json = Read(file);
    EXPECT_EQ(json.at("format"), 1);
    for (const Json& recording : json.at("recordings")) {
      const std::string name = recording.at("name");
      const Result<Observation> o = ObservationFromJson(recording.at("observation"));
      EXPECT_TRUE(o.ok()) << name << ": " << o.error().message;
      const auto add = [&](const std::optional<ExceptionRecord>& exception, const std::string& phase) {
        if (!exception) return;
        const bool by_hand = recording.contains("labels");
        std::string label;
        if (by_hand) {
          const Json& value = recording.at("labels").at(phase);
          if (value.is_string()) label = value;
        } else {
          label = LabelOf(plan, file.stem().string(), o->torch, phase);
        }
        all.push_back({name + " " + phase, label, *exception, o->end.stderr_tail, o->torch,
                       by_hand ? recording.value("near_miss_of", std::vector<std::string>()) : NearMissesOf(plan, file.stem().string())});
      };
      add(o->exception, "setup");
      add(o->eager.exception, "eager");
      add(o->compiled.exception, "compiled");
    }
  }
  return all;
}

const std::vector<Recorded>& Recordings() {
  static const auto* all = new std::vector<Recorded>(LoadAll());
  return *all;
}

const SignatureBook& Book() {
  static const auto* book = new Result<SignatureBook>(SignatureBook::Load(kSignatures));
  EXPECT_TRUE(book->ok()) << (book->ok() ? "" : book->error().message);
  return book->value();
}

std::vector<std::string> IdsOf(const SignatureBook& book, const Recorded& recorded) {
  std::vector<std::string> ids;
  for (const Match& match : ClassifyAll(book, &recorded.exception, {recorded.output, recorded.torch})) ids.push_back(match.signature);
  return ids;
}

TEST(RecordingsTest, PrecisionAndRecallAreOne) {
  int right = 0, wrong = 0, missed = 0, none = 0;
  for (const Recorded& recorded : Recordings()) {
    const std::vector<std::string> ids = IdsOf(Book(), recorded);
    EXPECT_LE(ids.size(), 1u) << recorded.name << " is " << ids[0] << " and " << ids[1];
    const std::string id = ids.empty() ? "" : ids[0];
    EXPECT_EQ(id, recorded.label) << recorded.name << ": " << recorded.exception.chain.front().message.substr(0, 200);
    if (id == recorded.label) {
      ++(id.empty() ? none : right);
    } else {
      wrong += !id.empty();
      missed += !recorded.label.empty();
    }
  }
  const double precision = right + wrong == 0 ? 0 : static_cast<double>(right) / (right + wrong);
  const double recall = right + missed == 0 ? 0 : static_cast<double>(right) / (right + missed);
  std::printf("recordings: %zu failures, %d of a signature, %d of none; precision %.3f, recall %.3f\n", Recordings().size(), right + missed,
              none, precision, recall);
  EXPECT_EQ(precision, 1.0);
  EXPECT_EQ(recall, 1.0);
}

TEST(RecordingsTest, EverySignatureHasAHitAndANearMiss) {
  std::set<std::string> hits, near;
  for (const Recorded& recorded : Recordings()) {
    hits.insert(recorded.label);
    for (const std::string& id : recorded.near_miss_of) {
      EXPECT_NE(Book().Find(id), nullptr) << recorded.name;
      EXPECT_NE(recorded.label, id) << recorded.name;
      near.insert(id);
    }
  }
  for (const Signature& signature : Book().signatures()) {
    EXPECT_TRUE(hits.count(signature.id)) << "no recording is " << signature.id;
    EXPECT_TRUE(near.count(signature.id)) << "no recording nearly is " << signature.id;
  }
}

/// Without any one clause a signature is refused by the loader, or some recording is read differently.
TEST(RecordingsTest, EveryClauseIsNeeded) {
  const Json json = Read(kSignatures);
  int removed = 0;
  for (const Json& signature : json.at("signatures")) {
    const auto ids_with = [&](const Json& only) {
      Json alone = only;
      alone.erase("confusable_with");
      const Json book = {{"format", 1}, {"signatures", Json::array({alone})}};
      std::vector<bool> matches;
      const Result<SignatureBook> parsed = SignatureBook::Parse(book.dump(), "mutant");
      if (!parsed) return matches;
      for (const Recorded& recorded : Recordings()) matches.push_back(!IdsOf(parsed.value(), recorded).empty());
      return matches;
    };
    const std::vector<bool> whole = ids_with(signature);
    for (const char* kind : {"required", "forbidden"}) {
      if (!signature.contains(kind)) continue;
      for (size_t i = 0; i < signature[kind].size(); ++i) {
        Json mutant = signature;
        mutant[kind].erase(i);
        ++removed;
        EXPECT_NE(ids_with(mutant), whole) << signature["id"] << " does not need its clause " << signature[kind][i]["name"];
      }
    }
  }
  EXPECT_GT(removed, 30);
}

/// The members of a clause are conditions of their own.
TEST(RecordingsTest, EveryMemberOfAClauseIsNeeded) {
  const Json json = Read(kSignatures);
  for (const Json& signature : json.at("signatures")) {
    for (size_t i = 0; i < signature["required"].size(); ++i) {
      const Json& clause = signature["required"][i];
      EXPECT_TRUE(!clause.contains("link") || clause.contains("type") || clause.contains("message")) << signature["id"];
      EXPECT_LE(clause.size(), 3u) << signature["id"] << ": split the clause, so that each part is tested";
    }
  }
}

TEST(RecordingsTest, EachHasItsProvenance) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "plan.json") continue;
    const Json file = Read(entry.path());
    for (const Json& recording : file.at("recordings")) {
      const Json& provenance = recording.at("provenance");
      const std::string kind = provenance.at("kind");
      EXPECT_TRUE(kind == "run" || kind == "field report" || kind == "hand-written") << recording.at("name");
      const std::vector<const char*> members = kind == "run" ? std::vector<const char*>{"torch", "triton", "liger", "device", "case", "date"}
                                                             : std::vector<const char*>{"source", "torch"};
      for (const char* member : members) EXPECT_TRUE(provenance.contains(member)) << recording.at("name") << " lacks " << member;
    }
  }
}

std::vector<std::string> Quoted(const std::string& text) {
  std::vector<std::string> names = Split(text, '`');
  std::vector<std::string> quoted;
  for (size_t i = 1; i < names.size(); i += 2) quoted.push_back(names[i]);
  return quoted;
}

/// The table of public reports in cases/README.md names what there is, and says of it what the labels say.
TEST(RecordingsTest, TheTableOfReportsHolds) {
  const Result<std::string> text = ReadFile(FLCE_SOURCE_DIR "/cases/README.md");
  ASSERT_TRUE(text.ok());
  int rows = 0;
  for (std::string_view line : Lines(*text)) {
    const std::vector<std::string> columns = Split(line, '|');
    if (columns.size() != 6 || Trim(columns[1]) == "report" || Trim(columns[1]) == "---") continue;
    ++rows;
    for (const std::string& name : Quoted(columns[2])) EXPECT_TRUE(fs::exists(fs::path(FLCE_SOURCE_DIR) / "cases" / (name + ".json"))) << line;
    const std::vector<std::string> signatures = Quoted(columns[4]);
    for (const std::string& id : signatures) EXPECT_NE(Book().Find(id), nullptr) << line;
    for (const std::string& name : Quoted(columns[3])) {
      if (name.rfind("field/", 0) != 0) {
        EXPECT_TRUE(fs::exists(kFolder / (name + ".json"))) << line;
        continue;
      }
      bool found = false;
      for (const Recorded& recorded : Recordings()) {
        if (recorded.name.rfind(name + " ", 0) != 0) continue;
        found = true;
        EXPECT_TRUE(recorded.label.empty() ? signatures.empty() : std::count(signatures.begin(), signatures.end(), recorded.label) == 1) << line;
      }
      EXPECT_TRUE(found) << line;
    }
  }
  EXPECT_GE(rows, 25);
}

TEST(RecordingsTest, FingerprintsTellFailuresApartAndVersionsOfOneTogether) {
  std::set<std::string> ids;
  for (const Recorded& recorded : Recordings()) {
    if (recorded.name.rfind("op-baddbmm/", 0) == 0 && recorded.label == "sibling-baddbmm-dtype-decomposition") {
      const Version version = *Version::Parse(recorded.torch);
      if (version.HasPrefix(*Version::Parse("2.14")) || version.HasPrefix(*Version::Parse("2.15")))
        ids.insert(ReadFailures(Book(), [&] {
                     Observation o;
                     o.complete = true;
                     o.compiled.exception = recorded.exception;
                     return o;
                   }()).compiled->fingerprint.id);
    }
  }
  EXPECT_EQ(ids.size(), 1u);
}

}  // namespace
}  // namespace flce
