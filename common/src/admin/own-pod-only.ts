import { isLoopback, reachableIps } from "../values/reachable-ip.ts";
import { textAnswer, type AdminAccess } from "./admin-app.ts";

const refusal = textAnswer("forbidden: this port answers to its own pod only\n", 403);

/**
 * Lets in who connects within the pod, as `kubectl port-forward` and `kubectl exec` do, to which the API server has said
 * yes: for processes that can ask nobody about tokens.
 */
export const ownPodOnly: AdminAccess = ({ peer }) =>
  reachableIps(peer).some(isLoopback) ? undefined : refusal;
