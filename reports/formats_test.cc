// Every format of the sample runs, read as its readers do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <pugixml.hpp>
#include <set>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/model/json_reader.h"
#include "reports/github.h"
#include "reports/html.h"
#include "reports/junit.h"
#include "reports/markdown.h"
#include "reports/reporter.h"
#include "reports/reproduction.h"
#include "reports/terminal.h"
#include "reports/testing/sample_run.h"
#include "reports/words.h"

namespace flce {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using flce::testing::HostileRun;
using flce::testing::LaterSampleRun;
using flce::testing::SampleOptions;
using flce::testing::SampleRun;
using flce::testing::TierTwoCell;

RunRecord OneCell() {
  RunRecord run = SampleRun();
  run.cells = {TierTwoCell()};
  return run;
}

pugi::xml_node TestOf(const pugi::xml_document& xml, const char* suite, const char* words) {
  for (pugi::xml_node test : xml.child("testsuites").find_child_by_attribute("testsuite", "name", suite))
    if (std::strstr(test.attribute("name").value(), words) != nullptr) return test;
  return {};
}

TEST(HeadlineTest, SaysWhichTorchFailsHow) {
  EXPECT_EQ(Headline(SampleRun(), SampleOptions()), "Tier 1 on torch 2.8 to 2.12, Tier 2 since 2.13 (newest tried: 2.15); not affected on 2.7.");
  EXPECT_EQ(Headline(OneCell(), SampleOptions()), "REPRODUCED: Tier 2, addmm with out_dtype stops in Inductor's lowering on torch 2.13.0, Liger 0.8.5, emulated 9.0.");
  EXPECT_EQ(Headline(RunRecord{}, SampleOptions()), "No cell was selected.");
}

TEST(HeadlineTest, KeepsPatchReleasesApartWhereSeveralWereTried) {
  RunRecord run = OneCell();
  run.cells[0].torch = "2.9.0";
  run.cells.push_back(run.cells[0]);
  run.cells[1].torch = "2.9.1";
  run.cells[1].verdict = Verdict{};
  run.cells[1].verdict.outcome = Outcome::kNotReproduced;
  run.cells[1].verdict.reason = Reason::kFixed;
  EXPECT_EQ(Headline(run, SampleOptions()), "Tier 2 on torch 2.9.0; fixed on 2.9.1.");
}

TEST(WordsTest, FailureLineNamesTheCauseWhereTheFirstLineDoesNot) {
  CellRecord cell = TierTwoCell();
  EXPECT_EQ(FailureLine(cell), "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given");
  cell.exception->chain.front().message = "RuntimeError when making fake tensor call\n  Explanation: ...";
  EXPECT_EQ(FailureLine(cell), "TypeError: tuned_addmm() takes 3 positional arguments but 4 were given");
}

TEST(WordsTest, FixesCountOnlyWhereThereIsSomethingToFix) {
  const std::vector<FixSummary> fixes = FixSummaries(SampleRun(), "flce-bf16-fp32-accum");
  const auto guard = std::find_if(fixes.begin(), fixes.end(), [](const FixSummary& f) { return f.fix == "guard"; });
  ASSERT_NE(guard, fixes.end());
  EXPECT_EQ(guard->affected, 36);
  EXPECT_EQ(guard->fixed, 36);
  EXPECT_EQ(guard->compiled_peak, 39523000000u);
  EXPECT_TRUE(guard->over_budget);
  EXPECT_EQ(FixMemoryNote(fixes), "");
  RunRecord small = OneCell();
  small.cells[0].fix = "guard";
  small.cells[0].memory.eager_peak_bytes = 3584;
  small.cells[0].memory.compiled_peak_bytes = 2560;
  EXPECT_THAT(FixMemoryNote(FixSummaries(small, "flce-bf16-fp32-accum")), StartsWith("Peaks of tensors this small say little"));
  small.cells[0].verdict.outcome = Outcome::kEnvironment;
  EXPECT_EQ(FixSummaries(small, "flce-bf16-fp32-accum").front().affected, 0) << "where the machine failed nothing is known";
}

TEST(WordsTest, AFixTableHasVerdictAndTime) {
  CellRecord none = TierTwoCell(), fixed = none;
  none.fix = "none";
  fixed.fix = "guard";
  fixed.verdict = {};
  fixed.verdict.outcome = Outcome::kNotReproduced;
  fixed.verdict.reason = Reason::kFixed;
  fixed.verdict.evidence = Evidence::kExecuted;
  fixed.timings_ms = {{"eager", 85}, {"compiled", 40}, {"compiled_first", 1500}};
  CellRecord slower = fixed;
  slower.timings_ms["compiled"] = 42;
  slower.seed = 2;
  RunRecord run;
  run.cells = {none, fixed, slower};
  const std::vector<FixTable> tables = FixTables(run, SampleOptions());
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[0].verdict, "Tier 2");
  EXPECT_EQ(TimeWords(tables[0].rows[0]), "not measured");
  EXPECT_EQ(tables[0].rows[1].verdict, "fixed in 2");
  EXPECT_EQ(TimeWords(tables[0].rows[1]), "85 ms -> 41 ms, 1.5 s first");
  EXPECT_EQ(TimeWords(fixed), "eager 85 ms, compiled 40 ms; first call, compile included, 1.5 s");
  EXPECT_EQ(TimeWords(none), "");
  EXPECT_NE(RenderTerminal(run, SampleOptions(), TerminalOptions{}).find("85 ms -> 41 ms, 1.5 s first"), std::string::npos);
  TerminalOptions narrow;
  narrow.width = 60;
  EXPECT_NE(RenderTerminal(run, SampleOptions(), narrow).find("        time 85 ms -> 41 ms, 1.5 s first"), std::string::npos);
  run.cells = {none};
  EXPECT_TRUE(FixTables(run, SampleOptions()).empty());
  run.cells.clear();
  for (int i = 0; i < 10; ++i)
    for (CellRecord cell : {none, fixed}) {
      cell.case_name += std::to_string(i);
      run.cells.push_back(std::move(cell));
    }
  const std::string many = RenderTerminal(run, SampleOptions(), TerminalOptions{});
  EXPECT_THAT(many, HasSubstr("Fixes of flce-bf16-fp32-accum7\n"));
  EXPECT_THAT(many, Not(HasSubstr("Fixes of flce-bf16-fp32-accum8\n")));
  EXPECT_THAT(many, HasSubstr("\n    fixes of 2 more: --markdown FILE has every table\n"));
}

