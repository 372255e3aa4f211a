import { arrow, box, group, picture, type Shape } from "./svg.ts";

/** Shows controllers, shared proxies, and the dedicated proxies of a Gateway. */
export function topologyPicture(): string {
  const pod = (x: number, y: number, name: string, what: string): Shape =>
    box({ x, y, width: 150, height: 50 }, [name, what], "accent");
  return picture(
    400,
    "Controllers watch the API server and send snapshots to proxies: to the shared ones, which serve Ingresses and Gateways, and to those of one Gateway in its own namespace. Clients reach each by its own Service.",
    [
      group({ x: 10, y: 10, width: 430, height: 250 }, "namespace svc-system"),
      group({ x: 515, y: 120, width: 235, height: 140 }, "namespace shop"),
      box({ x: 520, y: 30, width: 180, height: 50 }, ["API server", "objects, statuses, Events"]),
      pod(40, 40, "controller", "the leader writes"),
      pod(250, 40, "controller", "ready to lead"),
      pod(40, 150, "shared proxy", "svc-shared-proxy"),
      pod(250, 150, "shared proxy", "svc-shared-proxy"),
      pod(560, 150, "dedicated proxies", "edge-svc"),
      arrow({ x: 520, y: 55 }, { x: 402, y: 55 }, "watch"),
      arrow({ x: 115, y: 90 }, { x: 115, y: 148 }, "snapshots by gRPC"),
      arrow({ x: 325, y: 90 }, { x: 325, y: 148 }),
      arrow({ x: 400, y: 85 }, { x: 558, y: 180 }, "", true),
      box({ x: 25, y: 215, width: 400, height: 32 }, ["Service svc-shared-proxy, and one for each Gateway"]),
      box({ x: 560, y: 215, width: 150, height: 32 }, ["Service edge-svc"]),
      box({ x: 95, y: 300, width: 250, height: 40 }, ["clients of Ingresses and Gateways"], "quiet"),
      box({ x: 535, y: 300, width: 200, height: 40 }, ["clients of the Gateway edge"], "quiet"),
      arrow({ x: 220, y: 300 }, { x: 220, y: 249 }),
      arrow({ x: 635, y: 300 }, { x: 635, y: 249 }),
      box(
        { x: 10, y: 356, width: 740, height: 36 },
        ["Proxies send requests to the pods of Services directly; they have no access to the API server."],
        "quiet",
      ),
    ],
  );
}
