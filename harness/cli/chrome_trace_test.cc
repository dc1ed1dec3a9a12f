#include "harness/cli/chrome_trace.h"

#include <gtest/gtest.h>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

class ChromeTraceTest : public testing::Test {
 protected:
  ChromeTraceTest() : dir_(TempDir::Make(testing::TempDir(), "trace").value()), file_(dir_.path() / "sequence.json") {}
  TempDir dir_;
  fs::path file_;
};

TEST_F(ChromeTraceTest, AnEventPerLaunchByDeviceAndStream) {
  ASSERT_TRUE(WriteFileAtomically(file_, R"([{"phase":"eager","t_us":12.5,"kind":"gemm","name":"cublasGemmEx","stream":7,"device":1},
      {"phase":"compiled","t_us":14,"kind":"allocate","name":"","stream":0,"device":0,"bytes":512}])").ok());
  const Result<std::string> trace = ChromeTrace(file_);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(Json::parse(*trace)["traceEvents"], Json::parse(R"([
      {"name":"cublasGemmEx","cat":"gemm","ph":"X","ts":12.5,"dur":1,"pid":1,"tid":7,"args":{"phase":"eager"}},
      {"name":"allocate","cat":"allocate","ph":"X","ts":14.0,"dur":1,"pid":0,"tid":0,"args":{"phase":"compiled","bytes":512}}])"));
}

TEST_F(ChromeTraceTest, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(ChromeTrace(file_).error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(file_, R"([{"t_us":"soon"}])").ok());
  EXPECT_EQ(ChromeTrace(file_).error().message, "event 0.t_us: expected a number");
  ASSERT_TRUE(WriteFileAtomically(file_, "{}").ok());
  EXPECT_EQ(ChromeTrace(file_).error().kind, ErrorKind::kData);
}

}  // namespace
}  // namespace flce