TEST(TerminalTest, OneCellIsTheGolden) {
  TerminalOptions terminal;
  terminal.width = 80;
  ReportOptions options = SampleOptions();
  options.report_path = "/state/runs/r/report.json";
  const Result<std::string> golden = ReadFile(fs::path(FLCE_SOURCE_DIR) / "reports/testdata/one.terminal.txt");
  ASSERT_TRUE(golden.ok());
  EXPECT_EQ(RenderTerminal(OneCell(), options, terminal), *golden);
}

TEST(TerminalTest, NoLineIsWiderThanTheTerminalAndNoColourIsLeft) {
  for (size_t width : {40, 60, 80, 132})
    for (const RunRecord& run : {OneCell(), SampleRun(), LaterSampleRun()})
      for (bool verbose : {false, true}) {
        TerminalOptions terminal;
        terminal.width = width;
        terminal.verbose = verbose;
        const std::string text = RenderTerminal(run, SampleOptions(), terminal);
        EXPECT_THAT(text, Not(HasSubstr("\x1b")));
        for (std::string_view line : Lines(text)) {
          size_t columns = 0;
          for (char c : line) columns += (c & 0xC0) != 0x80;
          EXPECT_LE(columns, width) << line;
        }
      }
}

TEST(TerminalTest, HonoursTheEnvironment) {
  const auto detect = [](bool tty, std::map<std::string, std::string> variables) {
    return DetectTerminal(tty, 0, [variables = std::move(variables)](const char* name) -> const char* {
      const auto it = variables.find(name);
      return it == variables.end() ? nullptr : it->second.c_str();
    });
  };
  EXPECT_TRUE(detect(true, {{"LANG", "C.UTF-8"}}).color);
  EXPECT_FALSE(detect(false, {}).color);
  EXPECT_FALSE(detect(true, {{"NO_COLOR", "1"}}).color);
  EXPECT_TRUE(detect(true, {{"NO_COLOR", ""}}).color);
  EXPECT_FALSE(detect(true, {{"TERM", "dumb"}}).color);
  EXPECT_FALSE(detect(true, {{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}}).unicode);
  EXPECT_EQ(detect(true, {{"COLUMNS", "72"}}).width, 72u);
  EXPECT_EQ(detect(true, {{"COLUMNS", "-5"}}).width, 100u);
}

