#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <variant>
#include <vector>

#include "harness/emulator/launch_log.h"
#include "harness/emulator/memory.h"
#include "harness/emulator/status.h"

namespace flce::emulator {

/// What can be put on a stream.
struct KernelWork {
  std::size_t log_id;  ///< of the launch log: a graph may outlive the module of its kernels
};
struct GemmWork {
  GemmRecord gemm;
};
struct CopyWork {
  void* to;
  const void* from;
  std::size_t pitch_to, pitch_from, width, height;  ///< height 1: one piece of `width` bytes
  CopyKind kind;
};
struct FillWork {
  void* to;
  std::uint32_t pattern;
  std::size_t width, count;
};
struct HostWork {
  void (*function)(void*);
  void* data;
};
struct EmptyWork {};
using Work = std::variant<KernelWork, GemmWork, CopyWork, FillWork, HostWork, EmptyWork>;

struct Graph;

struct Node {
  Work work;
  Graph* child = nullptr;  ///< an embedded graph: its nodes run in place of `work`
  std::vector<Node*> depends_on;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;  ///< in an order that respects the dependencies
  std::vector<std::unique_ptr<Graph>> children;
};

struct GraphExec {
  std::vector<Work> steps;
};

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

struct Stream;

struct Capture {
  std::uint64_t id;
  CaptureMode mode;
  std::uint64_t thread;
  Stream* origin;
  std::unique_ptr<Graph> graph;
  std::set<Stream*> streams;  ///< the origin and those that joined through an event
  bool invalidated = false;
};

struct Stream {
  int device = 0;
  bool legacy = false;   ///< the default stream that synchronises with every blocking stream
  bool blocking = true;
  int priority = 0;
  std::uint32_t number = 0;
  Capture* capture = nullptr;
  std::vector<Node*> last;  ///< in a capture: what the next node depends on
};

struct Event {
  bool timing = true;
  int device = 0;
  bool recorded = false;
  std::uint64_t time_ns = 0;
  std::uint64_t capture_id = 0;  ///< not 0: last recorded in that capture, after `last`
  std::vector<Node*> last;
};

/// Streams, events, captures and graphs. Work runs at once, in the order it is submitted, so a stream is always idle and
/// an event always reached; what a capture records is truly kept and runs when its graph is launched.
/// Not synchronised. Handles are the addresses of these objects; every function is given handles and checks them.
class Streams {
 public:
  using Thread = std::uint64_t;

  Stream* Create(int device, bool blocking, int priority);
  /// The stream a handle stands for; null, 1 and 2 are the default streams of `device`. Null: no such stream.
  Stream* Find(const void* handle, int device);
  Status Destroy(const void* handle);

  Event* CreateEvent(int device, bool timing);
  Event* FindEvent(const void* handle);
  Status DestroyEvent(const void* handle);
  Status Record(Event& event, Stream& stream);
  Status Wait(Stream& stream, Event& event);
  Status QueryEvent(const Event& event) const;
  Status Elapsed(const Event& start, const Event& end, float* milliseconds) const;

  Status BeginCapture(Stream& stream, CaptureMode mode, Thread thread);
  Status EndCapture(Stream& stream, Thread thread, Graph** graph);
  CaptureStatus capture_status(const Stream& stream) const;
  void Invalidate(Stream& stream);
  /// Replaces or extends what the stream's next node depends on.
  Status UpdateDependencies(Stream& stream, Node* const* nodes, std::size_t count, bool replace);
  /// For a call that may not run while a capture goes on (an allocation, a synchronisation): kCaptureUnsupported, and
  /// the capture is lost, unless the modes of capture and thread allow it.
  Status CheckUnsafe(Thread thread, CaptureMode thread_mode);
  bool AnyCapture() const { return !captures_.empty(); }

  /// Adds a node when the stream captures (`*captured`), else leaves it to the caller to run the work.
  Status Submit(Stream& stream, const Work& work, bool* captured);
  Status SubmitGraph(Stream& stream, const GraphExec& graph, bool* captured);

  Graph* CreateGraph();
  Graph* FindGraph(const void* handle);
  Status DestroyGraph(const void* handle);
  Node* AddNode(Graph& graph, const Work& work, std::vector<Node*> depends_on);
  Node* FindNode(const void* handle);
  GraphExec* Instantiate(const Graph& graph);
  GraphExec* FindExec(const void* handle);
  Status DestroyExec(const void* handle);

 private:
  Capture* FindCapture(std::uint64_t id);
  void End(Capture& capture);

  std::unordered_map<const void*, std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Stream>> defaults_;  // two a device: legacy and per-thread
  std::unordered_map<const void*, std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Capture>> captures_;
  std::unordered_map<const void*, std::unique_ptr<Graph>> graphs_;
  std::unordered_map<const void*, std::unique_ptr<GraphExec>> execs_;
  std::uint64_t next_capture_ = 1;
  std::uint32_t next_number_ = 0;
};

}  // namespace flce::emulator
