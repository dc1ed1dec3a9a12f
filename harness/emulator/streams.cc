#include "harness/emulator/streams.h"

#include <algorithm>
#include <utility>

namespace flce::emulator {
namespace {

constexpr std::uintptr_t kPerThreadHandle = 2;

void Collect(const Graph& graph, std::vector<Work>& steps) {
  for (const std::unique_ptr<Node>& node : graph.nodes) {
    if (node->child != nullptr) {
      Collect(*node->child, steps);
    } else {
      steps.push_back(node->work);
    }
  }
}

}  // namespace

Stream* Streams::Create(int device, bool blocking, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->device = device;
  stream->blocking = blocking;
  stream->priority = priority;
  stream->number = ++next_number_;
  Stream* handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

Stream* Streams::Find(const void* handle, int device) {
  const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(handle);
  if (value > kPerThreadHandle) {
    const auto it = streams_.find(handle);
    return it == streams_.end() ? nullptr : it->second.get();
  }
  const std::size_t index = 2 * static_cast<std::size_t>(device) + (value == kPerThreadHandle ? 1 : 0);
  while (defaults_.size() <= index) {
    defaults_.push_back(std::make_unique<Stream>());
    defaults_.back()->device = static_cast<int>((defaults_.size() - 1) / 2);
    defaults_.back()->legacy = defaults_.size() % 2 == 1;
  }
  return defaults_[index].get();
}

Status Streams::Destroy(const void* handle) {
  const auto it = streams_.find(handle);
  if (it == streams_.end()) return Status::kInvalidHandle;
  Stream& stream = *it->second;
  if (stream.capture != nullptr) {
    stream.capture->invalidated = true;
    stream.capture->streams.erase(&stream);
    if (stream.capture->origin == &stream) End(*stream.capture);
  }
  streams_.erase(it);
  return Status::kSuccess;
}

Event* Streams::CreateEvent(int device, bool timing) {
  auto event = std::make_unique<Event>();
  event->device = device;
  event->timing = timing;
  Event* handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

Event* Streams::FindEvent(const void* handle) {
  const auto it = events_.find(handle);
  return it == events_.end() ? nullptr : it->second.get();
}

Status Streams::DestroyEvent(const void* handle) {
  return events_.erase(handle) == 1 ? Status::kSuccess : Status::kInvalidHandle;
}

Status Streams::Record(Event& event, Stream& stream) {
  if (stream.capture != nullptr) {
    if (stream.capture->invalidated) return Status::kCaptureInvalidated;
    event.capture_id = stream.capture->id;
    event.last = stream.last;
    event.recorded = false;
    return Status::kSuccess;
  }
  event.capture_id = 0;
  event.last.clear();
  event.recorded = true;
  event.time_ns = NowNs();
  return Status::kSuccess;
}

Status Streams::Wait(Stream& stream, Event& event) {
  Capture* capture = event.capture_id == 0 ? nullptr : FindCapture(event.capture_id);
  if (stream.capture != nullptr && stream.capture->invalidated) return Status::kCaptureInvalidated;
  if (capture == nullptr) {
    if (event.capture_id != 0) return Status::kCapturedEvent;
    if (stream.capture != nullptr && event.recorded) {
      stream.capture->invalidated = true;
      return Status::kCaptureIsolation;
    }
    return Status::kSuccess;
  }
  if (capture->invalidated) return Status::kCaptureInvalidated;
  if (stream.capture != nullptr && stream.capture != capture) {
    stream.capture->invalidated = true;
    capture->invalidated = true;
    return Status::kCaptureMerge;
  }
  if (stream.capture == nullptr) {
    stream.capture = capture;
    stream.last.clear();
    capture->streams.insert(&stream);
  }
  for (Node* node : event.last) {
    if (std::find(stream.last.begin(), stream.last.end(), node) == stream.last.end()) stream.last.push_back(node);
  }
  return Status::kSuccess;
}

Status Streams::QueryEvent(const Event& event) const {
  return event.capture_id != 0 ? Status::kCapturedEvent : Status::kSuccess;
}

Status Streams::Elapsed(const Event& start, const Event& end, float* milliseconds) const {
  if (start.capture_id != 0 || end.capture_id != 0) return Status::kCapturedEvent;
  if (!start.timing || !end.timing || !start.recorded || !end.recorded) return Status::kInvalidHandle;
  const auto difference = static_cast<std::int64_t>(end.time_ns) - static_cast<std::int64_t>(start.time_ns);
  *milliseconds = static_cast<float>(static_cast<double>(difference) / 1e6);
  return Status::kSuccess;
}

Status Streams::BeginCapture(Stream& stream, CaptureMode mode, Thread thread) {
  if (stream.legacy) return Status::kCaptureUnsupported;
  if (stream.capture != nullptr) return Status::kIllegalState;
  auto capture = std::make_unique<Capture>();
  capture->id = next_capture_++;
  capture->mode = mode;
  capture->thread = thread;
  capture->origin = &stream;
  capture->graph = std::make_unique<Graph>();
  capture->streams.insert(&stream);
  stream.capture = capture.get();
  stream.last.clear();
  captures_.push_back(std::move(capture));
  return Status::kSuccess;
}

// Streams leave the capture; events recorded in it stay captured, as on hardware, until recorded anew.
void Streams::End(Capture& capture) {
  for (Stream* stream : capture.streams) {
    stream->capture = nullptr;
    stream->last.clear();
  }
  std::erase_if(captures_, [&](const std::unique_ptr<Capture>& each) { return each.get() == &capture; });
}

Status Streams::EndCapture(Stream& stream, Thread thread, Graph** graph) {
  *graph = nullptr;
  if (stream.capture == nullptr) return Status::kIllegalState;
  Capture& capture = *stream.capture;
  if (capture.origin != &stream) {
    capture.invalidated = true;
    return Status::kCaptureUnmatched;
  }
  if (capture.mode != CaptureMode::kRelaxed && capture.thread != thread) return Status::kCaptureWrongThread;
  if (capture.invalidated) {
    End(capture);
    return Status::kCaptureInvalidated;
  }
  std::set<const Node*> joined;
  std::vector<const Node*> open(stream.last.begin(), stream.last.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!joined.insert(node).second) continue;
    open.insert(open.end(), node->depends_on.begin(), node->depends_on.end());
  }
  for (const Stream* other : capture.streams) {
    for (const Node* node : other->last) {
      if (joined.count(node) == 0) {
        End(capture);
        return Status::kCaptureUnjoined;
      }
    }
  }
  std::unique_ptr<Graph> captured = std::move(capture.graph);
  End(capture);
  *graph = captured.get();
  graphs_.emplace(captured.get(), std::move(captured));
  return Status::kSuccess;
}

CaptureStatus Streams::capture_status(const Stream& stream) const {
  if (stream.capture == nullptr) return CaptureStatus::kNone;
  return stream.capture->invalidated ? CaptureStatus::kInvalidated : CaptureStatus::kActive;
}

void Streams::Invalidate(Stream& stream) {
  if (stream.capture != nullptr) stream.capture->invalidated = true;
}

Status Streams::UpdateDependencies(Stream& stream, Node* const* nodes, std::size_t count, bool replace) {
  if (stream.capture == nullptr) return Status::kIllegalState;
  if (stream.capture->invalidated) return Status::kCaptureInvalidated;
  if (replace) stream.last.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& owned = stream.capture->graph->nodes;
    if (std::none_of(owned.begin(), owned.end(), [&](const auto& node) { return node.get() == nodes[i]; })) {
      return Status::kInvalidValue;
    }
    stream.last.push_back(nodes[i]);
  }
  return Status::kSuccess;
}

Status Streams::CheckUnsafe(Thread thread, CaptureMode thread_mode) {
  if (captures_.empty() || thread_mode == CaptureMode::kRelaxed) return Status::kSuccess;
  Status status = Status::kSuccess;
  for (const std::unique_ptr<Capture>& capture : captures_) {
    const bool own = capture->thread == thread && capture->mode != CaptureMode::kRelaxed;
    const bool foreign = thread_mode == CaptureMode::kGlobal && capture->mode == CaptureMode::kGlobal;
    if (!own && !foreign) continue;
    capture->invalidated = true;
    status = Status::kCaptureUnsupported;
  }
  return status;
}

Status Streams::Submit(Stream& stream, const Work& work, bool* captured) {
  *captured = false;
  if (stream.capture == nullptr) {
    if (stream.legacy) {
      for (const std::unique_ptr<Capture>& capture : captures_) {
        if (!capture->origin->blocking || capture->mode == CaptureMode::kRelaxed) continue;
        capture->invalidated = true;
        return Status::kCaptureImplicit;
      }
    }
    return Status::kSuccess;
  }
  *captured = true;
  if (stream.capture->invalidated) return Status::kCaptureInvalidated;
  Node* node = AddNode(*stream.capture->graph, work, stream.last);
  stream.last = {node};
  return Status::kSuccess;
}

Status Streams::SubmitGraph(Stream& stream, const GraphExec& graph, bool* captured) {
  *captured = stream.capture != nullptr;
  if (!*captured) return Status::kSuccess;
  if (stream.capture->invalidated) return Status::kCaptureInvalidated;
  auto child = std::make_unique<Graph>();
  for (const Work& step : graph.steps) AddNode(*child, step, {});
  Node* node = AddNode(*stream.capture->graph, EmptyWork{}, stream.last);
  node->child = child.get();
  stream.capture->graph->children.push_back(std::move(child));
  stream.last = {node};
  return Status::kSuccess;
}

Capture* Streams::FindCapture(std::uint64_t id) {
  for (const std::unique_ptr<Capture>& capture : captures_) {
    if (capture->id == id) return capture.get();
  }
  return nullptr;
}

Graph* Streams::CreateGraph() {
  auto graph = std::make_unique<Graph>();
  Graph* handle = graph.get();
  graphs_.emplace(handle, std::move(graph));
  return handle;
}

Graph* Streams::FindGraph(const void* handle) {
  if (const auto it = graphs_.find(handle); it != graphs_.end()) return it->second.get();
  for (const std::unique_ptr<Capture>& capture : captures_) {
    if (capture->graph.get() == handle) return capture->graph.get();
  }
  return nullptr;
}

Status Streams::DestroyGraph(const void* handle) {
  return graphs_.erase(handle) == 1 ? Status::kSuccess : Status::kInvalidValue;
}

Node* Streams::AddNode(Graph& graph, const Work& work, std::vector<Node*> depends_on) {
  auto node = std::make_unique<Node>();
  node->work = work;
  node->depends_on = std::move(depends_on);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

Node* Streams::FindNode(const void* handle) {
  for (const auto& [address, graph] : graphs_) {
    for (const std::unique_ptr<Node>& node : graph->nodes) {
      if (node.get() == handle) return node.get();
    }
  }
  for (const std::unique_ptr<Capture>& capture : captures_) {
    for (const std::unique_ptr<Node>& node : capture->graph->nodes) {
      if (node.get() == handle) return node.get();
    }
  }
  return nullptr;
}

GraphExec* Streams::Instantiate(const Graph& graph) {
  auto exec = std::make_unique<GraphExec>();
  Collect(graph, exec->steps);
  GraphExec* handle = exec.get();
  execs_.emplace(handle, std::move(exec));
  return handle;
}

GraphExec* Streams::FindExec(const void* handle) {
  const auto it = execs_.find(handle);
  return it == execs_.end() ? nullptr : it->second.get();
}

Status Streams::DestroyExec(const void* handle) {
  return execs_.erase(handle) == 1 ? Status::kSuccess : Status::kInvalidValue;
}

}  // namespace flce::emulator
