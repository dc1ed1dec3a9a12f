// The numerics verdict on recorded runs, as they are and with one fault put in.
#include "harness/numerics/judge_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/numerics/delegate.h"
#include "harness/numerics/run_command.h"
#include "harness/numerics/safetensors.h"
#include "harness/numerics/ulp.h"

namespace flce {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

const std::string kData = FLCE_SOURCE_DIR "/kernels/testdata/";

// A 16-bit matrix of a file, for faults to be put in.
struct Matrix {
  TensorBytes* tensor;
  uint16_t Get(int64_t row, int64_t column) const {
    uint16_t bits;
    std::memcpy(&bits, tensor->bytes.data() + Offset(row, column), 2);
    return bits;
  }
  void Set(int64_t row, int64_t column, uint16_t bits) {
    std::memcpy(tensor->bytes.data() + Offset(row, column), &bits, 2);
  }
  size_t Offset(int64_t row, int64_t column) const {
    return static_cast<size_t>(row * tensor->shape[1] + column) * 2;
  }
};

class JudgeCommandTest : public ::testing::Test {
 protected:
  JudgeCommandTest() : folder_(std::move(TempDir::Make(fs::temp_directory_path(), "judge-test")).value()) {}

  // The cell's folder of a recorded case, its compiled tensors changed by `fault`.
  void MakeCell(const std::string& recorded, const std::string& name, const std::string& fix,
                const std::function<void(std::vector<TensorBytes>&)>& fault = {}) {
    const SafetensorsFile file = SafetensorsFile::Open(kData + recorded).value();
    for (const auto& [prefix, output] : {std::pair<std::string, std::string>{name + "/", "inputs"},
                                         {name + "/eager/", "eager"},
                                         {name + "/compiled/", "compiled"}}) {
      std::vector<TensorBytes> tensors;
      for (TensorBytes& tensor : Read(file)) {
        const std::string rest = tensor.name.starts_with(prefix) ? tensor.name.substr(prefix.size()) : "/";
        if (rest.find('/') != std::string::npos) continue;
        tensor.name = rest;
        tensors.push_back(std::move(tensor));
      }
      if (output == "compiled" && fault) fault(tensors);
      ASSERT_TRUE(WriteSafetensors(folder_.path() / (output + ".safetensors"), tensors, {}).ok());
    }
    Observe(fix, "computed");
  }
  static std::vector<TensorBytes> Read(const SafetensorsFile& file) {
    std::vector<TensorBytes> tensors;
    for (const TensorInfo& info : file.tensors()) {
      tensors.push_back({info.name, info.dtype, info.shape, std::string(info.end - info.begin, '\0')});
      EXPECT_TRUE(file.Read(info, 0, std::as_writable_bytes(std::span(tensors.back().bytes))).ok());
    }
    return tensors;
  }
  // Changes the tensors of one of the cell's files.
  void Rewrite(const std::string& name, const std::function<void(std::vector<TensorBytes>&)>& change) {
    const fs::path path = folder_.path() / (name + ".safetensors");
    std::vector<TensorBytes> tensors = Read(SafetensorsFile::Open(path).value());
    change(tensors);
    ASSERT_TRUE(WriteSafetensors(path, tensors, {}).ok());
  }
  // A run of the cell's inputs by this project's own kernels.
  void RunForm(const std::string& form, const std::string& output) {
    RunCommand command;
    command.form = form;
    command.inputs = (folder_.path() / "inputs.safetensors").string();
    command.output = (folder_.path() / (output + ".safetensors")).string();
    command.liger = "0.8.2";
    ASSERT_EQ(RunNative(command, err_), 0) << err_.str();
  }
  void Observe(const std::string& fix, const std::string& values) {
    const Json observation = {
        {"format", 1},
        {"cell_id", "flce-bf16-fp32-accum/torch-2.11.0/liger-0.8.2/" + fix + "/cuda-9.0"},
        {"values", values}};
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "observation.json", observation.dump()).ok());
  }
  static Matrix Find(std::vector<TensorBytes>& tensors, const std::string& name) {
    for (TensorBytes& tensor : tensors) {
      if (tensor.name == name) return {&tensor};
    }
    ADD_FAILURE() << name;
    return {nullptr};
  }

  int Judge(std::vector<std::string> more = {}) {
    CLI::App program;
    JudgeCommand command;
    SetUpJudge(program, command);
    std::vector<std::string> arguments = {"judge", "--cell", folder_.path().string(), "--claim",
                                          FLCE_SOURCE_DIR "/cases/tolerances.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::reverse(arguments.begin(), arguments.end());
    program.parse(arguments);
    out_.str("");
    err_.str("");
    const int status = RunJudge(command, out_, err_);
    json_ = Json::parse(out_.str(), nullptr, false);
    return status;
  }

  TempDir folder_;
  std::ostringstream out_, err_;
  Json json_;
};

