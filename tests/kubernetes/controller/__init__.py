"""TEST CODE: a stand-in for T9k's controller of PyTorchTrainingJobs, which is not public.

It turns PyTorchTrainingJobs into pods and keeps their status, as far as T9k's own documents say how. Its only source
is `docs/developer/t9k-facts.md`; the comments in this folder name that page's sections.
It shares no code and no constants with the package that is tested with it, and is not part of what is installed.
Where the documents are silent it does the plainest thing, and the comment says "not public".

    python -m tests.kubernetes.controller --install current     # or older, or none: leave the CRDs as they are

works on the cluster that KUBECONFIG names till it is interrupted. Any number may run: the one that holds the Lease
`kube-system/t9k-test-controller` works, the others wait (`--take-over` takes it from whoever has it).

What documents or versions disagree on is chosen by annotations, on the job or, for all its jobs, on the namespace:

===================================== ================== =======================================================
annotation                            default            meaning
===================================== ================== =======================================================
controller.test/task-list             replicas           the list in `status.tasks[]`: replicas, status, replicaStatus
controller.test/completed-on-failure  true               whether a failed job has the condition `Completed` True
controller.test/completed-entry       true               whether an unfinished job has `Completed` False (2023: none)
controller.test/zero-restart-count    false              whether `restartCount: 0` is written out
controller.test/failure-reason        Failed             reason of `ReplicaFailure` (GenericJob's: ErrorInPod)
controller.test/image                                    every image is replaced by this one
controller.test/fit                   false              CPU and memory of pods are dropped, so that they fit a laptop
controller.test/files                                    `map/a.py/b.py`: every image has these files of a
                                                         ConfigMap in `/`
controller.test/ignore                false              the controller leaves the job alone: the test writes its status
===================================== ================== =======================================================

`image`, `files` and `fit` stand for an admission webhook: manifests that name images and sizes which a test cluster
hasn't got run unmodified.
"""
