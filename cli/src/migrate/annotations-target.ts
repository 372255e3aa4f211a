/** Ingresses with annotations and policies of this gateway. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import { editIngress } from "./ingress-nodes.ts";
import { writeIngress } from "./ingress-parts.ts";
import { createNode } from "./manifest-texts.ts";
import { nameTaken } from "./own-objects.ts";
import { servedUnits } from "./served-units.ts";
import type { Target } from "./target.ts";

/** `className`: the class of the Ingresses that are written. */
export const annotationsTarget = (className: string, controllerName: string): Target => ({
  hasCanaries: false,
  prepare: ({ world, unitsOf, isForeign }) => ({
    write(ingress) {
      const { namespace } = ingress.metadata;
      const { parts, objects, moved } = writeIngress(ingress, {
        units: unitsOf(nameOf(ingress.metadata)),
        isTaken: nameTaken(world, namespace),
      });
      return {
        replace: (node) => [
          ...editIngress(node, parts, { className, isForeign }),
          ...objects.map((object) => createNode(object)),
        ],
        moved,
        userLists: parts.flatMap(({ annotations }) => annotations["auth-basic-secret"] ?? []),
      };
    },
    shared: [],
    assumed: [ingressClass(className, controllerName)],
    served: servedUnits,
    todo: [],
  }),
});

const ingressClass = (name: string, controller: string): ObjectOf<"IngressClass"> => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name },
  spec: { controller },
});
