#include "harness/emulator/streams.h"

#include <gtest/gtest.h>

namespace flce::emulator {
namespace {

constexpr Streams::Thread kThread = 1;
constexpr Streams::Thread kOther = 2;

bool Put(Streams& streams, Stream& stream, std::size_t kernel) {
  bool captured = false;
  EXPECT_EQ(streams.Submit(stream, KernelWork{kernel}, &captured), Status::kSuccess);
  return captured;
}

TEST(StreamsTest, CapturesWhatIsPutOnTheStream) {
  Streams streams;
  Stream& stream = *streams.Create(0, false, 0);
  EXPECT_FALSE(Put(streams, stream, 1));
  ASSERT_EQ(streams.BeginCapture(stream, CaptureMode::kGlobal, kThread), Status::kSuccess);
  EXPECT_EQ(streams.capture_status(stream), CaptureStatus::kActive);
  EXPECT_TRUE(Put(streams, stream, 2));
  EXPECT_TRUE(Put(streams, stream, 3));
  Graph* graph = nullptr;
  ASSERT_EQ(streams.EndCapture(stream, kThread, &graph), Status::kSuccess);
  EXPECT_EQ(streams.capture_status(stream), CaptureStatus::kNone);
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_TRUE(graph->nodes[0]->depends_on.empty());
  EXPECT_EQ(graph->nodes[1]->depends_on, std::vector<Node*>{graph->nodes[0].get()});
  GraphExec* exec = streams.Instantiate(*graph);
  EXPECT_EQ(streams.DestroyGraph(graph), Status::kSuccess);
  ASSERT_EQ(exec->steps.size(), 2U) << "an instance outlives its graph";
  EXPECT_EQ(std::get<KernelWork>(exec->steps[1]).log_id, 3U);
  EXPECT_EQ(streams.DestroyExec(exec), Status::kSuccess);
  EXPECT_EQ(streams.DestroyExec(exec), Status::kInvalidValue);
}

TEST(StreamsTest, ForkAndJoinThroughEvents) {
  Streams streams;
  Stream& main = *streams.Create(0, false, 0);
  Stream& side = *streams.Create(0, false, 0);
  Event& fork = *streams.CreateEvent(0, false);
  Event& join = *streams.CreateEvent(0, false);
  ASSERT_EQ(streams.BeginCapture(main, CaptureMode::kGlobal, kThread), Status::kSuccess);
  Put(streams, main, 1);
  EXPECT_EQ(streams.Record(fork, main), Status::kSuccess);
  EXPECT_EQ(streams.Wait(side, fork), Status::kSuccess);
  EXPECT_EQ(streams.capture_status(side), CaptureStatus::kActive);
  EXPECT_TRUE(Put(streams, side, 2));
  EXPECT_EQ(streams.QueryEvent(fork), Status::kCapturedEvent);
  EXPECT_EQ(streams.Record(join, side), Status::kSuccess);
  EXPECT_EQ(streams.Wait(main, join), Status::kSuccess);
  Graph* graph = nullptr;
  EXPECT_EQ(streams.EndCapture(main, kThread, &graph), Status::kSuccess);
  EXPECT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(streams.capture_status(side), CaptureStatus::kNone);
}

TEST(StreamsTest, SaysWhatIsWrongWithACapture) {
  Streams streams;
  Stream& main = *streams.Create(0, false, 0);
  Stream& side = *streams.Create(0, false, 0);
  Event& event = *streams.CreateEvent(0, false);
  Graph* graph = nullptr;
  EXPECT_EQ(streams.BeginCapture(*streams.Find(nullptr, 0), CaptureMode::kGlobal, kThread), Status::kCaptureUnsupported)
      << "the legacy default stream cannot capture";

  ASSERT_EQ(streams.BeginCapture(main, CaptureMode::kGlobal, kThread), Status::kSuccess);
  streams.Record(event, main);
  streams.Wait(side, event);
  Put(streams, side, 1);
  EXPECT_EQ(streams.EndCapture(main, kThread, &graph), Status::kCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);

  ASSERT_EQ(streams.BeginCapture(main, CaptureMode::kThreadLocal, kThread), Status::kSuccess);
  EXPECT_EQ(streams.EndCapture(main, kOther, &graph), Status::kCaptureWrongThread);
  EXPECT_EQ(streams.EndCapture(main, kThread, &graph), Status::kSuccess);

  ASSERT_EQ(streams.Record(event, side), Status::kSuccess);
  ASSERT_EQ(streams.BeginCapture(main, CaptureMode::kGlobal, kThread), Status::kSuccess);
  EXPECT_EQ(streams.Wait(main, event), Status::kCaptureIsolation) << "work from outside";
  bool captured = false;
  EXPECT_EQ(streams.Submit(main, EmptyWork{}, &captured), Status::kCaptureInvalidated);
  EXPECT_EQ(streams.capture_status(main), CaptureStatus::kInvalidated);
  EXPECT_EQ(streams.EndCapture(main, kThread, &graph), Status::kCaptureInvalidated);
  EXPECT_EQ(streams.capture_status(main), CaptureStatus::kNone);
}

TEST(StreamsTest, UnsafeCallsFollowTheModes) {
  struct Case {
    CaptureMode capture;
    Streams::Thread caller;
    CaptureMode caller_mode;
    Status expected;
  };
  const Case cases[] = {
      {CaptureMode::kGlobal, kThread, CaptureMode::kGlobal, Status::kCaptureUnsupported},
      {CaptureMode::kGlobal, kOther, CaptureMode::kGlobal, Status::kCaptureUnsupported},
      {CaptureMode::kGlobal, kOther, CaptureMode::kThreadLocal, Status::kSuccess},
      {CaptureMode::kGlobal, kThread, CaptureMode::kRelaxed, Status::kSuccess},
      {CaptureMode::kThreadLocal, kOther, CaptureMode::kGlobal, Status::kSuccess},
      {CaptureMode::kThreadLocal, kThread, CaptureMode::kGlobal, Status::kCaptureUnsupported},
      {CaptureMode::kRelaxed, kThread, CaptureMode::kGlobal, Status::kSuccess},
  };
  for (const Case& each : cases) {
    Streams streams;
    Stream& stream = *streams.Create(0, false, 0);
    ASSERT_EQ(streams.BeginCapture(stream, each.capture, kThread), Status::kSuccess);
    EXPECT_EQ(streams.CheckUnsafe(each.caller, each.caller_mode), each.expected);
    EXPECT_EQ(streams.capture_status(stream), each.expected == Status::kSuccess ? CaptureStatus::kActive
                                                                                : CaptureStatus::kInvalidated);
  }
}

TEST(StreamsTest, EventsKeepTime) {
  Streams streams;
  Stream& stream = *streams.Create(0, false, 0);
  Event& start = *streams.CreateEvent(0, true);
  Event& end = *streams.CreateEvent(0, true);
  Event& untimed = *streams.CreateEvent(0, false);
  float ms = -1;
  EXPECT_EQ(streams.Elapsed(start, end, &ms), Status::kInvalidHandle) << "not recorded";
  streams.Record(start, stream);
  streams.Record(end, stream);
  streams.Record(untimed, stream);
  EXPECT_EQ(streams.Elapsed(start, end, &ms), Status::kSuccess);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(streams.Elapsed(end, start, &ms), Status::kSuccess);
  EXPECT_LT(ms, 0);
  EXPECT_EQ(streams.Elapsed(start, untimed, &ms), Status::kInvalidHandle);
}

TEST(StreamsTest, UnknownHandles) {
  Streams streams;
  int local = 0;
  Stream* stream = streams.Create(0, true, 0);
  EXPECT_EQ(streams.Find(&local, 0), nullptr);
  EXPECT_EQ(streams.Find(stream, 0), stream);
  EXPECT_EQ(streams.Destroy(stream), Status::kSuccess);
  EXPECT_EQ(streams.Find(stream, 0), nullptr);
  EXPECT_EQ(streams.Destroy(stream), Status::kInvalidHandle);
  EXPECT_EQ(streams.FindEvent(&local), nullptr);
  EXPECT_EQ(streams.DestroyEvent(&local), Status::kInvalidHandle);
}

}  // namespace
}  // namespace flce::emulator
