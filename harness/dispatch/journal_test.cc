#include "harness/dispatch/journal.h"

#include <gtest/gtest.h>

#include <fstream>

namespace flce {
namespace {

CellRecord Record(const std::string& id, Outcome outcome = Outcome::kReproduced) {
  CellRecord record;
  record.id = id;
  record.torch = "2.13.0";
  record.verdict.outcome = outcome;
  record.verdict.signature = "tier2";
  return record;
}

class JournalTest : public ::testing::Test {
 protected:
  Journal MakeJournal() { return Journal::Create(run_, {"r1", "2026-01-01T00:00:00Z", "0.1.0", {"flce-repro"}, {{"signatures", "s1"}}}).value(); }
  void Raw(const std::string& text) { std::ofstream(run_ / "journal.ndjson", std::ios::app) << text; }

  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "journal").value();
  fs::path run_ = dir_.path() / "r1";
};

TEST_F(JournalTest, ReadsBackWhatWasWritten) {
  {
    Journal journal = MakeJournal();
    ASSERT_TRUE(journal.Append({"a", {{"case", "h1"}}}, Record("a")).ok());
    ASSERT_TRUE(journal.Append({"b", {}}, Record("b", Outcome::kNotReproduced)).ok());
    ASSERT_TRUE(journal.Append({"a", {{"case", "h2"}}}, Record("a", Outcome::kCrashed)).ok());
    ASSERT_TRUE(journal.Finish(1, "2026-01-01T00:01:00Z").ok());
  }
  Result<JournalContent> content = Journal::Read(run_);
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(content->header.run_id, "r1");
  EXPECT_EQ(content->header.argv, std::vector<std::string>{"flce-repro"});
  EXPECT_EQ(content->header.hashes.at("signatures"), "s1");
  EXPECT_EQ(content->entries.size(), 3u);
  EXPECT_EQ(content->Find("a")->record.verdict.outcome, Outcome::kCrashed) << "the later entry counts";
  EXPECT_EQ(content->Find("a")->key.inputs.at("case"), "h2");
  EXPECT_EQ(content->Find("c"), nullptr);
  EXPECT_EQ(content->exit_code, 1);
  EXPECT_EQ(content->damaged_lines, 0);
}

TEST_F(JournalTest, ATornLastLineLosesOnlyItself) {
  {
    Journal journal = MakeJournal();
    ASSERT_TRUE(journal.Append({"a", {}}, Record("a")).ok());
  }
  Raw(R"({"kind":"cell","cell":"b","rec)");
  EXPECT_EQ(Journal::Read(run_)->entries.size(), 1u);
  EXPECT_EQ(Journal::Read(run_)->damaged_lines, 1);
  {
    Result<Journal> resumed = Journal::Resume(run_, {"flce-repro", "--resume", "r1"}, "2026-01-02T00:00:00Z");
    ASSERT_TRUE(resumed.ok()) << resumed.error().message;
    ASSERT_TRUE(resumed->Append({"b", {}}, Record("b")).ok());
  }
  Result<JournalContent> content = Journal::Read(run_);
  EXPECT_EQ(content->entries.size(), 2u) << "the torn line does not swallow the next one";
  EXPECT_EQ(content->damaged_lines, 1);
}

TEST_F(JournalTest, EveryPrefixOfAJournalIsReadable) {
  {
    Journal journal = MakeJournal();
    for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(journal.Append({id, {}}, Record(id)).ok());
  }
  const std::string whole = *ReadFile(run_ / "journal.ndjson");
  const size_t header = whole.find('\n');
  for (size_t size = header; size <= whole.size(); ++size) {
    std::ofstream(run_ / "journal.ndjson", std::ios::trunc) << whole.substr(0, size);
    Result<JournalContent> content = Journal::Read(run_);
    ASSERT_TRUE(content.ok()) << size << ": " << content.error().message;
    size_t complete = 0;
    for (size_t at = header + 1; at < size; ++at) complete += whole[at] == '\n';
    // A line whose end alone is missing is whole all the same.
    ASSERT_LE(content->entries.size() - complete, 1u) << size;
  }
}

TEST_F(JournalTest, UnknownKindsOfLaterVersionsArePassedOver) {
  {
    Journal journal = MakeJournal();
    ASSERT_TRUE(journal.Append({"a", {}}, Record("a")).ok());
  }
  Raw("{\"kind\":\"heartbeat\",\"at\":3}\n");
  EXPECT_EQ(Journal::Read(run_)->entries.size(), 1u);
  EXPECT_EQ(Journal::Read(run_)->damaged_lines, 0);
}

TEST_F(JournalTest, OneWriterARun) {
  Journal journal = MakeJournal();
  Result<Journal> second = Journal::Resume(run_, {}, "");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "run r1 is being written by another flce-repro; wait for it, or start a new run");
}

TEST_F(JournalTest, ProblemsAreNamed) {
  EXPECT_EQ(Journal::Read(run_).error().message, "no run r1 in " + dir_.path().string());
  EXPECT_EQ(Journal::Resume(run_, {}, "").error().kind, ErrorKind::kNotFound);
  { Journal journal = MakeJournal(); }
  EXPECT_EQ(Journal::Create(run_, {"r1", "", "", {}, {}}).error().message, "run r1 exists already; go on with --resume r1");
  ASSERT_TRUE(WriteFileAtomically(run_ / "journal.ndjson", "{\"kind\":\"run\",\"format\":2}\n").ok());
  EXPECT_EQ(Journal::Read(run_).error().message, (run_ / "journal.ndjson").string() + ": format 2 is too new; this program reads 1");
  ASSERT_TRUE(WriteFileAtomically(run_ / "journal.ndjson", "hello\n").ok());
  EXPECT_EQ(Journal::Read(run_).error().kind, ErrorKind::kData);
}

TEST_F(JournalTest, AFullDiskIsOneClearErrorAndTheLineIsWrittenLater) {
  Journal journal = MakeJournal();
  ASSERT_TRUE(journal.Append({"a", {}}, Record("a")).ok());
  fs::rename(run_ / "journal.ndjson", run_ / "aside");
  fs::create_symlink("/dev/full", run_ / "journal.ndjson");
  const Status full = journal.Append({"b", {}}, Record("b"));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().kind, ErrorKind::kIo);
  EXPECT_EQ(full.error().message, "cannot append to " + (run_ / "journal.ndjson").string() +
                                      ": No space left on device; 1 finished cells are kept. Free some space, then go on with --resume r1");
  fs::rename(run_ / "aside", run_ / "journal.ndjson");
  ASSERT_TRUE(journal.Append({"c", {}}, Record("c")).ok());
  Result<JournalContent> content = Journal::Read(run_);
  ASSERT_EQ(content->entries.size(), 3u);
  EXPECT_NE(content->Find("b"), nullptr);
}

TEST_F(JournalTest, TextThatIsNoUtf8DoesNotStopTheJournal) {
  Journal journal = MakeJournal();
  CellRecord record = Record("a");
  record.verdict.explanation = "bad \xff byte";
  ASSERT_TRUE(journal.Append({"a", {}}, record).ok());
  EXPECT_EQ(Journal::Read(run_)->entries.size(), 1u);
}

}  // namespace
}  // namespace flce
