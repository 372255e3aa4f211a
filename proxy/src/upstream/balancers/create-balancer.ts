import type { HashKey, LoadBalancer } from "@svc-gateway/common/features/backend-policy.ts";
import { cookieValue } from "../../message/cookies.ts";
import type { Balancer } from "./balancer.ts";
import { connectionScore, createLeastBalancer, latencyScore } from "./least.ts";
import { createRendezvousBalancer, type KeyOf } from "./rendezvous.ts";
import { createRoundRobinBalancer } from "./round-robin.ts";

/** Creates the balancer of an algorithm, by default round robin. `random` returns a number from 0 to 1, 1 excluded. */
export function createBalancer(settings: LoadBalancer | undefined, random: () => number): Balancer {
  switch (settings?.algorithm) {
    case undefined:
    case "round_robin":
      return createRoundRobinBalancer(random);
    case "least_conn":
      return createLeastBalancer(connectionScore, random);
    case "ewma":
      return createLeastBalancer(latencyScore, random);
    case "hash":
      return createRendezvousBalancer(keyOf(settings.key), createRoundRobinBalancer(random));
  }
}

/** Returns the function that reads a hash key. It reads the request as sent to the backend, or the client's address. */
function keyOf(key: HashKey): KeyOf {
  switch (key.from) {
    case "source-ip":
      return ({ clientIp }) => clientIp;
    case "uri":
      return ({ path, query }) => path + query;
    case "header":
      // Host is not among the header fields that are forwarded.
      if (key.name === "host") return ({ host }) => host;
      return ({ headers }) => headers.joined(key.name);
    case "cookie":
      return ({ headers }) => cookieValue(headers, key.name);
  }
}