TEST_F(JudgeCommandTest, TheRecordedGuardKeepsItsClaim) {
  for (const char* name : {"seed", "mid", "mid-fp16", "ignore"}) {
    MakeCell("recorded_guard.safetensors", name, "guard");
    EXPECT_EQ(Judge(), 0) << name << ": " << err_.str();
    EXPECT_EQ(json_["grad_x"]["bitwise"], true) << name;
    EXPECT_EQ(json_["grad_w"]["bitwise"], false) << name;
    EXPECT_EQ(json_["grad_w"]["within_bound"], true) << name;
    EXPECT_EQ(json_["grad_w"]["bound_check"]["eager_outside"], 0) << name;
    EXPECT_EQ(json_["grad_w"]["bound_check"]["compiled_outside"], 0) << name;
    EXPECT_EQ(json_["not_measured"], nullptr);
  }
  MakeCell("recorded_guard.safetensors", "seed", "guard");
  Judge();
  EXPECT_EQ(json_["grad_w"]["max_abs"], 0.001953125);
}

TEST_F(JudgeCommandTest, TheRecordedCustomOpKeepsItsClaimOfEqualBits) {
  MakeCell("recorded_custom_op_seed.safetensors", "seed", "custom-op");
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_EQ(json_["grad_w"]["bitwise"], true);
}

TEST_F(JudgeCommandTest, TheGuardDoesNotKeepAClaimOfEqualBits) {
  MakeCell("recorded_guard.safetensors", "seed", "custom-op");
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("grad_w: claimed bitwise equal"));
}

TEST_F(JudgeCommandTest, ABitInGradXIsCaughtAndLocated) {
  MakeCell("recorded_guard.safetensors", "mid", "guard", [](std::vector<TensorBytes>& tensors) {
    Matrix grad_x = Find(tensors, "grad_x");
    grad_x.Set(17, 3, grad_x.Get(17, 3) ^ 1);
  });
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(),
              HasSubstr("grad_x: claimed bitwise equal, but 1 of 8192 elements differ, first at [17, 3]"));
  EXPECT_EQ(json_["violations"].size(), 1u);
}

