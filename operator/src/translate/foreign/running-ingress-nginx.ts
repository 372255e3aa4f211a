/**
 * Detects another controller that serves classes of ingress-nginx as well. See docs/ingress-nginx.md, "Beside
 * ingress-nginx".
 */
import type { World } from "../../world.ts";
import { foreignController } from "../diagnostics/ingress-nginx.ts";
import type { Diagnostic } from "../finding.ts";
import type { TranslateSettings } from "../settings.ts";

/** The maximum number of Leases that are named. The others are counted. */
const maxNamed = 5;

/**
 * Finds the classes that a running ingress-nginx serves as well: those that the settings name and that do not
 * name this controller. `leases` are those that it renews, as `namespace/name`. The list is the same until the
 * IngressClasses or the Leases change.
 */
export function createRunningIngressNginxFinder({
  controllerName,
  ingressEnabled,
  ingressNginx,
}: Pick<TranslateSettings, "controllerName" | "ingressEnabled" | "ingressNginx">): (
  world: Pick<World, "IngressClass">,
  leases: readonly string[],
) => readonly Diagnostic[] {
  const { classes, updateStatus } = ingressNginx;
  let last:
    | {
        readonly inputs: readonly [World["IngressClass"], readonly string[]];
        readonly found: readonly Diagnostic[];
      }
    | undefined;
  return ({ IngressClass: list }, leases) => {
    if (!ingressEnabled || leases.length === 0) return [];
    if (last?.inputs[0] !== list || last.inputs[1] !== leases) {
      const ours = new Set(
        list.filter(({ spec }) => spec?.controller === controllerName).map(({ metadata }) => metadata.name),
      );
      const found = [...new Set(classes)]
        .filter((name) => !ours.has(name))
        .map((name) =>
          foreignController({ object: { kind: "IngressClass", name } }, listOf(leases), updateStatus),
        );
      last = { inputs: [list, leases], found };
    }
    return last.found;
  };
}

function listOf(leases: readonly string[]): string {
  const named = leases.slice(0, maxNamed).join(", ");
  return leases.length > maxNamed ? `${named} and ${leases.length - maxNamed} more` : named;
}
