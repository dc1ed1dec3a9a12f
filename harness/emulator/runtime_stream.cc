// Runtime API: streams, events, host functions, captures.
#include "harness/emulator/api.h"

using flce::emulator::Capture;
using flce::emulator::CaptureMode;
using flce::emulator::CaptureStatus;
using flce::emulator::CurrentThread;
using flce::emulator::Event;
using flce::emulator::Graph;
using flce::emulator::HostWork;
using flce::emulator::Node;
using flce::emulator::RuntimeResult;
using flce::emulator::Session;
using flce::emulator::Status;
using flce::emulator::Stream;

namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kDisableTiming = 2;
constexpr unsigned kExternal = 1;  // cudaEventRecordExternal, cudaEventWaitExternal

int CreateStream(void** stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > kNonBlocking) return RuntimeResult(Status::kInvalidValue);
  Session session;
  const int device = CurrentThread().device;
  if (!session->ValidDevice(device)) return RuntimeResult(Status::kNoDevice);
  session.UseContext(device);
  // Priorities outside the range are brought into it, as the API says.
  const int bounded = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *stream = session->streams.Create(device, flags != kNonBlocking, bounded);
  return 0;
}

int RecordEvent(void* event_handle, void* stream_handle, unsigned flags) {
  Session session;
  Event* event = session->streams.FindEvent(event_handle);
  Stream* stream = session.FindStream(stream_handle);
  if (event == nullptr || stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (flags > kExternal) return RuntimeResult(Status::kInvalidValue);
  if (flags == kExternal && stream->capture != nullptr) {
    return RuntimeResult(session.Refuse("cudaEventRecordWithFlags", "an external event in a capture"));
  }
  return RuntimeResult(session->streams.Record(*event, *stream));
}

int CaptureInfo(void* stream_handle, int* status, unsigned long long* id, void** graph, const Node* const** nodes,
                std::size_t* count) {
  Session session;
  Stream* stream = session.FindStream(stream_handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (status == nullptr) return RuntimeResult(Status::kInvalidValue);
  *status = static_cast<int>(session->streams.capture_status(*stream));
  const Capture* capture = stream->capture;
  if (capture == nullptr) return 0;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = capture->graph.get();
  if (nodes != nullptr) *nodes = stream->last.data();
  if (count != nullptr) *count = stream->last.size();
  return 0;
}

int UpdateDependencies(void* stream_handle, Node* const* nodes, std::size_t count, unsigned flags) {
  constexpr unsigned kSet = 1;
  if (flags > kSet || (nodes == nullptr && count != 0)) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Stream* stream = session.FindStream(stream_handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  return RuntimeResult(session->streams.UpdateDependencies(*stream, nodes, count, flags == kSet));
}

// A stream callback and its arguments, carried as one pointer.
struct Callback {
  void (*function)(void*, int, void*);
  void* stream;
  void* data;
};

void RunCallback(void* packed) {
  Callback* callback = static_cast<Callback*>(packed);
  callback->function(callback->stream, 0, callback->data);
  delete callback;
}

}  // namespace

FLCE_API int cudaStreamCreate(void** stream) { return CreateStream(stream, 0, 0); }

FLCE_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) { return CreateStream(stream, flags, 0); }

FLCE_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return CreateStream(stream, flags, priority);
}

FLCE_API int cudaStreamDestroy(void* stream) {
  Session session;
  return RuntimeResult(session->streams.Destroy(stream));
}

FLCE_API int cudaStreamQuery(void* handle) {
  Session session;
  Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (stream->capture == nullptr) return 0;
  session->streams.Invalidate(*stream);
  return RuntimeResult(Status::kCaptureUnsupported);
}

FLCE_API int cudaStreamSynchronize(void* handle) { return cudaStreamQuery(handle); }

