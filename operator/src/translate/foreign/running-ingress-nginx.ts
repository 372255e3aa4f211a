/** Another controller that serves classes of ingress-nginx too. See docs/ingress-nginx.md, "Beside ingress-nginx". */
import type { World } from "../../world.ts";
import { foreignController } from "../diagnostics/ingress-nginx.ts";
import type { Diagnostic } from "../finding.ts";
import type { TranslateSettings } from "../settings.ts";

/** So many Leases are named; of the others the number. */
const maxNamed = 5;

/**
 * Makes the function that finds the classes which a running ingress-nginx serves as well: those that the settings name and
 * that do not name this controller. `leases` are those that it renews, as `namespace/name`. The same list while the
 * IngressClasses and the Leases are the same.
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
