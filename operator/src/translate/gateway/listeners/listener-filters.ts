/** Filters of listeners, which run before a route is chosen (GEP-5224). See docs/features/listener-filters.md. */
import type { ListenerFilter as Step } from "@svc-gateway/common/ir/route.ts";
import type {
  GatewayListener as Listener,
  GatewayListenerFiltersRequest as Written,
} from "../../../api/generated/gateway.ts";
import { refOf } from "../../../api/object.ts";
import { reasonAt, type ConditionReason } from "../../condition.ts";
import { quote } from "../../text.ts";
import { readExternalAuthFilter } from "../filters/ext-auth.ts";
import { readExtension } from "../filters/extension-refs.ts";
import { noFindings, type FilterContext, type FilterFindings } from "../filters/filter-context.ts";
import { asksClients } from "../filters/route-filters.ts";
import type { ListenerOwner } from "../kinds.ts";

export type ListenerFilters = {
  /** The filters in the order in which they run. One that cannot be resolved is a step without features. */
  readonly steps: readonly Step[];
  readonly findings: FilterFindings;
  /** Whether one of the filters authenticates clients. */
  readonly authenticates: boolean;
  /**
   * The reason of an unsupported filter. The listener is not served, because the filter could be one that
   * rejects requests.
   */
  readonly unaccepted: ConditionReason | undefined;
  /** The first reference that cannot be resolved. */
  readonly unresolved: ConditionReason | undefined;
};

const none: ListenerFilters = {
  steps: [],
  findings: noFindings(),
  authenticates: false,
  unaccepted: undefined,
  unresolved: undefined,
};

/**
 * Reads the filters of the listener at `index` of its Gateway or ListenerSet. All of them apply, in the order
 * of the list.
 */
export function readListenerFilters(
  { protocol, filters }: Listener,
  index: number,
  owner: ListenerOwner,
  options: Pick<FilterContext, "view" | "allowExternalName">,
): ListenerFilters {
  const written = filters?.requests ?? [];
  if (written.length === 0) return none;
  if (protocol !== "HTTP" && protocol !== "HTTPS") {
    const message = `filters: a listener of protocol ${quote(protocol)} has no requests to filter, expected HTTP or HTTPS`;
    return { ...none, unaccepted: { reason: "InvalidListenerFilter", message } };
  }
  const findings = noFindings();
  const steps: Step[] = [];
  let unaccepted: ConditionReason | undefined;
  let unresolved: ConditionReason | undefined;
  for (const [position, filter] of written.entries()) {
    const field = `filters.requests[${position}]`;
    const read = readFilter(filter, {
      ...options,
      kind: owner.kind,
      namespace: owner.metadata.namespace,
      level: "listener",
      authenticates: written.slice(0, position).some(asksClients),
      place: { object: refOf(owner), field: `spec.listeners[${index}].${field}` },
      findings,
    });
    if ("step" in read) steps.push(read.step);
    else {
      steps.push({});
      if ("unresolved" in read) unresolved ??= reasonAt(field, read.unresolved);
      else unaccepted ??= reasonAt(field, read.unaccepted);
    }
  }
  return { steps, findings, authenticates: written.some(asksClients), unaccepted, unresolved };
}

type ReadFilter =
  | { readonly step: Step }
  | { readonly unresolved: ConditionReason }
  | { readonly unaccepted: ConditionReason };

function readFilter(filter: Written, context: FilterContext): ReadFilter {
  switch (filter.type) {
    case "ExternalAuth": {
      const read = readExternalAuthFilter(filter.externalAuth, context);
      if ("check" in read) return { step: { features: { "ext-auth": [read] } } };
      return "unresolved" in read
        ? { unresolved: asReference(read.unresolved) }
        : { unaccepted: { ...read.unsupported, reason: "InvalidListenerFilter" } };
    }
    case "ExtensionRef": {
      const read = readExtension(filter.extensionRef, context);
      if ("features" in read) return { step: read };
      return { unresolved: asReference("missing" in read ? read.missing : read.unsupported) };
    }
    default: {
      const message = `Filter ${quote(filter.type)} is not supported, expected ExternalAuth or ExtensionRef`;
      return { unaccepted: { reason: "UnsupportedValue", message } };
    }
  }
}

/** The reason on listeners is the same for every fault of a reference, except for a missing grant. */
const asReference = ({ reason, message }: ConditionReason): ConditionReason => ({
  reason: reason === "RefNotPermitted" ? reason : "InvalidListenerFilterRef",
  message,
});