TEST(TerminalTest, QuietIsOneLine) {
  TerminalOptions terminal;
  terminal.quiet = true;
  EXPECT_EQ(RenderTerminal(OneCell(), SampleOptions(), terminal), "REPRODUCED Tier 2: torch 2.13.0, Liger 0.8.5, emulated 9.0\n");
}

TEST(MarkdownTest, OneCellIsTheGolden) {
  const Result<std::string> golden = ReadFile(fs::path(FLCE_SOURCE_DIR) / "reports/testdata/one.report.md");
  ASSERT_TRUE(golden.ok());
  EXPECT_EQ(RenderMarkdown(OneCell(), SampleOptions()), *golden);
}

TEST(MarkdownTest, DropsTheLeastImportantFirstAndSaysSo) {
  ReportOptions options = SampleOptions();
  options.locks.begin()->second = std::string(40000, 'x');
  const std::string whole = RenderMarkdown(OneCell(), options, 65536);
  EXPECT_THAT(whole, Not(HasSubstr("Left out")));
  const std::string without_lock = RenderMarkdown(OneCell(), options, 20000);
  EXPECT_THAT(without_lock, HasSubstr("Left out for length: lock; the JSON report holds all."));
  EXPECT_THAT(without_lock, HasSubstr("Reproduction script"));
  const std::string small = RenderMarkdown(OneCell(), options, 2000);
  EXPECT_LT(small.size(), 2000u);
  EXPECT_THAT(small, HasSubstr("lock, exception chain, reproduction script"));
  EXPECT_THAT(small, StartsWith("## flce-repro: REPRODUCED: Tier 2"));
  EXPECT_LT(RenderMarkdown(OneCell(), options, 100).size(), 100u);
}

TEST(EveryFormatTest, NamesNoOneAndNothing) {
  RunRecord run = OneCell();
  run.argv = {"flce-repro", "--liger", "/home/alice/src/Liger"};
  run.cells[0].liger = "/home/alice/src/Liger";
  run.cells[0].exception->chain[0].message = "at /Users/bob/x.py and /root/.cache/t and /tmp/torchinductor_dave/a.py on buildbox7, /srv/env/lib/python3.11/site-packages/torch/x.py";
  run.cells[0].exception->chain[0].frames.push_back({"/home/alice/train.py", 3, "main", "open('/root/x')"});
  run.cells[0].exception->chain.back().message += "\nfrom user code:\n  File \"/data/state/liger/0.8.5/liger_kernel/ops/x.py\", line 3";
  run.cells[0].memory.top_blocks = {{512, {{"/home/alice/train.py", 4, "main"}}}};
  run.cells[0].verdict.findings.push_back({"refused_api", "seen in /home/alice/x"});
  ReportOptions options = SampleOptions();
  options.private_words = {"buildbox7", "/data/state"};
  for (const Reporter& reporter : Reporters()) {
    const std::string text = reporter.render(run, options);
    for (const char* word : {"alice", "bob", "dave", "buildbox7", "/root", "/srv/env", "/data/state"}) EXPECT_THAT(text, Not(HasSubstr(word))) << reporter.name;
  }
}