FLCE_API int cudaStreamWaitEvent(void* stream_handle, void* event_handle, unsigned flags) {
  Session session;
  Stream* stream = session.FindStream(stream_handle);
  Event* event = session->streams.FindEvent(event_handle);
  if (event == nullptr || stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (flags > kExternal) return RuntimeResult(Status::kInvalidValue);
  if (flags == kExternal && stream->capture != nullptr) {
    return RuntimeResult(session.Refuse("cudaStreamWaitEvent", "an external event in a capture"));
  }
  return RuntimeResult(session->streams.Wait(*stream, *event));
}

FLCE_API int cudaStreamGetPriority(void* handle, int* priority) {
  Session session;
  const Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (priority == nullptr) return RuntimeResult(Status::kInvalidValue);
  *priority = stream->priority;
  return 0;
}

FLCE_API int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Stream* found = session.FindStream(stream);
  if (found == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (found->capture != nullptr) {
    session->streams.Invalidate(*found);
    return RuntimeResult(Status::kCaptureUnsupported);
  }
  return RuntimeResult(session.Submit(stream, HostWork{RunCallback, new Callback{callback, stream, data}}));
}

FLCE_API int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  if (function == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  return RuntimeResult(session.Submit(stream, HostWork{function, data}));
}

FLCE_API int cudaEventCreateWithFlags(void** event, unsigned flags) {
  constexpr unsigned kBlockingSync = 1;
  constexpr unsigned kInterprocess = 4;
  if (event == nullptr || flags > (kBlockingSync | kDisableTiming | kInterprocess)) {
    return RuntimeResult(Status::kInvalidValue);
  }
  if ((flags & kInterprocess) != 0 && (flags & kDisableTiming) == 0) return RuntimeResult(Status::kInvalidValue);
  Session session;
  const int device = CurrentThread().device;
  if (!session->ValidDevice(device)) return RuntimeResult(Status::kNoDevice);
  session.UseContext(device);
  *event = session->streams.CreateEvent(device, (flags & kDisableTiming) == 0);
  return 0;
}

FLCE_API int cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }

FLCE_API int cudaEventDestroy(void* event) {
  Session session;
  return RuntimeResult(session->streams.DestroyEvent(event));
}

FLCE_API int cudaEventRecord(void* event, void* stream) { return RecordEvent(event, stream, 0); }

FLCE_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return RecordEvent(event, stream, flags);
}

FLCE_API int cudaEventQuery(void* handle) {
  Session session;
  const Event* event = session->streams.FindEvent(handle);
  if (event == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return RuntimeResult(status);
  return RuntimeResult(session->streams.QueryEvent(*event));
}

FLCE_API int cudaEventSynchronize(void* handle) { return cudaEventQuery(handle); }

FLCE_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  Session session;
  const Event* first = session->streams.FindEvent(start);
  const Event* second = session->streams.FindEvent(end);
  if (first == nullptr || second == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (milliseconds == nullptr) return RuntimeResult(Status::kInvalidValue);
  return RuntimeResult(session->streams.Elapsed(*first, *second, milliseconds));
}

FLCE_API int cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

FLCE_API int cudaStreamIsCapturing(void* handle, int* status) {
  return CaptureInfo(handle, status, nullptr, nullptr, nullptr, nullptr);
}

FLCE_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return RuntimeResult(Status::kInvalidValue);
  const CaptureMode old = CurrentThread().capture_mode;
  CurrentThread().capture_mode = static_cast<CaptureMode>(*mode);
  *mode = static_cast<int>(old);
  return 0;
}

FLCE_API int cudaStreamBeginCapture(void* handle, int mode) {
  if (mode < 0 || mode > 2) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  return RuntimeResult(session->streams.BeginCapture(*stream, static_cast<CaptureMode>(mode),
                                                     flce::emulator::CurrentThreadId()));
}

FLCE_API int cudaStreamEndCapture(void* handle, Graph** graph) {
  if (graph == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return RuntimeResult(Status::kInvalidHandle);
  return RuntimeResult(session->streams.EndCapture(*stream, flce::emulator::CurrentThreadId(), graph));
}

// CUDA 12's plain name and its second version take no edge data, CUDA 13's plain name does.
FLCE_API int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                         const Node* const** nodes, std::size_t* count) {
  return CaptureInfo(stream, status, id, graph, nodes, count);
}

FLCE_API int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                         const Node* const** nodes, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return CaptureInfo(stream, status, id, graph, nodes, count);
}

FLCE_API int flce_stream_get_capture_info_12(void* stream, int* status, unsigned long long* id) {
  return CaptureInfo(stream, status, id, nullptr, nullptr, nullptr);
}

FLCE_API int flce_stream_get_capture_info_13(void* stream, int* status, unsigned long long* id, void** graph,
                                             const Node* const** nodes, const void** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, edges, count);
}

FLCE_API int flce_update_capture_dependencies_12(void* stream, Node* const* nodes, std::size_t count, unsigned flags) {
  return UpdateDependencies(stream, nodes, count, flags);
}

FLCE_API int flce_update_capture_dependencies_13(void* stream, Node* const* nodes, const void*, std::size_t count,
                                                 unsigned flags) {
  return UpdateDependencies(stream, nodes, count, flags);
}

FLCE_VERSIONED(cudaStreamGetCaptureInfo, flce_stream_get_capture_info_12, flce_stream_get_capture_info_13)
FLCE_VERSIONED(cudaStreamUpdateCaptureDependencies, flce_update_capture_dependencies_12,
               flce_update_capture_dependencies_13)
