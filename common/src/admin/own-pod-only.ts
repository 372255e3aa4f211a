import { isLoopback, reachableIps } from "../values/reachable-ip.ts";
import { textAnswer } from "./admin-answer.ts";
import type { AdminAccess } from "./admin-app.ts";

const refusal = textAnswer("forbidden: this port answers to its own pod only\n", 403);

/**
 * Admits clients that connect within the pod, such as `kubectl port-forward` and `kubectl exec` after authorization by
 * the API server. It is for processes that cannot have tokens reviewed.
 */
export const ownPodOnly: AdminAccess = ({ peer }) =>
  reachableIps(peer).some(isLoopback) ? undefined : refusal;