TEST_F(JudgeCommandTest, OneUnitBeyondTheBoundIsCaughtAndOneWithinIsNot) {
  // The element's bound is read from the verdict on an element that is pushed far away.
  const auto with = [&](uint16_t bits) {
    MakeCell("recorded_guard.safetensors", "mid", "guard",
             [&](std::vector<TensorBytes>& tensors) { Find(tensors, "grad_w").Set(321, 45, bits); });
    return Judge();
  };
  MakeCell("recorded_guard.safetensors", "mid", "guard");
  const SafetensorsFile eager_file = SafetensorsFile::Open(folder_.path() / "eager.safetensors").value();
  TensorBytes eager{"grad_w", DType::kBF16, eager_file.Find("grad_w")->shape,
                    std::string(eager_file.Find("grad_w")->end - eager_file.Find("grad_w")->begin, '\0')};
  ASSERT_TRUE(
      eager_file.Read(*eager_file.Find("grad_w"), 0, std::as_writable_bytes(std::span(eager.bytes))).ok());
  const uint16_t start = Matrix{&eager}.Get(321, 45);

  ASSERT_EQ(with(static_cast<uint16_t>(start + 0x100)), 1);
  ASSERT_EQ(json_["grad_w"]["bound_check"]["violations"], 1);
  const double bound = json_["grad_w"]["bound_check"]["first"][0]["bound"];
  ASSERT_GT(bound, 0);

  // Away from zero, step by step: the last value within the bound, and the first beyond.
  uint16_t bits = start;
  const auto distance = [&](uint16_t value) {
    return std::fabs(ToDouble<BFloat16Format>(value) - ToDouble<BFloat16Format>(start));
  };
  while (distance(static_cast<uint16_t>(bits + 1)) <= bound) ++bits;
  EXPECT_GT(bits, start);
  EXPECT_EQ(with(bits), 0) << err_.str();
  EXPECT_EQ(with(static_cast<uint16_t>(bits + 1)), 1);
  EXPECT_EQ(json_["grad_w"]["within_bound"], false);
  EXPECT_THAT(err_.str(),
              HasSubstr("grad_w: 1 elements differ by more than their bound, first at [321, 45]"));
}

TEST_F(JudgeCommandTest, ANanIsCaughtAndLocated) {
  for (const char* name : {"grad_w", "grad_x"}) {
    MakeCell("recorded_guard.safetensors", "ignore", "guard",
             [&](std::vector<TensorBytes>& tensors) { Find(tensors, name).Set(5, 7, 0x7fc0); });
    EXPECT_EQ(Judge(), 1);
    EXPECT_THAT(err_.str(), HasSubstr(std::string(name) + ": "));
    EXPECT_EQ(json_[name]["comparison"]["nan"]["mismatches"], 1);
    EXPECT_THAT(err_.str(), HasSubstr("[5, 7]"));
  }
}

TEST_F(JudgeCommandTest, SwappedRowsAreCaughtAndLocated) {
  MakeCell("recorded_guard.safetensors", "seed", "guard", [](std::vector<TensorBytes>& tensors) {
    Matrix grad_w = Find(tensors, "grad_w");
    for (int64_t column = 0; column < 16; ++column) {
      const uint16_t kept = grad_w.Get(9, column);
      grad_w.Set(9, column, grad_w.Get(20, column));
      grad_w.Set(20, column, kept);
    }
  });
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("differ by more than their bound, first at [9, "));
  for (const Json& element : json_["grad_w"]["bound_check"]["first"]) {
    EXPECT_TRUE(element["index"][0] == 9 || element["index"][0] == 20) << element;
  }
}

TEST_F(JudgeCommandTest, ALostChunkIsWorseThanEager) {
  // The last rows' share of grad_w is missing: far outside of the bound, and of eager's own error.
  MakeCell("recorded_guard.safetensors", "seed", "guard", [](std::vector<TensorBytes>& tensors) {
    Matrix grad_w = Find(tensors, "grad_w");
    for (int64_t row = 0; row < 32; ++row) {
      for (int64_t column = 0; column < 16; ++column)
        grad_w.Set(row, column, static_cast<uint16_t>(grad_w.Get(row, column) & 0x8000));
    }
  });
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("grad_w: its largest error to f64 is"));
}

TEST_F(JudgeCommandTest, EmulatedCellsHaveNothingToJudge) {
  Observe("guard", "not_computed");
  EXPECT_EQ(Judge(), 0);
  EXPECT_EQ(json_, (Json{{"computed", false}}));
}