TEST(ReproductionTest, IsMadeFromTheParametersOfTheCase) {
  ReportOptions options = SampleOptions();
  CaseInfo& info = options.cases["flce-bf16-fp32-accum"];
  info.parameters_json = R"({"dtype": "float16", "accum_dtype": null, "weight_dtype": "float32", "autocast": "bfloat16", "bias": true, "upstream": true, "arguments": {"softcap": 30.0, "reduction": "none"}})";
  info.compile_json = R"({"dynamic": true, "mode": "max-autotune", "dynamo_config": {"suppress_errors": true}})";
  const std::string script = ReproductionScript(TierTwoCell(), options);
  for (const char* line : {"    \"x\": torch.randn(8, 16, generator=make).to(\"cuda\", torch.float16),\n", "def step(x, w, target, bias):\n    return flce(x, w, target, bias, softcap=30.0, reduction=\"none\", accum_dtype=None)\n",
                           "    with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n", "torch.compile(step, dynamic=True, mode=\"max-autotune\")", "torch._dynamo.config.suppress_errors = True\n", "result.backward(torch.linspace("})
    EXPECT_THAT(script, HasSubstr(line));
  EXPECT_THAT(script, Not(HasSubstr("capture_scalar_outputs")));
  EXPECT_THAT(script, HasSubstr("PROOF = [\"tuned_addmm\\\\(\\\\) takes"));
  CellRecord unlisted = TierTwoCell();
  unlisted.verdict.signature = "sibling";
  unlisted.exception->target.clear();
  unlisted.exception->chain.back().message = "call <addmm at 0x7f48a62e9fa0>(*)";
  EXPECT_THAT(ReproductionScript(unlisted, options), HasSubstr(R"x(PROOF = ["call <addmm at 0x\\w+>\\(\\*\\)"])x")) << "an address is another one in the next run";
  info.module = "operator_case";
  info.parameters_json = R"({"op": "baddbmm", "dtype": "bfloat16", "out": true})";
  EXPECT_THAT(ReproductionScript(TierTwoCell(), options), HasSubstr("    return torch.baddbmm(c, a, b, out_dtype=torch.float32, out=c)\n"));
  info.module = "control_case";
  EXPECT_EQ(ReproductionScript(TierTwoCell(), options), "");
}

TEST(JunitTest, TellsExpectedFailuresFromInfrastructureAndPasses) {
  pugi::xml_document xml;
  const std::string text = RenderJunit(LaterSampleRun(), SampleOptions());
  ASSERT_TRUE(xml.load_buffer(text.data(), text.size()));
  const auto test = [&](const char* suite, const char* words) { return TestOf(xml, suite, words); };
  EXPECT_STREQ(test("flce-bf16-fp32-accum", "torch 2.13.0, Liger 0.8.5, emulated 9.0").child("skipped").attribute("type").value(), "flce.xfail");
  EXPECT_STREQ(test("flce-bf16-fp32-accum", "torch 2.15.0, Liger 0.8.5, emulated 8.0").child("failure").attribute("type").value(), "flce.xpass");
  EXPECT_THAT(test("flce-bf16-fp32-accum", "torch 2.15.0, Liger 0.8.5, emulated 8.0").child("failure").attribute("message").value(), StartsWith("XPASS: "));
  EXPECT_THAT(test("flce-bf16-fp32-accum", "torch 2.15.0, Liger 0.8.5, fix guard, emulated 9.0").child("failure").attribute("message").value(), StartsWith("REGRESSED. REPRODUCED Tier 2: "));
  EXPECT_STREQ(test("flce-large-vocabulary", "").child("error").attribute("type").value(), "flce.environment");
  EXPECT_STREQ(test("flce-max-autotune", "").child("error").attribute("type").value(), "flce.timed_out");
  EXPECT_STREQ(test("flce-rocm", "").child("skipped").attribute("type").value(), "flce.skipped");
  EXPECT_STREQ(test("flce-cpu-tensors", "").child("skipped").attribute("type").value(), "flce.xfail");
  EXPECT_STREQ(test("addmm-beta-zero", "").child("failure").attribute("type").value(), "flce.unexpected");
  EXPECT_FALSE(test("flce-suppressed", "").child("failure"));
  const pugi::xml_node all = xml.child("testsuites");
  EXPECT_EQ(all.attribute("tests").as_uint(), LaterSampleRun().cells.size());
  unsigned failures = 0, errors = 0, skipped = 0;
  std::set<std::string> names;
  for (pugi::xml_node suite : all)
    for (pugi::xml_node item : suite) {
      failures += !item.child("failure").empty(), errors += !item.child("error").empty(), skipped += !item.child("skipped").empty();
      EXPECT_TRUE(names.insert(std::string(item.attribute("classname").value()) + "/" + item.attribute("name").value()).second) << item.attribute("name").value();
    }
  EXPECT_EQ(all.attribute("failures").as_uint(), failures);
  EXPECT_EQ(all.attribute("errors").as_uint(), errors);
  EXPECT_EQ(all.attribute("skipped").as_uint(), skipped);
}

