import { arrow, box, group, picture } from "./svg.ts";

/** Shows how objects become a snapshot, and where it is used. */
export function architecturePicture(): string {
  return picture(
    350,
    "Objects of the API server, or manifests of a folder, become a World; translate makes resources, statuses and Events of it; the resources reach proxies as a snapshot, in a cluster over gRPC and in standalone mode in the process.",
    [
      group({ x: 150, y: 10, width: 440, height: 150 }, "controller"),
      group({ x: 150, y: 188, width: 600, height: 152 }, "proxy worker"),
      box({ x: 10, y: 50, width: 110, height: 44 }, ["Kubernetes", "API server"]),
      box({ x: 10, y: 140, width: 110, height: 44 }, ["folder", "of manifests"]),
      box({ x: 170, y: 50, width: 100, height: 44 }, ["World", "immutable"]),
      box({ x: 310, y: 50, width: 110, height: 44 }, ["translate()", "pure"], "accent"),
      box({ x: 460, y: 50, width: 115, height: 44 }, ["snapshot", "for each scope"]),
      box({ x: 310, y: 112, width: 110, height: 36 }, ["reconcilers"]),
      arrow({ x: 120, y: 72 }, { x: 168, y: 72 }, "watch"),
      arrow({ x: 120, y: 150 }, { x: 180, y: 96 }),
      arrow({ x: 270, y: 72 }, { x: 308, y: 72 }),
      arrow({ x: 420, y: 72 }, { x: 458, y: 72 }),
      arrow({ x: 365, y: 94 }, { x: 365, y: 110 }),
      arrow({ x: 310, y: 130 }, { x: 122, y: 90 }, "", true),
      arrow({ x: 518, y: 94 }, { x: 518, y: 204 }, "deltas by gRPC, or in the process"),
      box({ x: 440, y: 206, width: 150, height: 44 }, ["compiled tables", "applied whole"], "accent"),
      arrow({ x: 440, y: 235 }, { x: 268, y: 278 }),
      arrow({ x: 480, y: 250 }, { x: 448, y: 278 }),
      box({ x: 10, y: 284, width: 100, height: 40 }, ["client"], "quiet"),
      box({ x: 180, y: 280, width: 130, height: 48 }, ["listeners", "TLS, protocols"]),
      box({ x: 370, y: 280, width: 130, height: 48 }, ["pipeline", "routes, filters"]),
      box({ x: 560, y: 280, width: 150, height: 48 }, ["upstream", "pools, balancers"]),
      arrow({ x: 110, y: 304 }, { x: 178, y: 304 }),
      arrow({ x: 310, y: 304 }, { x: 368, y: 304 }),
      arrow({ x: 500, y: 304 }, { x: 558, y: 304 }),
    ],
  );
}