TEST_F(JudgeCommandTest, CasesWithoutADerivationAreJudgedByTheirBits) {
  MakeCell("recorded_custom_op_seed.safetensors", "seed", "custom-op");
  // A weight in f32, as under autocast, is outside of what is derived.
  ASSERT_TRUE(
      WriteSafetensors(folder_.path() / "inputs.safetensors", {{"x", DType::kF32, {1, 1}, "abcd"}}, {}).ok());
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_THAT(json_["not_measured"].get<std::string>(), HasSubstr("has no tensor 'w'; it has: x"));
  Observe("guard", "computed");
  EXPECT_EQ(Judge(), 0);
  MakeCell("recorded_guard.safetensors", "seed", "guard");
  ASSERT_TRUE(
      WriteSafetensors(folder_.path() / "inputs.safetensors", {{"x", DType::kF32, {1, 1}, "abcd"}}, {}).ok());
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no bound could be derived"));
}

TEST_F(JudgeCommandTest, TheCasesParametersDecideWhatCanBeDerived) {
  MakeCell("recorded_guard.safetensors", "seed", "guard");
  const auto judge_with = [&](const Json& parameters) {
    const Json request = {{"case", {{"name", "c"}, {"parameters", parameters}}}};
    EXPECT_TRUE(WriteFileAtomically(folder_.path() / "request.json", request.dump()).ok());
    return Judge();
  };
  const Json plain = {
      {"dtype", "bfloat16"}, {"accum_dtype", "float32"}, {"bias", false}, {"arguments", Json::object()}};
  EXPECT_EQ(judge_with(plain), 0) << err_.str();
  EXPECT_EQ(json_["not_measured"], nullptr);
  struct Row {
    const char* change;
    const char* says;
  };
  const Row rows[] = {{R"({"bias": true})", "the case sets 'bias'"},
                      {R"({"accum_dtype": null})", "grad_w is not accumulated in fp32"},
                      {R"({"arguments": {"reduction": "sum"}})", "the case passes 'reduction'"}};
  for (const Row& row : rows) {
    Json parameters = plain;
    parameters.merge_patch(Json::parse(row.change));
    EXPECT_EQ(judge_with(parameters), 1) << row.change;
    EXPECT_THAT(err_.str(), HasSubstr(row.says));
  }
  // The budget reaches the rule of the chunks: 0.8.2 has none.
  Json budget = plain;
  budget["arguments"]["chunk_mem_const"] = 16;
  EXPECT_EQ(judge_with(budget), 2);
  EXPECT_THAT(err_.str(), HasSubstr("Liger 0.8.2 has no chunk budget"));
}

TEST_F(JudgeCommandTest, WithoutADerivationTheDistanceToAWideRunDecides) {
  const auto cell = [&](const Json& change, const std::string& fix, const std::function<void(std::vector<TensorBytes>&)>& fault = {}) {
    MakeCell("recorded_guard.safetensors", "seed", fix, fault);
    Json parameters = {{"dtype", "bfloat16"}, {"accum_dtype", "float32"}};
    parameters.merge_patch(change);
    const Json request = {{"case", {{"name", "c"}, {"parameters", parameters}}}};
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "request.json", request.dump()).ok());
    RunForm("reference", "reference");
  };
  cell({{"bias", true}}, "guard");
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_THAT(json_["not_measured"].get<std::string>(), HasSubstr("the case sets 'bias'"));
  EXPECT_GT(json_["grad_w"]["fp32_run"]["compiled"]["max_abs"], 0);
  EXPECT_FALSE(json_["grad_x"].contains("fp32_run")) << "equal bits need no reference";

  const auto lost_chunk = [](std::vector<TensorBytes>& tensors) {
    Matrix grad_w = Find(tensors, "grad_w");
    for (int64_t row = 0; row < 32; ++row) {
      for (int64_t column = 0; column < 16; ++column)
        grad_w.Set(row, column, static_cast<uint16_t>(grad_w.Get(row, column) & 0x8000));
    }
  };
  cell({{"bias", true}}, "guard", lost_chunk);
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("grad_w: its largest error to a run in f32 is"));

  // With a bias the logits themselves may be rounded elsewhere: grad_x may differ, within eager's own error.
  const auto other_rounding = [](std::vector<TensorBytes>& tensors) {
    Matrix grad_x = Find(tensors, "grad_x");
    grad_x.Set(3, 3, grad_x.Get(3, 3) ^ 1);
  };
  cell({{"bias", true}}, "custom-op", other_rounding);
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_EQ(json_["grad_x"]["bitwise"], false);
  cell({{"class_weights", true}}, "custom-op", other_rounding);
  EXPECT_EQ(Judge(), 1) << "whose logits are eager's";

  // Where nothing fixes the bits, no fix can promise them; a wrong result is one all the same.
  cell({{"accum_dtype", nullptr}}, "custom-op");
  EXPECT_EQ(Judge(), 0) << err_.str();
  cell({{"accum_dtype", nullptr}}, "none");
  EXPECT_EQ(Judge(), 0) << err_.str();
  cell({{"accum_dtype", nullptr}}, "custom-op", lost_chunk);
  EXPECT_EQ(Judge(), 1);
  cell(Json::object(), "custom-op");
  EXPECT_EQ(Judge(), 1) << "with an fp32 accumulator equal bits are promised";
}