TEST(GithubTest, EscapesAndCounts) {
  RunRecord run = OneCell();
  CellRecord cell = run.cells[0];
  cell.standing = Standing::kRegressed;
  cell.call_site = "a,b:c.py:12";
  cell.exception->chain[0].message = cell.exception->chain[2].message = "100% wrong\n::error::x";
  run.cells.assign(14, cell);
  ReportOptions options = SampleOptions();
  options.annotation_prefix = "src/";
  const std::string text = RenderGithubAnnotations(run, options);
  const std::vector<std::string_view> lines = Lines(text);
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[0], "::error file=src/a%2Cb%3Ac.py,line=12,title=flce-repro%3A REPRODUCED::torch 2.13.0, Liger 0.8.5, emulated 9.0 — REGRESSED — 100%25 wrong");
  EXPECT_EQ(lines[9], "::error title=flce-repro::5 more cells need attention: see the step summary");
  EXPECT_THAT(std::string(lines[10]), StartsWith("::notice title=flce-repro::"));
}

TEST(JsonForScriptTest, LeavesNothingThatEndsTheScript) {
  EXPECT_EQ(JsonForScript("\"</script><!--\xe2\x80\xa8\xe2\x80\xa9\""), "\"\\u003c/script>\\u003c!--\\u2028\\u2029\"");
}

TEST(JsonTest, AReaderOfThisVersionReadsOlderAndNewerMinorVersions) {
  Json json = Json::parse(RenderRecord(SampleRun()));
  json["schema_version"] = "1.9";
  json["added_later"] = {1, 2};
  for (Json& cell : json["cells"]) {
    cell["added_later"] = {{"x", 1}};
    for (const char* later : {"expectation", "explanation", "findings", "origin", "seconds", "folder", "shape"}) cell.erase(later);
    cell["memory"].erase("budget_ratio");
    cell["memory"].erase("top_blocks");
  }
  Result<RunRecord> run = RunRecordFromJson(json);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->cells.size(), SampleRun().cells.size());
  for (const Reporter& reporter : Reporters()) EXPECT_FALSE(reporter.render(*run, SampleOptions()).empty());
}

TEST(SchemaTest, IsTheFile) {
  const Result<std::string> file = ReadFile(fs::path(FLCE_SOURCE_DIR) / "reports/schema/report.schema.json");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReportSchema(), *file);
}

/// The data of a page, as its script reads it.
Json PageDataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++count;
  return count;
}

TEST(FuzzTest, HostileTextsLeaveEveryFormatValid) {
  const ReportOptions options = SampleOptions();
  TerminalOptions terminal;
  terminal.color = false;
  const size_t scripts = Count(RenderHtml(OneCell(), options), "<script");
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const RunRecord run = HostileRun(seed);
    for (const Reporter& reporter : Reporters()) {
      const std::string text = reporter.render(run, options);
      ASSERT_TRUE(ToValidUtf8(text) == text) << reporter.name;
      if (reporter.name == "json") {
        const Json json = Json::parse(text);
        ASSERT_EQ(json["cells"].size(), run.cells.size());
        continue;
      }
      // A browser, a viewer and a terminal act on these; only the JSON report may hold them, escaped.
      for (const char* bad : {"\xe2\x80\xae", "\xe2\x81\xa6", "\x1b", "\x07", "\xc2\x9f"}) ASSERT_EQ(text.find(bad), std::string::npos) << reporter.name;
      for (const char* name : {"/home/alice", "/Users/bob", "carol", "torchinductor_dave"}) ASSERT_EQ(text.find(name), std::string::npos) << reporter.name;
      if (reporter.name == "junit") {
        pugi::xml_document xml;
        ASSERT_TRUE(xml.load_buffer(text.data(), text.size()));
        ASSERT_EQ(xml.child("testsuites").attribute("tests").as_uint(), run.cells.size());
      } else if (reporter.name == "html") {
        ASSERT_EQ(Count(text, "<script"), scripts);
        ASSERT_EQ(PageDataOf(text)["cells"].size(), run.cells.size());
      } else if (reporter.name == "markdown") {
        ASSERT_LT(text.size(), kCommentLimit);
      } else if (reporter.name == "github-annotations") {
        for (std::string_view line : Lines(text)) ASSERT_TRUE(line.starts_with("::error ") || line.starts_with("::warning ") || line.starts_with("::notice ")) << line;
      }
    }
    const std::string shown = RenderTerminal(run, options, terminal);
    ASSERT_TRUE(ToValidUtf8(shown) == shown);
    for (char c : shown) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace
}  // namespace flce
