/** Translates the spec of a SvcBackendPolicy to settings of proxies. See docs/features/backend-policy.md. */
import {
  defaultSessionCookie,
  parseAlgorithm,
  parseCookieName,
  type BackendPolicy,
  type CircuitBreaker,
  type LoadBalancer,
  type SessionPersistence,
} from "@svc-gateway/common/features/backend-policy.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { parseHeaderName } from "@svc-gateway/common/values/header-name.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { SvcBackendPolicySpec } from "../../api/generated/svcbackendpolicy.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { policyValueIgnored, type IgnoreValue } from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import { readHash } from "./hash-parts.ts";
import { readSessionCookie } from "./session-cookie.ts";

/** The settings of a policy for all ports of a Service. */
export type ServiceSettings = Pick<EndpointSet, "policy" | "balancing">;

type PolicySettings = {
  readonly settings: ServiceSettings;
  /** The fields whose values are ignored. */
  readonly ignored: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Reads the settings of a policy. An invalid value is ignored with a warning; all other values apply. */
export function readPolicySettings(object: ObjectOf<"SvcBackendPolicy">): PolicySettings {
  const ignored: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const ignore: IgnoreValue = (field, error, instead) => {
    ignored.push(field);
    diagnostics.push(policyValueIgnored({ object: refOf(object), field }, error, instead));
  };
  const { timeouts, loadBalancer, circuitBreaker, sessionPersistence } = object.spec;
  const balancing = loadBalancer?.hash && readHash(loadBalancer.hash, ignore);
  const policy = withoutUndefined({
    connectTimeoutMs: readDuration("spec.timeouts.connect", timeouts?.connect, ignore, "the default applies"),
    idleTimeoutMs: readDuration(
      "spec.timeouts.idle",
      timeouts?.idle,
      ignore,
      "idle connections do not expire",
    ),
    loadBalancer:
      loadBalancer?.hash === undefined
        ? readAlgorithm(loadBalancer?.algorithm, ignore)
        : ignoreAlgorithm(loadBalancer.algorithm, ignore),
    circuitBreaker: readCircuitBreaker(circuitBreaker, ignore),
    sessionPersistence: readSessionPersistence(sessionPersistence, ignore),
  });
  const settings = {
    ...(Object.keys(policy).length > 0 && { policy }),
    ...(balancing !== undefined && { balancing }),
  };
  return { settings, ignored, diagnostics };
}

export const isEmptySettings = (settings: ServiceSettings): boolean => Object.keys(settings).length === 0;

/** Reads a duration. As in annotations, zero counts as absent. */
function readDuration(
  field: string,
  text: string | undefined,
  ignore: IgnoreValue,
  instead: string,
): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  if (!duration.ok) return ignore(field, duration.error, instead);
  return duration.value === 0 ? undefined : duration.value;
}

function readAlgorithm(text: string | undefined, ignore: IgnoreValue): LoadBalancer | undefined {
  if (text === undefined) return undefined;
  const parsed = parseAlgorithm(text);
  return parsed.ok
    ? parsed.value
    : ignore("spec.loadBalancer.algorithm", parsed.error, "round_robin applies");
}

/**
 * Reports an algorithm beside a hash, where it has no effect. The default of the schema does not count as written.
 */
function ignoreAlgorithm(text: string | undefined, ignore: IgnoreValue): undefined {
  if (text === undefined || text.trim() === "round_robin") return;
  const error = { message: `"${text.slice(0, 64)}" has no effect beside hash`, expected: "one of the two" };
  ignore("spec.loadBalancer.algorithm", error, "the hash applies");
}

const defaults = { windowMs: 10_000, openMs: 5_000, minRequests: 10 };

function readCircuitBreaker(
  spec: SvcBackendPolicySpec["circuitBreaker"],
  ignore: IgnoreValue,
): CircuitBreaker | undefined {
  if (spec?.threshold === undefined) return undefined;
  const { threshold, minRequests = defaults.minRequests } = spec;
  const at = (field: string): string => `spec.circuitBreaker.${field}`;
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > 100) {
    const error = { message: `${threshold} is out of range`, expected: "an integer from 1 to 100" };
    return ignore(at("threshold"), error, "there is no circuit breaker");
  }
  const windowMs = readDuration(at("window"), spec.window, ignore, "10s applies") ?? defaults.windowMs;
  const openMs = readDuration(at("openDuration"), spec.openDuration, ignore, "5s applies") ?? defaults.openMs;
  const constant = "the open time is constant";
  let maxOpenMs = readDuration(at("maxOpenDuration"), spec.maxOpenDuration, ignore, constant) ?? openMs;
  if (maxOpenMs < openMs) {
    ignore(at("maxOpenDuration"), { message: `${spec.maxOpenDuration} is below openDuration` }, constant);
    maxOpenMs = openMs;
  }
  const isUsable = Number.isInteger(minRequests) && minRequests >= 1;
  if (!isUsable) {
    const error = { message: `${minRequests} is out of range`, expected: "an integer of at least 1" };
    ignore(at("minRequests"), error, `${defaults.minRequests} applies`);
  }
  return {
    threshold,
    windowMs,
    openMs,
    maxOpenMs,
    minRequests: isUsable ? minRequests : defaults.minRequests,
  };
}

function readSessionPersistence(
  spec: SvcBackendPolicySpec["sessionPersistence"],
  ignore: IgnoreValue,
): SessionPersistence | undefined {
  if (spec === undefined) return undefined;
  const { type, sessionName = "" } = spec;
  const at = (field: string): string => `spec.sessionPersistence.${field}`;
  const off = "session persistence is off";
  switch (type) {
    case "Cookie": {
      const name = sessionName === "" ? undefined : parseCookieName(sessionName);
      if (name?.ok === false) ignore(at("sessionName"), name.error, `${defaultSessionCookie} applies`);
      const cookie = spec.cookie && readSessionCookie(spec.cookie, at("cookie"), ignore);
      return {
        type: "cookie",
        name: name?.ok === true ? name.value : defaultSessionCookie,
        ...(cookie && { cookie }),
      };
    }
    case "Header": {
      const name = headerNameOf(sessionName);
      if (!name.ok) return ignore(at("sessionName"), name.error, off);
      return { type: "header", name: name.value.toLowerCase() };
    }
    default:
      return ignore(at("type"), { message: `"${type}" is unknown`, expected: "Cookie or Header" }, off);
  }
}

const headerNameOf = (name: string): Result<string> =>
  name === "" ? problem("the header name is empty", "the name of a header") : parseHeaderName(name);

/** Removes keys without a value, so that equal settings have equal forms. */
const withoutUndefined = (policy: BackendPolicy): BackendPolicy =>
  Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));
