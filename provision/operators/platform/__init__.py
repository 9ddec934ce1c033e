"""The platform's controller of CustomWorkloadPriorityClasses: what it stands in for, and its rules.

A CustomWorkloadPriorityClass (`kakaocloud.io/v1alpha1`, namespaced, short name cwpc) asks for the
WorkloadPriorityClass of Kueue that has its name, its value and its description.

- Ready is True when that class is there and is its own; False with reason NameConflict when a class
  of the name is there and is somebody else's, be it made by hand or for another namespace. The
  conflict ends by itself when the class goes.
- Of several that ask for a name that is free the oldest gets it (of the same second, the one with
  the lower uid).
- Deleting it deletes its class, and no other one (finalizer; the deletion names uid and version).
- A class that was deleted or edited by hand is mended.
- The value may be changed, as in Kueue: a WorkloadPriorityClass has no rule against it (its CRD has
  none, and v0.19.2 has no webhook for it). Workloads follow: Kueue's controller
  (pkg/controller/core/workloadpriorityclass_controller.go) writes the new value into
  `spec.priority` of every Workload of the class, whether it waits or runs, although a comment in
  apis/kueue/v1beta2/workloadpriorityclass_types.go says that it does not.
- When the class goes, Workloads that were made keep their priority; a new Job that names it stays
  suspended and gets no Workload.

All that it knows lies in the cluster, so it may be killed at any moment and two of them do no harm.
"""
