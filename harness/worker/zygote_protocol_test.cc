#include "harness/worker/zygote_protocol.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/files.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

const char kPackage[] = FLCE_SOURCE_DIR "/harness/worker/python";

Json Start() {
  return Json{{"format", 1},
              {"start", {{"python", "/env/bin/python"}, {"sys_path", {"/liger", kPackage}}, {"fix", {{"name", "none"}}}}}};
}

Json Cell(const std::string& output_dir) {
  return Json{{"format", 1},
              {"cell_id", "a/b"},
              {"output_dir", output_dir},
              {"python", "/env/bin/python"},
              {"sys_path", {"/liger", kPackage}},
              {"fix", {{"name", "none"}}},
              {"case", {{"name", "n"}, {"module", "m"}, {"function", "f"}, {"compile", Json::object()}}},
              {"shape", Json::object()},
              {"seed", 1},
              {"device", {{"kind", "emulated"}, {"capability", "8.9"}}},
              {"measure", Json::object()},
              {"environment", {{"TMPDIR", "/t"}}},
              {"limits", {{"deadline_s", 5}, {"memory_bytes", 1000}}}};
}

TEST(ZygoteProtocol, StartAndCellsAgreeOnWhatIsShared) {
  Result<StartLine> start = ParseStart(Start().dump());
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_EQ(start->python, "/env/bin/python");
  EXPECT_EQ(start->package_dir, kPackage);
  TempDir dir = TempDir::Make("/tmp", "flce-zygote").value();
  Json json = Cell(dir.path());
  auto line = ParseLine(json.dump());
  ASSERT_TRUE(line) << line.error().message;
  const CellLine& cell = std::get<CellLine>(*line);
  EXPECT_TRUE(Serves(start->identity, cell.identity));
  EXPECT_EQ(cell.request.cell_id, "a/b");
  EXPECT_EQ(cell.environment.at("TMPDIR"), "/t");
  EXPECT_EQ(cell.deadline_s, 5);
  EXPECT_EQ(cell.memory_bytes, 1000u);
  const auto serves = [&] { return Serves(start->identity, std::get<CellLine>(*ParseLine(json.dump())).identity); };
  json["fix"]["name"] = "guard";
  json["sys_path"] = {"/overlay", "/another liger", "/liger", kPackage};
  EXPECT_TRUE(serves()) << "its own Liger comes before what is shared";
  json["sys_path"] = {"/liger", kPackage, "/late"};
  EXPECT_FALSE(serves());
  json["sys_path"] = {kPackage};
  EXPECT_FALSE(serves());
  json["sys_path"] = {"/liger", kPackage};
  json["fix"]["hooks"] = Json::array({{{"module", "torch.x"}, {"file", "/x.py"}}});
  EXPECT_FALSE(serves());
  json["fix"] = {{"python", "register_operator"}};
  EXPECT_FALSE(serves());
  json["fix"] = {{"name", "none"}};
  json["python"] = "/other/bin/python";
  EXPECT_FALSE(serves());
  json["python"] = "/env/bin/python";
  json["device"]["capability"] = "9.0";
  EXPECT_NE(std::get<CellLine>(*ParseLine(json.dump())).device_key, cell.device_key);
}

TEST(ZygoteProtocol, WhatIsNotUnderstoodIsRefusedByName) {
  EXPECT_EQ(ParseStart("{}").error().message, "zygote: the first line must hold \"start\"");
  Json start = Start();
  start["format"] = 7;
  EXPECT_EQ(ParseStart(start.dump()).error().message, "zygote: format 7 is not known: this worker speaks 1");
  start = Start();
  start["start"]["sys_path"] = {"/liger"};
  EXPECT_EQ(ParseStart(start.dump()).error().message, "zygote: no folder of \"start.sys_path\" holds the package flce_worker");
  EXPECT_EQ(ParseLine("nonsense").error().message, "zygote: a line is not a JSON object");
  Json cell = Cell("/nonexistent");
  EXPECT_FALSE(ParseLine(cell.dump()));
  EXPECT_EQ(CellIdOf(cell.dump()), "a/b");
  EXPECT_EQ(CellIdOf("nonsense"), "");
  EXPECT_EQ(std::get<CancelLine>(*ParseLine("{\"cancel\":\"x\"}")).cell_id, "x");
}

TEST(ZygoteProtocol, Answers) {
  EXPECT_EQ(Format({"c", CellEnd::Kind::kCode, 0, 1.23456, 4096}),
            R"({"cell_id":"c","exit":{"code":0},"seconds":1.235,"max_rss_bytes":4096})");
  EXPECT_EQ(Format({"c", CellEnd::Kind::kSignal, 11, 0, 0}),
            R"({"cell_id":"c","exit":{"signal":11},"seconds":0.0,"max_rss_bytes":0})");
  EXPECT_EQ(Format({"c", CellEnd::Kind::kTimedOut, 9, 0, 0}),
            R"({"cell_id":"c","exit":{"timed_out":true},"seconds":0.0,"max_rss_bytes":0})");
  EXPECT_EQ(Format({"c", CellEnd::Kind::kOutOfMemory, 9, 0, 0}),
            R"({"cell_id":"c","exit":{"out_of_memory":true},"seconds":0.0,"max_rss_bytes":0})");
  EXPECT_EQ(Format({"c", CellEnd::Kind::kCancelled, 9, 0, 0}),
            R"({"cell_id":"c","exit":{"cancelled":true},"seconds":0.0,"max_rss_bytes":0})");
  EXPECT_EQ(FormatRefused("c", "why"), R"({"cell_id":"c","refused":"why"})");
  EXPECT_EQ(FormatLost("c", "why"), R"({"cell_id":"c","lost":"why"})");
  EXPECT_EQ(FormatNotReady("why\xff"), "{\"ready\":false,\"error\":\"why\xEF\xBF\xBD\"}");
  EXPECT_EQ(Json::parse(FormatReady(0.5, R"({"torch":"2.13.0"})"))["versions"]["torch"], "2.13.0");
}

}  // namespace
}  // namespace flce::worker
