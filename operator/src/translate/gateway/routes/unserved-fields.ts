/** Experimental fields of the API that are not served, as findings. See docs/gateway-api.md, "Fields without effect". */
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import { memo } from "../../incremental/memo.ts";
import type { FilterContext } from "../filters/filter-context.ts";
import type { RouteKind } from "../kinds.ts";

/**
 * Warns of `sessionPersistence` in a rule (GEP-1619), which the API itself has dropped in favour of that of the
 * backend.
 */
export function warnOfSessions(
  { sessionPersistence }: { readonly sessionPersistence?: object },
  { place, findings }: FilterContext,
): void {
  if (sessionPersistence === undefined) return;
  findings.diagnostics.push(
    routeFieldIgnored(
      { ...place, field: `${place.field}.sessionPersistence` },
      "Session persistence of rules is not supported; use a SvcBackendPolicy of the Service",
    ),
  );
}

/**
 * Findings about default Gateways (GEP-3793), which are not supported: routes attach only to Gateways that they
 * name.
 */
export const unservedOfRoute = ({ spec, ...object }: ObjectOf<RouteKind>): readonly Diagnostic[] =>
  wantsDefault(spec.useDefaultGateways)
    ? [
        routeFieldIgnored(
          { object: refOf(object), field: "spec.useDefaultGateways" },
          "Default Gateways are not supported; the route attaches to the Gateways in spec.parentRefs only",
        ),
      ]
    : [];

/** The same findings for a Gateway that declares itself a default one. */
export const unservedOfGateway = memo(({ spec, ...object }: ObjectOf<"Gateway">): readonly Diagnostic[] =>
  wantsDefault(spec.defaultScope)
    ? [
        routeFieldIgnored(
          { object: refOf(object), field: "spec.defaultScope" },
          "Default Gateways are not supported; only routes that name the Gateway attach to it",
        ),
      ]
    : [],
);

const wantsDefault = (scope: string | undefined): boolean => scope !== undefined && scope !== "None";
