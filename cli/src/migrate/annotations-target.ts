/** Writes Ingresses with annotations and policies of this gateway. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import { writeCanary } from "./canaries.ts";
import { clientAnnotations } from "./client-annotations.ts";
import { planClients } from "./client-certificates.ts";
import { editIngress } from "./ingress-nodes.ts";
import { writeIngress } from "./ingress-parts.ts";
import { classTodo } from "./class-todo.ts";
import { createNode } from "./manifest-texts.ts";
import { nameTaken } from "./own-objects.ts";
import { servedUnits } from "./served-units.ts";
import { passedHosts } from "./passthrough.ts";
import { missingSecrets, redirectedHosts } from "./missing-secrets.ts";
import { planServices } from "./service-plans.ts";
import { collectServicePorts, createHttp2Check } from "./service-ports.ts";
import type { UnitPlans } from "./write-unit.ts";
import type { Target, TargetInput, Writer } from "./target.ts";

/** Creates the target; `className` is the class of the Ingresses that are written. */
export const annotationsTarget = (className: string, controllerName: string): Target => ({
  prepare: (input) => prepare(input, className, controllerName),
});

function prepare(
  { world, translation, unitsOf, ingresses, isForeign }: TargetInput,
  className: string,
  controllerName: string,
): Writer {
  const isHttp2 = createHttp2Check(world);
  const units = ingresses.flatMap(({ metadata }) => unitsOf(nameOf(metadata)));
  const ports = collectServicePorts(units, world, ({ route }) =>
    route.backends.some(({ endpoints }) => endpoints !== undefined && !isHttp2(endpoints)),
  );
  const clients = planClients({ units, ingresses, world, isForeign });
  const passed = new Set(passedHosts(translation).keys());
  const plans: UnitPlans = {
    services: planServices(units, ports, world),
    clients,
    clientAnnotationsOf: (ingress) => clientAnnotations(clients.of(ingress)),
  };
  return {
    write(ingress) {
      const { namespace } = ingress.metadata;
      const { parts, objects, moved } = writeIngress(ingress, {
        units: unitsOf(nameOf(ingress.metadata)),
        isTaken: nameTaken(world, namespace),
        plans,
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
    writeCanary(ingress, paths) {
      const isTaken = nameTaken(world, ingress.metadata.namespace);
      const parts = writeCanary(ingress, paths, (name) => isTaken("Ingress", name));
      return (node) => editIngress(node, parts, { className, isForeign });
    },
    shared: [],
    assumed: [ingressClass(className, controllerName)],
    authorities: [...ports.unlabelled, ...clients.unlabelled],
    served: servedUnits,
    todo: [
      ...(ingresses.length === 0 ? [] : classTodo("IngressClass", className, world)),
      ...missingSecrets(ingresses, { redirected: redirectedHosts(units), passed }).map(
        ({ ingress, name, host }) =>
          `spec.tls of an Ingress must name a Secret with a certificate for ${host}, such as ${ingress.metadata.namespace}/${name}: ingress-nginx has one of its own, and here TLS is refused`,
      ),
    ],
  };
}

const ingressClass = (name: string, controller: string): ObjectOf<"IngressClass"> => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name },
  spec: { controller },
});
