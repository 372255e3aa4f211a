/** Explains what a request with TLS requires of its connection and client, and thus whether it is served at all. */
import {
  isProvenBy,
  type CompiledVerdict,
  type ClientPolicy,
  type DemandedRules,
} from "@svc-gateway/proxy/tls/client-validation.ts";

export type ExplainedClients = {
  /**
   * `certificate`: the handshake rejects clients without a certificate that its rules accept. `closed`: it rejects
   * every client, as the rules have no usable authority. `misdirected`: the request is answered 421 for every client,
   * because the handshake does not check what its host or route requires.
   */
  readonly need: "certificate" | "closed" | "misdirected";
  /** Set if requests are refused inside TLS, and no handshake is. */
  readonly byRequest?: true;
  /** The answers to clients that are not admitted, with `byRequest` and `certificate`. */
  readonly refusals?: readonly ClientRefusal[];
  /** The owner of the rules: `ingress/namespace/name`, or the id of a listener. */
  readonly owner: string;
  readonly status?: number;
};

/** The answer to clients that are not admitted: a status, with a location if it redirects, or a page of the host. */
export type ClientRefusal = {
  /**
   * The clients. `unverified`: without a valid certificate. `invalid`: with one that is not valid, while clients
   * without one are admitted. `subject`: with a subject that the rules do not accept, or without one.
   */
  readonly to: "unverified" | "invalid" | "subject";
  readonly status?: number;
  readonly location?: string;
  /** The path of the host that is served instead. */
  readonly page?: string;
};

/** Returns the requirements; undefined if there are none. `demanded` are the rules of the host and of the route. */
export function explainClients(
  policy: ClientPolicy | undefined,
  demanded: readonly [ofHost: DemandedRules | undefined, ofRoute: DemandedRules | undefined],
): ExplainedClients | undefined {
  if (policy?.mode === "require" && policy.authorities.length === 0) {
    return { need: "closed", owner: policy.owner ?? "" };
  }
  const deferred = demanded.find((rules) => rules?.byRequest !== undefined);
  if (deferred !== undefined && deferred.policyId === undefined) {
    return { need: "closed", owner: deferred.owner, byRequest: true, status: 403 };
  }
  const unproven = demanded.find((rules) => rules !== undefined && !isProvenBy(policy, rules));
  if (unproven !== undefined) return { need: "misdirected", owner: unproven.owner, status: 421 };
  const verdict = deferred?.byRequest;
  if (deferred !== undefined && (verdict?.mode === "on" || verdict?.matches !== undefined)) {
    // Only rules of hosts have error pages for such clients.
    const errorPage = deferred === demanded[0] ? verdict.errorPage : undefined;
    const refusals = refusalsBy({ ...verdict, errorPage });
    return { need: "certificate", owner: deferred.owner, byRequest: true, refusals };
  }
  return policy?.mode === "require" ? { need: "certificate", owner: policy.owner ?? "" } : undefined;
}

/** The refusals by rules, in accordance with `refusalByRequest` of the data plane. */
function refusalsBy({ mode, matches, errorPage }: CompiledVerdict): readonly ClientRefusal[] {
  const bySubject: readonly ClientRefusal[] = matches === undefined ? [] : [{ to: "subject", status: 403 }];
  if (mode === "optional_no_ca") return bySubject;
  const to = mode === "on" ? "unverified" : "invalid";
  return [{ to, ...answerOf(errorPage) }, ...bySubject];
}

function answerOf(errorPage: string | undefined): Omit<ClientRefusal, "to"> {
  if (errorPage === undefined) return { status: 400 };
  return errorPage.startsWith("/") ? { page: errorPage } : { status: 302, location: errorPage };
}

/** Describes the requirements in sentences; `served` describes a request that passes. */
export function describeClients(
  { need, owner, byRequest, refusals = [] }: ExplainedClients,
  served: () => string,
): readonly string[] {
  const rules = `by the rules of ${owner}`;
  if (byRequest === true) {
    return need === "closed"
      ? [`answered 403: no client certificate can be verified ${rules}`]
      : [...refusals.map((refusal) => describeRefusal(refusal, rules)), `otherwise: ${served()}`];
  }
  switch (need) {
    case "closed":
      return [`every handshake is refused: no client certificate can be verified ${rules}`];
    case "misdirected":
      return [`answered 421: the handshake for this server name verifies no client certificate ${rules}`];
    case "certificate":
      return [
        `the handshake is refused without a client certificate that is valid ${rules}`,
        `with one: ${served()}`,
      ];
  }
}

function describeRefusal({ to, status, location, page }: ClientRefusal, rules: string): string {
  const answer =
    page === undefined
      ? location === undefined
        ? `answered ${status}`
        : `redirected with ${status} to ${location}`
      : `answered as ${page} is`;
  switch (to) {
    case "unverified":
      return `${answer} without a client certificate that is valid ${rules}`;
    case "invalid":
      return `${answer} with a client certificate that is not valid ${rules}`;
    case "subject":
      return `${answer} unless the subject of the client certificate is accepted ${rules}`;
  }
}
