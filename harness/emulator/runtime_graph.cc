// Runtime API: graphs and user objects.
#include <algorithm>
#include <map>

#include "harness/emulator/api.h"

using flce::emulator::EmptyWork;
using flce::emulator::Graph;
using flce::emulator::GraphExec;
using flce::emulator::Node;
using flce::emulator::RuntimeResult;
using flce::emulator::Session;
using flce::emulator::Status;

namespace {

// cudaGraphNodeType of each kind of work.
int NodeType(const Node& node) {
  constexpr int kEmbeddedGraph = 4;
  if (node.child != nullptr) return kEmbeddedGraph;
  constexpr int kTypes[] = {0 /* kernel */, 0 /* gemm: a kernel */, 1 /* copy */, 2 /* fill */, 3 /* host */,
                            5 /* empty */};
  return kTypes[node.work.index()];
}

// Writes at most *count handles and says how many there are; null handles: only asks.
template <typename Pointers>
int GiveNodes(const Pointers& nodes, Node** handles, std::size_t* count) {
  if (count == nullptr) return RuntimeResult(Status::kInvalidValue);
  if (handles == nullptr) {
    *count = nodes.size();
    return 0;
  }
  for (std::size_t i = 0; i < *count; ++i) handles[i] = i < nodes.size() ? &*nodes[i] : nullptr;
  *count = std::min(*count, nodes.size());
  return 0;
}

int Instantiate(GraphExec** exec, const void* handle, unsigned long long flags) {
  constexpr unsigned long long kAutoFree = 1;
  constexpr unsigned long long kNodePriority = 8;
  if (exec == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  const Graph* graph = session->streams.FindGraph(handle);
  if (graph == nullptr) return RuntimeResult(Status::kInvalidValue);
  if ((flags & ~(kAutoFree | kNodePriority)) != 0) {
    return RuntimeResult(session.Refuse("cudaGraphInstantiate", "flags " + std::to_string(flags)));
  }
  *exec = session->streams.Instantiate(*graph);
  return 0;
}

int Dependencies(const void* handle, Node** nodes, std::size_t* count) {
  Session session;
  const Node* node = session->streams.FindNode(handle);
  if (node == nullptr) return RuntimeResult(Status::kInvalidValue);
  return GiveNodes(node->depends_on, nodes, count);
}

int RefuseAddNode() {
  Session session;
  return RuntimeResult(session.Refuse("cudaGraphAddNode"));
}

// A user object is released by its last reference; graphs that retain one keep it until they go.
struct UserObject {
  void* data;
  void (*destroy)(void*);
  unsigned references;
};

}  // namespace

FLCE_API int cudaGraphCreate(Graph** graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return RuntimeResult(Status::kInvalidValue);
  Session session;
  *graph = session->streams.CreateGraph();
  return 0;
}

FLCE_API int cudaGraphDestroy(void* graph) {
  Session session;
  return RuntimeResult(session->streams.DestroyGraph(graph));
}

FLCE_API int cudaGraphInstantiate(GraphExec** exec, void* graph, unsigned long long flags) {
  return Instantiate(exec, graph, flags);
}

FLCE_API int cudaGraphInstantiateWithFlags(GraphExec** exec, void* graph, unsigned long long flags) {
  return Instantiate(exec, graph, flags);
}

FLCE_API int cudaGraphLaunch(void* exec, void* stream) {
  Session session;
  return RuntimeResult(session.LaunchGraph(exec, stream));
}

FLCE_API int cudaGraphExecDestroy(void* exec) {
  Session session;
  return RuntimeResult(session->streams.DestroyExec(exec));
}

FLCE_API int cudaGraphGetNodes(void* handle, Node** nodes, std::size_t* count) {
  Session session;
  const Graph* graph = session->streams.FindGraph(handle);
  if (graph == nullptr) return RuntimeResult(Status::kInvalidValue);
  return GiveNodes(graph->nodes, nodes, count);
}

FLCE_API int cudaGraphNodeGetType(void* handle, int* type) {
  Session session;
  const Node* node = session->streams.FindNode(handle);
  if (node == nullptr || type == nullptr) return RuntimeResult(Status::kInvalidValue);
  *type = NodeType(*node);
  return 0;
}

FLCE_API int cudaGraphAddEmptyNode(Node** made, void* handle, Node* const* depends_on, std::size_t count) {
  Session session;
  Graph* graph = session->streams.FindGraph(handle);
  if (graph == nullptr || made == nullptr || (depends_on == nullptr && count != 0)) {
    return RuntimeResult(Status::kInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (session->streams.FindNode(depends_on[i]) == nullptr) return RuntimeResult(Status::kInvalidValue);
  }
  *made = session->streams.AddNode(*graph, EmptyWork{}, std::vector<Node*>(depends_on, depends_on + count));
  return 0;
}

FLCE_API int flce_graph_node_get_dependencies_12(void* node, Node** nodes, std::size_t* count) {
  return Dependencies(node, nodes, count);
}

FLCE_API int flce_graph_node_get_dependencies_13(void* node, Node** nodes, void*, std::size_t* count) {
  return Dependencies(node, nodes, count);
}

FLCE_API int flce_graph_add_node_12(Node**, void*, Node* const*, std::size_t, void*) { return RefuseAddNode(); }

FLCE_API int flce_graph_add_node_13(Node**, void*, Node* const*, const void*, std::size_t, void*) {
  return RefuseAddNode();
}

FLCE_VERSIONED(cudaGraphNodeGetDependencies, flce_graph_node_get_dependencies_12, flce_graph_node_get_dependencies_13)
FLCE_VERSIONED(cudaGraphAddNode, flce_graph_add_node_12, flce_graph_add_node_13)

FLCE_API int cudaUserObjectCreate(UserObject** object, void* data, void (*destroy)(void*), unsigned references,
                                  unsigned flags) {
  constexpr unsigned kNoDestructorSync = 1;
  if (object == nullptr || destroy == nullptr || references == 0 || flags != kNoDestructorSync) {
    return RuntimeResult(Status::kInvalidValue);
  }
  *object = new UserObject{data, destroy, references};
  return 0;
}

// References that graphs hold are not tracked to the graph's end: the object lives until the process ends.
FLCE_API int cudaGraphRetainUserObject(void* handle, UserObject* object, unsigned count, unsigned flags) {
  constexpr unsigned kMove = 1;
  Session session;
  if (session->streams.FindGraph(handle) == nullptr || object == nullptr || count == 0 || flags > kMove) {
    return RuntimeResult(Status::kInvalidValue);
  }
  if (flags != kMove) object->references += count;
  return 0;
}

FLCE_API int cudaUserObjectRelease(UserObject* object, unsigned count) {
  if (object == nullptr || count == 0) return RuntimeResult(Status::kInvalidValue);
  if (object->references > count) {
    object->references -= count;
    return 0;
  }
  object->destroy(object->data);
  delete object;
  return 0;
}