TEST_F(JudgeCommandTest, AFrozenWeightHasNoGradientAndPlainFlceHas) {
  MakeCell("recorded_custom_op_seed.safetensors", "seed", "custom-op");
  for (const char* name : {"eager", "compiled"}) {
    Rewrite(name, [](std::vector<TensorBytes>& tensors) {
      std::erase_if(tensors, [](const TensorBytes& tensor) { return tensor.name == "grad_w"; });
    });
  }
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("grad_w: neither run returned it"));
  const Json frozen = {{"case", {{"parameters", {{"accum_dtype", "float32"}, {"frozen_weight", true}}}}}};
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "request.json", frozen.dump()).ok());
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_FALSE(json_.contains("grad_w"));
}

TEST_F(JudgeCommandTest, TheGradientsOfAModelAreJudgedToo) {
  MakeCell("recorded_guard.safetensors", "seed", "custom-op");
  RunForm("reference", "reference");
  for (const char* file : {"eager", "compiled", "reference"}) {
    Rewrite(file, [](std::vector<TensorBytes>& tensors) { Find(tensors, "grad_w").tensor->name = "grad_model.head.weight"; });
  }
  ASSERT_TRUE(WriteSafetensors(folder_.path() / "inputs.safetensors", {{"tokens", DType::kF32, {1}, "abcd"}}, {}).ok());
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_EQ(json_["grad_model.head.weight"]["claim"]["claim"], "reference");
  EXPECT_EQ(json_["grad_x"]["claim"]["claim"], "reference") << "what feeds FLCE was compiled too";
  fs::remove(folder_.path() / "reference.safetensors");
  EXPECT_EQ(Judge(), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no run in f32 to judge by"));
}

TEST_F(JudgeCommandTest, UnreadableEvidenceIsTwo) {
  EXPECT_EQ(Judge(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("observation.json"));
  MakeCell("recorded_guard.safetensors", "seed", "guard");
  EXPECT_EQ(Judge({"--liger", "main"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("'main' is no version of Liger"));
  EXPECT_EQ(Judge({"--chunk-budget", "16"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("Liger 0.8.2 has no chunk budget"));
  fs::resize_file(folder_.path() / "compiled.safetensors", 100);
  EXPECT_EQ(Judge(), 2);
  EXPECT_THAT(err_.str(), HasSubstr("compiled.safetensors is not a readable safetensors file"));
}

TEST_F(JudgeCommandTest, NativeRunsAreJudgedLikeAnyOther) {
  MakeCell("recorded_guard.safetensors", "ignore", "guard");
  for (const auto& [form, output] : {std::pair{"fused", "eager"}, {"guarded", "compiled"}}) {
    RunForm(form, output);
  }
  EXPECT_EQ(Judge(), 0) << err_.str();
  EXPECT_EQ(json_["grad_x"]["bitwise"], true);
  EXPECT_EQ(json_["grad_w"]["bitwise"], false);
}

}  // namespace
}  // namespace flce
